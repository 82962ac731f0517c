"""Makes a plan simpler without changing its results: each rule on each event until none changes anything."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inkling.logical import plan as p
from inkling.logical.rules import RULES, Rule


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The simpler plan, and the names of the rules that changed each event."""

    plan: p.ProgramPlan
    applied: tuple[tuple[str, tuple[str, ...]], ...] = ()


def rewrite(program: p.ProgramPlan, rules: tuple[Rule, ...] = RULES) -> Rewritten:
    """Every event of a program, simplified."""
    events, applied = [], []
    for event in program.events:
        # a consumption policy sees in which pairs a pattern is written, and which conditions are candidates' own
        simpler, names = _simplified(event, () if event.consumption is not None else rules)
        events.append(simpler)
        if names:
            applied.append((event.name, names))
    if not applied:
        return Rewritten(program)
    return Rewritten(replace(program, events=tuple(events)), tuple(applied))


def _simplified(event: p.EventPlan, rules: tuple[Rule, ...]) -> tuple[p.EventPlan, tuple[str, ...]]:
    """Every rule makes a plan smaller or moves a condition inwards, so this comes to an end."""
    names: dict[str, None] = {}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            simpler = rule(event)
            if simpler is not event:
                event, changed = simpler, True
                names[rule.__name__] = None
    return event, tuple(names)
