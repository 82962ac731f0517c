"""What clauses of all statement builders share, and streams, tables and rules as Python objects."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from inkling.language import syntax as s
from inkling.language.build.values import Value, node_of
from inkling.language.syntax import ColumnDecl, Ident, Item

__all__ = ["RuleBuilder", "StreamBuilder", "TableBuilder", "named", "rule", "stream", "table"]


class StatementBuilder:
    """The fields of a statement collected so far."""

    __slots__ = ("_fields",)

    def __init__(self, **fields: Any) -> None:
        self._fields: dict[str, Any] = fields

    def comment(self, *lines: str) -> Self:
        """Lines to print above the statement."""
        return self._with(comments=(*self._fields.get("comments", ()), *lines))

    def _with(self, **fields: Any) -> Self:
        return type(self)(**self._fields | fields)


class ColumnsBuilder(StatementBuilder):
    __slots__ = ()

    def column(self, name: str, type_name: str) -> Self:
        column = ColumnDecl(Ident(name), Ident(type_name.upper()))
        return self._with(columns=(*self._fields["columns"], column))


def idents(names: Iterable[str]) -> tuple[Ident, ...]:
    return tuple(Ident(name) for name in names)


def items(values: Iterable[Value | Item]) -> tuple[Item, ...]:
    return tuple(value if isinstance(value, Item) else Item(node_of(value)) for value in values)


def named(value: Value, name: str) -> Item:
    """A value of a result with a name: `named(avg_of(v("w").v), "m")`."""
    return Item(node_of(value), Ident(name))


def at_least_confident(threshold: float, *, strictly: bool, early: bool = False) -> s.Confidence:
    return s.Confidence(">" if strictly else ">=", float(threshold), early)


class StreamBuilder(ColumnsBuilder):
    __slots__ = ()

    @property
    def node(self) -> s.StreamDecl:
        return s.StreamDecl(**self._fields)

    def id(self, column: str) -> Self:
        return self._with(id=s.Ident(column))

    def key(self, *columns: str) -> Self:
        return self._with(key=idents(columns))

    def time(self, column: str) -> Self:
        return self._with(time=s.TimePoint(s.Ident(column)))

    def time_from(self, start: str, end: str) -> Self:
        return self._with(time=s.TimeSpan(s.Ident(start), s.Ident(end)))

    def time_between(self, lo: str, hi: str, *, weights: str | None = None) -> Self:
        weighted = None if weights is None else s.Ident(weights)
        return self._with(time=s.TimeBetween(s.Ident(lo), s.Ident(hi), weighted))

    def time_about(self, column: str, error: s.Duration | str) -> Self:
        """The error is a length of time, or the name of a column."""
        written = s.Ident(error) if isinstance(error, str) else error
        return self._with(time=s.TimeAbout(s.Ident(column), written))

    def time_by_clock(
        self, column: str, clock: str, error: s.Duration, others: Mapping[str, s.Duration] | None = None
    ) -> Self:
        """`time_by_clock("t", "node", seconds(1), {"gateway": seconds(5)})`"""
        named = tuple(s.ClockError(one, name) for name, one in (others or {}).items())
        return self._with(time=s.TimeAbout(s.Ident(column), s.ClockErrors(s.Ident(clock), error, named)))

    def epoch(self, unit: str) -> Self:
        """What numbers in TIMESTAMP columns count since 1970: `SECONDS`, `MILLISECONDS`, and so on."""
        return self._with(epoch=s.Ident(unit.upper()))

    def at_most(self, length: s.Duration) -> Self:
        return self._with(at_most=length)

    def order_by(self, column: str) -> Self:
        return self._with(order_by=s.Ident(column))

    def tick(self, length: s.Duration) -> Self:
        return self._with(tick=length)

    def probability(self, column: str, *, given: tuple[str, ...] = ()) -> Self:
        return self._with(probability=s.Ident(column), given=idents(given))

    def numbered_by(
        self, column: str, *, erlang: int | None = None, intensity: str | None = None, known: str | None = None
    ) -> Self:
        """`erlang` is the shape of gaps, `intensity` and `known` are names of tables."""
        return self._with(
            numbered_by=s.Ident(column),
            erlang=erlang,
            intensity=None if intensity is None else s.Ident(intensity),
            known=None if known is None else s.Ident(known),
        )

    def segments(
        self,
        *,
        role: str | None = None,
        count: str | None = None,
        bounds: tuple[str, str] | None = None,
        rate: s.Rate | str | None = None,
        timeout: s.Duration | None = None,
    ) -> Self:
        """The rate is a number of events in a length of time, `rate(12, hours(1))`, or the name of a column."""
        lo, hi = idents(bounds) if bounds is not None else (None, None)
        role_column = None if role is None else s.Ident(role)
        count_column = None if count is None else s.Ident(count)
        written = s.Ident(rate) if isinstance(rate, str) else rate
        return self._with(segments=s.SegmentsDecl(role_column, count_column, lo, hi, written, timeout))

    def derive(self, name: str, value: Value) -> Self:
        item = s.DeriveItem(s.Ident(name), node_of(value))
        return self._with(derive=(*self._fields.get("derive", ()), item))

    def reset_when(self, condition: Value) -> Self:
        return self._with(reset_when=node_of(condition))

    def late(self, length: s.Duration, *, speculative: bool = False) -> Self:
        """How late events may come; speculative: nobody waits for them, results are corrected."""
        return self._with(late=length, speculative=speculative)

    def ahead(self, length: s.Duration) -> Self:
        """How far a row may be in the future on a running stream; later ones are rejected."""
        return self._with(ahead=length)

    def op(self, column: str, *, how_long: s.Duration | None = None) -> Self:
        """The column that distinguishes events, `+`, from withdrawals, `-`, and how long an event can be withdrawn."""
        return self._with(op=s.Ident(column), op_for=how_long)


class TableBuilder(ColumnsBuilder):
    __slots__ = ()

    @property
    def node(self) -> s.TableDecl:
        return s.TableDecl(**self._fields)


class RuleBuilder(StatementBuilder):
    __slots__ = ()

    @property
    def node(self) -> s.RuleDecl:
        return s.RuleDecl(**self._fields)

    def when(self, condition: Value) -> Self:
        return self._with(body=node_of(condition))


def stream(name: str) -> StreamBuilder:
    """`stream("V").column("k", "STRING").key("k").time("t")`"""
    return StreamBuilder(name=s.Ident(name), columns=())


def table(name: str, path: str) -> TableBuilder:
    """`table("threshold", "thresholds.csv").column("road", "STRING")`"""
    return TableBuilder(name=s.Ident(name), columns=(), path=path)


def rule(name: str, *args: object) -> RuleBuilder:
    """`rule("slow", v("road")).when(v("road") == "A1")`; a fact without `when`."""
    return RuleBuilder(head=s.Call(s.Ident(name), tuple(node_of(arg) for arg in args)))
