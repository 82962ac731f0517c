"""ON SAME compares whole values, also where events are numbered."""

import pytest

import inkling

TEXT = """
STREAM S(id STRING, k STRING, n BIGINT, role STRING, c {kind}, t BIGINT) ID id KEY k TIME t
  NUMBERED BY n SEGMENTS ROLE role;
EVENT meet(x.k AS one, y.k AS other) AS PATTERN SOME S x INTERSECTS SOME S y ON SAME c HAVING x.k < y.k;
"""


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("BIGINT", 4, 5),
        ("BIGINT", -1, -2),
        ("BIGINT", 2**53, 2**53 + 1),
        ("DOUBLE", 1.0, 1.0000000000000002),
        ("BOOLEAN", False, True),
        ("STRING", "4", "5"),
    ],
)
def test_neighboring_values_are_not_the_same(kind: str, one: object, other: object) -> None:
    assert _n_meetings(kind, one, one) == _n_meetings(kind, other, other) == 1
    assert _n_meetings(kind, one, other) == 0


def test_null_is_the_same_as_nothing_and_zero_has_no_sign() -> None:
    assert _n_meetings("BIGINT", None, None) == 0
    assert _n_meetings("DOUBLE", 0.0, -0.0) == 1


def _n_meetings(kind: str, one: object, other: object) -> int:
    """Of a segment from 1 to 10 and one from 3 to 7 that say these values."""
    ends = (("p", one, 1, 10), ("q", other, 3, 7))
    rows = [
        {"id": f"{key}{n}", "k": key, "n": n, "role": role, "c": value, "t": time}
        for key, value, *times in ends
        for n, role, time in zip((1, 2), ("open", "close"), times, strict=True)
    ]
    return len(inkling.parse(TEXT.format(kind=kind)).run_local({"S": rows}).tables["meet"])
