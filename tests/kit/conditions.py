"""Random conditions over the columns and variables that can be read at some place of a pattern."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.kit.universe import NUMBERS, TEXTS, WHOLE_NUMBERS

from inkling.model.types import Type

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a pattern as later parts see it."""

    name: str
    columns: Mapping[str, Type]
    is_list: bool = False  # repeated: only FIRST, LAST and aggregates read it
    is_span: bool = False  # names a nested pattern: only START and END read it
    branches: tuple[tuple[int, int], ...] = ()  # the OR and which of its branches, from the outside in

    def repeated(self) -> Variable:
        return replace(self, is_list=True)

    def may_meet(self, other: Variable) -> bool:
        """Whether both can be filled in one match: not from different branches of one OR."""
        chosen = dict(self.branches)
        return all(chosen.get(choice, branch) == branch for choice, branch in other.branches)


def local_condition(rng: random.Random, columns: Mapping[str, Type], fact: str) -> str:
    """About one event; `fact` is a name that no other condition binds."""
    whole = rng.choice([name for name, kind in columns.items() if kind is Type.INTEGER] or ["1"])
    operator = rng.choice(COMPARISONS)
    choices = [f"{whole} {operator} {rng.choice(WHOLE_NUMBERS)}", f"{whole} % 2 = 0"]
    if whole != "1":
        choices += [f"{whole} IS NOT NULL", f"{whole} IS NULL OR {whole} > 1", f"NOT ({whole} = 1)"]
    if "s" in columns:
        text = rng.choice(TEXTS)
        choices += [f"s = '{text}'", f"s <> '{text}'", f"s IN ('{text}', 'b')", f"s NOT IN ('{text}')"]
        choices += [f"near(s, '{text}')", f"near(s, {fact})", f"NOT near({fact}, s)", "length(s) = 1"]
        choices += [f"lim(s, {fact}) AND {fact} >= {whole}"]
    if "y" in columns:
        choices += [f"y {operator} {rng.choice(NUMBERS)}", f"{whole} + 1 > y", f"abs({whole} - y) <= 1"]
        choices += [f"y / {whole} < 2", f"(y = 0.5 OR {whole} = 1)"]
    if columns.get("d") is Type.DURATION:
        choices += [f"d {operator} {rng.randint(0, 2)}"] * 4
    return rng.choice(choices)


def across_condition(rng: random.Random, columns: Mapping[str, Type], other: Variable) -> str:
    """About an event, whose columns are written bare, and another part of the pattern."""
    shared = [name for name in columns if name in other.columns]
    if not shared:
        return f"END({other.name}) >= {rng.randint(0, 3)}"
    name = rng.choice(shared)
    read = _reading(rng, other, name)
    if name in ("k", "s"):
        choices = [f"{name} = {read}", f"{name} <> {read}"]
        if name == "s":
            choices += [f"near(s, {read})", text_condition(rng, "s", read), look_up_condition(rng, "s", read)]
        return rng.choice(choices)
    operator = rng.choice(COMPARISONS)
    distance = f"{name} - {read} {rng.choice(('<=', '>'))} {rng.randint(0, 1)}"
    choices = [f"{name} {operator} {read}", f"{name} = {read}", distance]
    return rng.choice([*choices, place_condition(rng, name, read)] if columns[name].is_numeric else choices)


def text_condition(rng: random.Random, one: str, other: str) -> str:
    """About the texts of two events together, which no kernel computes."""
    both = f"concat({one}, {other})"
    text = rng.choice(TEXTS) + rng.choice(TEXTS)
    return rng.choice(
        [
            f"{both} {rng.choice(COMPARISONS)} '{text}'",
            f"lower({both}) = upper(concat({other}, {one})) OR {one} < {other}",
            f"{both} IN ('{text}', 'ab')",
            f"{both} IS NOT NULL",
            f"NOT length({both}) + 1 {rng.choice(COMPARISONS)} {rng.randint(2, 4)}",
        ]
    )


def look_up_condition(rng: random.Random, one: str, other: str) -> str:
    """Whether tables have rows about the texts of two events, where it need not be so."""
    return rng.choice(
        [
            f"NOT near({one}, lower({other}))",
            f"near({one}, {other}) OR lim({other}, length(concat({one}, {other})) - 1)",
            f"NOT lim({one}, length({other}) + length({one}) - {rng.randint(0, 2)})",
            f"NOT (near(concat({one}, ''), {other}) AND lim({one}, _))",
        ]
    )


def place_condition(rng: random.Random, x: str, y: str) -> str:
    """About a position whose coordinates come from two events."""
    return rng.choice(
        [
            f"contains('POLYGON((0 0, 3 0, 3 2, 0 2, 0 0))', {x}, {y})",
            f"NOT contains('POLYGON((0 0, 3 0, 0 3, 0 0))', {x} + 0.5, {y})",
            f"distance_to('POINT(1 1)', {x}, {y}) {rng.choice(COMPARISONS)} {rng.choice(NUMBERS)}",
            f"passing_distance({x}, {y}, 90, 150000, {y}, {x}) {rng.choice(('<', '>='))} 200000",
        ]
    )


def look_back_condition(rng: random.Random, variable: str, columns: Mapping[str, Type]) -> str:
    """About a repeated event and the repetition before it."""
    name = rng.choice(list(columns))
    if name == "s" and rng.random() < 0.5:
        return rng.choice((text_condition, look_up_condition))(rng, "s", f"LAST({variable}).s")
    operator = rng.choice(("=", "<>")) if name in ("k", "s") else rng.choice(COMPARISONS)
    return f"{name} {operator} LAST({variable}).{name}"


def round_condition(rng: random.Random, variable: Variable, others: Sequence[Variable], *, looks_back: bool) -> str:
    """About each event of a repetition, written with its name; maybe about other parts or the event before it."""
    name = rng.choice(list(variable.columns))
    operator = rng.choice(("=", "<>")) if name in ("k", "s") else rng.choice(COMPARISONS)
    comparable = [other for other in others if name in other.columns]
    choices = [f"{variable.name}.{name} IS NOT NULL"]
    if name == "s":
        choices = [f"{variable.name}.s = '{rng.choice(TEXTS)}'", f"near({variable.name}.s, 'a')"]
    elif name != "k":
        choices = [f"{variable.name}.{name} {operator} {rng.choice(WHOLE_NUMBERS)}"]
    if looks_back:
        choices.append(f"{variable.name}.{name} {operator} LAST({variable.name}).{name}")
    if comparable:
        choices.append(f"{variable.name}.{name} {operator} {_reading(rng, rng.choice(comparable), name)}")
    chosen = rng.sample(choices, min(len(choices), rng.choice((1, 1, 2))))
    return " AND ".join(chosen)


def finished_condition(rng: random.Random, variables: Sequence[Variable]) -> str | None:
    """About one or two parts of a pattern, written with their names."""
    if not variables:
        return None
    one = rng.choice(list(variables))
    partners = [two for two in variables if two != one and one.may_meet(two) and not two.is_list and not two.is_span]
    if one.is_span:
        return f"END({one.name}) - START({one.name}) {rng.choice(('<=', '>'))} {rng.randint(0, 3)}"
    if partners and rng.random() < 0.6:
        two = rng.choice(partners)
        if rng.random() < 0.25:
            return f"END({two.name}) - START({one.name}) {rng.choice(COMPARISONS)} {rng.randint(0, 3)}"
        if not one.is_list and rng.random() < 0.2:
            return f"ID({one.name}) {rng.choice(('<>', '<>', '='))} ID({two.name})"
        shared = [name for name in one.columns if name in two.columns]
        if shared:
            name = rng.choice(shared)
            if name == "s" and rng.random() < 0.5:
                chosen = rng.choice((text_condition, look_up_condition))
                return chosen(rng, _reading(rng, one, name), f"{two.name}.s")
            operator = rng.choice(("=", "<>")) if name in ("k", "s") else rng.choice(COMPARISONS)
            return f"{_reading(rng, one, name)} {operator} {two.name}.{name}"
    name = rng.choice([name for name in one.columns if name != "k"] or ["?"])
    if name == "?":
        return f"START({one.name}) < {rng.randint(2, 5)}"
    if name == "s":
        return f"{_reading(rng, one, name)} IN ('a', 'b')"
    return f"{_reading(rng, one, name)} {rng.choice(COMPARISONS)} {rng.choice(WHOLE_NUMBERS)}"


def aggregate_condition(rng: random.Random, variable: Variable) -> str:
    """About a whole repetition."""
    return f"{aggregate(rng, variable)} {rng.choice(('>=', '<', '=', '<>'))} {rng.randint(1, 3)}"


def aggregate(rng: random.Random, variable: Variable) -> str:
    """A number that a repetition has as a whole."""
    numeric = [name for name, kind in variable.columns.items() if kind.is_numeric]
    if not numeric or rng.random() < 0.3:
        return f"COUNT({variable.name})"
    function = rng.choice(("COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "MEDIAN"))
    return f"{function}({variable.name}.{rng.choice(numeric)})"


def _reading(rng: random.Random, variable: Variable, column: str) -> str:
    if variable.is_list:
        return f"{rng.choice(('FIRST', 'LAST'))}({variable.name}).{column}"
    return f"{variable.name}.{column}"
