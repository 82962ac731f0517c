"""Patterns of recursive events: repetitions over results of several rounds, conditions on pairs of events."""

from __future__ import annotations

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle

import inkling

STREAMS = "".join(f"STREAM {name}(id STRING, x INT, s STRING, t INT) ID id TIME t;\n" for name in "VW")
ROWS = {
    "V": [{"id": f"v{time}", "x": time % 2, "s": "ab"[time % 2], "t": time} for time in (4, 7, 9, 11)],
    "W": [{"id": "w6", "x": 0, "s": "A", "t": 6}],
}


@pytest.mark.parametrize("repeated", ["r | W w{2}", "r | W w+", "W | r w{1,2}", "r w{2}", "r w*"])
def test_events_of_several_rounds(repeated: str) -> None:
    _agree(f"EVENT r(1 AS x) AS PATTERN SEQ({repeated}, V v) PER INTERVAL;")


@pytest.mark.parametrize("condition", ["ID(v) <> ID(w)", "length(v.s) > 0", "upper(v.s) <> w.s", "v.s <> w.s"])
@pytest.mark.parametrize("limit", ["", " WITHIN 6 TICKS"])
def test_conditions_after_a_join(condition: str, limit: str) -> None:
    _agree(
        f"EVENT r(v.x AS x) AS PATTERN (V v AND W | V w{limit}) HAVING {condition} PER INTERVAL;\n"
        "EVENT r(v.x AS x) AS PATTERN SEQ(r w, V v) WITHIN 4 TICKS PER INTERVAL;"
    )


@pytest.mark.parametrize("base", ["SEQ(V u, V v, W w)", "SEQ(V v, W u+)", "V v"])
@pytest.mark.parametrize("further", ["", "EVENT r(v.x AS x) AS PATTERN SEQ(r w, V v) PER INTERVAL;"])
def test_an_event_that_denies_itself(base: str, further: str) -> None:
    _agree(
        f"EVENT r(v.x AS x) AS PATTERN {base} PER INTERVAL;\n"
        f"EVENT r(2 AS x) AS PATTERN SEQ(V v, NOT r[x < 2], V u[x = 1]) PER INTERVAL;\n{further}",
        base="",
    )


def _agree(recursive: str, base: str = "EVENT r(0 AS x) AS PATTERN V v PER INTERVAL;") -> None:
    text = f"{STREAMS}{base}\n{recursive}\n"
    plan = bound(text)
    expected = oracle(plan, ROWS, {})
    assert len(expected["r"]) > 2
    found = inkling.parse(text).run_local(arrow_streams(plan, ROWS)).tables["r"].to_pylist()
    assert not differences(plan, expected, {"r": found})
