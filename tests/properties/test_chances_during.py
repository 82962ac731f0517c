"""The chance that a query is satisfied at least once between two times is that of the worlds in which it is."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import pytest
from tests.kit.oracle import oracle
from tests.kit.queries import LAST_TIME, random_query

import inkling
from inkling.meaning.worlds import joint_worlds

SEEDS = range(4)
QUERIES_PER_SEED = 25


@pytest.mark.parametrize("seed", SEEDS)
def test_spans_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(QUERIES_PER_SEED):
        case = random_query(rng, per="END", worlds=16)
        program = inkling.parse(case.text)
        spans = [tuple(sorted((rng.randint(0, LAST_TIME), rng.randint(0, LAST_TIME + 1)))) for _ in range(3)]
        found = program.chances_during("q", case.rows, spans).to_pylist()
        names = [output.name for output in program.plan.events[0].head]
        shown = {(*(row[name] for name in names), row["since"], row["until"]): row["probability"] for row in found}
        wanted: dict[tuple[object, ...], Fraction] = {}
        certain = inkling.parse(re.sub(r" PROBABILITY p( GIVEN g)?", "", case.text))
        for weight, rows in joint_worlds(case.rows, [stream.schema for stream in program.plan.streams]):
            results = oracle(certain.plan, rows)["q"]
            for since, until in set(spans):
                for head in {one.values for one in results if since <= one.end <= until}:
                    wanted[*head, since, until] = wanted.get((*head, since, until), Fraction(0)) + weight
        assert shown == pytest.approx({key: float(one) for key, one in wanted.items()}, abs=1e-12), case.text


def test_spans_of_timestamps_and_of_another_clock() -> None:
    program = inkling.parse("""
        STREAM At(who STRING, room STRING) KEY who TIME t PROBABILITY p;
        EVENT e(who) AS PATTERN At a[room = 'lab'] PARTITION BY who PER END;
    """)
    rows = [
        {"who": "ann", "room": "lab", "p": 0.5, "t": "2026-03-01T12:00:00"},
        {"who": "ann", "room": "lab", "p": 0.5, "t": "2026-03-01T12:01:00"},
    ]
    spans = [("2026-03-01T11:59:00", "2026-03-01T12:00:30"), ("2026-03-01T11:59:00", "2026-03-01T12:05:00")]
    assert program.chances_during("e", {"At": rows}, spans)["probability"].to_pylist() == [0.5, 0.75]
    with pytest.raises(inkling.InputError, match="INK0657"):
        program.chances_during("e", {"At": rows}, [(1, 2)])
    with pytest.raises(inkling.InputError, match="INK0656"):
        program.chances_during("nobody", {"At": rows}, spans)
