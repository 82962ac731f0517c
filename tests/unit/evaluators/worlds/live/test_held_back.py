"""A result that a stage buffers for what else may change it is told once, with all worlds that have it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import inkling
from inkling.evaluators.sampling import Sampling

SAMPLING = Sampling(epsilon=0.15, delta=0.1, seed=3, exact_up_to=0, budget=1)
LOST = (
    "STREAM V(id STRING, k STRING, s STRING, t INT, n INT) ID id KEY k TIME t LATE 0 TICKS\n"
    "  NUMBERED BY n SEGMENTS ROLE s COUNT total BOUNDS since TO until;\n"
)
IMPRECISE = "STREAM V(id STRING, lo INT, hi INT) ID id TIME BETWEEN lo AND hi LATE 0 TICKS;\n"


def _lost(now: int) -> list[dict[str, object]]:
    """Key q lost an event between 67 and 75; the last row only says how late it is."""
    return [
        {"id": "a", "k": "p", "s": "a", "t": 70, "n": 1, "total": 1, "since": 67, "until": 76},
        {"id": "b", "k": "q", "s": "b", "t": 75, "n": 2, "total": 2, "since": 67, "until": 76},
        {"id": "c", "k": "r", "s": "a", "t": now, "n": 1, "total": 1, "since": now - 1, "until": 96},
    ]


def _imprecise(now: int) -> list[dict[str, object]]:
    return [{"id": "a", "lo": 67, "hi": 73}, {"id": "b", "lo": 69, "hi": 75}, {"id": "c", "lo": now, "hi": now}]


PROGRAMS = {
    "CONSUME RESTART": (
        LOST + "EVENT e AS PATTERN SEQ (V a, V b, NOT V c) WITHIN 6 POINTS PARTITION BY k CONSUME RESTART;",
        _lost,
    ),
    "AFTER in a repetition, imprecise": (
        IMPRECISE + "EVENT e AS PATTERN SEQ (V a, SEQ (V b, AFTER 3 TICKS){1,2}) WITHIN 20 TICKS;",
        _imprecise,
    ),
    "AFTER in a repetition, lost": (
        LOST + "EVENT e AS PATTERN SEQ (V a, AFTER 3 TICKS){1,2} WITHIN 20 TICKS PARTITION BY k;",
        _lost,
    ),
}


@pytest.mark.parametrize("now", [78, 80, 82])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_result_is_told_in_two_parts(name: str, now: int) -> None:
    text, rows = PROGRAMS[name]
    program = inkling.parse(text)
    given = pa.Table.from_pylist(rows(now))
    stream = program.open({}, unbounded=True, sampling=SAMPLING)
    found = [*stream.push({"V": given}).tables["e"].to_pylist(), *stream.finish().tables["e"].to_pylist()]
    expected = program.run_local({"V": given}, {}, sampling=SAMPLING).tables["e"].to_pylist()
    assert len(expected)
    assert sorted(map(str, found)) == sorted(map(str, expected))
