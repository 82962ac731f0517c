"""The definition gives `P[q at t]` of Lahar's queries over probable values, in exact fractions.

Each line of `probable_values.jsonl` holds a query in Lahar's notation, its streams and the answer at every time.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.kit.oracle import probable_oracle
from tests.oracles.probable_values import CASES, queries_of, streams_of, tables_of

from inkling import parse
from inkling.meaning.worlds import joint_worlds


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_probability_at_every_time(case: dict[str, Any]) -> None:
    schemas, rows = streams_of(case)
    plan = parse(queries_of(case), name="x.lahar").plan
    assert sum(prob for prob, _ in joint_worlds(rows, schemas.values())) == 1
    found = {one.end: one.probability for one in probable_oracle(plan, rows, tables_of(case))["x"]}
    assert [found.get(time, 0) for time in range(1, case["T"] + 1)] == [Fraction(x) for x in case["expect"]]
