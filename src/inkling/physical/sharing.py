"""What events of one stage have in common: their results, whole patterns, and the first parts of patterns.

Slots are numbered in the order of a pattern, so what is written alike under other names is equal here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inkling.logical import plan as p
from inkling.physical.plan import Evaluator, EventStep, LeafTest, SharedPart, Sharing

WHOLE = 0
"""Instead of a number of first parts: the pattern as a whole."""


@dataclass(frozen=True, slots=True)
class Work:
    """Something to look for where nothing is bound yet, with all that decides where it is found among given rows."""

    pattern: p.Pattern
    n_parts: int
    tests: tuple[LeafTest, ...]
    scope: tuple[int, ...]


def sharing_of(steps: tuple[EventStep, ...]) -> Sharing:
    """Results that several events have, and patterns or first parts of them that several events look for."""
    first: dict[object, str] = {}
    twins: dict[str, str] = {}
    names = [step.event.name for step in steps]
    for step in steps:
        name = step.event.name
        if names.count(name) > 1:
            continue
        original = first.setdefault(_without_names(step), name)
        if original != name:
            twins[name] = original
    users: dict[Work, dict[str, None]] = {}
    for step in steps:
        if step.event.name not in twins:
            for _, work in works_of(step):
                users.setdefault(work, {})[step.event.name] = None
    shared = {work: tuple(events) for work, events in users.items() if len(events) > 1}
    parts = (SharedPart(work.pattern, work.n_parts, events) for work, events in shared.items())
    return Sharing(tuple(twins.items()), tuple(parts))


def works_of(step: EventStep) -> Iterator[tuple[p.Pattern, Work]]:
    """Every pattern that the network looks for where nothing is bound, and its first parts; with its node in the plan."""
    if step.evaluator is not Evaluator.NETWORK or step.event.consumption is not None:
        return
    for node in _unbound(step.event.pattern):
        for n_parts, pattern in ((WHOLE, node), *_first_parts(node)):
            tests = tuple(step.leaf(leaf.slot) for leaf in p.leaves(pattern))
            yield node, Work(pattern, n_parts, tests, step.scope)


def _unbound(pattern: p.Pattern) -> Iterator[p.Pattern]:
    """Patterns that are looked for with nothing bound."""
    yield pattern
    match pattern:
        case p.Narrowed(pattern=inner) | p.Except(pattern=inner):
            yield from _unbound(inner)
        case p.Disjunction(items=items):
            for item in items:
                yield from _unbound(item)
        case _:
            pass


def _first_parts(pattern: p.Pattern) -> Iterator[tuple[int, p.Pattern]]:
    """What stands before the last part, and before the one before it; single events are cheap to find again."""
    match pattern:
        case p.Sequence(parts=parts):
            for n_parts in range(1, len(parts)):
                if n_parts > 1 or not isinstance(parts[0], p.Leaf):
                    yield n_parts, replace(pattern, parts=parts[:n_parts], within=None)
        case p.Conjunction(items=items) | p.Parallel(items=items):
            for n_parts in range(1, len(items)):
                if n_parts > 1 or not isinstance(items[0], p.Leaf):
                    yield n_parts, replace(pattern, items=items[:n_parts])
        case _:
            pass


def _without_names(step: EventStep) -> object:
    """The step but for what it, its columns and its variables are called."""
    event = step.event
    return replace(
        step,
        event=replace(
            event,
            name="",
            head=tuple(p.Output("", output.expr) for output in event.head),
            returns=tuple(p.Output("", output.expr) for output in event.returns),
            slots=tuple(replace(slot, name=None) for slot in event.slots),
            schema=replace(event.schema, name="", columns=()),
            timeouts_of=None,
        ),
        evaluator_reason="",
        key_reason="",
    )
