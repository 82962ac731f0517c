"""The rows that can complete a match: while none of them arrives, events that are known at once have no result."""

from collections.abc import Callable, Iterable

from inkling.analysis.bounds.lag import lag_of, settled_after, waiting_time
from inkling.logical import plan as p
from inkling.logical.plan import EventPlan, Per, ProgramPlan
from inkling.model.time import Duration
from inkling.physical.plan import EventStep, LeafTest, Stage


def is_known_at_once(event: EventPlan, program: ProgramPlan, unit: Callable[[Duration], int]) -> bool:
    """Whether every result of an event is known, and final, with the last row of its match."""
    waits = (lag_of, settled_after, waiting_time)
    return event.per is not Per.VALUES and not any(wait(event, program, unit) for wait in waits)


def closing_tests(
    stage: Stage, steps: Iterable[EventStep], program: ProgramPlan, unit: Callable[[Duration], int]
) -> tuple[LeafTest, ...] | None:
    """The tests of which the last row of every match passes one; None if time alone may decide a result."""
    tests: list[LeafTest] = []
    for step in steps:
        slots = closing_slots(step.event.pattern) if is_known_at_once(step.event, program, unit) else None
        if slots is None or any(stage.inputs[place].is_derived for place in step.inputs):
            return None
        tests += [leaf for leaf in step.leaves if leaf.slot in slots]
    return tuple(tests)


def closing_slots(pattern: p.Pattern) -> frozenset[int] | None:
    """The slots of which one holds the last event of every match; None if unknown."""
    match pattern:
        case p.Leaf(slot=slot):
            return frozenset((slot,))
        case p.Narrowed(pattern=inner) | p.LeftJoin(left=inner):
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
