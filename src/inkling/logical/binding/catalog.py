"""Everything a program has declared, under its name: streams, events, tables and rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields

from inkling.language import syntax as s
from inkling.language.names import AGGREGATES
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.knowledge.rule_modes import OpenRule
from inkling.logical.functions import FUNCTIONS, Function
from inkling.logical.plan import Pairing
from inkling.logical.user_aggregates import REGISTERED
from inkling.model.schema import TableSchema
from inkling.model.time import Clock, Span
from inkling.model.types import Type

Columns = Mapping[str, Type | None]
"""Type by column name; None where the type is not known because of an error already reported."""

MAX_LISTED = 8
"""A message lists all choices only if they are this few."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What a declaration says about the time of a stream; None where only the data show it."""

    clock: Clock | None
    tick: Span | None = None

    @property
    def is_grid(self) -> bool:
        """Whether times are timestamps that are rounded to ticks."""
        return self.clock is Clock.TIMESTAMP and self.tick is not None


@dataclass(frozen=True, slots=True)
class Source:
    """A stream or a derived event as patterns see it."""

    name: str
    columns: Columns
    id_type: Type | None = None  # None: an event of events has no single id
    is_ordered: bool = False
    is_interval: bool = False
    streams: frozenset[str] = frozenset()  # what it depends on
    uncertain: frozenset[str] = frozenset()  # those of them that are uncertain
    key: tuple[str, ...] = ()  # which events belong together; of a derived event, what its head shows of PARTITION BY
    unshown: tuple[str, ...] = ()  # columns of PARTITION BY that the head does not show, so that there is no key
    pairing: Pairing | None = None  # SEGMENTS: its events open and close segments
    op: str | None = None  # the column that distinguishes events from withdrawals, which no event has
    is_derived: bool = False
    is_forecast: bool = False
    has_error: bool = False  # so nothing that depends on it can be trusted
    is_broken: bool = False  # has an error that hides its columns, so nothing is reported about them


def broken_source(name: str, *, is_derived: bool = False) -> Source:
    """Stands in for a stream or event that has an error."""
    return Source(name, {}, is_derived=is_derived, has_error=True, is_broken=True)


@dataclass(slots=True)
class Catalog:
    """The declarations seen so far; it only grows."""

    sources: dict[str, Source] = field(default_factory=dict)
    timings: dict[str, Timing] = field(default_factory=dict)  # by stream
    tables: dict[str, TableSchema] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)  # number of arguments
    rule_tables: dict[str, TableSchema] = field(default_factory=dict)  # what rules derive
    open_rules: dict[str, OpenRule] = field(default_factory=dict)
    broken_tables: set[str] = field(default_factory=set)
    revising: set[str] = field(default_factory=set)  # streams whose past can change
    retracted: dict[str, str] = field(default_factory=dict)  # the event behind each output of ON RETRACT
    forecasts: dict[str, str] = field(default_factory=dict)  # the event that each forecast is about

    def copy(self) -> Catalog:
        """The same declarations; what is declared in the copy does not enter this catalog."""
        return Catalog(**{part.name: getattr(self, part.name).copy() for part in fields(self)})

    def source(self, name: s.Ident, diagnostics: Diagnostics) -> Source:
        """The stream or event of that name; an unknown one is reported once and stands in for itself."""
        found = self.sources.get(name.text)
        if found is not None:
            return found
        if not diagnostics.repeats("INK0205", name.text):
            self._report_missing(name, diagnostics)
        return broken_source(name.text)

    def _report_missing(self, name: s.Ident, diagnostics: Diagnostics) -> None:
        helps = did_you_mean(name.text, self.sources)
        notes = []
        if name.text in self.tables:
            notes.append(f"`{name}` is a table; use it in a condition: `{name}(…)`")
        elif name.text in self.retracted:
            notes.append(f"`{name}` is the output of withdrawn results of `{self.retracted[name.text]}`")
            helps = (f"read `{self.retracted[name.text]}`; its withdrawals are handled automatically",)
        elif name.text in self.forecasts:
            notes.append(
                f"`{name}` is a forecast of `{self.forecasts[name.text]}`, so it cannot be used in its definition"
            )
            helps = ()
        elif not self.sources:
            notes.append("this program declares no stream")
            helps = (f"declare it first: `STREAM {name}(id STRING) TIME t;`",)
        elif not helps and len(self.sources) <= MAX_LISTED:
            notes.append(f"streams and events are {listed(self.sources)}")
        diagnostics.wrong("INK0205", f"no stream or event is called `{name}`", name, notes=notes, helps=helps)

    def function(self, name: str) -> Function | None:
        """The function of that name, in any case, unless a table or rule has taken the name."""
        taken = name in self.tables or name in self.rules or name in self.broken_tables
        return None if taken else FUNCTIONS.get(name.lower())

    @property
    def facts(self) -> Mapping[str, TableSchema]:
        """What a look-up reads: declared tables and those that rules derive."""
        return {**self.tables, **self.rule_tables}

    @property
    def aggregates(self) -> Collection[str]:
        """Aggregates written in Python whose names no table or rule has taken."""
        return [name for name in REGISTERED if name not in {*self.tables, *self.rules, *self.broken_tables}]

    @property
    def knowledge_names(self) -> tuple[str, ...]:
        """What may stand before parentheses in an expression."""
        return (*self.tables, *self.rules, *FUNCTIONS, *REGISTERED, *sorted(AGGREGATES))


def common_columns(sources: tuple[Source, ...]) -> Columns:
    """The columns that all sources have with one type."""
    if not sources:
        return {}
    first, *others = sources
    return {
        name: kind
        for name, kind in first.columns.items()
        if all(name in other.columns and other.columns[name] is kind for other in others)
    }
