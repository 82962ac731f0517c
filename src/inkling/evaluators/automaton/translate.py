"""A regular pattern as a symbolic regular expression over the rows of a stage."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.analysis.expression import expression_of
from inkling.automata.guards import Guard
from inkling.automata.regex import Letter, Regex
from inkling.logical import plan as p
from inkling.physical.plan import EventStep


def to_regex(step: EventStep, bit_place: dict[int, int]) -> Regex:
    """The words whose ends are the event's results; `bit_place` renumbers conditions for the automaton."""
    return expression_of(step.event, _OfStep(step, bit_place))


@dataclass(frozen=True, slots=True)
class _OfStep:
    step: EventStep
    bit_place: dict[int, int]

    def taken(self, leaf: p.Leaf) -> Regex:
        return self._letter(leaf.slot, self.step.leaf(leaf.slot).all_bits)

    def candidate(self, leaf: p.Leaf) -> Regex | None:
        test = self.step.leaf(leaf.slot)
        return None if test.check is None else self._letter(leaf.slot, test.bits)

    def _letter(self, slot: int, bits: tuple[int, ...]) -> Regex:
        inputs = frozenset(self.step.leaf(slot).inputs)
        return Letter(Guard(inputs, frozenset(self.bit_place[bit] for bit in bits)), slot)
