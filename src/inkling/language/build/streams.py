"""Streams, tables and rules as Python objects."""

from collections.abc import Mapping
from typing import Self

from inkling.language.build.clauses import StatementBuilder, idents
from inkling.language.build.values import Value, node_of
from inkling.language.syntax import (
    Call,
    ClockError,
    ClockErrors,
    DeriveItem,
    Duration,
    Ident,
    Rate,
    RuleDecl,
    SegmentsDecl,
    StreamDecl,
    TableDecl,
    TimeAbout,
    TimeBetween,
    TimePoint,
    TimeSpan,
)


class StreamBuilder(StatementBuilder):
    __slots__ = ()

    @property
    def node(self) -> StreamDecl:
        return StreamDecl(**self._fields)

    def column(self, name: str, type_name: str) -> Self:
        return self._with_column(name, type_name)

    def id(self, column: str) -> Self:
        return self._with(id=Ident(column))

    def key(self, *columns: str) -> Self:
        return self._with(key=idents(columns))

    def time(self, column: str) -> Self:
        return self._with(time=TimePoint(Ident(column)))

    def time_from(self, start: str, end: str) -> Self:
        return self._with(time=TimeSpan(Ident(start), Ident(end)))

    def time_between(self, lo: str, hi: str, *, weights: str | None = None) -> Self:
        weighted = None if weights is None else Ident(weights)
        return self._with(time=TimeBetween(Ident(lo), Ident(hi), weighted))

    def time_about(self, column: str, error: Duration | str) -> Self:
        """The error is a length of time, or the name of a column."""
        written = Ident(error) if isinstance(error, str) else error
        return self._with(time=TimeAbout(Ident(column), written))

    def time_by_clock(
        self, column: str, clock: str, error: Duration, others: Mapping[str, Duration] | None = None
    ) -> Self:
        """`time_by_clock("t", "node", seconds(1), {"gateway": seconds(5)})`"""
        named = tuple(ClockError(one, name) for name, one in (others or {}).items())
        return self._with(time=TimeAbout(Ident(column), ClockErrors(Ident(clock), error, named)))

    def at_most(self, length: Duration) -> Self:
        return self._with(at_most=length)

    def order_by(self, column: str) -> Self:
        return self._with(order_by=Ident(column))

    def tick(self, length: Duration) -> Self:
        return self._with(tick=length)

    def probability(self, column: str, *, given: tuple[str, ...] = ()) -> Self:
        return self._with(probability=Ident(column), given=idents(given))

    def numbered_by(
        self, column: str, *, erlang: int | None = None, intensity: str | None = None, known: str | None = None
    ) -> Self:
        """`erlang` is the shape of gaps, `intensity` and `known` are names of tables."""
        return self._with(
            numbered_by=Ident(column),
            erlang=erlang,
            intensity=None if intensity is None else Ident(intensity),
            known=None if known is None else Ident(known),
        )

    def segments(
        self,
        *,
        role: str | None = None,
        count: str | None = None,
        bounds: tuple[str, str] | None = None,
        rate: Rate | str | None = None,
        timeout: Duration | None = None,
    ) -> Self:
        """The rate is a number of events in a length of time, `rate(12, hours(1))`, or the name of a column."""
        lo, hi = idents(bounds) if bounds is not None else (None, None)
        role_column = None if role is None else Ident(role)
        count_column = None if count is None else Ident(count)
        written = Ident(rate) if isinstance(rate, str) else rate
        return self._with(segments=SegmentsDecl(role_column, count_column, lo, hi, written, timeout))

    def derive(self, name: str, value: Value) -> Self:
        item = DeriveItem(Ident(name), node_of(value))
        return self._with(derive=(*self._fields.get("derive", ()), item))

    def reset_when(self, condition: Value) -> Self:
        return self._with(reset_when=node_of(condition))

    def late(self, length: Duration, *, speculative: bool = False) -> Self:
        """How late events may come; speculative: nobody waits for them, results are corrected."""
        return self._with(late=length, speculative=speculative)

    def op(self, column: str, *, how_long: Duration | None = None) -> Self:
        """The column that tells events, `+`, from withdrawals, `-`, and how long an event can be withdrawn."""
        return self._with(op=Ident(column), op_for=how_long)


class TableBuilder(StatementBuilder):
    __slots__ = ()

    @property
    def node(self) -> TableDecl:
        return TableDecl(**self._fields)

    def column(self, name: str, type_name: str) -> Self:
        return self._with_column(name, type_name)


class RuleBuilder(StatementBuilder):
    __slots__ = ()

    @property
    def node(self) -> RuleDecl:
        return RuleDecl(**self._fields)

    def when(self, condition: Value) -> Self:
        return self._with(body=node_of(condition))


def stream(name: str) -> StreamBuilder:
    """`stream("V").column("k", "STRING").key("k").time("t")`"""
    return StreamBuilder(name=Ident(name), columns=())


def table(name: str, path: str) -> TableBuilder:
    """`table("threshold", "thresholds.csv").column("road", "STRING")`"""
    return TableBuilder(name=Ident(name), columns=(), path=path)


def rule(name: str, *args: object) -> RuleBuilder:
    """`rule("slow", v("road")).when(v("road") == "A1")`; a fact without `when`."""
    return RuleBuilder(head=Call(Ident(name), tuple(node_of(arg) for arg in args)))
