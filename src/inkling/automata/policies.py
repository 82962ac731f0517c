"""Selection policies as regular expressions: which events a sequence may leave out between components."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from inkling.automata import regex as r


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a sequence, repeated ``low`` to ``high`` times; the policy applies to each repetition.

    Under NEXT, the next occurrence of ``candidate`` (by default ``body``) must be an occurrence of ``body``.
    ``absent_before`` are patterns without an occurrence in the gap before this component, which starts at the previous
    component that matched.
    """

    body: r.Regex
    low: int = 1
    high: int | None = 1
    absent_before: tuple[r.Regex, ...] = ()
    candidate: r.Regex | None = None

    @property
    def successor(self) -> r.Regex:
        return self.body if self.candidate is None else self.candidate

    def __post_init__(self) -> None:
        if self.low < 0 or (self.high is not None and self.high < max(self.low, 1)):
            raise ValueError(f"a component needs 0 <= low <= high and high >= 1, got low={self.low} high={self.high}")


Part: TypeAlias = Component | r.Regex
Gap: TypeAlias = Callable[[r.Regex, tuple[r.Regex, ...]], r.Regex]


def strict(parts: Sequence[Part]) -> r.Regex:
    """STRICT: no event of the scope is between components."""
    return _Sequence(tuple(_component(part) for part in parts), _no_gap).regex()


def any_(parts: Sequence[Part]) -> r.Regex:
    """ANY: any events can be between components."""
    return _Sequence(tuple(_occurring(_component(part)) for part in parts), _any_gap).regex()


def next_(parts: Sequence[Part]) -> r.Regex:
    """NEXT: no occurrence of the next component is between components."""
    return _Sequence(tuple(_occurring(_component(part)) for part in parts), _next_gap).regex()


def without(patterns: Sequence[r.Regex]) -> r.Regex:
    """Words that contain no occurrence of the patterns."""
    if not patterns:
        return r.AnyWord()
    occurrence = r.Union(tuple(r.nonempty(pattern) for pattern in patterns))
    return r.RegexComplement(r.Concat((r.AnyWord(), occurrence, r.AnyWord())))


def _no_gap(_body: r.Regex, _absent: tuple[r.Regex, ...]) -> r.Regex:
    return r.Epsilon()


def _any_gap(_body: r.Regex, absent: tuple[r.Regex, ...]) -> r.Regex:
    return without(absent)


def _next_gap(body: r.Regex, absent: tuple[r.Regex, ...]) -> r.Regex:
    return without((body, *absent))


def _component(part: Part) -> Component:
    return part if isinstance(part, Component) else Component(part)


def _occurring(component: Component) -> Component:
    """The component without empty occurrences; if it allowed them, it becomes optional."""
    if not r.nullable(component.body):
        return component
    return Component(r.nonempty(component.body), 0, component.high, component.absent_before)


@dataclass(frozen=True, slots=True)
class _Sequence:
    """Expands a sequence to the union of sequences without optional components."""

    components: tuple[Component, ...]
    gap: Gap

    def regex(self) -> r.Regex:
        if not self.components:
            raise ValueError("a sequence needs at least one component")
        return self._before_first(0)

    def _before_first(self, index: int) -> r.Regex:
        if index == len(self.components):
            return r.Epsilon()
        component = self.components[index]
        if component.absent_before:
            raise ValueError("an absent pattern needs a component that always matches on either side")
        further = self._further(component)
        here = r.Concat((component.body, further, self._after(index + 1, ())))
        return r.Union((here, self._before_first(index + 1))) if component.low == 0 else here

    def _after(self, index: int, absent: tuple[r.Regex, ...]) -> r.Regex:
        """The rest of the sequence after a match; ``absent`` patterns apply to the gap up to the next match."""
        if index == len(self.components):
            if absent:
                raise ValueError("an absent pattern needs a component that always matches on either side")
            return r.Epsilon()
        component = self.components[index]
        absent += component.absent_before
        if not absent:
            return r.Concat((self._repeated(component), self._after(index + 1, ())))
        first = r.Concat((self.gap(component.successor, absent), component.body))
        further = self._further(component)
        here = r.Concat((first, further, self._after(index + 1, ())))
        return r.Union((here, self._after(index + 1, absent))) if component.low == 0 else here

    def _repeated(self, component: Component) -> r.Regex:
        successor = self._successor(component)
        once = component.low == component.high == 1
        return successor if once else r.RegexRepeat(successor, component.low, component.high)

    def _further(self, component: Component) -> r.Regex:
        """The repetitions of a component after the first one."""
        if component.high == 1:
            return r.Epsilon()
        high = None if component.high is None else component.high - 1
        return r.RegexRepeat(self._successor(component), max(component.low - 1, 0), high)

    def _successor(self, component: Component) -> r.Regex:
        return r.Concat((self.gap(component.successor, ()), component.body))
