"""What keeps an event that uses itself from having one least model that can be built step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical import recursion as r
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.binding.syntax_walk import direct_parts, named_sources


def without_beginning(decls: Sequence[s.EventDecl], own: set[str]) -> list[s.EventDecl]:
    """The declarations that never find a first event: some part of theirs needs what none of them can begin."""
    begun: set[str] = set()

    def can_begin(decl: s.EventDecl) -> bool:
        return all(one not in own or one in begun for types in _needed(decl.body) for one in types)

    while found := {decl.name.text for decl in decls if can_begin(decl)} - begun:
        begun |= found
    return [decl for decl in decls if not can_begin(decl)]


def _needed(node: s.Node) -> Iterator[tuple[str, ...]]:
    """Of every part that has to happen, the streams and events that it may take."""
    match node:
        case s.Absent() | s.Complement():
            return
        case s.Leaf(types=types):
            if types:
                yield tuple(name.text for name in types)
        case s.NotBetween(first=first, last=last):
            yield from _needed(first)
            yield from _needed(last)
        case s.Except(left=left):
            yield from _needed(left)
        case s.Or(items=items):
            ways = [tuple(_needed(item)) for item in items]
            if () not in ways:
                yield tuple(name for way in ways for names in way for name in names)
        case s.Repeat(low=0):
            return
        case _:
            for part in direct_parts(node):
                yield from _needed(part)


def check_recursion(decls: Sequence[s.EventDecl], events: Sequence[p.EventPlan], mistakes: Mistakes) -> None:
    """Report whatever keeps a recursive group from having one least model that can be built step by step."""
    names = frozenset(event.name for event in events)
    for event in events:
        own = [decl for decl in decls if decl.name.text == event.name]
        if event.per is not p.Per.INTERVAL:
            mistakes.wrong(
                "INK0335",
                f"`{event.name}` uses itself, so its results must be told apart by values and interval",
                own[0].name,
                notes=["one result can be derived in many ways, and counts once"],
                helps=["add `PER INTERVAL`"],
            )
        if event.returns:
            mistakes.wrong(
                "INK0336",
                f"`{event.name}` uses itself, so RETURN does not say which of its derivations it speaks of",
                own[0].returns[0] if own[0].returns else own[0].name,
                helps=[f"put the value into the head: `EVENT {event.name}(…, value)`"],
            )
        if r.waits(event):
            mistakes.wrong(
                "INK0425",
                f"`{event.name}` uses itself and waits, which is not supported yet",
                own[0].name,
                notes=["AFTER, AT and a NOT at the end make a result known after its last event"],
                helps=["let another event wait, and use its results here"],
            )
    if all(r.is_monotone(event, names) for event in events) or all(r.is_progressive(event, names) for event in events):
        return
    at_fault = next(event for event in events if not r.is_monotone(event, names) or not r.is_progressive(event, names))
    own = [decl for decl in decls if decl.name.text == at_fault.name]
    place = next((used for decl in own for used in named_sources(decl.body) if used.text in names), own[0].name)
    mistakes.wrong(
        "INK0337",
        f"`{at_fault.name}` depends on {listed(sorted(names))} and on its absence at the same moment",
        place,
        notes=[
            "NOT, NEXT, STRICT, EXCEPT and CONSUME may look at results of the same recursion only if those end before"
            " the new result does"
        ],
        helps=["let an event that follows end the match: `SEQ(" + at_fault.name + " p, …, Next n)`"],
    )
