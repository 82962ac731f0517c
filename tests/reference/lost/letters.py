"""Questions about two keys as SimpMatch writes them, and the letters of Allen's relations.

`EXISTS(2) A intersects EXISTS B ON SAME stop` asks whether at least two segments of A touch some segment of B that has
the same stop. Programs ask `AT LEAST 2 S x INTERSECTS SOME S y ON SAME stop`; this is the short form for tables and
tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NoReturn

from tests.reference.lost.exact.question import BASIC, COMPOSITES, Question

Alphabet = Literal["standard", "paper"]

STANDARD = {
    "p": "PRECEDES",
    "m": "MEETS",
    "o": "OVERLAPS",
    "F": "FINISHED_BY",
    "D": "CONTAINS",
    "s": "STARTS",
    "e": "EQUALS",
    "S": "STARTED_BY",
    "d": "DURING",
    "f": "FINISHES",
    "O": "OVERLAPPED_BY",
    "M": "MET_BY",
    "P": "PRECEDED_BY",
}
LETTERS: dict[Alphabet, dict[str, str]] = {
    "standard": STANDARD,
    "paper": STANDARD | {"d": "CONTAINS", "D": "DURING", "f": "FINISHED_BY", "F": "FINISHES"},
}
"""The paper on SimpMatch swaps two pairs of letters; which alphabet is meant must always be said."""


def relations_of(letters: str, *, alphabet: Alphabet) -> tuple[str, ...]:
    """The relations that a word of letters names, such as `pmo`."""
    meant = LETTERS[alphabet]
    unknown = [letter for letter in letters if letter not in meant]
    if unknown or not letters:
        raise ValueError(f"`{''.join(unknown)}` names no relation; the letters are {' '.join(meant)}")
    return tuple(meant[letter] for letter in letters)


@dataclass(frozen=True, slots=True)
class Asking:
    """A question with the names of the two keys it is about."""

    left: str
    right: str
    question: Question


def parse_question(text: str) -> Asking:
    """Raises `ValueError` that says where the text goes wrong, and what would fit there."""
    reader = _Reader(text)
    least_left, left = reader.quantity(), reader.name()
    relations = reader.relations()
    least_right, right = reader.quantity(), reader.name()
    same = reader.label()
    reader.end()
    if left == right:
        raise ValueError(f"`{left}` is on both sides; a question is about two keys")
    return Asking(left, right, Question(least_left, relations, least_right, same))


class _Reader:
    """Words of a question, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = [(word.group(), word.start()) for word in re.finditer(r"[^\s(){},]+|[(){},]", text)]
        self._next = 0

    def quantity(self) -> int | None:
        word = self._word("ALL, EXISTS or EXISTS(k)")
        if word.upper() == "ALL":
            return None
        if word.upper() != "EXISTS":
            self._fail("ALL, EXISTS or EXISTS(k)")
        if not self._follows("("):
            return 1
        self._word("(")
        number = self._word("how many")
        if not number.isdecimal():
            self._fail("a whole number that is not negative")
        if self._word(")") != ")":
            self._fail(")")
        return int(number)

    def name(self) -> str:
        word = self._word("the name of a key")
        if not word.isidentifier():
            self._fail("the name of a key")
        return word

    def relations(self) -> tuple[str, ...]:
        if not self._follows("{"):
            return (self._relation(),)
        self._word("{")
        found = [self._relation()]
        while (word := self._word(", or }")) == ",":
            found.append(self._relation())
        if word != "}":
            self._fail(", or }")
        return tuple(found)

    def label(self) -> str | None:
        if self._next == len(self._words):
            return None
        for wanted in ("ON", "SAME"):
            if self._word("ON SAME, or the end").upper() != wanted:
                self._fail("ON SAME, or the end")
        return self.name()

    def end(self) -> None:
        if self._next < len(self._words):
            self._next += 1
            self._fail("the end")

    def _relation(self) -> str:
        word = self._word("a relation")
        known = [*BASIC, *COMPOSITES]
        if word.upper() not in known:
            near = get_close_matches(word.upper(), known, n=1)
            self._fail(f"a relation, such as {(near or ['INTERSECTS'])[0].lower()}")
        return word.upper()

    def _follows(self, mark: str) -> bool:
        return self._next < len(self._words) and self._words[self._next][0] == mark

    def _word(self, wanted: str) -> str:
        if self._next == len(self._words):
            raise ValueError(f"the question ends where {wanted} is expected: {self._text!r}")
        self._next += 1
        return self._words[self._next - 1][0]

    def _fail(self, wanted: str) -> NoReturn:
        word, place = self._words[self._next - 1]
        raise ValueError(f"`{word}` at character {place + 1}: expected {wanted}")
