"""Refuses forecasts of events that no automaton recognizes: nothing would say what they are waiting for."""

from __future__ import annotations

from inkling.analysis.regular import is_regular, ways_to_regular
from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.physical.plan import Evaluator, PhysicalPlan
from inkling.source import SourceText


def require_forecastable(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> None:
    """Raises `ProgramError` with every forecast that cannot be made; `source` is the text of `tree`."""
    steps = [step for stage in plan.stages for step in stage.steps if step.evaluator is Evaluator.FORECAST]
    found: dict[str, Diagnostic] = {}
    for step in steps:
        verdict = is_regular(step.event, plan.program)
        assert step.event.forecast is not None
        of = step.event.forecast.of
        if not verdict.conclusion and of not in found:
            found[of] = Diagnostic(
                "INK0365",
                f"`{of}` cannot be forecast: no automaton recognizes it",
                tree.event_name(step.event.name).span,
                source,
                verdict.reason,
                ("a forecast counts the events of a totally ordered stream until an automaton is done",),
                tuple(ways_to_regular(step.event, plan.program)),
            )
    if found:
        raise ProgramError(list(found.values()))
