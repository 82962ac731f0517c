"""`ON TIMEOUT name`: whether anything can run out of time, and the event that reports it."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, Source, broken_source
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.keys import key_of_results
from inkling.logical.timeouts import REACHED, late_parts, timeouts_of


def bind_timeouts(decl: s.EventDecl, event: p.EventPlan, catalog: Catalog, mistakes: Mistakes) -> p.EventPlan | None:
    """The event of the matches that ran out of time, which also enters the catalog."""
    if decl.on_timeout is None or decl.on_timeout.text in catalog.sources:  # a name that is taken was reported
        return None
    if not _is_sound(decl.on_timeout, decl, event, mistakes):
        catalog.sources[decl.on_timeout.text] = broken_source(decl.on_timeout.text, is_derived=True)
        return None
    plan = timeouts_of(event, decl.on_timeout.text)
    main = catalog.sources[event.name]
    key = key_of_results(plan.head, (column.name for column in plan.partition), plan.pattern)
    catalog.sources[plan.name] = Source(
        plan.name,
        {column.name: column.type for column in plan.schema.columns},
        is_ordered=plan.schema.is_ordered,
        is_interval=plan.schema.is_interval,
        streams=main.streams,
        doubtful=main.doubtful,
        key=key.columns,
        unshown=key.unshown,
        is_derived=True,
    )
    return plan


def _is_sound(name: s.Ident, decl: s.EventDecl, event: p.EventPlan, mistakes: Mistakes) -> bool:
    pattern = event.pattern
    if not isinstance(pattern, p.Sequence):
        mistakes.wrong(
            "INK0326",
            "ON TIMEOUT needs a sequence, some of whose parts can be missing when the time is up",
            name,
            helps=["write the pattern as `SEQ(…)`, with `WITHIN` outside of any parentheses"],
        )
    elif pattern.policy is p.Policy.STRICT:
        mistakes.wrong(
            "INK0326",
            "ON TIMEOUT needs a sequence that skips events",
            name,
            notes=["in `SEQ STRICT` the next event of the scope ends a partial match, not the time"],
            helps=["write `SEQ NEXT(…)`"],
        )
    elif event.within is None or isinstance(event.within, p.EventCount):
        counted = ["`WITHIN n EVENTS` counts events; no time passes"] if event.within is not None else []
        mistakes.wrong(
            "INK0326",
            "ON TIMEOUT needs a limit in time",
            name,
            "nothing says when the time is up",
            notes=counted,
            helps=["add a limit to the pattern, for example `WITHIN 10 MINUTES`"],
        )
    elif not late_parts(pattern):
        mistakes.wrong(
            "INK0326",
            "nothing in this sequence can run out of time",
            name,
            notes=["that takes a first part and a later one that cannot be left out"],
        )
    elif any(isinstance(part, p.Repetition) and part.eager for part in pattern.parts):
        mistakes.wrong(
            "INK0326",
            "ON TIMEOUT cannot tell where an EAGER repetition waits",
            name,
            notes=["what comes after the last event of a partial match may be one more round or the next part"],
            helps=["leave EAGER out"],
        )
    elif (title := _looked_ahead(event, pattern)) is not None:
        mistakes.wrong(
            "INK0326",
            f"ON TIMEOUT cannot tell whether a NOT holds that looks at `{title}`",
            name,
            f"`{title}` has not happened yet when the time is up for an earlier part",
            helps=["compare the event inside NOT with parts that stand before it"],
        )
    elif any(output.name == REACHED for output in (*event.head, *event.returns)):
        mistakes.wrong(
            "INK0220",
            f"two columns of `{name}` are called `{REACHED}`",
            name,
            notes=[f"`{REACHED}` tells how many parts had happened when the time was up"],
            helps=[f"give the column of `{decl.name}` another name with `AS`"],
        )
    else:
        return True
    return False


def _looked_ahead(event: p.EventPlan, sequence: p.Sequence) -> str | None:
    """The part that an absence before it looks at, if time can be up between the two."""
    late = late_parts(sequence)
    home = {leaf.slot: place for place, part in enumerate(sequence.parts) for leaf in _leaves(part)}
    for place, part in enumerate(sequence.parts):
        if isinstance(part, p.Absent):
            for slot in sorted({slot for expr in _expressions(part.pattern) for slot in e.slots_of(expr)}):
                if any(place < missing <= home.get(slot, -1) for missing in late):
                    return event.slots[slot].name or " | ".join(event.slots[slot].sources)
    return None


def _leaves(part: p.Part) -> Iterator[p.Leaf]:
    if isinstance(part, p.Absent):
        yield from p.leaves(part.pattern)
    elif not isinstance(part, p.Deadline | p.StreamStart):
        yield from p.leaves(part)


def _expressions(pattern: p.Pattern) -> Iterator[e.Expr]:
    match pattern:
        case p.Leaf(demands=demands, atoms=atoms):
            yield from demands
            yield from (arg for atom in atoms for arg in atom.args if arg is not None)
        case p.Narrowed(having=having):
            yield from having
        case _:
            pass
    for inner in p.sub_patterns(pattern):
        yield from _expressions(inner)
