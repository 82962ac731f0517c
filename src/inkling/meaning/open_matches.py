"""What an open match is: parts of a sequence or of AND that have happened and may still be completed.

In one world, up to a moment, the first `reached` parts of a sequence are open if they are a match of their own, if
nothing has followed them that NOT forbids, that NEXT would have taken for the next part or that STRICT does not allow,
and if the limit of the sequence is not over at the watermark. Conditions of HAVING on these events count if they read
single events, under NEXT the first one: others are tested when the sequence is complete. What an EAGER repetition has
added to is not open either, once the time of the added event is over.

Of AND, the parts happen in any order: any choice of them, but not all, is open if it is a match of its own. Conditions
that read other parts are tested when these have happened. Nothing can follow that prevents the rest.

Sequences and AND of single events and of repetitions of them are defined here.

Over uncertain streams, the probability of an open match is that of all possible worlds of the rows so far in which it
is open: the sum of their probabilities. Its times are the earliest start, the latest end and the latest limit there.

Open matches are the same if they have the same events and wait for the same parts. Queries over probable streams, whose
results say that some match ends and not which one (PER END, PER VALUES), have one open match for all partial matches
with equally many parts and equal values of the variables that the parts share: it is open in a world in which one of
them is. This is what a bounded state can say: without a window, each of any number of events may begin a match of its
own. With PER VALUES, worlds in which these values have a match already do not count in the probability, as nothing can
be added to their result.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.meaning.semantics import Derived, Result, derive
from inkling.model.event import World

EVER = p.Points(1 << 40)
"""An absence after the last part that has happened has no limit yet."""


class OpenInWorld(NamedTuple):
    """An open match in one world."""

    happened: tuple[int, ...]  # places of its parts among those besides NOT
    result: Result  # the match that these parts are on their own
    latest: int | None  # the time by which all parts must have happened


def is_covered(event: p.EventPlan) -> bool:
    """Whether the definition here is about such an event."""
    match event.pattern:
        case p.Sequence(parts=parts) | p.Conjunction(items=parts):
            return all(map(_is_simple, parts)) and event.keep is None
        case _:
            return False


def _is_simple(part: p.Part) -> bool:
    match part:
        case p.Leaf(atoms=()):
            return True
        case p.Repetition(pattern=p.Leaf(atoms=())):
            return True
        case p.Absent(pattern=p.Leaf(atoms=())):
            return True
        case _:
            return False


def until(world: World, now: int) -> World:
    """What has happened in a world up to a moment."""
    events, resets = (tuple(one for one in some if one.end.time <= now) for some in (world.events, world.resets))
    return replace(world, events=events, resets=resets)


def open_in_world(
    event: p.EventPlan, world: World, watermark: int, context: ExpressionContext
) -> Iterator[OpenInWorld]:
    """Every open match of an event."""
    pattern = event.pattern
    if isinstance(pattern, p.Conjunction):
        yield from _open_in_conjunction(event, pattern, world, watermark, context)
        return
    assert isinstance(pattern, p.Sequence)
    n_parts = sum(not isinstance(part, p.Absent) for part in pattern.parts)
    for reached in range(1, n_parts + 1):
        first, after = _divided(pattern, reached)
        following = next((part for part in after if not isinstance(part, p.Absent)), None)
        absent = [part.pattern for part in after[: after.index(following) if following else None]]  # type: ignore[union-attr]
        known = _slots(first)
        closing = [one for one in absent if isinstance(one, p.Leaf) and _reads(one) <= {*known, one.slot}]
        if following is None and not closing:
            continue
        if pattern.policy is p.Policy.NEXT and isinstance(following, p.Leaf):
            closing.append(following)
        slots = event.slots
        if pattern.policy is p.Policy.STRICT and following is not None:
            closing.append(p.Leaf(len(slots), ()))
            slots = (*slots, p.Slot(len(slots), None, (), repeated=False, negated=False))
        single = [part.slot for part in first if isinstance(part, p.Leaf)]
        begun = _begun(event, set(single[:1] if pattern.policy is p.Policy.NEXT else single), slots)
        framed = p.Narrowed(p.Sequence(pattern.policy, first, EVER), event.within, (), None)
        closed = {
            found.result.lineage[:-1]
            for one in closing
            for found in _derived(begun, p.Sequence(p.Policy.ANY, (framed, one)), world, context)
        }
        whole = _derived(begun, framed, world, context)
        if _leaves_behind(first[-1], following):
            over = [found.result.lineage for found in whole if found.result.end < watermark]
            closed |= {longer[:n] for longer in over for n in range(1, len(longer))}
        for found in whole:
            latest = _latest(event, found.result.start, context)
            if found.result.lineage not in closed and (latest is None or latest > watermark):
                yield OpenInWorld(tuple(range(reached)), found.result, latest)


def _open_in_conjunction(
    event: p.EventPlan, pattern: p.Conjunction, world: World, watermark: int, context: ExpressionContext
) -> Iterator[OpenInWorld]:
    places = range(len(pattern.items))
    for happened in (some for n in places[1:] for some in combinations(places, n)):
        items = tuple(pattern.items[place] for place in happened)
        known = _slots(items)
        alone = tuple(_reading_only(item, known) for item in items)
        some = alone[0] if len(alone) == 1 else replace(pattern, items=alone)
        begun = _begun(event, {item.slot for item in items if isinstance(item, p.Leaf)}, event.slots)
        for found in _derived(begun, p.Narrowed(some, event.within, (), None), world, context):
            latest = _latest(event, found.result.start, context)
            if latest is None or latest > watermark:
                yield OpenInWorld(happened, found.result, latest)


def _reading_only(part: p.Pattern, slots: set[int]) -> p.Pattern:
    """The part without conditions that read other slots."""
    if not isinstance(part, p.Leaf):
        return p.rebuilt(part, lambda inner: _reading_only(inner, slots))
    known = (tuple(one for one in some if e.slots_of(one) <= slots) for some in (part.conditions, part.checks))
    conditions, checks = known
    return replace(part, conditions=conditions, checks=checks)


def _begun(event: p.EventPlan, sure: set[int], slots: tuple[p.Slot, ...]) -> p.EventPlan:
    """The event whose matches are parts of its matches; HAVING is tested where it reads only the slots `sure`."""
    having = tuple(one for item in event.having for one in e.conjuncts(item) if set() < e.slots_of(one) <= sure)
    return replace(
        event, head=(), returns=(), having=having, per=p.Per.MATCH, restart=False, consumption=None, slots=slots
    )


def _leaves_behind(last: p.Part, following: p.Part | None) -> bool:
    """Whether an EAGER repetition must be followed by a single event, which can only follow its latest event."""
    after = following.pattern if isinstance(following, p.Repetition) else following
    return isinstance(last, p.Repetition) and last.eager and isinstance(after, p.Leaf)


def _derived(event: p.EventPlan, pattern: p.Pattern, world: World, context: ExpressionContext) -> list[Derived]:
    return derive(replace(event, pattern=pattern, within=None), world, context, {})


def _divided(pattern: p.Sequence, reached: int) -> tuple[tuple[p.Part, ...], tuple[p.Part, ...]]:
    """The first parts with what is absent between them, as far as that concerns them, and all that follows.

    What is absent before the first event counts back from the last one, which has not happened yet.
    """
    places = [place for place, part in enumerate(pattern.parts) if not isinstance(part, p.Absent)]
    border = places[reached - 1] + 1
    inside = pattern.parts[places[0] : border]
    known = _slots(inside)
    happens = next((at for at, part in enumerate(inside) if _must_happen(part)), len(inside))
    kept = tuple(
        part
        for at, part in enumerate(inside)
        if not isinstance(part, p.Absent)
        or (at > happens and all(_reads(one) <= {*known, one.slot} for one in p.leaves(part.pattern)))
    )
    return kept, pattern.parts[border:]


def _must_happen(part: p.Part) -> bool:
    return isinstance(part, p.Leaf) or (isinstance(part, p.Repetition) and part.low > 0)


def _slots(parts: tuple[p.Part, ...]) -> set[int]:
    return {
        one.slot
        for part in parts
        if not isinstance(part, p.Absent | p.Deadline | p.StreamStart)
        for one in p.leaves(part)
    }


def _reads(leaf: p.Leaf) -> set[int]:
    return {slot for condition in leaf.demands for slot in e.slots_of(condition)}


def _latest(event: p.EventPlan, start: int, context: ExpressionContext) -> int | None:
    match event.within:
        case None | p.EventCount():
            return None
        case p.Points(count=count):
            return start + count - 1
        case span:
            return start + context.unit(span)
