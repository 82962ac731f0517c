"""The blizzard example on a wind that was worked out by hand, and what its consumption policy leaves out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.kit.oracle import oracle

from inkling import parse
from inkling.model.time import Clock

EXAMPLE = Path(__file__).parents[2] / "examples" / "blizzard" / "blizzard.ink"
MIDNIGHT = datetime(2010, 1, 3, tzinfo=UTC)
O44 = (40.0, 38.0, 20.0, 45.0, 37.0, 36.0, 41.0, 50.0)
POLICY = "  CONSUME RECENT PREFER LONGER\n"
ONCE = "\n  CONSUME RESTART"
STATIONS = [
    {"station": "KSFO", "lat": 37.61896, "lon": -122.37489},
    {"station": "KWVI", "lat": 36.935, "lon": -121.789},
    {"station": "KAVX", "lat": 33.405, "lon": -118.416},
]

Span = tuple[int, int]


def readings(station: str, winds: tuple[float, ...], since: int = 0) -> list[dict[str, object]]:
    """A reading every half hour, beginning so many minutes after midnight."""
    return [
        {
            "id": 1000 * STATIONS.index(next(one for one in STATIONS if one["station"] == station)) + number,
            "station": station,
            "wind": wind,
            "condition": "snow",
            "visibility": 0.1,
            "t": MIDNIGHT + timedelta(minutes=since + 30 * number),
        }
        for number, wind in enumerate(winds)
    ]


def found(event: str, rows: list[dict[str, object]], text: str | None = None) -> list[tuple[str, Span]]:
    """Head values and minutes of the results, which the definition gives as well."""
    program = parse(text or EXAMPLE.read_text())
    results = program.run_local({"Weather": rows}, {"stations": STATIONS}).tables[event].to_pylist()
    in_minutes = [{**row, "t": minutes(row["t"]) * 60_000_000} for row in rows]  # type: ignore[arg-type]
    said = oracle(program.plan, {"Weather": in_minutes}, {"stations": STATIONS}, Clock.TIMESTAMP)[event]
    assert len(said) == len(results)
    heads = [name for name in ("station", "first", "last") if results and name in results[0]]
    return sorted(
        (" ".join(row[name] for name in heads), (minutes(row["start"]), minutes(row["end"]))) for row in results
    )


def minutes(time: datetime) -> int:
    return round((time - MIDNIGHT).total_seconds() / 60)


def test_o44_one_warning() -> None:
    assert found("warning", readings("KSFO", O44)) == [("KSFO", (0, 210))]


@pytest.mark.parametrize(
    ("policy", "warned"),
    [("", [(0, 210), (0, 240), (30, 240)]), (POLICY, [(0, 210), (0, 240)])],
    ids=["unrestricted", "recent"],
)
def test_the_policy_carries_on_the_longest_count_alone(policy: str, warned: list[Span]) -> None:
    text = EXAMPLE.read_text()
    assert text.count(POLICY) == 2
    assert text.count(ONCE) == 1
    text = text.replace(POLICY, policy).replace(ONCE, "\n  PER INTERVAL")
    assert found("warning", readings("KSFO", (*O44, 36.0)), text) == [("KSFO", span) for span in warned]


def test_an_area_grows_to_neighbors_that_are_warned_later() -> None:
    rows = readings("KSFO", O44) + readings("KWVI", O44, since=60) + readings("KAVX", O44, since=90)
    assert found("blizzard_area", rows) == [("KSFO KWVI", (0, 270))]


def test_an_area_spreads_within_nine_hours() -> None:
    in_time, too_late = (readings("KSFO", O44) + readings("KWVI", O44, since=since) for since in (330, 331))
    assert found("blizzard_area", in_time) == [("KSFO KWVI", (0, 540))]
    assert found("blizzard_area", too_late) == []
