"""Repetitions, round by round: which registers are bound in each round, and where an eager repetition stops.

In an eager repetition, one more round and the part after it compete: neither may start after the other could have
ended.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from inkling.evaluators.network.partials import (
    NOWHERE,
    Occurrences,
    Partials,
    RegisterLayout,
    SlotRegister,
    StartBy,
    named_slots,
    stack,
)
from inkling.kernels.joins import join
from inkling.logical import plan as p
from inkling.model.batch import Ints


def expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All positions in the ranges [first, last), with the number of the range of each."""
    width = np.maximum(last - first, 0)
    owner = np.repeat(np.arange(len(first)), width)
    begins = np.cumsum(width) - width
    return owner, np.arange(len(owner)) - begins[owner] + first[owner]


def is_among(rows: tuple[Ints, ...], known: tuple[Ints, ...]) -> np.ndarray:
    """Whether each row, given as columns, is one of the known rows."""
    n = len(rows[0])
    columns = [np.concatenate(pair) for pair in zip(rows, known, strict=True)]
    is_known = np.concatenate([np.zeros(n, np.int64), np.ones(len(known[0]), np.int64)])
    order = np.lexsort([1 - is_known, *columns[::-1]])
    new = np.ones(len(order), bool)
    if len(order):
        new[1:] = False
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    group = np.cumsum(new) - 1
    known_group = np.zeros(group[-1] + 1 if len(group) else 0, bool)
    known_group[group[is_known[order] == 1]] = True
    among = np.empty(len(order), bool)
    among[order] = known_group[group]
    return among[:n]


Following = Callable[[p.Pattern, Partials, StartBy | None], Occurrences]
"""The occurrences of a pattern that may follow partial matches and start by a limit."""


@dataclass(frozen=True, slots=True)
class RepetitionRounds:
    """The registers of one repetition, during a round and after the last one."""

    layout: RegisterLayout
    slots: frozenset[int]
    spans: frozenset[int]

    @classmethod
    def of(cls, pattern: p.Pattern, layout: RegisterLayout) -> Self:
        return cls(layout, frozenset(leaf.slot for leaf in p.leaves(pattern)), frozenset(named_slots(pattern)))

    def begun(self, partials: Partials) -> Partials:
        """Before another round: slots of earlier rounds are unbound."""
        registers, moments = partials.registers.copy(), partials.moments.copy()
        for number, (owner, kept) in enumerate(self.layout.registers):
            if owner in self.slots and kept in (SlotRegister.HERE, SlotRegister.HERE_FIRST):
                registers[:, number] = -1
        for number, (owner, _) in enumerate(self.layout.moments):
            if owner in self.spans:
                moments[:, number] = NOWHERE
        return replace(partials, registers=registers, moments=moments)

    def over(self, partials: Partials) -> Partials:
        """After the last round: slots are bound to the first and last events of all rounds."""
        registers = partials.registers.copy()
        for number, (owner, kept) in enumerate(self.layout.registers):
            if owner in self.slots and kept in (SlotRegister.HERE, SlotRegister.HERE_FIRST):
                whole = SlotRegister.LAST if kept is SlotRegister.HERE else SlotRegister.FIRST
                registers[:, number] = registers[:, self.layout.register(owner, whole)]
        return replace(partials, registers=registers)


def repeated_eagerly(
    part: p.Repetition,
    after: p.Pattern | None,
    once: Partials,
    layout: RegisterLayout,
    following: Following,
    appended: Callable[[Partials, Occurrences], Partials],
) -> tuple[Partials, StartBy]:
    """Partial matches after each allowed number of rounds, given those after one.

    And the latest start of the next part.
    """
    rounds = RepetitionRounds.of(part.pattern, layout)
    partials, count = once, 1
    reached: list[tuple[Partials, StartBy]] = []
    while len(partials) and count != part.high:
        over, again = rounds.over(partials), rounds.begun(partials)
        exits = _earliest_end(after, over, layout, following) if count >= part.low and after is not None else None
        found = following(part.pattern, again, exits)
        if count >= part.low:
            reached.append((over, _ends_of(found, len(partials))))
        partials, count = appended(again, found), count + 1
    at_any_time = np.full(len(partials), join.FAR)  # after the last allowed round nothing competes
    reached.append((rounds.over(partials), StartBy(at_any_time, at_any_time)))
    return stack([one for one, _ in reached]), stack([start_by for _, start_by in reached])


def _earliest_end(after: p.Pattern, partials: Partials, layout: RegisterLayout, following: Following) -> StartBy:
    """The earliest end of the part after a repetition."""
    if isinstance(after, p.Repetition):
        partials, after = RepetitionRounds.of(after.pattern, layout).begun(partials), after.pattern
    return _ends_of(following(after, partials, None), len(partials))


def _ends_of(found: Occurrences, n_partials: int) -> StartBy:
    return StartBy(*join.earliest_end_of(found.origin, n_partials, found.end, found.end_place))
