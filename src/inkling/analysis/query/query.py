"""A query over probable streams in normal form: a sequence of subgoals and the variables that they share.

The normal form of Lahar (section 2.2), with selections moved to the first subgoal that binds all their variables. A
subgoal consumes its immediate successor: the next event that passes its filters and agrees with the shared variables
(a candidate). A candidate that the subgoal does not accept ends the partial match; no later candidate is tried.

    At(x, 'a'); At(x, 'b')      →  subgoals 0 and 1 on stream At, with filters on the value and the shared variable x

Predicate masks have two bits per subgoal: bit 2i for a candidate of subgoal i, bit 2i + 1 for an accepted one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.logical import expr as e
from inkling.logical.expr import Expr
from inkling.logical.plan import Per


@dataclass(frozen=True, slots=True, order=True)
class SubgoalColumn:
    """A column of the events of one subgoal: a position in which a variable can occur."""

    subgoal: int
    column: str


@dataclass(frozen=True, slots=True)
class QueryVariable:
    """A variable of the query: one value in all of its `places`, shared by subgoals or shown by results."""

    name: str
    places: frozenset[SubgoalColumn]

    def columns_in(self, subgoal: int) -> frozenset[str]:
        return frozenset(place.column for place in self.places if place.subgoal == subgoal)

    @property
    def subgoals(self) -> frozenset[int]:
        return frozenset(place.subgoal for place in self.places)


@dataclass(frozen=True, slots=True)
class Subgoal:
    """One event of the sequence, or a Kleene plus (`repeated`) of events, each the next after the one before.

    Conditions are conjuncts. Candidates must satisfy `filters` and `joins` (θ1); accepted candidates also `accepts` and
    `across` (θ2, and selections on the sequence). `filters` and `accepts` are local: they read the event alone.
    """

    slot: int
    source: str
    repeated: bool = False
    filters: tuple[Expr, ...] = ()
    joins: tuple[Expr, ...] = ()
    accepts: tuple[Expr, ...] = ()
    across: tuple[Expr, ...] = ()
    kept: frozenset[str] = frozenset()  # V of a Kleene plus: columns with one value in all of its events
    constants: Mapping[str, e.Literal] = field(default_factory=dict)  # columns that filters compare with a constant

    @property
    def can_reject(self) -> bool:
        return bool(self.accepts or self.across)


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A declared stream that subgoals read. Rows with different keys are independent, rows of `certain` streams all."""

    name: str
    key: tuple[str, ...]
    markov: bool = False
    certain: bool = False

    def is_key(self, column: str) -> bool:
        return self.certain or column in self.key


@dataclass(frozen=True, slots=True)
class Query:
    subgoals: tuple[Subgoal, ...]
    variables: tuple[QueryVariable, ...]
    head: frozenset[str]  # names of variables whose values distinguish results
    sources: Mapping[str, QuerySource]
    per: Per = Per.END

    def source(self, subgoal: int) -> QuerySource:
        return self.sources[self.subgoals[subgoal].source]

    def variable(self, name: str) -> QueryVariable:
        return next(one for one in self.variables if one.name == name)

    def key_columns(self, variable: QueryVariable, subgoal: int) -> set[str]:
        """The KEY columns of a subgoal's stream in which a variable occurs."""
        source = self.source(subgoal)
        return {column for column in variable.columns_in(subgoal) if source.is_key(column)}

    def is_shared(self, variable: QueryVariable, n_subgoals: int) -> bool:
        """Whether a variable joins several of the first subgoals, or all events of a Kleene plus after the first."""
        mine = {subgoal for subgoal in variable.subgoals if subgoal < n_subgoals}
        return len(mine) > 1 or any(self.subgoals[subgoal].repeated and subgoal > 0 for subgoal in mine)


def candidate(subgoal: int) -> int:
    """The bit of a predicate mask that says: the row is a candidate of a subgoal."""
    return 1 << (2 * subgoal)


def accepted(subgoal: int) -> int:
    """The bit of a predicate mask that says: the row is an accepted candidate of a subgoal."""
    return 2 << (2 * subgoal)


def of_row(condition: e.Expr, subgoal: Subgoal) -> e.Expr:
    """A condition on the event of a subgoal, rewritten to read a row of its stream."""
    if isinstance(condition, e.ColumnOf) and condition.slot == subgoal.slot:
        return e.ColumnOf(e.ROW, condition.column, condition.type)
    return e.rebuilt(condition, lambda part: of_row(part, subgoal))
