"""Rules that random programs may ask, conditions that ask them, and aggregates written in Python."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
from tests.kit.conditions import Variable
from tests.kit.universe import TEXTS

from inkling import aggregate
from inkling.logical.user_aggregates import REGISTERED
from inkling.model.types import Type

RULES = """\
RULE linked(a, b) IF near(a, b);
RULE linked(a, c) IF linked(a, b) AND near(b, c);
RULE above(s, n) IF lim(s, top) AND n > top;
RULE outside(a) IF near(a, _) AND NOT linked(a, a);
"""
"""Over the tables that all random programs have: one that uses itself, one that asks its caller, one that denies."""

AGGREGATES = ("reach_of_all", "odds_less_evens")
"""Of whole numbers: a function of all values, and a class that values enter and leave.

They stay registered for the rest of the process, so no message may suggest their names for a misspelled one.
"""


class Swing:
    """How much even and odd numbers weigh against each other."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, value: int) -> None:
        self.total += value if value % 2 else -value

    def remove(self, value: int) -> None:
        self.total -= value if value % 2 else -value

    def value(self) -> int:
        return self.total


def reach(values: np.ndarray) -> int:
    return int(values.max() - values.min())


def register_aggregates() -> None:
    """Make the aggregates known to programs of this process."""
    one, other = AGGREGATES
    if one not in REGISTERED:
        aggregate(one, returns="INTEGER")(reach)
    if other not in REGISTERED:
        aggregate(other, returns="INTEGER")(Swing)


def rule_condition(rng: random.Random, columns: Mapping[str, Type], fact: str, others: list[Variable]) -> str:
    """A call of a rule about an event that has a text; `fact` is a name that nothing else binds."""
    choices = [
        f"linked(s, '{rng.choice(TEXTS)}')",
        f"linked(s, {fact})",
        f"NOT linked(s, {fact})",
        f"linked({fact}, s)",
    ]
    choices += ["outside(s)", "NOT outside(s)"]
    if columns.get("x") is Type.INTEGER:
        choices += ["above(s, x)", "NOT above(s, x)", f"linked(s, {fact}) AND above({fact}, x)"]
    texts = [one for one in others if not one.is_list and "s" in one.columns]
    if texts:
        other = f"{rng.choice(texts).name}.s"
        choices += [f"linked(s, {other})"] * 3 + [f"NOT linked(s, {other})"]
        if columns.get("x") is Type.INTEGER:
            choices += [f"NOT above({other}, x)", f"above({other}, x) OR linked(s, {other})"]
    return rng.choice(choices)
