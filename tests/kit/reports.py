"""An invented day of a fleet as report data, in any size, the same for the same seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from inkling.report import ReportData
from inkling.report.data import EventResultCount, InputCount, MatchRow, MemberRow, RejectRow, Scalar

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
DAY_START_US = 1_756_771_200 * SECOND_US  # 2025-09-02 00:00 UTC

FLEET_PROGRAM = """\
-- One day of vehicles: where they went, and what should not have happened.
STREAM Vehicle(id STRING, vehicle STRING, engine STRING, speed DOUBLE, lat DOUBLE, lon DOUBLE)
  ID id KEY vehicle TIME t ORDER BY id
  DERIVE distance = haversine(PREV(lat), PREV(lon), lat, lon), duration = SINCE_CHANGE(engine);
STREAM Fuel(id STRING, vehicle STRING, level DOUBLE) ID id KEY vehicle TIME t PROBABILITY p;

EVENT route(stops) AS
  PATTERN SEQ STRICT(Vehicle a[engine = 'off'], Vehicle b[engine = 'moving']+, Vehicle c[engine = 'off'])
  PARTITION BY vehicle RETURN COUNT(b) AS stops PER END;

EVENT towed AS
  PATTERN SEQ STRICT(Vehicle[engine = 'off' AND distance > 30]{3,})
  PARTITION BY vehicle CONSUME RESTART;

EVENT fuel_theft(level_from, level_to) AS
  PATTERN SEQ NEXT(Fuel a, Fuel b) WHERE b.level < a.level - 20
  WITHIN 20 MINUTES
  PARTITION BY vehicle CONFIDENCE >= 0.2;

EVENT harsh_braking AS
  PATTERN SEQ(Vehicle a, Vehicle b) WHERE b.speed < a.speed - 40 WITHIN 6 SECONDS
  PARTITION BY vehicle;
"""

FLEET_PLAN = (
    (
        "What was proved",
        "route          key vehicle; wait ≤ 0; uncertainty: none        → evaluator `automaton`, O(1) per event\n"
        "towed          key vehicle; wait ≤ 0; uncertainty: none        → evaluator `automaton`, O(1) per event\n"
        "fuel_theft     key vehicle; wait ≤ 20 minutes; uncertainty: what → evaluator `sampling`, error ≤ 0.03\n"
        "harsh_braking  key vehicle; wait ≤ 6 seconds; uncertainty: none → evaluator `join`, state ≤ 6 seconds",
    ),
    (
        "Logical plan",
        "r0 := Scan[Vehicle]\nr1 := Scan[Fuel]\n"
        "r2 := Sequence[r0](STRICT, a, b+, c)\nr3 := Sequence[r1](NEXT, a, b)\nr4 := Within[r3](20 minutes)",
    ),
    ("Physical plan", "p0 := Partition[Vehicle](vehicle)\np1 := Automaton[p0](route, 5 states, 3 bits per event)"),
)

MIDDLE_LENGTH_US = {
    "route": 50 * MINUTE_US,
    "towed": 14 * MINUTE_US,
    "fuel_theft": 9 * MINUTE_US,
    "harsh_braking": 4 * SECOND_US,
}
EVENT_WEIGHTS = {"route": 10, "towed": 1, "fuel_theft": 2, "harsh_braking": 6}


def fleet_report(*, n_matches: int = 640, n_vehicles: int = 48, seed: int = 7) -> ReportData:
    """A report with certain and sampled matches, long and short ones, and a few rejected rows."""
    rng = random.Random(seed)
    events = rng.choices(list(EVENT_WEIGHTS), weights=list(EVENT_WEIGHTS.values()), k=n_matches)
    vehicles = [f"truck-{number:03d}" for number in range(1, n_vehicles + 1)]
    matches = tuple(
        _fleet_match(rng, event, rng.choice(vehicles) if index >= n_vehicles else vehicles[index])
        for index, event in enumerate(events)
    )
    shown = Counter(events)
    return ReportData(
        title="fleet.ink on 2 September",
        program_text=FLEET_PROGRAM,
        plan_sections=FLEET_PLAN,
        runner="Spark batch (local[2])",
        seconds=12.42,
        inputs=(InputCount("Vehicle", 1_036_800, 214), InputCount("Fuel", 51_840, 3)),
        counts=tuple(EventResultCount(event, shown[event], shown[event]) for event in EVENT_WEIGHTS),
        time_kind="timestamp",
        matches=matches,
        rejects=(
            RejectRow("Vehicle", "`speed` is not a number", 201, "truck-017,2025-09-02T06:14:09Z,moving,n/a,52.1,4.9"),
            RejectRow("Vehicle", "`t` is missing", 13, "truck-031,,off,0.0,51.9,4.4"),
            RejectRow(
                "Fuel", "probabilities of alternatives of event F-8812 sum to 1.07", 3, "F-8812,truck-002,61.5,0.57"
            ),
        ),
        notes=("`fuel_theft` is sampled: each probability is within 0.03 with 95 % confidence.",),
    )


def _fleet_match(rng: random.Random, event: str, vehicle: str) -> MatchRow:
    is_sampled = event == "fuel_theft"
    length_us = round(MIDDLE_LENGTH_US[event] * rng.uniform(0.4, 1.9) / SECOND_US) * SECOND_US
    start = DAY_START_US + round(rng.betavariate(2.2, 2.0) * 22 * 3600) * SECOND_US
    members = tuple(_fleet_members(rng, event, start, start + length_us))
    return MatchRow(
        event=event,
        key=vehicle,
        start=start,
        end=start + length_us,
        detected_at=start + length_us,
        probability=round(rng.uniform(0.2, 0.99), 4) if is_sampled else 1.0,
        method="sampled" if is_sampled else "exact",
        error=round(rng.uniform(0.01, 0.03), 4) if is_sampled else 0.0,
        values=_returned_values(event, members),
        lineage=tuple(member.id for member in members),
        members=members,
    )


def _fleet_members(rng: random.Random, event: str, start: int, end: int) -> list[MemberRow]:
    n_inner = {"route": rng.randint(1, 7), "towed": rng.randint(1, 3)}.get(event, 0)
    times = [start, *sorted(rng.randrange(start, end, SECOND_US) for _ in range(n_inner)), end]
    if event == "fuel_theft":
        return [
            MemberRow(
                f"F-{rng.randint(1000, 99999)}", "Fuel", time, time, {"level": round(rng.uniform(lo, lo + 25), 1)}
            )
            for time, lo in zip(times, (65, 5), strict=True)
        ]
    return [
        MemberRow(
            f"V-{rng.randint(100000, 999999)}",
            "Vehicle",
            time,
            time,
            {
                "engine": "off" if event == "towed" or time in (start, end) else "moving",
                "speed": round(rng.uniform(0, 90), 1),
                "lat": round(rng.uniform(51.8, 52.5), 5),
                "lon": round(rng.uniform(4.2, 5.4), 5),
            },
        )
        for time in times
    ]


def _returned_values(event: str, members: Sequence[MemberRow]) -> dict[str, Scalar]:
    match event:
        case "route":
            return {"stops": len(members) - 2}
        case "fuel_theft":
            return {"level_from": members[0].values["level"], "level_to": members[-1].values["level"]}
        case _:
            return {}
