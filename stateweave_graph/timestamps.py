"""Times as text: the forms that the format takes, and the instants they mean.

The forms are in format.md, *Import*: a subset of ISO 8601, and RFC 2822 dates. The text is always kept
to the letter; an instant is a count of milliseconds since 1970 in UTC, and a time without a zone is UTC.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache

from stateweave_graph.errors import InvalidRequestError

_HOUR, _SIXTIETH = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_ISO = re.compile(
    rf"(\d{{4}}-\d{{2}}-\d{{2}})"
    rf"(?:T({_HOUR}):({_SIXTIETH})(?::({_SIXTIETH})(?:\.(\d+))?)?(Z|[+-]{_HOUR}:?{_SIXTIETH})?)?",
    re.ASCII,
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ZONES = {
    "Z": 0, "GMT": 0, "UT": 0, "UTC": 0,
    "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip
_RFC_2822 = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?"
    rf"(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}}) ({_HOUR}):({_SIXTIETH})(?::({_SIXTIETH}))? "
    rf"({'|'.join(zone for zone in _ZONES if zone != 'Z')}|[+-]{_HOUR}{_SIXTIETH})",
    re.ASCII,
)
_FIRST_RFC_YEAR = "1000"
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
        day, *clock = iso.groups()
        return _instant(_days_before(day), *clock)
    rfc = _RFC_2822.fullmatch(text)
    if rfc:
        number, month, year, hour, minute, second, zone = rfc.groups()
        day = f"{year}-{_MONTHS.index(month) + 1:02}-{number:>02}"
        return _instant(
            _days_before(day) if year >= _FIRST_RFC_YEAR else None, hour, minute, second, None, zone
        )
    return None


def is_time(text: str) -> bool:
    """Whether a text is a time of the format: one that has an instant."""
    iso = _ISO.fullmatch(text)
    return _days_before(iso[1]) is not None if iso else instant_ms(text) is not None


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


@lru_cache(maxsize=4096)  # a history has many times and few days
def _days_before(day: str) -> int | None:
    """The days from 1970 to a day written as YYYY-MM-DD; None where there is no such day."""
    try:
        return date.fromisoformat(day).toordinal() - _EPOCH
    except ValueError:
        return None


def _instant(
    days: int | None,
    hour: str | None,
    minute: str | None,
    second: str | None,
    fraction: str | None,
    zone: str | None,
) -> int | None:
    if days is None:
        return None
    minutes = (days * 24 + int(hour or 0)) * 60 + int(minute or 0) - _offset_minutes(zone)
    return minutes * 60_000 + int(second or 0) * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


def _offset_minutes(zone: str | None) -> int:
    if zone is None or zone in _ZONES:
        return _ZONES[zone or "Z"]
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes
