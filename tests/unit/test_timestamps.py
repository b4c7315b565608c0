"""Times: the forms that are taken, and the instants they mean."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo

import pytest

from stateweave_graph import InvalidRequestError
from stateweave_graph.timestamps import datetime_ms, instant_ms, iso_text, judged_instant_ms, now_ms


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-09-01", "2026-09-01T00:00:00.000Z"),
        ("2026-09-01T12:30", "2026-09-01T12:30:00.000Z"),
        ("2026-09-01T12:30:15", "2026-09-01T12:30:15.000Z"),
        ("2026-09-01T12:30:15.5Z", "2026-09-01T12:30:15.500Z"),
        ("2026-09-01T12:30:15.123456789Z", "2026-09-01T12:30:15.123Z"),
        ("2026-09-01T12:30:15.9999Z", "2026-09-01T12:30:15.999Z"),
        (f"2026-09-01T12:30:15.{'0' * 1000}1", "2026-09-01T12:30:15.000Z"),
        ("2026-09-01T12:30+02:00", "2026-09-01T10:30:00.000Z"),
        ("2026-09-01T12:30-00:00", "2026-09-01T12:30:00.000Z"),
        ("2026-09-01T12:30:15-0130", "2026-09-01T14:00:15.000Z"),
        ("2026-01-01T00:00+23:59", "2025-12-31T00:01:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("Tue, 01 Sep 2026 12:00:00 GMT", "2026-09-01T12:00:00.000Z"),
        ("Tue, 1 Sep 2026 12:00:00 GMT", "2026-09-01T12:00:00.000Z"),
        ("01 Sep 2026 12:00 EST", "2026-09-01T17:00:00.000Z"),
        ("Tue, 01 Sep 2026 12:00:00 +0530", "2026-09-01T06:30:00.000Z"),
        ("01 Jan 1000 00:00 UT", "1000-01-01T00:00:00.000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
        ("2000-02-29", "2000-02-29T00:00:00.000Z"),
    ],
)
def test_forms_of_time(text, same):
    instant = instant_ms(text)
    assert instant is not None
    assert iso_text(instant) == same


@pytest.mark.parametrize(
    ("zone", "hours"),
    [
        ("GMT", 0),
        ("UT", 0),
        ("UTC", 0),
        ("EST", 5),
        ("EDT", 4),
        ("CST", 6),
        ("CDT", 5),
        ("MST", 7),
        ("MDT", 6),
        ("PST", 8),
        ("PDT", 7),
    ],
)
def test_zones_by_name(zone, hours):
    assert instant_ms(f"01 Sep 2026 00:00 {zone}") == instant_ms(f"2026-09-01T{hours:02}:00Z")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026",
        "2026-9-1",
        "2026-02-29",
        "1900-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-04-31",
        "0000-01-01",
        "10000-01-01",
        "+002026-01-01",
        "2026-W36-2",
        "2026-244",
        "20260901",
        "2026-09-01 12:30",
        "2026-09-01t12:30",
        "2026-09-01T24:00",
        "2026-09-01T12:60",
        "2026-09-01T12:30:60",
        "2026-09-01T12:30:15.Z",
        "2026-09-01T12:30:15,5Z",
        "2026-09-01T12:30.5Z",
        "2026-09-01T12Z",
        "2026-09-01Z",
        "2026-09-01T12:30+24:00",
        "2026-09-01T12:30+01:60",
        "2026-09-01T12:30+02",
        "2026-09-01T12:30z",
        "2026-09-01T12:30 Z",
        "2026-09-01T12:30GMT",
        " 2026-09-01",
        "2026-09-01\n",
        "2026-09-01\0",
        "٢٠٢٦-09-01",
        "2026-09-01T12:30:1५",
        "Tue, 31 Feb 2026 12:00:00 GMT",
        "Tue, 01 Sep 2026 12:00:00",
        "Tue, 01 Sep 2026 12:00:00 CET",
        "Tue, 01 Sep 2026 12:00:00 Z",
        "Tue, 01 Sep 2026 12:00:00 +05:30",
        "Tue, 01 Sep 2026 12:00:00 +2400",
        "Tue, 01 Sep 2026 24:00:00 GMT",
        "Tue, 01 Sep 2026 12:00:60 GMT",
        "Tue, 01 Sep 0999 12:00:00 GMT",
        "Tue, 01 Sep 26 12:00:00 GMT",
        "tue, 01 sep 2026 12:00:00 gmt",
        "Tue 01 Sep 2026 12:00:00 GMT",
        "Tue, 01 Sep 2026 12:00:00 GMT\n",
        "Tue, 01  Sep 2026 12:00:00 GMT",
        "hello 1",
    ],
)
def test_other_texts_are_no_times(text):
    assert instant_ms(text) is None
    with pytest.raises(ValueError, match="no time"):
        judged_instant_ms(text)


def test_instants_of_datetimes():
    moment = datetime(2026, 9, 1, 14, 0, 0, 1500, tzinfo=timezone(timedelta(hours=2)))
    assert iso_text(datetime_ms(moment)) == "2026-09-01T12:00:00.001Z"
    assert datetime_ms(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)) == -1
    assert datetime_ms(datetime(1, 1, 1, tzinfo=timezone.utc)) == instant_ms("0001-01-01")
    assert iso_text(datetime_ms(datetime.max.replace(tzinfo=timezone.utc))) == "9999-12-31T23:59:59.999Z"
    assert abs(now_ms() - datetime_ms(datetime.now(timezone.utc))) < 60_000


class Nowhere(tzinfo):
    def utcoffset(self, dt):
        return None

    def dst(self, dt):
        return None

    def tzname(self, dt):
        return None


@pytest.mark.parametrize("moment", [datetime(2026, 9, 1), datetime(2026, 9, 1, tzinfo=Nowhere())])
def test_a_datetime_without_a_zone_is_no_instant(moment):
    with pytest.raises(InvalidRequestError, match="zone"):
        datetime_ms(moment)


@pytest.mark.parametrize(
    "moment",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(minutes=1))),
        datetime.max.replace(tzinfo=timezone(-timedelta(minutes=1))),
    ],
)
def test_an_instant_that_no_year_of_utc_has_is_refused(moment):
    with pytest.raises(InvalidRequestError, match="years 1 to 9999"):
        datetime_ms(moment)
