"""JSON texts and times: what is taken, what is written."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from stateweave_graph.jsontext import JsonTextError, depth_of_text, dumps, escape_surrogates, parse
from stateweave_graph.timestamps import datetime_ms, instant_ms, iso_text, judged_instant_ms, now_ms


def test_what_is_written_is_what_was_read():
    text = '{"b":[1,2.5,12345678901234567890123,true,null],"a":"é\\u0000\\ud800😀/\\"","10":{}}'
    assert dumps(parse(text)) == text


def test_a_key_written_twice_keeps_its_first_place_and_last_value():
    assert dumps(parse('{"a":1,"b":2,"a":3}')) == '{"a":3,"b":2}'


def test_halves_that_stand_together_are_one_character():
    assert escape_surrogates("\ud83d\ude00\ude00") == "😀\\ude00"


@pytest.mark.parametrize(
    "text", ["NaN", "-Infinity", "[1,]", '{"a":1,}', "'a'", "01", "1 2", "\ufeff1", '"\n"', ""]
)
def test_what_is_not_one_value(text):
    with pytest.raises(JsonTextError, match="not a JSON value"):
        parse(text)


def test_integers_of_many_digits():
    assert parse("9" * 309) == 10**309 - 1
    assert parse("-" + "9" * 310) == float("-inf")


@pytest.mark.parametrize(
    ("text", "depth"), [("1", 1), ("[]", 1), ('{"a":[{}]}', 3), ('"[[["', 1), ('["\\"[["]', 1)]
)
def test_depth(text, depth):
    assert depth_of_text(text) == depth


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-09-01", "2026-09-01T00:00:00.000Z"),
        ("2026-09-01T12:30", "2026-09-01T12:30:00.000Z"),
        ("2026-09-01T12:30:15", "2026-09-01T12:30:15.000Z"),
        ("2026-09-01T12:30:15.5Z", "2026-09-01T12:30:15.500Z"),
        ("2026-09-01T12:30:15.123456789Z", "2026-09-01T12:30:15.123Z"),
        ("2026-09-01T12:30+02:00", "2026-09-01T10:30:00.000Z"),
        ("2026-09-01T12:30:15-0130", "2026-09-01T14:00:15.000Z"),
        ("0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("Tue, 01 Sep 2026 12:00:00 GMT", "2026-09-01T12:00:00.000Z"),
        ("01 Sep 2026 12:00 EST", "2026-09-01T17:00:00.000Z"),
        ("Tue, 01 Sep 2026 12:00:00 +0530", "2026-09-01T06:30:00.000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
    ],
)
def test_forms_of_time(text, same):
    instant = instant_ms(text)
    assert instant is not None
    assert iso_text(instant) == same


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026",
        "2026-9-1",
        "2026-02-29",
        "2026-13-01",
        "2026-00-01",
        "0000-01-01",
        "10000-01-01",
        "2026-09-01 12:30",
        "2026-09-01T24:00",
        "2026-09-01T12:60",
        "2026-09-01T12:30:60",
        "2026-09-01T12:30:15.Z",
        "2026-09-01T12Z",
        "2026-09-01Z",
        "2026-09-01T12:30+24:00",
        "2026-09-01T12:30+02",
        "2026-09-01T12:30z",
        " 2026-09-01",
        "2026-09-01\n",
        "٢٠٢٦-09-01",
        "Tue, 31 Feb 2026 12:00:00 GMT",
        "Tue, 01 Sep 2026 12:00:00",
        "Tue, 01 Sep 2026 12:00:00 CET",
        "Tue, 01 Sep 0999 12:00:00 GMT",
        "tue, 01 sep 2026 12:00:00 gmt",
    ],
)
def test_other_texts_are_no_times(text):
    assert instant_ms(text) is None
    with pytest.raises(ValueError, match="no time"):
        judged_instant_ms(text)


def test_instants_of_datetimes():
    moment = datetime(2026, 9, 1, 14, 0, 0, 1500, tzinfo=timezone(timedelta(hours=2)))
    assert iso_text(datetime_ms(moment)) == "2026-09-01T12:00:00.001Z"
    assert datetime_ms(datetime(1, 1, 1, tzinfo=timezone.utc)) == instant_ms("0001-01-01")
    assert abs(now_ms() - datetime_ms(datetime.now(timezone.utc))) < 60_000
    with pytest.raises(ValueError, match="zone"):
        datetime_ms(datetime(2026, 9, 1))
