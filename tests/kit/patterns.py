"""Random patterns: every operator nested in any way, small enough for the definition to try everything."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from zlib import crc32

from tests.kit.background import rule_condition
from tests.kit.conditions import (
    Variable,
    across_condition,
    aggregate_condition,
    finished_condition,
    local_condition,
    look_back_condition,
    round_condition,
)

from inkling.language.syntax import RELATIONS
from inkling.logical.patterns.allen import ENDED_BY
from inkling.model.types import Type

Variables = tuple[Variable, ...]
Branches = tuple[tuple[int, int], ...]

REPETITIONS = (
    ("+", 1, False),
    ("*", 0, False),
    ("?", 0, True),
    ("{2}", 2, True),
    ("{2,}", 2, False),
    ("{1,2}", 1, True),
    ("{0,2}", 0, True),
)
"""How it is written, the least number of times, and whether there is a largest."""


@dataclass(frozen=True, slots=True)
class Source:
    """A stream or an earlier event that a pattern may name."""

    name: str
    columns: Mapping[str, Type]
    is_ordered: bool
    is_stream: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a pattern: its text, the variables that others may read, and whether it may be left out."""

    text: str
    variables: Variables = ()
    may_be_empty: bool = False
    is_unit: bool = True
    is_repetition: bool = False
    repeats: Variable | None = None  # the single event of a repetition

    @property
    def unit(self) -> str:
        """The text where only one unit may stand."""
        return self.text if self.is_unit else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part stands: what it can read, how deep it may nest, and which operators enclose it."""

    visible: Variables = ()
    depth: int = 3
    branches: Branches = ()
    in_repetition: bool = False
    has_limit: bool = False  # a window in time directly around it

    def after(self, variables: Variables) -> Place:
        return replace(self, visible=(*self.visible, *variables), has_limit=False)

    def deeper(self) -> Place:
        return replace(self, depth=self.depth - 1, has_limit=False)

    def readable(self) -> list[Variable]:
        here = Variable("", {}, branches=self.branches)
        return [variable for variable in self.visible if variable.may_meet(here)]


@dataclass(slots=True)
class PatternMaker:
    """Makes the pattern of one event from a source of random choices."""

    rng: random.Random
    sources: Sequence[Source]
    scope_is_ordered: bool
    n_leaves: int  # how many more it may have
    n_unbounded: int = 1  # how many more repetitions without an upper limit
    n_names: int = 0
    names: list[str] = field(default_factory=list)
    asks_rules: bool = False

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def fresh(self, prefix: str) -> str:
        self.n_names += 1
        return f"{prefix}{self.n_names}"

    def pattern(self, at: Place) -> Piece:
        """Any pattern."""
        if at.depth <= 0 or self.n_leaves <= 1:
            return self.leaf(at)
        kinds = {
            "leaf": 8,
            "sequence": 48,
            "and": 8,
            "or": 8,
            "par": 4,
            "allen": 10,
            "not between": 5,
            "except": 5,
            "moments": 4,
            "body": 9,
        }
        match self.rng.choices(list(kinds), list(kinds.values()))[0]:
            case "leaf":
                return self.leaf(at)
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
            case "except":
                return self.exception(at)
            case "moments":
                return self.beside_moments(at)
            case _:
                return self.body(at)

    def relation(self) -> str:
        one, other = self.rng.sample(RELATIONS, 2)
        return f"{{{one}, {other}}}" if self.chance(0.3) else one

    def leaf(self, at: Place, *, repeated: bool = False, named: bool = True) -> Piece:
        """One event; a repeated one may look back at its predecessor in the list."""
        self.n_leaves -= 1
        chosen = self.rng.sample(list(self.sources), 1 if self.chance(0.85) else min(2, len(self.sources)))
        columns = {
            name: kind
            for name, kind in chosen[0].columns.items()
            if all(other.columns.get(name) is kind for other in chosen)
        }
        name = self.fresh("v")
        text = f"{' | '.join(source.name for source in chosen)} {name}"
        conditions = []
        if columns and self.chance(0.35):
            conditions.append(local_condition(self.rng, columns, self.fresh("f")))
        readable = [variable for variable in at.readable() if not variable.is_span]
        if readable and columns and self.chance(0.3):
            conditions.append(across_condition(self.rng, columns, self.rng.choice(readable)))
        if self.asks_rules and "s" in columns and self.chance(0.3):
            conditions.append(rule_condition(self.rng, columns, self.fresh("f"), readable))
        if repeated and columns and not at.in_repetition and self.chance(0.4):
            conditions.append(look_back_condition(self.rng, name, columns))
        if conditions:
            text += f"[{' AND '.join(f'({one})' if ' OR ' in one else one for one in conditions)}]"
        variable = Variable(name, columns, branches=at.branches)
        piece = Piece(text, (variable,) if named else ())
        if not repeated and columns and self.chance(0.03):
            column = self.rng.choice(list(columns))
            return replace(piece, text=f"{text} CHECK ({name}.{column} IS NOT NULL)", is_unit=False)
        return piece

    def anything(self, at: Place) -> Piece:
        self.n_leaves -= 1
        return Piece(f"_ {self.fresh('v')}" if self.chance(0.3) else "_")

    def component(self, at: Place) -> Piece:
        """A part of a sequence, maybe repeated."""
        if self.chance(0.1):
            return self.maybe_repeated(self.anything(at), at)
        if at.depth <= 0 or self.n_leaves <= 1 or self.chance(0.55):
            if self.chance(0.4):
                once = self.leaf(at, repeated=True)
                return replace(self.repetition(once, at), repeats=once.variables[0])
            return self.leaf(at)
        if self.chance(0.3):
            group = self.pattern(replace(at.deeper(), in_repetition=True))
            return self.repetition(group, at, bounded=True)
        return self.pattern(at.deeper())

    def maybe_repeated(self, piece: Piece, at: Place) -> Piece:
        return self.repetition(piece, at) if self.chance(0.4) else piece

    def repetition(self, piece: Piece, at: Place, *, bounded: bool = False) -> Piece:
        suffix, low, is_bounded = self.rng.choice(REPETITIONS)
        if not is_bounded:
            if self.n_unbounded <= 0 or bounded:
                suffix, low = "{1,2}", 1
            else:
                self.n_unbounded -= 1
        variables = () if at.in_repetition else tuple(one.repeated() for one in piece.variables)
        if suffix == "?" and not at.in_repetition:
            variables = piece.variables
        return Piece(f"{piece.unit}{suffix}", variables, piece.may_be_empty or low == 0, is_repetition=True)

    def sequence(self, at: Place) -> Piece:
        """SEQ with absences, borders and complements where they may stand."""
        policy = self.rng.choice(("", "ANY ", "NEXT ", "NEXT ", "STRICT ", "STRICT "))
        inner = at.deeper()
        parts: list[Piece] = []
        for _ in range(self.rng.randint(1 if parts else 2, 3)):
            if parts and self.n_leaves <= 0:
                break
            part = self.component(inner)
            inner = inner.after(part.variables)
            parts.append(part)
        texts = [part.text if part.is_unit else f"({part.text})" for part in parts]
        if policy == "NEXT ":
            texts = _some_checked(_some_eager(texts, parts), parts, at)
        sure = [index for index, part in enumerate(parts) if not part.may_be_empty]
        if sure and self.chance(0.06):
            place = self.rng.randint(0, len(texts))
            texts.insert(place, self.moment())
            sure = sorted([place, *(index + (index >= place) for index in sure)])
        if sure:
            texts = self._with_gaps(texts, sure, inner, policy)
        if policy == "STRICT " and self.scope_is_ordered and self.chance(0.08):
            place = self.rng.choice((0, len(texts)))
            texts = [*texts[:place], f"COMPLEMENT({self._word(inner)})", *texts[place:]]
        elif sure:
            texts = self._with_borders(texts, at.has_limit, inner)
        variables = tuple(variable for part in parts for variable in part.variables)
        return Piece(f"SEQ {policy}({', '.join(texts)})", variables, not sure)

    def _with_gaps(self, texts: list[str], sure: list[int], at: Place, policy: str) -> list[str]:
        """Absences or complements between two parts that are always there."""
        middle = [gap for gap in range(len(texts) - 1) if sure[0] <= gap < sure[-1]]
        if not middle or not self.chance(0.35):
            return texts
        gap = self.rng.choice(middle)
        if policy == "STRICT " and self.scope_is_ordered and self.chance(0.7):
            extra = f"COMPLEMENT({self._word(at)})"
        else:
            extra = f"NOT {self._absent(at)}"
        return [*texts[: gap + 1], extra, *texts[gap + 1 :]]

    def _with_borders(self, texts: list[str], has_limit: bool, at: Place) -> list[str]:
        """Absences at the start and at the end, a deadline, the start of the stream."""
        if self.chance(0.08):
            texts = ["AT START", f"NOT {self._absent(at)}", *texts]
        elif has_limit and self.chance(0.15):
            texts = [f"NOT {self._absent(at)}", *texts]
        if self.chance(0.08):
            absence = [f"NOT {self._absent(at)}"] if self.chance(0.8) else []
            texts = [*texts, *absence, f"AFTER {self.rng.randint(0, 4)} TICKS"]
        elif has_limit and self.chance(0.15):
            texts = [*texts, f"NOT {self._absent(at)}"]
        return texts

    def _absent(self, at: Place) -> str:
        """A unit that must not occur; it may read everything in its sequence."""
        if self.chance(0.8) or self.n_leaves <= 1:
            return self.leaf(at, named=False).unit
        return self.pattern(replace(at, depth=1)).unit

    def _word(self, at: Place) -> str:
        """What a run of events must not be."""
        wanted = self.leaf(replace(at, in_repetition=True), named=False).unit
        return self.rng.choice([f"SEQ STRICT(_*, {wanted}, _*)", wanted, f"SEQ STRICT({wanted}+)", f"SEQ(_, {wanted})"])

    def joined(self, at: Place, operator: str) -> Piece:
        """Two patterns with an operator between them."""
        left = self.pattern(at.deeper())
        right = self.pattern(at.deeper().after(left.variables))
        operator = _some_optional(operator, left.text + right.text)
        return Piece(f"{left.unit} {operator} {right.unit}", (*left.variables, *right.variables), is_unit=False)

    def exception(self, at: Place) -> Piece:
        """A pattern that must not happen when another one does, on the same interval."""
        left = self.pattern(at.deeper())
        names = [variable.name for variable in left.variables]
        if self.chance(0.5) and left.text.startswith("SEQ") and not names and left.text.endswith(")"):
            right = left.text  # the same again, so that something is taken away
        else:
            right = self.pattern(replace(at.after(left.variables), depth=1)).unit
        return Piece(f"{left.unit} EXCEPT {right}", left.variables, is_unit=False)

    def moment(self) -> str:
        return f"AT {self.rng.randint(0, 9)}"

    def beside_moments(self, at: Place) -> Piece:
        """A pattern in some relation to times of the clock."""
        left = self.pattern(at.deeper())
        right = self.rng.choice((self.moment(), f"SEQ({self.moment()}, {self.moment()})"))
        operator = self.rng.choice(("AND", "PAR", "DURING", self.relation(), "EXCEPT"))
        return Piece(f"{left.unit} {operator} {right}", left.variables, is_unit=False)

    def alternatives(self, at: Place) -> Piece:
        choice = self.n_names = self.n_names + 1
        pieces = [self.pattern(replace(at.deeper(), branches=(*at.branches, (choice, branch)))) for branch in range(2)]
        return Piece(
            " OR ".join(piece.unit for piece in pieces),
            tuple(variable for piece in pieces for variable in piece.variables),
            any(piece.may_be_empty for piece in pieces),
            is_unit=False,
        )

    def not_between(self, at: Place) -> Piece:
        left, right = self.leaf(at), self.leaf(at)
        absent = self._absent(at.after((*left.variables, *right.variables)))
        return Piece(
            f"NOT {absent} BETWEEN {left.unit} AND {right.unit}", (*left.variables, *right.variables), is_unit=False
        )

    def window(self) -> tuple[str, bool]:
        """A limit, and whether it measures time."""
        kind = self.rng.choice(("TICKS", "TICKS", "POINTS", "EVENTS"))
        return f"WITHIN {self.rng.randint(2, 8)} {kind}", kind != "EVENTS"

    def body(self, at: Place) -> Piece:
        """A pattern in parentheses with clauses of its own, maybe named."""
        window, measures_time = self.window() if self.chance(0.7) else ("", False)
        inner = self.pattern(replace(at.deeper(), has_limit=measures_time))
        text = f"{inner.text} {window}".strip()
        having = self.condition_on(inner.variables)
        if having is not None and self.chance(0.4):
            text += f" HAVING {having}"
        if text == inner.text:
            return inner
        if at.in_repetition or not self.chance(0.4):
            return Piece(f"({text})", inner.variables, inner.may_be_empty)
        name = self.fresh("b")
        span = Variable(name, {}, is_span=True, branches=at.branches)
        return Piece(f"({text}) {name}", (*inner.variables, span), inner.may_be_empty)

    def condition_on(self, variables: Variables) -> str | None:
        lists = [variable for variable in variables if variable.is_list]
        if lists and self.chance(0.6):
            return aggregate_condition(self.rng, self.rng.choice(lists))
        return finished_condition(self.rng, variables)


def _some_optional(operator: str, seed: str) -> str:
    """One in eight operators becomes OPTIONAL; no chance is drawn for it, so that all other choices stay."""
    number = crc32(seed.encode())
    if number % 8:
        return operator
    relations = sorted(ENDED_BY)
    return f"OPTIONAL {relations[number // 16 % len(relations)]}" if number % 16 else "OPTIONAL"


def _some_eager(texts: list[str], parts: list[Piece]) -> list[str]:
    """One in six of the repetitions that may be eager; no chance is drawn for it, so that all other choices stay."""
    made = list(texts)
    for place, (part, after) in enumerate(pairwise(parts)):
        may_be = part.is_repetition and not part.may_be_empty and not after.may_be_empty
        if may_be and crc32(part.text.encode()) % 6 == 0:
            made[place] += " EAGER"
    return made


def _some_checked(texts: list[str], parts: list[Piece], at: Place) -> list[str]:
    """One in six of the repetitions of single events, by choices of their own, so that all other choices stay."""
    made = list(texts)
    visible = at.readable()
    for place, part in enumerate(parts):
        rng = random.Random(crc32(part.text.encode()))
        if part.repeats is not None and part.repeats.columns and rng.random() < 1 / 6:
            readable = [variable for variable in visible if not variable.is_span]
            made[place] += f" CHECK ({round_condition(rng, part.repeats, readable, looks_back=not at.in_repetition)})"
        visible += part.variables
    return made
