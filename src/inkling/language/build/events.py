"""Events, forecasts and whole programs as Python objects."""

from typing import Any, Self, TypeAlias
from typing import Literal as OneOf

from inkling.language import syntax as s
from inkling.language.build.patterns import PatternValue
from inkling.language.build.streams import (
    RuleBuilder,
    StatementBuilder,
    StreamBuilder,
    TableBuilder,
    at_least_confident,
    idents,
    items,
)
from inkling.language.build.values import Value, node_of

__all__ = ["EventBuilder", "ForecastBuilder", "event", "forecast", "program"]

_BODY_FIELDS = ("pattern", "where", "within", "having")


class EventBuilder(StatementBuilder):
    __slots__ = ()

    @property
    def node(self) -> s.EventDecl:
        if "pattern" not in self._fields:
            raise ValueError(f"the event {self._fields['name']} has no pattern yet")
        body = {name: self._fields[name] for name in _BODY_FIELDS if name in self._fields}
        rest = {name: field for name, field in self._fields.items() if name not in body}
        return s.EventDecl(body=s.Body(**body), **rest)

    def head(self, *values: Value | s.Item) -> Self:
        """The values of a result; without any, the event is written with empty parentheses."""
        return self._with(head=items(values))

    def pattern(self, pattern: PatternValue) -> Self:
        return self._with(pattern=pattern.node)

    def where(self, condition: Value) -> Self:
        return self._with(where=node_of(condition))

    def within(self, window: s.Window) -> Self:
        return self._with(within=window)

    def having(self, condition: Value) -> Self:
        return self._with(having=node_of(condition))

    def partition_by(self, *columns: str) -> Self:
        return self._with(partition_by=idents(columns))

    def over(self, *streams: str) -> Self:
        return self._with(over=idents(streams))

    def consume(
        self, policy: s.ConsumePolicy, *, keeping: bool = False, prefer: s.Preference | Value | None = None
    ) -> Self:
        preferred: Any = node_of(prefer) if isinstance(prefer, Value) else prefer
        return self._with(consume=s.Consume(policy, keeping, preferred))

    def returns(self, *values: Value | s.Item) -> Self:
        return self._with(returns=items(values))

    def per(self, per: s.Per) -> Self:
        return self._with(per=per)

    def confidence(self, threshold: float, *, strictly: bool = False, early: bool = False) -> Self:
        """`CONFIDENCE >= threshold`, or `>` when strictly; early emits a relation once it is certain to reach it."""
        return self._with(confidence=at_least_confident(threshold, strictly=strictly, early=early))

    def top(self, n: int) -> Self:
        return self._with(top=n)

    def keep_for(self, length: s.Duration) -> Self:
        return self._with(keep_for=length)

    def on_timeout(self, name: str) -> Self:
        """Declares one more event: the matches of this one that ran out of time."""
        return self._with(on_timeout=s.Ident(name))

    def on_retract(self, name: str) -> Self:
        """Declares one more output: the results of this event that were withdrawn."""
        return self._with(on_retract=s.Ident(name))

    def on_change(self) -> Self:
        """Leaves out results of a window whose values are those of the result before."""
        return self._with(on_change=True)

    def exact(self) -> Self:
        return self._with(demand="EXACT")

    def sampled(self) -> Self:
        return self._with(demand="SAMPLED")

    def hidden(self) -> Self:
        """Leaves the event out of what runs show: only other events read it."""
        return self._with(hidden=True)


class ForecastBuilder(StatementBuilder):
    __slots__ = ()

    @property
    def node(self) -> s.ForecastDecl:
        if "kind" not in self._fields:
            raise ValueError(f"the forecast of {self._fields['event']} has no kind yet")
        return s.ForecastDecl(**self._fields)

    def within(self, reach: int | s.Duration) -> Self:
        """Within so many events, or within a duration."""
        return self._with(kind=s.ForecastWithin(s.EventCount(reach) if isinstance(reach, int) else reach))

    def around(self, n_events: int) -> Self:
        return self._with(kind=s.ForecastAround(s.EventCount(n_events)))

    def point(self) -> Self:
        return self._with(kind=s.ForecastPoint())

    def interval(self, mode: OneOf["SHORTEST", "ARGMAX", "FIXED"], width: int | None = None) -> Self:
        return self._with(kind=s.ForecastInterval(mode, width))

    def confidence(self, threshold: float, *, strictly: bool = False) -> Self:
        return self._with(confidence=at_least_confident(threshold, strictly=strictly))

    def order(self, order: int) -> Self:
        return self._with(order=order)

    def horizon(self, n_events: int) -> Self:
        return self._with(horizon=n_events)

    def spread(self, n_events: int) -> Self:
        return self._with(spread=n_events)

    def model(self, name: str, by: str | None = None) -> Self:
        """The table of the model; `by` names a column for each of whose values it holds a model."""
        return self._with(model=s.Ident(name), by=None if by is None else s.Ident(by))

    def features(self, *conditions: Value) -> Self:
        return self._with(features=tuple(node_of(condition) for condition in conditions))

    def remaining(self, lo: float, hi: float) -> Self:
        return self._with(remaining=s.Remaining(float(lo), float(hi)))

    def including_final(self) -> Self:
        return self._with(including_final=True)

    def distribution(self) -> Self:
        """The whole law of the waiting time in every row."""
        return self._with(distribution=True)

    def named(self, name: str) -> Self:
        return self._with(name=s.Ident(name))


Builder: TypeAlias = StreamBuilder | TableBuilder | RuleBuilder | EventBuilder | ForecastBuilder


def event(name: str) -> EventBuilder:
    """`event("theft").pattern(seq("STRICT", leaf("V").repeat(3))).per("END")`"""
    return EventBuilder(name=s.Ident(name), head=None)


def forecast(event_name: str) -> ForecastBuilder:
    """`forecast("route").within(10).confidence(0.7)`"""
    return ForecastBuilder(event=s.Ident(event_name))


def program(*statements: Builder | s.Statement) -> s.Program:
    """The same program that the parser would read."""
    nodes = (part.node if isinstance(part, StatementBuilder) else part for part in statements)
    return s.Program(tuple(nodes))
