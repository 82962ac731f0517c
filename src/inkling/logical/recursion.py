"""Recursive events: groups of mutually recursive events, and whether their least model can be built step by step.

A group is *monotone* if additional events can only add results: its model is a least fixpoint. A group is *progressive*
if every result ends later than the results of the group that it depends on: its model can be built by increasing end,
and the absence of a result is final when it is needed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from inkling.errors import InputError
from inkling.logical import plan as p
from inkling.logical.by_identity import by_identity
from inkling.logical.patterns.maximal import maximal_parts
from inkling.logical.plan import can_be_empty, may_end_absent

MOST_ROUNDS = 10_000
"""More rounds of derivation than this mean that a recursion does not terminate."""

ENDING_BEFORE = frozenset({"PRECEDES", "OVERLAPS", "STARTS", "DURING"})
ENDING_AFTER = frozenset({"ENDS_AFTER", "PRECEDED_BY", "OVERLAPPED_BY", "STARTED_BY", "CONTAINS"})
"""Relations whose left side always ends before, or after, the right side."""


def without_end(names: Iterable[str]) -> InputError:
    """The error for a recursion that does not terminate."""
    return InputError.of(
        "INK0560",
        f"the recursion of {', '.join(sorted(names))} does not terminate: each result derives another one",
        helps=("add a bound, for example `WHERE p.n < 100` or `WITHIN`",),
    )


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Mutually recursive events, or one event that is not recursive or recursive by itself."""

    events: tuple[p.EventPlan, ...]
    is_recursive: bool

    @property
    def names(self) -> frozenset[str]:
        return frozenset(event.name for event in self.events)

    @property
    def outer_sources(self) -> tuple[str, ...]:
        """The sources of the group besides its own events."""
        return tuple(sorted({source for event in self.events for source in event.sources} - self.names))


def groups_of(program: p.ProgramPlan) -> tuple[EventGroup, ...]:
    """The events of a program in its order, in groups of mutually recursive events."""
    return groups_among(program.events)


def groups_among(events: Sequence[p.EventPlan]) -> tuple[EventGroup, ...]:
    """Some events in their order, in groups of mutually recursive events."""
    sources = {event.name: event.sources for event in events}
    reached = {name: _reachable(name, sources.get) for name in sources}
    done: set[str] = set()
    groups: list[EventGroup] = []
    for event in events:
        if event.name in done:
            continue
        mates = tuple(
            other
            for other in events
            if other.name == event.name or (other.name in reached[event.name] and event.name in reached[other.name])
        )
        done.update(mate.name for mate in mates)
        groups.append(EventGroup(mates, event.name in reached[event.name]))
    return tuple(groups)


def group_of(event: p.EventPlan, program: p.ProgramPlan) -> EventGroup:
    reached = dependencies_of(event, program)
    if event.name not in reached:
        return EventGroup((event,), is_recursive=False)
    mates = tuple(
        other for other in program.events if other.name in reached and event.name in dependencies_of(other, program)
    )
    return EventGroup(mates, is_recursive=True)


@by_identity
def dependencies_of(event: p.EventPlan, program: p.ProgramPlan) -> frozenset[str]:
    """Every stream and event that an event reads, directly or through others."""
    events = {one.name: one for one in program.events} | {event.name: event}
    return _reachable(event.name, lambda name: events[name].sources if name in events else None)


def in_groups(needs: Mapping[str, Sequence[str]]) -> Iterator[tuple[list[str], bool]]:
    """Groups of names that need each other, after the groups that they need; and whether a group needs itself."""
    reached = {name: _reachable(name, needs.get) for name in needs}
    done: set[str] = set()

    def visit(name: str) -> Iterator[tuple[list[str], bool]]:
        if name in done:
            return
        mates = [other for other in needs if other == name or (other in reached[name] and name in reached[other])]
        done.update(mates)
        for needed in (needed for mate in mates for needed in needs[mate]):
            yield from visit(needed)
        yield mates, name in reached[name]

    for name in needs:
        yield from visit(name)


def _reachable(name: str, needs: Callable[[str], Sequence[str] | None]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(needs(name) or ())
    while waiting:
        needed = waiting.pop()
        if needed not in found:
            found.add(needed)
            waiting.extend(needs(needed) or ())
    return frozenset(found)


def recursive_slots(event: p.EventPlan, names: frozenset[str]) -> frozenset[int]:
    """The slots that results of the group fill, without slots under NOT."""
    return frozenset(leaf.slot for leaf in _positive(event.pattern) if names & set(leaf.sources or event.scope))


def is_monotone(event: p.EventPlan, names: frozenset[str]) -> bool:
    """Whether additional results of the group can only add results of the event."""
    if event.restart or event.consumption is not None or any(maximal_parts(event.pattern)):
        return False
    return not _counts(event.within, event, names) and _is_monotone(event.pattern, event, names)


def is_progressive(event: p.EventPlan, names: frozenset[str]) -> bool:
    """Whether every result ends later than all results of the group that it depends on or that NOT excludes."""
    if _counts(event.within, event, names) or any(maximal_parts(event.pattern)):
        return False
    return _is_progressive(event.pattern, event, names)


def waits(event: p.EventPlan) -> bool:
    """Whether a result may become final only after its last event."""
    return any(
        isinstance(part, p.Deadline | p.TimePoint) or (isinstance(part, p.Sequence) and may_end_absent(part))
        for part in p.parts_of(event.pattern)
    )


def branch_with(pattern: p.Pattern, slot: int) -> p.Pattern:
    match pattern:
        case p.Disjunction(items=items):
            return next(branch_with(item, slot) for item in items if any(leaf.slot == slot for leaf in p.leaves(item)))
        case _:
            return pattern


def _positive(part: p.Part) -> Iterator[p.Leaf]:
    match part:
        case p.Leaf():
            yield part
        case p.Absent() | p.OtherRun():
            pass
        case p.Except(pattern=inner) | p.LeftJoin(left=inner, kind=p.JoinKind.NO_FACT):
            yield from _positive(inner)
        case p.Sequence(parts=parts):
            for inner_part in parts:
                yield from _positive(inner_part)
        case _:
            for inner in p.sub_patterns(part):
                yield from _positive(inner)


def _reads(part: p.Part, names: frozenset[str]) -> bool:
    if isinstance(part, p.Deadline | p.StreamStart):
        return False
    inner = part.pattern if isinstance(part, p.Absent) else part
    return any(names & set(leaf.sources) or not leaf.sources for leaf in p.leaves(inner))


def _counts(within: p.Window | None, event: p.EventPlan, names: frozenset[str]) -> bool:
    """Whether a limit counts results of the group."""
    return isinstance(within, p.EventCount) and bool(names & set(event.scope))


def _is_monotone(part: p.Part, event: p.EventPlan, names: frozenset[str]) -> bool:
    match part:
        case p.Absent(pattern=inner) | p.OtherRun(pattern=inner):
            return not _reads(inner, names)
        case p.Except(pattern=inner, other=other):
            return _is_monotone(inner, event, names) and not _reads(other, names)
        case p.LeftJoin(left=left, right=right, kind=p.JoinKind.OUTER | p.JoinKind.NO_FACT):
            return _is_monotone(left, event, names) and not _reads(right, names)
        case p.Quantified():
            return not _reads(part, names)
        case p.Narrowed(pattern=inner, within=within):
            return not _counts(within, event, names) and _is_monotone(inner, event, names)
        case p.Sequence(policy=p.Policy.STRICT) if names & set(event.scope):
            return False
        case p.Sequence(policy=p.Policy.NEXT) if _reads(part, names):
            return False
        case p.Sequence(parts=parts):
            return all(_is_monotone(inner, event, names) for inner in parts)
        case p.Deadline() | p.StreamStart():
            return True
        case _:
            return all(_is_monotone(inner, event, names) for inner in p.sub_patterns(part))


def _is_progressive(part: p.Part, event: p.EventPlan, names: frozenset[str]) -> bool:
    """Whether everything of the group that the part reads ends before the part does."""
    if isinstance(part, p.Narrowed) and _counts(part.within, event, names):
        return False
    if not _reads(part, names):
        return isinstance(part, p.Absent | p.Deadline | p.StreamStart) or all(
            _is_progressive(inner, event, names) for inner in p.sub_patterns(part)
        )
    match part:
        case p.Disjunction(items=items):
            return all(_is_progressive(item, event, names) for item in items)
        case p.Narrowed(pattern=inner):
            return _is_progressive(inner, event, names)
        case p.Sequence(parts=parts):
            last = next((place for place in reversed(range(len(parts))) if not may_lack(parts[place])), 0)
            return not any(_reads(one, names) for one in parts[last + 1 :]) and _is_progressive(
                parts[last], event, names
            )
        case p.Related(relations=relations, right=later) if ENDING_BEFORE.issuperset(relations):
            return _is_progressive(later, event, names)
        case p.Related(left=later, relations=relations) if ENDING_AFTER.issuperset(relations):
            # of simultaneous operands the right one arrives first, so a new result there would replace the old one
            return event.consumption is None and _is_progressive(later, event, names)
        case p.LeftJoin(left=left, relations=relations, right=right):
            ended = bool(relations) and ENDING_AFTER.issuperset(relations)
            is_earlier = ended or not _reads(right, names) or _is_progressive(right, event, names)
            return is_earlier and _is_progressive(left, event, names)
        case _:
            return False


def may_lack(part: p.Part) -> bool:
    """Whether a match may have no event of a part."""
    return isinstance(part, p.Absent | p.StreamStart) or can_be_empty(part)
