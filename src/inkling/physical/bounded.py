"""Refuses programs that a stream without an end could not run, because what they keep would grow for ever."""

from __future__ import annotations

from inkling.analysis.bounded import advice, state_bound
from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.physical.plan import Evaluator, PhysicalPlan
from inkling.source import SourceText


def require_bounded(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> None:
    """Raises `ProgramError` with every event whose state nothing limits; `source` is the text of `tree`."""
    found = _findings(plan, tree, source)
    if found:
        raise ProgramError(found)


def _findings(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> list[Diagnostic]:
    regular = {
        step.event.name for stage in plan.stages for step in stage.steps if step.evaluator is Evaluator.AUTOMATON
    }
    found = []
    for event in plan.program.events:
        verdict = state_bound(event, plan.program, event.name in regular)
        if verdict.conclusion is None:
            found.append(
                Diagnostic(
                    "INK0605",
                    f"`{event.name}` cannot run on a stream: what it keeps has no limit",
                    tree.event_name(event.name).span,
                    source,
                    verdict.reason,
                    ("on a stream without an end this fills any memory; on a finite one it is no problem",),
                    tuple(advice(event, plan.program, event.name in regular)),
                )
            )
    return found
