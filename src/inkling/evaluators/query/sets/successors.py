"""Successors: which events extend which partial matches, decided once for all events and matches with equal values.

A partial match keeps only the values that later subgoals compare with (its needs), so that equal ones can be merged.

    R(x); S(y); T(x)        after R(1) a match keeps x = 1; after S(7) still only x = 1, because T reads no y
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query, QueryVariable, Subgoal, SubgoalColumn
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized.columns import ARROW_TYPES
from inkling.model.event import Value

Places = frozenset[SubgoalColumn]


@dataclass(frozen=True, slots=True)
class SubgoalNeeds:
    """What a subgoal compares, and which values partial matches keep after it.

    Conditions that begin with `first_` are those for the first event of a repetition, which has no event before it.
    """

    columns: tuple[str, ...]  # of an event of the subgoal: those that matter
    same: tuple[tuple[str, str], ...]  # columns of one event that must be equal
    agrees: tuple[tuple[str, SubgoalColumn], ...]  # columns that must equal those of earlier events
    keeps: tuple[tuple[str, SubgoalColumn], ...]  # columns that all events of a repetition have in common
    joins: tuple[e.Expr, ...]  # conditions of candidates that read earlier events
    across: tuple[e.Expr, ...]  # conditions of accepted candidates that read earlier events
    first_joins: tuple[e.Expr, ...]
    first_across: tuple[e.Expr, ...]
    done: tuple[SubgoalColumn, ...]  # kept by matches that wait for the next subgoal
    again: tuple[SubgoalColumn, ...]  # kept by matches that may continue the repetition

    def agreements(self, again: bool) -> tuple[tuple[str, SubgoalColumn], ...]:
        return (*self.agrees, *self.keeps) if again else self.agrees

    def conditions(self, again: bool) -> tuple[tuple[e.Expr, ...], tuple[e.Expr, ...]]:
        """Conditions of candidates, and of accepted candidates."""
        return (self.joins, self.across) if again else (self.first_joins, self.first_across)


def needs_of(query: Query, variables: Sequence[str]) -> tuple[SubgoalNeeds, ...]:
    """The needs of each subgoal; values of `variables` need no comparison, because groundings are separate."""
    return _Needs(query, [query.variable(name) for name in variables]).subgoals()


class _Needs:
    def __init__(self, query: Query, distinguished: Sequence[QueryVariable]) -> None:
        self._query, self._distinguished = query, distinguished
        self._subgoal_of = {subgoal.slot: number for number, subgoal in enumerate(query.subgoals)}
        n = len(query.subgoals)
        self._same = [self._same_in(number) for number in range(n)]
        self._agrees = [self._agrees_in(number) for number in range(n)]
        self._keeps = [self._keeps_in(number) for number in range(n)]

    def subgoals(self) -> tuple[SubgoalNeeds, ...]:
        subgoals, later = self._query.subgoals, frozenset[SubgoalColumn]()
        made: list[SubgoalNeeds] = []
        everything: set[SubgoalColumn] = set()
        for number in range(len(subgoals) - 1, -1, -1):
            subgoal = subgoals[number]
            done = later
            again = self._read(number, again=True) | _before(later, number) if subgoal.repeated else frozenset()
            everything |= done | again
            later = _before(done | again | self._read(number, again=False), number)
            made.append(
                SubgoalNeeds(
                    self._columns(number, everything),
                    self._same[number],
                    self._agrees[number],
                    self._keeps[number],
                    subgoal.joins,
                    subgoal.across,
                    tuple(one for one in subgoal.joins if not _looks_back(one)),
                    tuple(one for one in subgoal.across if not _looks_back(one)),
                    tuple(sorted(done)),
                    tuple(sorted(again)),
                )
            )
        return tuple(made[::-1])

    def _keys(self, variable: QueryVariable, number: int) -> set[str]:
        source = self._query.source(number)
        return {column for column in variable.columns_in(number) if source.is_key(column)}

    def _same_in(self, number: int) -> tuple[tuple[str, str], ...]:
        """Columns outside the key in which a variable of the grounding occurs, each with a key column to equal."""
        found = []
        for variable in self._distinguished:
            keys = self._keys(variable, number)
            if not keys:
                raise ValueError(f"{variable.name} does not distinguish keys of part {number + 1}")
            found += [(column, min(keys)) for column in sorted(variable.columns_in(number) - keys)]
        return tuple(found)

    def _agrees_in(self, number: int) -> tuple[tuple[str, SubgoalColumn], ...]:
        found = []
        for variable in self._query.variables:
            earlier = [place for place in variable.places if place.subgoal < number]
            if variable not in self._distinguished and earlier:
                found += [(column, min(earlier)) for column in sorted(variable.columns_in(number))]
        return tuple(found)

    def _keeps_in(self, number: int) -> tuple[tuple[str, SubgoalColumn], ...]:
        subgoal = self._query.subgoals[number]
        if not subgoal.repeated:
            return ()
        known = {column for column, _ in self._agrees[number]} | {column for column, _ in self._same[number]}
        for variable in self._distinguished:
            known |= self._keys(variable, number)
        return tuple((column, SubgoalColumn(number, column)) for column in sorted(subgoal.kept - known))

    def _read(self, number: int, again: bool) -> Places:
        """The earlier columns that an event of the subgoal is compared with."""
        subgoal = self._query.subgoals[number]
        read = {place for _, place in (*self._agrees[number], *(self._keeps[number] if again else ()))}
        for condition in (*subgoal.joins, *subgoal.across):
            if again or not _looks_back(condition):
                read |= {place for part in e.walk(condition) if (place := self._place(part, subgoal)) is not None}
        return frozenset(read)

    def _place(self, part: e.Expr, subgoal: Subgoal) -> SubgoalColumn | None:
        match part:
            case e.ListColumn(slot=slot, column=column):
                return SubgoalColumn(self._subgoal_of[slot], column)
            case e.ColumnOf(slot=slot, column=column) if slot != subgoal.slot:
                return SubgoalColumn(self._subgoal_of[slot], column)
            case _:
                return None

    def _columns(self, number: int, kept: set[SubgoalColumn]) -> tuple[str, ...]:
        subgoal = self._query.subgoals[number]
        read = {place.column for place in kept if place.subgoal == number}
        read |= {column for column, _ in (*self._agrees[number], *self._keeps[number])}
        read |= {column for pair in self._same[number] for column in pair}
        for condition in (*subgoal.joins, *subgoal.across):
            read |= {
                part.column for part in e.walk(condition) if isinstance(part, e.ColumnOf) and part.slot == subgoal.slot
            }
        return tuple(sorted(read))


def _before(places: Places, number: int) -> Places:
    return frozenset(place for place in places if place.subgoal < number)


def _looks_back(condition: e.Expr) -> bool:
    """Whether a condition reads the event before in the same repetition."""
    return e.looks_back(condition)


Values = tuple[Value, ...]
MOST_KNOWN = 200_000


class PartialMatch(NamedTuple):
    """A partial match up to a subgoal; it waits for the next subgoal, or (`again`) continues a repetition."""

    subgoal: int
    again: bool
    values: Values  # of the columns that it keeps


class Role(NamedTuple):
    """An event as a candidate of a subgoal; `accepted` if the conditions on the event alone accept it."""

    subgoal: int
    accepted: bool
    values: Values  # of the columns that matter


Roles = tuple[Role, ...]
"""All roles of an event; an event without any has no effect."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of one event on partial matches; None stands for the empty match, which the first subgoal extends."""

    taken: tuple[PartialMatch, ...]  # matches that the event consumes
    made: tuple[tuple[PartialMatch | None, PartialMatch], ...]  # matches that it extends, and what they become
    done: tuple[PartialMatch | None, ...]  # matches that it completes


class Successors:
    """Decides which events extend which partial matches."""

    def __init__(self, query: Query, needs: Sequence[SubgoalNeeds], context: ExpressionContext) -> None:
        self._query, self._needs, self._context = query, needs, context
        self._subgoal_of = {subgoal.slot: number for number, subgoal in enumerate(query.subgoals)}
        self._place_in = [
            {column: at for at, column in enumerate(one.columns)} for one in needs
        ]  # of columns among the values of a role
        self._kept_in = [
            ({place: at for at, place in enumerate(one.done)}, {place: at for at, place in enumerate(one.again)})
            for one in needs
        ]
        self._known: dict[tuple[PartialMatch, Role], tuple[bool, bool]] = {}

    def effects(self, entries: Sequence[PartialMatch], events: Iterable[Roles]) -> dict[Roles, Effects]:
        """The effects of each event on some partial matches."""
        waiting: dict[tuple[int, bool, Values], list[PartialMatch]] = {}
        for entry in entries:
            number, kept = entry.subgoal + (not entry.again), self._kept_in[entry.subgoal][entry.again]
            agreed = tuple(entry.values[kept[place]] for _, place in self._needs[number].agreements(entry.again))
            waiting.setdefault((number, entry.again, agreed), []).append(entry)
        distinct = [*dict.fromkeys(events)]
        agreeing = {role: self._agreeing(role, waiting) for roles in distinct for role in roles}
        self._decide((entry, role) for role, some in agreeing.items() for entry in some)
        return {roles: self._effects_of(roles, agreeing) for roles in distinct}

    def _agreeing(
        self, role: Role, waiting: Mapping[tuple[int, bool, Values], list[PartialMatch]]
    ) -> list[PartialMatch]:
        """The partial matches whose shared variables equal those of an event; null equals nothing."""
        found: list[PartialMatch] = []
        own = self._place_in[role.subgoal]
        for again in (False, True):
            agreed = tuple(role.values[own[column]] for column, _ in self._needs[role.subgoal].agreements(again))
            if None not in agreed:
                found += waiting.get((role.subgoal, again, agreed), ())
        return found

    def _effects_of(self, roles: Roles, agreeing: Mapping[Role, Sequence[PartialMatch]]) -> Effects:
        taken: list[PartialMatch] = []
        made: list[tuple[PartialMatch | None, PartialMatch]] = []
        done: list[PartialMatch | None] = []
        for role in roles:
            sources: list[PartialMatch | None] = [None] if role.subgoal == 0 and role.accepted else []
            for entry in agreeing[role]:
                takes, accepts = self._known[entry, role]
                if takes:
                    taken.append(entry)
                if accepts:
                    sources.append(entry)
            for source in sources:
                if role.subgoal == len(self._needs) - 1:
                    done.append(source)
                else:
                    made.append((source, self._next(source, role, again=False)))
                if self._query.subgoals[role.subgoal].repeated:
                    made.append((source, self._next(source, role, again=True)))
        return Effects(tuple(taken), tuple(made), tuple(done))

    def _next(self, source: PartialMatch | None, role: Role, again: bool) -> PartialMatch:
        needs = self._needs[role.subgoal]
        kept = needs.again if again else needs.done
        return PartialMatch(role.subgoal, again, tuple(self._value(place, source, role) for place in kept))

    def _value(self, place: SubgoalColumn, source: PartialMatch | None, role: Role) -> Value:
        if place.subgoal == role.subgoal:
            return role.values[self._place_in[role.subgoal][place.column]]
        assert source is not None, "the first subgoal has nothing before it"
        return source.values[self._kept_in[source.subgoal][source.again][place]]

    def _decide(self, pairs: Iterable[tuple[PartialMatch, Role]]) -> None:
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        asked: dict[tuple[int, bool], list[tuple[PartialMatch, Role]]] = {}
        for pair in pairs:
            if pair in self._known:
                continue
            entry, role = pair
            self._known[pair] = True, role.accepted
            asked.setdefault((role.subgoal, entry.again), []).append(pair)
        for (number, again), some in asked.items():
            joins, across = self._needs[number].conditions(again)
            if joins:
                fitting = self._truth(joins, number, some)
                for pair, fits in zip(some, fitting.tolist(), strict=True):
                    if not fits:
                        self._known[pair] = False, False
                some = [pair for pair, fits in zip(some, fitting.tolist(), strict=True) if fits]
            some = [pair for pair in some if pair[1].accepted]
            if across and some:
                for pair, fits in zip(some, self._truth(across, number, some).tolist(), strict=True):
                    self._known[pair] = True, fits

    def _truth(
        self, conditions: Sequence[e.Expr], number: int, pairs: Sequence[tuple[PartialMatch, Role]]
    ) -> np.ndarray:
        slot, own = self._query.subgoals[number].slot, self._place_in[number]

        def resolve(expr: e.Expr) -> pa.Array:
            match expr:
                case e.ColumnOf(slot=at, column=column) if at == slot:
                    values = [role.values[own[column]] for _, role in pairs]
                case e.ColumnOf(slot=at, column=column) | e.ListColumn(slot=at, column=column):
                    place = SubgoalColumn(self._subgoal_of[at], column)
                    values = [entry.values[self._kept_in[entry.subgoal][entry.again][place]] for entry, _ in pairs]
                case _:
                    raise AssertionError(f"{expr} is no column of an event")
            return pa.array(values, ARROW_TYPES[expr.type])

        truth = np.ones(len(pairs), bool)
        for condition in conditions:
            truth &= truth_of(condition, resolve, len(pairs), self._context)
        return truth
