"""Conditions that never hold together are found, and no others: all rows of a small world are tried."""

from itertools import combinations, product

import pytest

from inkling import parse
from inkling.analysis.row_conditions import exclusive_pairs

CONDITIONS = {
    "s = 'a'": lambda s, x: s == "a",
    "s = 'b'": lambda s, x: s == "b",
    "s IN ('b', 'c')": lambda s, x: s in ("b", "c"),
    "s = 'a' OR s = 'c'": lambda s, x: s in ("a", "c"),
    "s <> 'a'": lambda s, x: s is not None and s != "a",
    "s IS NULL": lambda s, x: s is None,
    "x < 2": lambda s, x: x < 2,
    "x <= 2": lambda s, x: x <= 2,
    "x > 2": lambda s, x: x > 2,
    "2 <= x": lambda s, x: x >= 2,
    "x = 3": lambda s, x: x == 3,
    "NOT x = 3": lambda s, x: x != 3,
}
WORLD = list(product(("a", "b", "c", "d", None), range(5)))


@pytest.mark.parametrize("pair", list(combinations(CONDITIONS, 2)), ids=" / ".join)
def test_pairs_of_conditions(pair: tuple[str, str]) -> None:
    one, other = pair
    program = parse(
        "STREAM V(s STRING, x BIGINT, t BIGINT) TIME t ORDER BY t;"
        f"EVENT e AS PATTERN SEQ STRICT(V[{one}], V[{other}]) PER END; FORECAST e WITHIN 1 EVENTS;"
    )
    step = next(step for step in program.physical.stages[0].steps if step.event.forecast)
    found = exclusive_pairs({bit.number: bit.expr for bit in step.conditions})
    together = any(CONDITIONS[one](s, x) and CONDITIONS[other](s, x) for s, x in WORLD)
    assert bool(found) == (not together)
