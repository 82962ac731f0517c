"""A regular pattern as a regular expression over single events."""

from __future__ import annotations

from typing import Protocol

from inkling.automata import policies
from inkling.automata.regex import Complement, Regex, Union, at_most
from inkling.logical import plan as p


class Letters(Protocol):
    """How single events are spelled."""

    def taken(self, leaf: p.Leaf) -> Regex:
        """An event that a leaf takes."""

    def candidate(self, leaf: p.Leaf) -> Regex | None:
        """What a hop leads to where that may fail a CHECK; None where it may not."""


def expression_of(event: p.EventPlan, letters: Letters) -> Regex:
    """The words whose ends are the results of a regular event."""
    regex = _Translator(letters).pattern(event.pattern, p.Policy.ANY)
    return at_most(regex, event.within.count) if isinstance(event.within, p.EventCount) else regex


class _Translator:
    def __init__(self, letters: Letters) -> None:
        self._letters = letters

    def pattern(self, pattern: p.Pattern, policy: p.Policy) -> Regex:
        match pattern:
            case p.Leaf():
                return self._letters.taken(pattern)
            case p.Disjunction(items=items):
                return Union(tuple(self.pattern(item, policy) for item in items))
            case p.Narrowed(pattern=inner, within=within):
                regex = self.pattern(inner, policy)
                return at_most(regex, within.count) if isinstance(within, p.EventCount) else regex
            case p.Repetition():
                return self._sequence((pattern,), policy)
            case p.Sequence(policy=own, parts=parts):
                return self._sequence(parts, own)
            case p.OtherRun(pattern=inner):
                return Complement(self.pattern(inner, p.Policy.STRICT))
            case p.Quantified() | p.Sliding() | p.Except() | p.TimePoint():
                raise AssertionError("no regular pattern")
            case p.Conjunction() | p.Parallel() | p.Related():
                raise AssertionError("no regular pattern")

    def _candidate(self, pattern: p.Pattern) -> Regex | None:
        return self._letters.candidate(pattern) if isinstance(pattern, p.Leaf) else None

    def _sequence(self, parts: tuple[p.Part, ...], policy: p.Policy) -> Regex:
        components: list[policies.Component] = []
        absent: tuple[Regex, ...] = ()
        for part in parts:
            match part:
                case p.Absent(pattern=inner):
                    absent = (*absent, self.pattern(inner, p.Policy.ANY))
                    continue
                case p.Repetition(pattern=inner, low=low, high=high):
                    body = self.pattern(inner, policy)
                    components.append(policies.Component(body, low, high, absent, self._candidate(inner)))
                case p.Deadline() | p.StreamStart():
                    raise AssertionError("no regular pattern")
                case _:
                    body = self.pattern(part, policy)
                    components.append(policies.Component(body, absent_before=absent))
            absent = ()
        match policy:
            case p.Policy.ANY:
                return policies.any_(components)
            case p.Policy.NEXT:
                return policies.next_(components)
            case p.Policy.STRICT:
                return policies.strict(components)
