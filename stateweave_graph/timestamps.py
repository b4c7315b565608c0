"""Times as text: the forms that the format takes, and the instants they mean.

The forms are in format.md, *Import*: a subset of ISO 8601, and RFC 2822 dates. The text is always kept
to the letter; an instant is a count of milliseconds since 1970 in UTC, and a time without a zone is UTC.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone

from stateweave_graph.errors import InvalidRequestError

_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ZONES = {
    "Z": 0, "GMT": 0, "UT": 0, "UTC": 0,
    "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip
_RFC_2822 = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?"
    rf"(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}}) (\d{{2}}):(\d{{2}})(?::(\d{{2}}))? "
    rf"({'|'.join(zone for zone in _ZONES if zone != 'Z')}|[+-]\d{{4}})",
    re.ASCII,
)
_EPOCH = date(1970, 1, 1).toordinal()
_EPOCH_MOMENT = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST_MS = (1 - _EPOCH) * 86_400_000
_LAST_MS = (date.max.toordinal() + 1 - _EPOCH) * 86_400_000 - 1
FORMS = (
    "YYYY-MM-DD, optionally followed by THH:MM[:SS[.fraction]] and Z or an offset, "
    "or an RFC 2822 date with its zone"
)


def instant_ms(text: str) -> int | None:
    """The instant of a time, in milliseconds since 1970 UTC; None where the text is no time of the format.

    >>> instant_ms("1970-01-01T00:00:01.5Z")
    1500
    >>> instant_ms("2026-02-30") is None
    True
    """
    iso = _ISO.fullmatch(text)
    if iso:
        year, month, day, hour, minute, second, fraction, zone = iso.groups()
        return _instant(1, year, int(month), day, hour, minute, second, fraction, zone)
    rfc = _RFC_2822.fullmatch(text)
    if rfc:
        day, month_name, year, hour, minute, second, zone = rfc.groups()
        return _instant(1000, year, _MONTHS.index(month_name) + 1, day, hour, minute, second, None, zone)
    return None


def judged_instant_ms(text: str) -> int:
    """The instant of a time that has been judged before.

    Raises:
        ValueError: it has not, and is in none of the forms.
    """
    instant = instant_ms(text)
    if instant is None:
        raise ValueError(
            f"{text!r} is no time in a form of the format; times are judged before they are kept"
        )
    return instant


def iso_text(ms: int) -> str:
    """An instant as JavaScript's toISOString writes it, for years 1 to 9999.

    >>> iso_text(1500)
    '1970-01-01T00:00:01.500Z'
    """
    seconds, milliseconds = divmod(ms, 1000)
    days, seconds = divmod(seconds, 86400)
    day = date.fromordinal(days + _EPOCH)
    hours, seconds = divmod(seconds, 3600)
    return f"{day.isoformat()}T{hours:02}:{seconds // 60:02}:{seconds % 60:02}.{milliseconds:03}Z"


def now_ms() -> int:
    """The present instant."""
    return datetime_ms(datetime.now(timezone.utc))


def datetime_ms(moment: datetime) -> int:
    """The instant of a datetime that has a zone.

    Raises:
        InvalidRequestError: it has none, or is in no year from 1 to 9999 of UTC.
    """
    if moment.utcoffset() is None:
        raise InvalidRequestError(
            f"{moment!r} has no zone; say which one is meant, as in datetime.now(timezone.utc)"
        )
    # The difference, since astimezone overflows at both ends of the years that a datetime has.
    instant = (moment - _EPOCH_MOMENT) // timedelta(milliseconds=1)
    if not _FIRST_MS <= instant <= _LAST_MS:
        raise InvalidRequestError(f"{moment!r} must be in the years 1 to 9999 of UTC")
    return instant


def _instant(
    first_year: int,
    year: str,
    month: int,
    day: str,
    hour: str | None,
    minute: str | None,
    second: str | None,
    fraction: str | None,
    zone: str | None,
) -> int | None:
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if not (first_year <= int(year) and 1 <= month <= 12 and hours < 24 and minutes < 60 and seconds < 60):
        return None
    offset = _offset_minutes(zone)
    if offset is None:
        return None
    try:
        days = date(int(year), month, int(day)).toordinal() - _EPOCH
    except ValueError:  # no such day in the month
        return None
    milliseconds = int((fraction or "0")[:3].ljust(3, "0"))
    return ((days * 24 + hours) * 60 + minutes - offset) * 60_000 + seconds * 1000 + milliseconds


def _offset_minutes(zone: str | None) -> int | None:
    if zone is None or zone in _ZONES:
        return _ZONES.get(zone or "Z")
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)
