"""The declarations of a program by name: streams, events, tables and rules; and the columns of one declaration.

Binding looks names of streams, events, tables and rules up here; an unknown name is reported once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from textwrap import fill

from inkling.language import syntax as s
from inkling.language.names import AGGREGATES
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.knowledge.rule_clauses import OpenRule
from inkling.logical.functions import CHOICES, FUNCTIONS, WRITE_INSTEAD, Function, suggested
from inkling.logical.plan import Pairing
from inkling.logical.user_aggregates import REGISTERED
from inkling.model.schema import Column, TableSchema
from inkling.model.time import Clock, Duration
from inkling.model.types import FOREIGN_TYPE_NAMES, TYPE_NAMES, Type

Columns = Mapping[str, Type | None]
"""Type by column name; None after an error already reported."""

MAX_LISTED = 8
"""A message lists all choices if there are at most this many."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The declared clock and tick of a stream; None where the data determine the clock."""

    clock: Clock | None
    tick: Duration | None = None

    @property
    def is_grid(self) -> bool:
        """Whether times are timestamps that are rounded to ticks."""
        return self.clock is Clock.TIMESTAMP and self.tick is not None


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """A stream or a derived event as patterns see it."""

    name: str
    columns: Columns
    id_type: Type | None = None  # None: a derived event has no single id
    is_ordered: bool = False
    is_interval: bool = False
    streams: frozenset[str] = frozenset()  # the streams that it depends on
    uncertain: frozenset[str] = frozenset()  # the uncertain ones among these streams
    key: tuple[str, ...] = ()  # KEY; of a derived event, the columns of PARTITION BY in its head
    unshown: tuple[str, ...] = ()  # columns of PARTITION BY that are missing in the head, so that there is no key
    pairing: Pairing | None = None  # SEGMENTS: its events open and close segments
    op: str | None = None  # the OP column, which conditions cannot read
    is_derived: bool = False
    is_forecast: bool = False
    has_error: bool = False  # whatever depends on it is not bound either
    is_broken: bool = False  # its columns are unknown because of an error, so no error about columns is reported


def broken_source(name: str, *, is_derived: bool = False) -> CatalogSource:
    """A placeholder for a stream or event that has an error."""
    return CatalogSource(name, {}, is_derived=is_derived, has_error=True, is_broken=True)


@dataclass(slots=True)
class Catalog:
    """The declarations seen so far; it only grows."""

    sources: dict[str, CatalogSource] = field(default_factory=dict)
    timings: dict[str, Timing] = field(default_factory=dict)  # by stream
    tables: dict[str, TableSchema] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)  # number of arguments
    rule_tables: dict[str, TableSchema] = field(default_factory=dict)  # what rules derive
    open_rules: dict[str, OpenRule] = field(default_factory=dict)
    broken_tables: set[str] = field(default_factory=set)
    revising: set[str] = field(default_factory=set)  # streams whose past can change
    retracted: dict[str, str] = field(default_factory=dict)  # the event behind each output of ON RETRACT
    forecasts: dict[str, str] = field(default_factory=dict)  # the event that each forecast is about
    extended: dict[str, str] = field(default_factory=dict)  # the event that adds events to a stream, by stream
    payloads: dict[str, Columns] = field(default_factory=dict)  # the columns that such an event must have, by event

    def copy(self) -> Catalog:
        """The same declarations; what is declared in the copy does not enter this catalog."""
        return Catalog(**{part.name: getattr(self, part.name).copy() for part in fields(self)})

    def source(self, name: s.Ident, diagnostics: Diagnostics) -> CatalogSource:
        """The stream or event of that name; an unknown name is reported once and gives a placeholder."""
        found = self.sources.get(name.text)
        if found is not None:
            return found
        if not diagnostics.is_repeated("INK0205", name.text):
            self._report_missing(name, diagnostics)
        return broken_source(name.text)

    def events_of(self, name: s.Ident, diagnostics: Diagnostics) -> tuple[CatalogSource, ...]:
        """What a pattern reads under a name: a stream or event, and the derived events that extend a stream."""
        further = self.sources.get(self.extended.get(name.text, ""))
        found = self.source(name, diagnostics)
        return (found,) if further is None else (found, further)

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
        diagnostics.error("INK0205", f"unknown stream or event `{name}`", name, notes=notes, helps=helps)

    def function(self, name: str) -> Function | None:
        """The function of that name, case-insensitive, unless a table or rule has the same name."""
        return None if self.is_knowledge(name) else FUNCTIONS.get(name.lower())

    def chooses(self, name: str) -> bool:
        """Whether a name is `coalesce` or `if`, in any case, unless a table or rule has the same name."""
        return name.lower() in CHOICES and not self.is_knowledge(name)

    def has_function(self, name: str) -> bool:
        return self.function(name) is not None or self.chooses(name)

    def is_knowledge(self, name: str) -> bool:
        return name in self.tables or name in self.rules or name in self.broken_tables

    @property
    def facts(self) -> Mapping[str, TableSchema]:
        """The tables of look-ups: declared tables and tables that rules derive."""
        return {**self.tables, **self.rule_tables}

    @property
    def aggregates(self) -> Collection[str]:
        """Aggregates written in Python, except those with the name of a table or rule."""
        return [name for name in REGISTERED if name not in {*self.tables, *self.rules, *self.broken_tables}]

    @property
    def knowledge_names(self) -> tuple[str, ...]:
        """All names that can be called in an expression."""
        return (*self.tables, *self.rules, *self.function_names, *REGISTERED, *sorted(AGGREGATES))

    @property
    def function_names(self) -> list[str]:
        """The functions that messages suggest."""
        kinds = {kind for source in self.sources.values() for kind in source.columns.values()}
        kinds |= {column.type for table in self.tables.values() for column in table.columns}
        return sorted((*CHOICES, *suggested(with_terms=Type.TERM in kinds)))


def common_columns(sources: tuple[CatalogSource, ...]) -> Columns:
    """The columns that all sources have with one type."""
    if not sources:
        return {}
    first, *others = sources
    return {
        name: kind
        for name, kind in first.columns.items()
        if all(name in other.columns and other.columns[name] is kind for other in others)
    }


def check_arity(call: s.Call, catalog: Catalog, diagnostics: Diagnostics) -> bool:
    """Whether a table or rule of that name takes this number of arguments; reports if not."""
    name = call.name.text
    if name in catalog.broken_tables:
        return False
    if name in catalog.tables:
        columns = [column.name for column in catalog.tables[name].columns]
        wanted, signature = len(columns), f"{name}({', '.join(columns)})"
    elif name in catalog.rules:
        wanted, signature = catalog.rules[name], ""
    else:
        if not catalog.has_function(name):
            _report_unknown_call(call, catalog, diagnostics)
        return False
    if len(call.args) != wanted:
        diagnostics.error(
            "INK0209",
            f"`{name}` takes {wanted} argument{'' if wanted == 1 else 's'}, found {len(call.args)}",
            call,
            notes=[f"the declaration is `{signature}`"] if signature else [],
        )
        return False
    return True


def _report_unknown_call(call: s.Call, catalog: Catalog, diagnostics: Diagnostics) -> None:
    name = call.name
    if diagnostics.is_repeated("INK0206", name.text):
        return
    notes = []
    if name.text in catalog.sources:
        notes.append(f"`{name}` is a stream or event, which stands in WHERE alone or under NOT, joined by AND")
    instead = WRITE_INSTEAD.get(name.text.lower())
    remark = _REMARKS.get(name.text.lower())
    if name.text.lower() == "round" and len(call.args) == 2:
        instead = "floor({0} * pow(10, {1}) + 0.5) / pow(10, {1})"
    if instead is not None:
        arguments = [diagnostics.text_of(argument) for argument in call.args]
        helps: tuple[str, ...] = (f"write `{instead.format(*arguments, *'xy'[len(arguments) :])}`",)
    elif name.text in catalog.sources:
        helps = ("move it to WHERE; instead of OR, write an EVENT statement of the same name for each alternative",)
    elif remark is not None:
        notes.append(remark[0])
        helps = (remark[1],)
    else:
        helps = did_you_mean(name.text, catalog.knowledge_names)
    if not notes and not helps:
        notes.append(fill(f"functions are {', '.join(catalog.function_names)}", width=100))
    diagnostics.error("INK0206", f"unknown table, rule or function `{name}`", name, notes=notes, helps=helps)


_REMARKS = {  # functions of other languages that no expression replaces
    name: (note, help)
    for names, note, help in (
        (
            "lag prev previous",
            "earlier rows of a key are read where the stream is declared",
            "add `DERIVE before = PREV(column)` to the stream and compare with `e.before`",
        ),
        (
            "now current_timestamp current_time sysdate getdate",
            "a program sees the times of events, not of the machine",
            "write the time column of an event, such as `e.t`",
        ),
        ("decode case", "a value is chosen by a condition", "write `if(x > 0, 'up', 'down')`"),
        (
            "cast convert try_cast to_number to_char to_timestamp",
            "a column has the type of its declaration",
            "declare the column with the type that is needed",
        ),
    )
    for name in names.split()
}


def as_declared(kind: Type) -> str:
    """A type as declarations write it."""
    return {Type.INTEGER: "INT", Type.TIME: "TIMESTAMP"}.get(kind, str(kind))


def reject_op(owner: str, column: s.Ident, diagnostics: Diagnostics) -> None:
    """Reports an expression that reads the OP column."""
    diagnostics.error(
        "INK0391",
        f"`{column}` is the OP column of `{owner}`, which conditions cannot read",
        column,
        notes=["withdrawn events are left out automatically, with everything that depends on them"],
        helps=["leave it out; `ON RETRACT name` is the output of withdrawn results"],
    )


@dataclass(slots=True)
class ColumnList:
    """The columns of one declaration, in order; the type is None after an error in it."""

    owner: str
    diagnostics: Diagnostics
    types: dict[str, Type | None] = field(default_factory=dict)
    _places: dict[str, s.Ident] = field(default_factory=dict)
    _op: str | None = None

    def declare(self, columns: tuple[s.ColumnDecl, ...]) -> None:
        for column in columns:
            kind = TYPE_NAMES.get(column.type.text.upper())
            if kind is None:
                self.unknown_type(column)
            self.add(column.name, kind)

    def unknown_type(self, column: s.ColumnDecl) -> None:
        notes = ["types are BOOLEAN, INT, DOUBLE, STRING, TERM and TIMESTAMP"]
        foreign = FOREIGN_TYPE_NAMES.get(column.type.text)
        reversed_ = TYPE_NAMES.get(column.name.text.upper())
        if foreign is not None:
            helps: tuple[str, ...] = (f"write `{column.name} {as_declared(foreign)}`",)
        elif reversed_ is not None:
            notes.append("the name of a column comes before its type")
            written = self.diagnostics.text_of(column.type)
            helps = (f"write `{written} {as_declared(reversed_)}`",)
        else:
            helps = did_you_mean(column.type.text, TYPE_NAMES)
        self.diagnostics.error("INK0202", f"unknown type `{column.type}`", column.type, notes=notes, helps=helps)

    def add(self, name: s.Ident, kind: Type | None) -> bool:
        """Whether the name was still free."""
        first = self._places.get(name.text)
        if first is not None:
            self.diagnostics.error(
                "INK0203",
                f"`{self.owner}` has two columns called `{name}`",
                name,
                notes=[f"the first is at {self.diagnostics.location(first)}"],
            )
            return False
        self._places[name.text] = name
        self.types[name.text] = kind
        return True

    def require(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        """The type of a column that must be declared; without `allowed` types any will do."""
        if name.text not in self.types:
            self.unknown(name, notes=[f"{role} names a column of the stream"])
            return None
        return self.check(name, role, *allowed)

    def optional(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        """The type of a column that need not be declared, because its role implies the type."""
        return self.check(name, role, *allowed) if name.text in self.types else None

    def check(self, name: s.Ident, role: str, *allowed: Type) -> Type | None:
        kind = self.types[name.text]
        if kind is not None and allowed and kind not in allowed:
            wanted = " or ".join(as_declared(one) for one in allowed)
            self.diagnostics.error(
                "INK0216",
                f"{role} needs a column of type {wanted}, found {as_declared(kind)}",
                name,
                f"`{name}` is declared {as_declared(kind)}",
            )
            return None
        return kind

    def set_aside(self, op: s.Ident) -> None:
        """Removes the OP column from the columns that expressions can read."""
        self._op = op.text
        self._places.setdefault(op.text, op)
        self.types.pop(op.text, None)

    def unknown(self, name: s.Ident, notes: list[str] | None = None, helps: Iterable[str] = ()) -> None:
        if name.text == self._op:
            reject_op(self.owner, name, self.diagnostics)
            return
        near = did_you_mean(name.text, self.types)
        known = [f"`{self.owner}` has {listed(self.types)}"] if self.types and not near else []
        self.diagnostics.error(
            "INK0204",
            f"`{self.owner}` has no column `{name}`",
            name,
            notes=[*(notes or []), *known],
            helps=near or helps,
        )

    def finished(self) -> tuple[Column, ...]:
        return tuple(Column(name, kind) for name, kind in self.types.items() if kind is not None)
