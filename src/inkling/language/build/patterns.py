"""Patterns as Python objects: leaves, sequences and what joins them."""

from typing import Literal as OneOf
from typing import get_args

from inkling.language import syntax as s
from inkling.language.build.values import Value, node_of
from inkling.language.printer import format_pattern

__all__ = [
    "ComponentValue",
    "PatternValue",
    "absent",
    "after",
    "all_patterns",
    "all_segments",
    "any_pattern",
    "anything",
    "at",
    "at_least_each",
    "at_least_segments",
    "at_start",
    "complement",
    "leaf",
    "nested",
    "not_between",
    "optional",
    "par",
    "quantified",
    "seq",
    "some_segment",
    "window_of",
]

POLICIES: tuple[s.Policy, ...] = get_args(s.Policy)


class PatternValue:
    """A pattern that can be repeated, checked and joined to others.

    >>> leaf("A", "a").repeat(2, 5) | leaf("B")
    PatternValue(A a{2,5} OR B)
    """

    __slots__ = ("node",)

    def __init__(self, node: s.Pattern) -> None:
        self.node = node

    def __repr__(self) -> str:
        return f"PatternValue({format_pattern(self.node)})"

    def repeat(self, low: int, high: int | None = None, *, mode: s.RepeatMode | None = None) -> "PatternValue":
        """`{low,high}`; without `high` exactly `low` times."""
        return PatternValue(s.Repeat(self.node, low, low if high is None else high, mode))

    def at_least(self, low: int, *, mode: s.RepeatMode | None = None) -> "PatternValue":
        """`{low,}`"""
        return PatternValue(s.Repeat(self.node, low, None, mode))

    def plus(self, *, mode: s.RepeatMode | None = None) -> "PatternValue":
        return self.at_least(1, mode=mode)

    def star(self, *, mode: s.RepeatMode | None = None) -> "PatternValue":
        return self.at_least(0, mode=mode)

    def maybe(self, *, mode: s.RepeatMode | None = None) -> "PatternValue":
        """`?`"""
        return self.repeat(0, 1, mode=mode)

    def check(self, condition: Value) -> "PatternValue":
        return PatternValue(s.Check(self.node, node_of(condition)))

    def relates(self, relation: s.Relation | tuple[s.Relation, ...], other: "PatternValue") -> "PatternValue":
        """`a.relates("DURING", b)`, `a.relates(("DURING", "EQUALS"), b)`"""
        relations = (relation,) if isinstance(relation, str) else relation
        return PatternValue(s.Allen(self.node, relations, other.node))

    def except_(self, other: "PatternValue") -> "PatternValue":
        return PatternValue(s.Except(self.node, other.node))

    def optional(self, other: "PatternValue", relation: s.Relation | tuple[s.Relation, ...] = ()) -> "PatternValue":
        """`a.optional(b)`, `a.optional(b, "PRECEDED_BY")`"""
        relations = (relation,) if isinstance(relation, str) else relation
        return PatternValue(s.LeftJoin(self.node, relations, other.node))

    def __and__(self, other: "PatternValue") -> "PatternValue":
        items = self.node.items if isinstance(self.node, s.And) else (self.node,)
        return PatternValue(s.And((*items, other.node)))

    def __or__(self, other: "PatternValue") -> "PatternValue":
        items = self.node.items if isinstance(self.node, s.Or) else (self.node,)
        return PatternValue(s.Or((*items, other.node)))


class ComponentValue:
    """What only a sequence may hold: absence, an optional part, a deadline, the start."""

    __slots__ = ("node",)

    def __init__(self, node: s.Component) -> None:
        self.node = node


def leaf(types: str | tuple[str, ...], var: str | None = None, *, where: Value | None = None) -> PatternValue:
    """An event of one of the types: `leaf("V", "x", where=col("speed") > 30)`."""
    names = (types,) if isinstance(types, str) else types
    return PatternValue(s.Leaf(tuple(map(s.Ident, names)), _ident(var), _condition(where)))


def anything(var: str | None = None, *, where: Value | None = None) -> PatternValue:
    """`_`"""
    return leaf((), var, where=where)


def seq(*parts: s.Policy | PatternValue | ComponentValue) -> PatternValue:
    """`seq("NEXT", a, b)`; the policy is ANY unless it comes first."""
    policy, components = _policy_first(parts)
    return PatternValue(s.Seq(policy, components))


def all_patterns(*patterns: PatternValue) -> PatternValue:
    """Patterns joined by AND; unlike `&` it keeps a conjunction among them in parentheses."""
    return PatternValue(s.And(_nodes(patterns)))


def any_pattern(*patterns: PatternValue) -> PatternValue:
    """Patterns joined by OR; unlike `|` it keeps a disjunction among them in parentheses."""
    return PatternValue(s.Or(_nodes(patterns)))


def par(*patterns: PatternValue) -> PatternValue:
    return PatternValue(s.Par(_nodes(patterns)))


def not_between(absent: PatternValue, first: PatternValue, last: PatternValue) -> PatternValue:
    return PatternValue(s.NotBetween(absent.node, first.node, last.node))


def nested(
    pattern: PatternValue,
    var: str | None = None,
    *,
    where: Value | None = None,
    within: s.Window | None = None,
    having: Value | None = None,
) -> PatternValue:
    """A pattern in parentheses with clauses of its own."""
    body = s.Body(pattern.node, _condition(where), within, _condition(having))
    return PatternValue(s.Nested(body, _ident(var)))


def complement(pattern: PatternValue) -> PatternValue:
    return PatternValue(s.Complement(pattern.node))


def at(time: int | str) -> PatternValue:
    """A fixed point in time."""
    return PatternValue(s.AtTime(s.Literal(time)))


def window_of(
    stream: str, var: str, last: s.EventCount | s.Duration, *, where: Value | None = None, since: str | None = None
) -> PatternValue:
    """The newest events of a stream: `window_of("Temp", "w", events(3))`."""
    return PatternValue(s.WindowOf(s.Ident(stream), s.Ident(var), _condition(where), last, _ident(since)))


def absent(pattern: PatternValue) -> ComponentValue:
    """`NOT p` in a sequence."""
    return ComponentValue(s.Absent(pattern.node))


def optional(pattern: PatternValue) -> ComponentValue:
    return ComponentValue(s.OptionalPart(pattern.node))


def after(length: s.Duration) -> ComponentValue:
    return ComponentValue(s.After(length))


def at_start() -> ComponentValue:
    return ComponentValue(s.AtStart())


def all_segments(stream: str, var: str | None = None) -> s.Quantity:
    return s.Quantity("ALL", s.Ident(stream), _ident(var))


def some_segment(stream: str, var: str | None = None) -> s.Quantity:
    return s.Quantity("SOME", s.Ident(stream), _ident(var))


def at_least_segments(count: int, stream: str, var: str | None = None) -> s.Quantity:
    return s.Quantity("AT LEAST", s.Ident(stream), _ident(var), count)


def at_least_each(name: str, least: int, most: int, stream: str, var: str | None = None) -> s.Quantity:
    """`at_least_each("k", 1, 12, "Congestion", "x")`: each number from 1 to 12 on its own."""
    return s.Quantity("AT LEAST", s.Ident(stream), _ident(var), s.EachCount(s.Ident(name), least, most))


def quantified(
    left: s.Quantity, relation: s.Relation | tuple[s.Relation, ...], right: s.Quantity, *, same: str | None = None
) -> PatternValue:
    """`quantified(all_segments("Duty", "x"), "DURING", some_segment("Shift", "y"), same="site")`"""
    relations = (relation,) if isinstance(relation, str) else relation
    return PatternValue(s.Quantified(left, relations, right, _ident(same)))


def _policy_first(
    parts: tuple[s.Policy | PatternValue | ComponentValue, ...],
) -> tuple[s.Policy, tuple[s.Component, ...]]:
    policy: OneOf["ANY", "NEXT", "STRICT"] = "ANY"
    components: list[s.Component] = []
    for position, part in enumerate(parts):
        if not isinstance(part, str):
            components.append(part.node)
        elif position == 0 and part in POLICIES:
            policy = part
        else:
            raise TypeError(f"expected a pattern, or ANY, NEXT or STRICT first, got {part!r}")
    return policy, tuple(components)


def _nodes(patterns: tuple[PatternValue, ...]) -> tuple[s.Pattern, ...]:
    return tuple(pattern.node for pattern in patterns)


def _ident(name: str | None) -> s.Ident | None:
    return None if name is None else s.Ident(name)


def _condition(value: Value | None) -> s.Expr | None:
    return None if value is None else node_of(value)
