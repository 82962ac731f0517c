"""Common subexpressions of the events of a stage: equal results, equal patterns, and equal first parts of patterns.

Slots are numbered in pattern order, so patterns that differ only in variable names are equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inkling.analysis.choice import Choice, Evaluator
from inkling.analysis.policies import looks_at_scope
from inkling.logical import plan as p
from inkling.physical.plan import EventStep, LeafTest, SharedPart, Sharing

WHOLE = 0
"""Instead of a number of first parts: the pattern as a whole."""


@dataclass(frozen=True, slots=True)
class Work:
    """A pattern to match from scratch, with everything that determines its matches in given rows."""

    pattern: p.Pattern
    n_parts: int
    limits: tuple[p.Window | None, ...]  # limits of the length of a match
    tests: tuple[LeafTest, ...]
    scope: tuple[int, ...]  # if the result depends on all events of the scope


def sharing_of(steps: tuple[EventStep, ...]) -> Sharing:
    """Events with equal results, and patterns or first parts that several events share."""
    if len(steps) < 2:
        return Sharing((), ())
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
    users: dict[tuple[Work, frozenset[str]], dict[str, None]] = {}
    for step in steps:
        if step.event.name not in twins:
            read = frozenset(step.event.sources) & frozenset(names)  # these events add rows to the step
            for _, work in works_of(step):
                users.setdefault((work, read), {})[step.event.name] = None
    parts = (
        SharedPart(work.pattern, work.n_parts, tuple(events)) for (work, _), events in users.items() if len(events) > 1
    )
    return Sharing(tuple(twins.items()), tuple(parts))


def works_of(step: EventStep) -> Iterator[tuple[p.Pattern, Work]]:
    """The patterns that the network matches from scratch, with their nodes in the plan, and their first parts."""
    if step.evaluator is not Evaluator.NETWORK or step.event.consumption is not None:
        return
    scope = step.scope if looks_at_scope(step.event) else ()
    of_slot = {leaf.slot: leaf for leaf in reversed(step.leaves)}  # the first of each slot
    for node, limits in _unbound(step.event.pattern, (step.event.within, step.event.keep)):
        for n_parts, pattern in ((WHOLE, node), *_first_parts(node)):
            tests = tuple(of_slot[leaf.slot] for leaf in p.leaves(pattern))
            yield node, Work(pattern, n_parts, limits, tests, scope)


def _unbound(
    pattern: p.Pattern, limits: tuple[p.Window | None, ...]
) -> Iterator[tuple[p.Pattern, tuple[p.Window | None, ...]]]:
    """Patterns that are matched from scratch, and the limits around them."""
    yield pattern, limits
    match pattern:
        case p.Narrowed(pattern=inner, within=within):
            yield from _unbound(inner, (*limits, within))
        case p.Except(pattern=inner):
            yield from _unbound(inner, limits)
        case p.Disjunction(items=items):
            for item in items:
                yield from _unbound(item, limits)
        case _:
            pass


def _first_parts(pattern: p.Pattern) -> Iterator[tuple[int, p.Pattern]]:
    """The first part, the first two, …, all parts; single leaves are not worth sharing.

    All parts of one pattern may be the first parts of another, except after an EAGER repetition, whose end depends on
    the next part.
    """
    match pattern:
        case p.Sequence(parts=parts):
            for n_parts in range(1, len(parts) + 1):
                if _is_work(parts[:n_parts]) and not (n_parts < len(parts) and _is_eager(parts[n_parts - 1])):
                    yield n_parts, replace(pattern, parts=parts[:n_parts], within=None)
        case p.Conjunction(items=items) | p.Parallel(items=items):
            for n_parts in range(1, len(items) + 1):
                if _is_work(items[:n_parts]):
                    yield n_parts, replace(pattern, items=items[:n_parts])
        case _:
            pass


def _is_work(parts: tuple[p.Part, ...]) -> bool:
    """Whether the last part adds a join; absences are tested after all other parts."""
    placed = [part for part in parts if not isinstance(part, p.Absent | p.StreamStart)]
    return placed[-1:] == [parts[-1]] and (len(placed) > 1 or not isinstance(placed[0], p.Leaf))


def _is_eager(part: p.Part) -> bool:
    return isinstance(part, p.Repetition) and part.eager


def _without_names(step: EventStep) -> object:
    """The step without the names of its event, columns and variables."""
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
        choice=Choice(step.choice.evaluator, "", within_world=Choice(step.evaluator, "")),
        key_reason="",
    )


def shared_text(sharing: Sharing, event: str) -> str | None:
    """The work that an event shares with others of its stage, in words; None if there is none."""
    return "; ".join(_sentences(sharing, event)) or None


def largest_parts(sharing: Sharing) -> tuple[SharedPart, ...]:
    """Shared parts without those that are the beginning of a larger shared part of the same events."""
    return tuple(
        part
        for part in sharing.parts
        if not any(set(part.events) <= set(other.events) and _is_larger(other, part) for other in sharing.parts)
    )


def _is_larger(one: SharedPart, other: SharedPart) -> bool:
    """A whole pattern is the largest part of all."""
    return other.n_parts > 0 and (one.n_parts == 0 or one.n_parts > other.n_parts)


def _sentences(sharing: Sharing, event: str) -> Iterator[str]:
    twins = dict(sharing.twins)
    if event in twins:
        yield f"all its work with {twins[event]}"
    alike = [twin for twin, original in sharing.twins if original == event]
    if alike:
        yield f"all its work with {', '.join(alike)}"
    for part in largest_parts(sharing):
        if event in part.events:
            others = ", ".join(other for other in part.events if other != event)
            what = "its pattern" if part.n_parts == 0 else _first(part.n_parts)
            yield f"{what} with {others}"


def _first(n_parts: int) -> str:
    return "its first part" if n_parts == 1 else f"its first {n_parts} parts"
