"""What keeps an event that uses itself from having one least model that can be built step by step."""

from __future__ import annotations

from collections.abc import Sequence

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical import recursion as r
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.binding.syntax_walk import named_sources


def check_recursion(decls: Sequence[s.EventDecl], events: Sequence[p.EventPlan], mistakes: Mistakes) -> None:
    """Report whatever keeps a recursive group from having one least model that can be built step by step."""
    names = frozenset(event.name for event in events)
    related = next((event for event in events if isinstance(event.pattern, p.Quantified)), None)
    if related is not None:
        _refuse_relation(related, decls, names, mistakes)
        return
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


def _refuse_relation(
    event: p.EventPlan, decls: Sequence[s.EventDecl], names: frozenset[str], mistakes: Mistakes
) -> None:
    own = next(decl for decl in decls if decl.name.text == event.name)
    place = next((used for used in named_sources(own.body) if used.text in names), own.name)
    mistakes.wrong(
        "INK0337",
        f"`{event.name}` compares segments that rest on its own results",
        place,
        notes=["whether two keys are related is settled when all their segments are there"],
        helps=["compare segments of an event that does not use " + listed([event.name])],
    )
