"""Refuses forecasts of events that no automaton recognizes: nothing would say what they are waiting for."""

from __future__ import annotations

from collections.abc import Iterable

from inkling.analysis.choice import Evaluator
from inkling.analysis.query.strategy import strategy_of
from inkling.analysis.regular import is_regular, ways_to_regular
from inkling.errors import Diagnostic, NotSupportedYet, ProgramError
from inkling.language import syntax as s
from inkling.logical.in_worlds import doubtful_events
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.physical.plan import PhysicalPlan
from inkling.source import SourceText, Span


def require_forecastable(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> None:
    """Raises `ProgramError` with every forecast that cannot be made; `source` is the text of `tree`."""
    steps = [step for stage in plan.stages for step in stage.steps if step.evaluator is Evaluator.FORECAST]
    found: dict[str, Diagnostic] = {}
    doubtful = doubtful_events(plan.program)
    for step in steps:
        assert step.event.forecast is not None
        of = step.event.forecast.of
        if step.event.name in doubtful:
            why = _not_on_belief(step.event.name, plan.program)
            if why is not None:
                found.setdefault(of, _not_yet(tree.event_name(step.event.name).span, source, why))
            continue
        verdict = is_regular(step.event, plan.program)
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


def refuse_learning_from_doubt(program: ProgramPlan, events: Iterable[EventPlan]) -> None:
    """Raises `NotSupportedYet` where models would be learned from, or tried on, events that may not have happened."""
    doubtful = doubtful_events(program)
    for event in events:
        if event.name in doubtful:
            raise NotSupportedYet.of(
                "INK0452",
                f"a model for `{event.name}` cannot be learned from streams that are uncertain, or be tried on them",
                notes=("models count what happened; a forecast over an uncertain stream can use one that is there",),
                helps=("learn it with a program that reads the same columns as a certain stream with ORDER BY",),
            )


def _not_on_belief(name: str, program: ProgramPlan) -> str | None:
    """What keeps a forecast over uncertain streams from being made on the chances of all that may have happened."""
    reader = next((event.name for event in program.events if name in event.sources), None)
    if reader is not None:
        return f"`{reader}` reads it, and what it says is no event of any world"
    event = program.event(name)
    assert event is not None
    strategy = strategy_of(event, program)
    return strategy.reason if strategy.conclusion is None else None


def _not_yet(span: Span, source: SourceText, why: str) -> Diagnostic:
    return Diagnostic(
        "INK0452",
        "this forecast over uncertain streams is not supported yet",
        span,
        source,
        why,
        ("it can be made of one stream with PROBABILITY, if the event is regular and PARTITION BY the stream's KEY",),
    )
