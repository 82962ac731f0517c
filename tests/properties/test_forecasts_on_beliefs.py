"""Forecasts over streams of alternatives: in each world the forecaster of certain streams speaks, and that is averaged.

All worlds of a key are keys of one certain run. Where a world has no event at a time, what was said after its last
event still holds; where nothing was said, nothing is expected.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.kit.look_back import require_all
from tests.kit.oracle import bound
from tests.kit.regular_queries import Row, declaration, random_pattern, random_rows

import inkling
from inkling.errors import ProgramError
from inkling.local_stream import LocalStream
from inkling.meaning.worlds import joint_worlds

N_PROGRAMS, N_KEYS, HORIZON = 30, 3, 6
AHEAD = 24
"""Farther than any shortest way to a detection."""

CERTAIN = "STREAM S(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t ORDER BY k;"
WATCHED = f"FORECAST f OF q WITHIN {AHEAD} EVENTS INCLUDING FINAL RETURN DISTRIBUTION"
KINDS = (
    "WITHIN 1 EVENTS",
    "WITHIN 3 EVENTS",
    "AROUND 2 EVENTS",
    f"POINT HORIZON {HORIZON}",
    f"INTERVAL SHORTEST CONFIDENCE >= 0.2 HORIZON {HORIZON}",
    f"INTERVAL FIXED 1 CONFIDENCE >= 0.05 HORIZON {HORIZON}",
)
Said = dict[tuple[int, int], list[float]]


def in_worlds(program: inkling.Program, models: Any, plan: Any, rows: list[Row]) -> Said:
    """Per key and time, the waiting times of all worlds, each as probable as the world."""
    worlds: list[tuple[float, int, list[Row]]] = []
    for key in sorted({int(str(row["k"])) for row in rows}):
        mine = [row for row in rows if row["k"] == key]
        found = joint_worlds({"S": mine}, (one.schema for one in plan.streams))
        worlds += [(float(weight), key, [dict(row) for row in world["S"]]) for weight, world in found]
    numbered = [{**row, "k": number} for number, (_, _, some) in enumerate(worlds) for row in some]
    table = program.run_local({"S": numbered}, models).tables["f"]
    spoken = {(row["k"], row["end"]): row["distribution"] for row in table.to_pylist()}
    times = {key: sorted({int(str(row["t"])) for row in rows if row["k"] == key}) for _, key, _ in worlds}
    total: Said = {(key, time): [0.0] * AHEAD for key, some in times.items() for time in some}
    for number, (weight, key, some) in enumerate(worlds):
        happened = {int(str(row["t"])) for row in some}
        for time in times[key]:
            last = max((one for one in happened if one <= time), default=None)
            if last is not None and (number, last) in spoken:
                total[key, time] = [a + weight * b for a, b in zip(total[key, time], spoken[number, last], strict=True)]
    return total


def agrees(kind: str, row: dict[str, Any], mixed: list[float]) -> None:
    first, last, times = row["first"], row["last"], np.array(mixed)
    assert row["chance"] == pytest.approx(times[first - 1 : last].sum(), abs=1e-12)
    assert row["probability"] == row["chance"]
    weights = times[first - 1 : last] * np.arange(first, last + 1)
    assert row["expected"] == pytest.approx(weights.sum() / row["chance"], abs=1e-9)
    times = times[:HORIZON]
    if kind.startswith("WITHIN"):
        assert (first, last) == (1, int(kind.split()[1]))
    elif kind.startswith("POINT"):
        assert first == last
        assert row["chance"] == pytest.approx(times.max(), abs=1e-12)
    elif "SHORTEST" in kind:
        assert row["chance"] >= 0.2 - 1e-12
        shorter = [times[at : at + last - first].sum() for at in range(HORIZON)]
        assert max(shorter) < 0.2
    elif "FIXED" in kind:
        assert last - first == 1
        assert row["chance"] == pytest.approx(max(times[at : at + 2].sum() for at in range(HORIZON - 1)), abs=1e-12)


def expected_places(kind: str, mixed: Said) -> set[tuple[int, int]]:
    def is_made(times: np.ndarray) -> bool:
        times = times[:HORIZON]
        if kind.startswith("WITHIN"):
            return float(times[: int(kind.split()[1])].sum()) > 0
        if "SHORTEST" in kind:
            return float(times.sum()) >= 0.2
        if "FIXED" in kind:
            return max(float(times[at : at + 2].sum()) for at in range(HORIZON - 1)) >= 0.05
        return float(times.max()) > 0

    return {place for place, times in mixed.items() if is_made(np.array(times))}


def pushed(rng: random.Random, program: inkling.Program, rows: list[Row], models: Any) -> list[dict[str, Any]]:
    stream, found = program.open(models), []
    ordered = sorted(rows, key=lambda row: int(str(row["t"])))
    at = 0
    while at < len(ordered):
        n = rng.choice([1, 3, 7])
        found += stream.push({"S": ordered[at : at + n]})["f"].to_pylist()
        stream = LocalStream.restore(program, stream.snapshot(), models)
        at += n
    return [*found, *stream.finish()["f"].to_pylist()]


@pytest.fixture(scope="module")
def tally() -> Counter[str]:
    return Counter()


@pytest.mark.parametrize("seed", range(N_PROGRAMS))
def test_forecasts_are_averages_over_worlds(seed: int, tally: Counter[str]) -> None:
    tally["programs"] += 1
    rng = random.Random(seed)
    chained, kind = rng.random() < 0.5, KINDS[seed % len(KINDS)]
    while True:
        restart = rng.choice(("", " CONSUME RESTART"))
        event = f"\nEVENT q AS PATTERN {random_pattern(rng)} PARTITION BY k PER END{restart};\n"
        try:
            certain = inkling.parse(f"{CERTAIN}{event}{WATCHED};")
            uncertain = declaration(chained=chained, ordered="COMPLEMENT" in event)
            final = " INCLUDING FINAL" if rng.random() < 0.7 and not kind.startswith("AROUND") else ""
            program = inkling.parse(f"{uncertain}{event}FORECAST f OF q {kind}{final};")
        except ProgramError:
            continue
        break
    past = [{"t": t, "k": k, "v": rng.choice((1, 1, 2, 3))} for k in (1, 2) for t in range(40)]
    models = certain.fit(
        {"S": past}, settings=inkling.FitSettings(order=rng.choice((0, 1, 2)), kind=rng.choice(("tree", "full")))
    )
    rows = [row for key in range(1, N_KEYS + 1) for row in random_rows(rng, key, 16, chained=chained)]
    mixed = in_worlds(certain, models, bound(program.to_ink()), rows)
    found = program.run_local({"S": rows}, models).tables["f"].to_pylist()
    for row in found:
        assert row["method"] == "forecast"
        agrees(kind, row, mixed[row["k"], row["end"]])
    places = {(row["k"], row["end"]) for row in found}
    assert len(places) == len(found)
    if final:
        wanted = expected_places(kind, mixed)
        sure = {place for place in wanted if max(mixed[place]) > 1e-9}
        assert sure <= places <= wanted | {place for place, times in mixed.items() if max(times) < 1e-9}
    again = pushed(rng, program, rows, models)
    pairs = zip(*(sorted(some, key=lambda row: (row["k"], row["end"])) for some in (found, again)), strict=True)
    for one, other in pairs:
        assert all(one[name] == other[name] for name in ("k", "event_number", "first", "last", "model", "end"))
        assert one["chance"] == pytest.approx(other["chance"], abs=1e-12)
    tally["said"] += len(found)
    tally["uncertain"] += any(row["p"] < 1 for row in rows)
    tally[kind] += len(found)


def test_every_kind_spoke(tally: Counter[str]) -> None:
    require_all(tally["programs"], N_PROGRAMS)
    assert tally["said"] >= 150
    assert all(tally[kind] >= 10 for kind in KINDS), tally
