"""Programs on which the attack once found something: they compile, or end in a message."""

import pytest
from tests.attack.findings import Finding
from tests.attack.programs import outcome

from inkling.language import parse

MENDED = {"a condition without an alternative": (".ele", "e <- b(X, Y) WHERE (X > 1 -> Y > 23), X < 9.")}


@pytest.mark.parametrize("name", MENDED)
def test_it_ends_well(name: str) -> None:
    notation, text = MENDED[name]
    ended = outcome(text, notation)
    assert not isinstance(ended, Finding), ended


def test_a_condition_without_an_alternative_fails_where_it_is_false() -> None:
    """As in Prolog, where `(A -> B)` is `(A -> B ; fail)`."""
    plain, chosen = ("X > 1, Y > 23", "(X > 1 -> Y > 23)")
    assert parse(f"e <- b(X, Y) WHERE {chosen}.", "k.ele") == parse(f"e <- b(X, Y) WHERE {plain}.", "k.ele")
