"""A query over probable streams in normal form: stages one after the other, and the variables that they share.

A stage takes the next candidate, an event that passes its filters and agrees with the variables. A candidate that does
not pass what the stage accepts ends the attempt: it has been taken, and no later one can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.logical import expr as e
from inkling.logical.expr import Expr
from inkling.logical.plan import Per


@dataclass(frozen=True, slots=True, order=True)
class SubgoalColumn:
    """A column of the events of one stage."""

    stage: int
    column: str


@dataclass(frozen=True, slots=True)
class QueryVariable:
    """One value that several stages have in common, or that results show."""

    name: str
    places: frozenset[SubgoalColumn]

    def columns_in(self, stage: int) -> frozenset[str]:
        return frozenset(place.column for place in self.places if place.stage == stage)

    @property
    def stages(self) -> frozenset[int]:
        return frozenset(place.stage for place in self.places)


@dataclass(frozen=True, slots=True)
class Subgoal:
    """One event, or `repeated` ones, each the next after the one before.

    `filters` and `accepts` look at the event alone; `joins` and `across` also at earlier ones. In a repeated stage only
    the columns in `kept` are the same for all of its events, and can be asked for by others.
    """

    slot: int
    source: str
    repeated: bool = False
    filters: tuple[Expr, ...] = ()
    joins: tuple[Expr, ...] = ()
    accepts: tuple[Expr, ...] = ()
    across: tuple[Expr, ...] = ()
    kept: frozenset[str] = frozenset()
    constants: Mapping[str, e.Literal] = field(default_factory=dict)

    @property
    def can_reject(self) -> bool:
        return bool(self.accepts or self.across)


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A stream that stages read: `key` columns distinguish what is independent, here or in `certain` streams any do."""

    name: str
    key: tuple[str, ...]
    markov: bool = False
    certain: bool = False

    def is_key(self, column: str) -> bool:
        return self.certain or column in self.key


@dataclass(frozen=True, slots=True)
class Query:
    stages: tuple[Subgoal, ...]
    variables: tuple[QueryVariable, ...]
    head: frozenset[str]  # names of variables whose values distinguish results
    sources: Mapping[str, QuerySource]
    per: Per = Per.END

    def source(self, stage: int) -> QuerySource:
        return self.sources[self.stages[stage].source]

    def variable(self, name: str) -> QueryVariable:
        return next(one for one in self.variables if one.name == name)

    def is_shared(self, variable: QueryVariable, n_stages: int) -> bool:
        """Whether several of the first stages have to agree on it, or all events of a repeated one."""
        mine = {stage for stage in variable.stages if stage < n_stages}
        return len(mine) > 1 or any(self.stages[stage].repeated and stage > 0 for stage in mine)
