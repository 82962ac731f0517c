"""Random patterns that a consumption policy can read as pairs, and random policies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.kit.conditions import Variable
from tests.kit.patterns import PatternMaker, Piece, Place

from inkling.model.types import Type

POLICIES = ("CONSUME RECENT", "CONSUME CHRONOLOGICAL")


@dataclass(slots=True)
class PairMaker(PatternMaker):
    """Makes patterns in which everything happens once and sequences skip freely."""

    def pattern(self, at: Place) -> Piece:
        if at.depth <= 0 or self.n_leaves <= 1:
            return self.leaf(at)
        kinds = {"sequence": 50, "and": 10, "or": 8, "par": 8, "allen": 24, "not between": 4, "body": 10}
        match self.rng.choices(list(kinds), list(kinds.values()))[0]:
            case "sequence":
                return self.sequence(at)
            case "and":
                return self.joined(at, "AND")
            case "par":
                return self.joined(at, "PAR")
            case "or":
                return self.alternatives(at)
            case "allen":
                return self.joined(at, self.relation())
            case "not between":
                return self.not_between(at)
            case _:
                return self.body(at)

    def sequence(self, at: Place) -> Piece:
        inner = at.deeper()
        parts: list[Piece] = []
        texts: list[str] = []
        for number in range(self.rng.randint(2, 3)):
            if parts and self.n_leaves <= 0:
                break
            part = self.leaf(inner) if self.chance(0.7) else self.pattern(inner)
            inner = inner.after(part.variables)
            if number and self.chance(0.2):
                texts.append(f"NOT {self._absent(inner)}")
            parts.append(part)
            texts.append(part.unit)
        return Piece(f"SEQ ({', '.join(texts)})", tuple(variable for part in parts for variable in part.variables))

    def window(self) -> tuple[str, bool]:
        return f"WITHIN {self.rng.randint(2, 8)} {self.rng.choice(('TICKS', 'POINTS'))}", True


def random_policy(rng: random.Random, variables: Sequence[Variable]) -> str:
    """`CONSUME …` with all it may be followed by."""
    clause = rng.choice(POLICIES) + rng.choice(("", " KEEPING"))
    if rng.random() < 0.5:
        return clause
    numbers = [
        f"{one.name}.{column}"
        for one in variables
        if not one.is_span
        for column, kind in one.columns.items()
        if kind in (Type.INTEGER, Type.DOUBLE)
    ]
    choices = ["LONGER", "SHORTER", *([rng.choice(numbers)] if numbers else [])]
    return f"{clause} PREFER {rng.choice(choices)}"
