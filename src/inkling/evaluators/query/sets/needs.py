"""What the stages of a query compare with earlier events, and what has to be kept of events for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inkling.analysis.query.query import Query, QueryVariable, Subgoal, SubgoalColumn
from inkling.logical import expr as e

Places = frozenset[SubgoalColumn]


@dataclass(frozen=True, slots=True)
class StageNeeds:
    """`done` is kept of matches up to the stage, `again` of those that may continue with one more event of it.

    An event agrees with itself in `same`, with earlier ones in `agrees`, and with the one before it of a repetition in
    `keeps`; `first` are conditions for the first event of a repetition, which has none before it.
    """

    columns: tuple[str, ...]
    same: tuple[tuple[str, str], ...]
    agrees: tuple[tuple[str, SubgoalColumn], ...]
    keeps: tuple[tuple[str, SubgoalColumn], ...]
    joins: tuple[e.Expr, ...]
    across: tuple[e.Expr, ...]
    first_joins: tuple[e.Expr, ...]
    first_across: tuple[e.Expr, ...]
    done: tuple[SubgoalColumn, ...]
    again: tuple[SubgoalColumn, ...]

    def agreements(self, again: bool) -> tuple[tuple[str, SubgoalColumn], ...]:
        return (*self.agrees, *self.keeps) if again else self.agrees

    def conditions(self, again: bool) -> tuple[tuple[e.Expr, ...], tuple[e.Expr, ...]]:
        """On candidates, and on those that are accepted."""
        return (self.joins, self.across) if again else (self.first_joins, self.first_across)


def needs_of(query: Query, variables: Sequence[str]) -> tuple[StageNeeds, ...]:
    """Per stage, where values of the given variables are known to agree by the keys of streams."""
    return _Needs(query, [query.variable(name) for name in variables]).stages()


class _Needs:
    def __init__(self, query: Query, distinguished: Sequence[QueryVariable]) -> None:
        self._query, self._distinguished = query, distinguished
        self._stage_of = {stage.slot: number for number, stage in enumerate(query.stages)}
        n = len(query.stages)
        self._same = [self._same_in(number) for number in range(n)]
        self._agrees = [self._agrees_in(number) for number in range(n)]
        self._keeps = [self._keeps_in(number) for number in range(n)]

    def stages(self) -> tuple[StageNeeds, ...]:
        stages, later = self._query.stages, frozenset[SubgoalColumn]()
        made: list[StageNeeds] = []
        everything: set[SubgoalColumn] = set()
        for number in range(len(stages) - 1, -1, -1):
            stage = stages[number]
            done = later
            again = self._read(number, again=True) | _before(later, number) if stage.repeated else frozenset()
            everything |= done | again
            later = _before(done | again | self._read(number, again=False), number)
            made.append(
                StageNeeds(
                    self._columns(number, everything),
                    self._same[number],
                    self._agrees[number],
                    self._keeps[number],
                    stage.joins,
                    stage.across,
                    tuple(one for one in stage.joins if not _looks_back(one)),
                    tuple(one for one in stage.across if not _looks_back(one)),
                    tuple(sorted(done)),
                    tuple(sorted(again)),
                )
            )
        return tuple(made[::-1])

    def _keys(self, variable: QueryVariable, number: int) -> set[str]:
        source = self._query.source(number)
        return {column for column in variable.columns_in(number) if source.is_key(column)}

    def _same_in(self, number: int) -> tuple[tuple[str, str], ...]:
        """Values of variables that are distinguished by keys, where they stand in other columns, too."""
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
            earlier = [place for place in variable.places if place.stage < number]
            if variable not in self._distinguished and earlier:
                found += [(column, min(earlier)) for column in sorted(variable.columns_in(number))]
        return tuple(found)

    def _keeps_in(self, number: int) -> tuple[tuple[str, SubgoalColumn], ...]:
        stage = self._query.stages[number]
        if not stage.repeated:
            return ()
        known = {column for column, _ in self._agrees[number]} | {column for column, _ in self._same[number]}
        for variable in self._distinguished:
            known |= self._keys(variable, number)
        return tuple((column, SubgoalColumn(number, column)) for column in sorted(stage.kept - known))

    def _read(self, number: int, again: bool) -> Places:
        """What an event of the stage is compared with."""
        stage = self._query.stages[number]
        read = {place for _, place in (*self._agrees[number], *(self._keeps[number] if again else ()))}
        for condition in (*stage.joins, *stage.across):
            if again or not _looks_back(condition):
                read |= {place for part in e.walk(condition) if (place := self._place(part, stage)) is not None}
        return frozenset(read)

    def _place(self, part: e.Expr, stage: Subgoal) -> SubgoalColumn | None:
        match part:
            case e.ListColumn(slot=slot, column=column):
                return SubgoalColumn(self._stage_of[slot], column)
            case e.ColumnOf(slot=slot, column=column) if slot != stage.slot:
                return SubgoalColumn(self._stage_of[slot], column)
            case _:
                return None

    def _columns(self, number: int, kept: set[SubgoalColumn]) -> tuple[str, ...]:
        stage = self._query.stages[number]
        read = {place.column for place in kept if place.stage == number}
        read |= {column for column, _ in (*self._agrees[number], *self._keeps[number])}
        read |= {column for pair in self._same[number] for column in pair}
        for condition in (*stage.joins, *stage.across):
            read |= {
                part.column for part in e.walk(condition) if isinstance(part, e.ColumnOf) and part.slot == stage.slot
            }
        return tuple(sorted(read))


def _before(places: Places, number: int) -> Places:
    return frozenset(place for place in places if place.stage < number)


def _looks_back(condition: e.Expr) -> bool:
    return any(isinstance(part, e.ListColumn) and part.own for part in e.walk(condition))
