"""A regular pattern as a symbolic regular expression over the rows of a stage."""

from __future__ import annotations

from inkling.automata import policies
from inkling.automata.guards import Guard
from inkling.automata.regex import Complement, Letter, Regex, Union, at_most
from inkling.logical import plan as p
from inkling.physical.plan import EventStep


def to_regex(step: EventStep, bit_place: dict[int, int]) -> Regex:
    """The words whose ends are the event's results; `bit_place` renumbers conditions for the automaton."""
    regex = _Translator(step, bit_place).pattern(step.event.pattern, p.Policy.ANY)
    within = step.event.within
    return at_most(regex, within.count) if isinstance(within, p.EventCount) else regex


class _Translator:
    def __init__(self, step: EventStep, bit_place: dict[int, int]) -> None:
        self._step = step
        self._bit_place = bit_place

    def pattern(self, pattern: p.Pattern, policy: p.Policy) -> Regex:
        match pattern:
            case p.Leaf(slot=slot):
                return self._letter(slot, self._step.leaf(slot).all_bits)
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

    def _letter(self, slot: int, bits: tuple[int, ...]) -> Regex:
        inputs = frozenset(self._step.leaf(slot).inputs)
        return Letter(Guard(inputs, frozenset(self._bit_place[bit] for bit in bits)), slot)

    def _candidate(self, pattern: p.Pattern) -> Regex | None:
        """What a hop leads to where that may fail a CHECK."""
        if not isinstance(pattern, p.Leaf) or self._step.leaf(pattern.slot).check is None:
            return None
        return self._letter(pattern.slot, self._step.leaf(pattern.slot).bits)

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
