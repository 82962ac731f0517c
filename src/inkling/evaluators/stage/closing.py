"""Rows that can be part of a match, and those that can complete one: where none comes, nothing new can be found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.policies import looks_at_scope
from inkling.evaluators.stage.leaf_tests import passing
from inkling.logical import plan as p
from inkling.physical.plan import EventStep, LeafTest, Stage


def closing_slots(pattern: p.Pattern) -> frozenset[int] | None:
    """The slots one of which the last event of every match fills; None where that cannot be told."""
    match pattern:
        case p.Leaf(slot=slot):
            return frozenset((slot,))
        case p.Narrowed(pattern=inner):
            return closing_slots(inner)
        case p.Repetition(pattern=inner, low=low) if low > 0:
            return closing_slots(inner)
        case p.Sequence(parts=(*_, p.Leaf() | p.Narrowed() | p.Repetition() | p.Sequence() | p.Disjunction() as last)):
            return closing_slots(last)
        case p.Disjunction(items=items) | p.Conjunction(items=items):
            found = [closing_slots(item) for item in items]
            return None if None in found else frozenset().union(*(one for one in found if one is not None))
        case _:
            return None


class NeededRows:
    """Tells which rows can be part of a match of some events, or stand in its way.

    In a stage with automata, which read everything, most rows are not for the network.
    """

    def __init__(self, steps: Sequence[EventStep]) -> None:
        self._tests = [leaf for step in steps for leaf in step.leaves]
        self._tests += [LeafTest(-1, step.scope, (), ()) for step in steps if looks_at_scope(step.event)]

    def among(self, rows: pa.Table) -> NDArray[np.bool_]:
        return passing(rows, self._tests)


class ClosingRows:
    """Tells which rows can complete a match of some events."""

    def __init__(self, stage: Stage, steps: Sequence[EventStep], at_once: frozenset[str]) -> None:
        """`at_once` names the events whose results are known, and final, as soon as their last row is."""
        self._tests: tuple[LeafTest, ...] | None = None
        tests: list[LeafTest] = []
        for step in steps:
            slots = closing_slots(step.event.pattern) if step.event.name in at_once else None
            if slots is None or any(stage.inputs[place].is_derived for place in step.inputs):
                return
            tests += [leaf for leaf in step.leaves if leaf.slot in slots]
        self._tests = tuple(tests)

    @property
    def can_tell(self) -> bool:
        return self._tests is not None

    def among(self, rows: pa.Table) -> NDArray[np.bool_]:
        """Whether each row can be the last of a match."""
        if self._tests is None:
            return np.ones(len(rows), bool)
        return passing(rows, self._tests)
