"""An event that only asks for its own absence has a beginning: the first one, before which there was none."""

from __future__ import annotations

import inkling
from inkling.testing.oracle import bound, oracle

PROGRAM = """
STREAM A(id STRING, k BIGINT, t BIGINT) ID id TIME t;
STREAM B(id STRING, k BIGINT, t BIGINT) ID id TIME t;
EVENT x(a.k AS k) AS PATTERN SEQ(A a, NOT x y, B b) PER INTERVAL;
"""


def test_a_pair_without_an_earlier_pair_inside() -> None:
    """From a2 to b3 there is an x, strictly between a1 and b5."""
    rows = {
        "A": [{"id": "a1", "k": 0, "t": 1}, {"id": "a2", "k": 0, "t": 2}],
        "B": [{"id": "b3", "k": 0, "t": 3}, {"id": "b5", "k": 0, "t": 5}],
    }
    found = inkling.parse(PROGRAM).run_local(rows).tables["x"]
    wanted = oracle(bound(PROGRAM), rows)["x"]
    assert sorted(map(tuple, found["lineage"].to_pylist())) == sorted(one.lineage for one in wanted)
    assert ("a1", "b5") not in {tuple(one) for one in found["lineage"].to_pylist()}, "x from a2 to b3 lies between"
    assert {("a1", "b3"), ("a2", "b3"), ("a2", "b5")} == {one.lineage for one in wanted}
