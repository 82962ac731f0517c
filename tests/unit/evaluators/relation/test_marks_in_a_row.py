"""Several marks with one number: what was lost before the first is not what was lost after the last."""

from fractions import Fraction

import pytest

import inkling

PROGRAM = """
STREAM S(k STRING, n BIGINT, role STRING, t BIGINT) KEY k TIME t NUMBERED BY n SEGMENTS ROLE role;
EVENT share(x.k AS one, y.k AS other, q AS q) AS
  PATTERN AT LEAST q FROM 1 TO 3 S x INTERSECTS SOME S y
  HAVING x.k < y.k;
"""


def rows(key: str, *told: tuple[int, str, int]) -> list[dict[str, object]]:
    return [{"k": key, "n": n, "role": role, "t": t} for n, role, t in told]


def test_a_segment_that_is_open_from_mark_to_mark_meets_what_lies_between() -> None:
    """`b` opens before 0 and closes in (20, 37): it meets the first segment of `a`, and perhaps the second.

    That opens in (20, 36) and closes at 36, so it is met if `b` closes later than it opens: 9/17 on average.
    """
    one = rows("a", (0, "mark", 0), (2, "mark", 20), (4, "close", 36))
    other = rows("b", (0, "mark", -20), (1, "mark", 0), (1, "mark", 20), (3, "open", 37), (4, "close", 39))
    found = inkling.parse(PROGRAM).run_local({"S": [*one, *other]}).tables["share"].to_pylist()
    chances = {row["q"]: row["probability"] for row in found}
    assert chances == {1: pytest.approx(1), 2: pytest.approx(float(Fraction(9, 17)))}
