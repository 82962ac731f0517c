"""Successors of partial matches: which events extend which of them, decided once for all with equal values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query, SubgoalColumn
from inkling.evaluators.query.sets.needs import StageNeeds
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized.columns import ARROW_TYPES
from inkling.model.event import Value

Values = tuple[Value, ...]
MOST_KNOWN = 200_000


class PartialMatch(NamedTuple):
    """A partial match up to a stage; it waits for an event of the next stage, or for one more (`again`) of the same."""

    stage: int
    again: bool
    values: Values  # of the places that are kept


class Role(NamedTuple):
    """An event as a candidate of a stage; `accepted` if the conditions on the event alone accept it."""

    stage: int
    accepted: bool
    values: Values  # of the columns that matter


Roles = tuple[Role, ...]
"""All roles of an event; an event without any has no effect."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of one event: entries that it takes, and entries that it makes of others (None: of no other)."""

    taken: tuple[PartialMatch, ...]
    made: tuple[tuple[PartialMatch | None, PartialMatch], ...]
    done: tuple[PartialMatch | None, ...]  # entries that it completes


class Successors:
    """Decides which events extend which entries."""

    def __init__(self, query: Query, needs: Sequence[StageNeeds], context: ExpressionContext) -> None:
        self._query, self._needs, self._context = query, needs, context
        self._stage_of = {stage.slot: number for number, stage in enumerate(query.stages)}
        self._place_in = [
            {column: at for at, column in enumerate(one.columns)} for one in needs
        ]  # of columns among the values of a role
        self._kept_in = [
            ({place: at for at, place in enumerate(one.done)}, {place: at for at, place in enumerate(one.again)})
            for one in needs
        ]
        self._known: dict[tuple[PartialMatch, Role], tuple[bool, bool]] = {}

    def effects(self, entries: Sequence[PartialMatch], events: Iterable[Roles]) -> dict[Roles, Effects]:
        """The effects of each event on these entries."""
        waiting: dict[tuple[int, bool, Values], list[PartialMatch]] = {}
        for entry in entries:
            number, kept = entry.stage + (not entry.again), self._kept_in[entry.stage][entry.again]
            agreed = tuple(entry.values[kept[place]] for _, place in self._needs[number].agreements(entry.again))
            waiting.setdefault((number, entry.again, agreed), []).append(entry)
        distinct = [*dict.fromkeys(events)]
        agreeing = {role: self._agreeing(role, waiting) for roles in distinct for role in roles}
        self._decide((entry, role) for role, some in agreeing.items() for entry in some)
        return {roles: self._effects_of(roles, agreeing) for roles in distinct}

    def _agreeing(
        self, role: Role, waiting: Mapping[tuple[int, bool, Values], list[PartialMatch]]
    ) -> list[PartialMatch]:
        """Entries that have the values in common with an event that they share; a missing one equals nothing."""
        found: list[PartialMatch] = []
        own = self._place_in[role.stage]
        for again in (False, True):
            agreed = tuple(role.values[own[column]] for column, _ in self._needs[role.stage].agreements(again))
            if None not in agreed:
                found += waiting.get((role.stage, again, agreed), ())
        return found

    def _effects_of(self, roles: Roles, agreeing: Mapping[Role, Sequence[PartialMatch]]) -> Effects:
        taken: list[PartialMatch] = []
        made: list[tuple[PartialMatch | None, PartialMatch]] = []
        done: list[PartialMatch | None] = []
        for role in roles:
            sources: list[PartialMatch | None] = [None] if role.stage == 0 and role.accepted else []
            for entry in agreeing[role]:
                takes, accepts = self._known[entry, role]
                if takes:
                    taken.append(entry)
                if accepts:
                    sources.append(entry)
            for source in sources:
                if role.stage == len(self._needs) - 1:
                    done.append(source)
                else:
                    made.append((source, self._next(source, role, again=False)))
                if self._query.stages[role.stage].repeated:
                    made.append((source, self._next(source, role, again=True)))
        return Effects(tuple(taken), tuple(made), tuple(done))

    def _next(self, source: PartialMatch | None, role: Role, again: bool) -> PartialMatch:
        needs = self._needs[role.stage]
        kept = needs.again if again else needs.done
        return PartialMatch(role.stage, again, tuple(self._value(place, source, role) for place in kept))

    def _value(self, place: SubgoalColumn, source: PartialMatch | None, role: Role) -> Value:
        if place.stage == role.stage:
            return role.values[self._place_in[role.stage][place.column]]
        assert source is not None, "the first stage has nothing before it"
        return source.values[self._kept_in[source.stage][source.again][place]]

    def _decide(self, pairs: Iterable[tuple[PartialMatch, Role]]) -> None:
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        asked: dict[tuple[int, bool], list[tuple[PartialMatch, Role]]] = {}
        for pair in pairs:
            if pair in self._known:
                continue
            entry, role = pair
            self._known[pair] = True, role.accepted
            asked.setdefault((role.stage, entry.again), []).append(pair)
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
        slot, own = self._query.stages[number].slot, self._place_in[number]

        def resolve(expr: e.Expr) -> pa.Array:
            match expr:
                case e.ColumnOf(slot=at, column=column) if at == slot:
                    values = [role.values[own[column]] for _, role in pairs]
                case e.ColumnOf(slot=at, column=column) | e.ListColumn(slot=at, column=column):
                    place = SubgoalColumn(self._stage_of[at], column)
                    values = [entry.values[self._kept_in[entry.stage][entry.again][place]] for entry, _ in pairs]
                case _:
                    raise AssertionError(f"{expr} is no column of an event")
            return pa.array(values, ARROW_TYPES[expr.type])

        truth = np.ones(len(pairs), bool)
        for condition in conditions:
            truth &= truth_of(condition, resolve, len(pairs), self._context)
        return truth
