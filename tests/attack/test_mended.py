"""Programs on which the attack once found something: they compile, or end in a message."""

import pytest
from tests.attack.findings import Finding
from tests.attack.programs import outcome

from inkling.language import parse

QUERY = "STREAM triple(s TERM, p TERM, o TERM, t BIGINT) TIME t TICK 1 DAYS;\nSELECT ?a WHERE {{ ?a <p> ?b }} WITHIN {}"
MENDED = {
    "a condition without an alternative": (".ele", "e <- b(X, Y) WHERE (X > 1 -> Y > 23), X < 9."),
    "half a second": (".rq", QUERY.format("0.5")),
    "no time": (".rq", QUERY.format("1e-320")),
    "more than 64 bits": (".rq", QUERY.format("1e308")),
    "more than 64 bits, as an integer": (".rq", QUERY.format("999999999999999999999")),
    "a tick of no length": (
        ".sase",
        "STREAM S(a INT, t BIGINT) TIME t TICK 00 MINUTES;\nPATTERN SEQ(S a, S b) WITHIN 1 hour",
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_it_ends_well(name: str) -> None:
    notation, text = MENDED[name]
    ended = outcome(text, notation)
    assert not isinstance(ended, Finding), ended


def test_a_condition_without_an_alternative_fails_where_it_is_false() -> None:
    """As in Prolog, where `(A -> B)` is `(A -> B ; fail)`."""
    plain, chosen = ("X > 1, Y > 23", "(X > 1 -> Y > 23)")
    assert parse(f"e <- b(X, Y) WHERE {chosen}.", "k.ele") == parse(f"e <- b(X, Y) WHERE {plain}.", "k.ele")
