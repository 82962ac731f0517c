"""Checks of a physical plan: forecasts need an automaton, RESET WHEN a simple state, and streams a bounded state."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from inkling.analysis.bounds.bounded import advice, state_bound
from inkling.analysis.bounds.revision import is_withdrawable_for_ever
from inkling.analysis.choice import Evaluator
from inkling.analysis.policies import read_sources
from inkling.analysis.query.strategy import strategy_of
from inkling.analysis.regular import is_regular, ways_to_regular
from inkling.analysis.verdict import Verdict
from inkling.errors import Diagnostic, NotSupportedYet, ProgramError
from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.logical.rewrites.in_worlds import uncertain_events
from inkling.model.types import Type
from inkling.physical.naming import physical_name
from inkling.physical.plan import PhysicalPlan
from inkling.source import SourceText, Span


def require_forecastable(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> None:
    """Raises `ProgramError` with every forecast that cannot be made; `source` is the text of `tree`."""
    steps = [step for stage in plan.stages for step in stage.steps if step.evaluator is Evaluator.FORECAST]
    found: dict[str, Diagnostic] = {}
    uncertain = uncertain_events(plan.program)
    for step in steps:
        of = p.forecast_of(step.event).of
        if step.event.name in uncertain:
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
                ("a forecast counts events of a totally ordered stream until the automaton accepts",),
                tuple(ways_to_regular(step.event, plan.program)),
            )
    if found:
        raise ProgramError(list(found.values()))


def reject_uncertain_training_data(program: ProgramPlan, events: Iterable[EventPlan]) -> None:
    """Raises `NotSupportedYet` if a model would be learned from, or tested on, uncertain events."""
    uncertain = uncertain_events(program)
    for event in events:
        if event.name in uncertain:
            raise NotSupportedYet.of(
                "INK0452",
                f"a model for `{event.name}` cannot be learned from uncertain streams, or tested on them",
                notes=("models count certain events; a forecast over an uncertain stream can use an existing model",),
                helps=("learn it from a certain stream with the same columns and ORDER BY",),
            )


def _not_on_belief(name: str, program: ProgramPlan) -> str | None:
    """Why a forecast cannot be made over uncertain streams; None if it can."""
    reader = next((event.name for event in program.events if name in event.sources), None)
    if reader is not None:
        return f"`{reader}` reads the forecast, which is not an event of any world"
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
        ("supported over one stream with PROBABILITY, if the event is regular and PARTITION BY the KEY of the stream",),
    )


def physical_reset(condition: e.Expr) -> e.Expr:
    """The condition of RESET WHEN over physical columns."""
    if isinstance(condition, e.ColumnOf):
        return replace(condition, column=physical_name(condition.column, condition.type))
    return e.rebuilt(condition, physical_reset)


def reject_resets(event: p.EventPlan, program: p.ProgramPlan, chosen: Evaluator, regular: Verdict[bool]) -> None:
    """Raises `NotSupportedYet` for events over streams with RESET WHEN whose state a reset cannot clear."""
    resetting = [stream for name in read_sources(event) if (stream := program.stream(name)) and stream.reset_when]
    if not resetting or isinstance(event.pattern, p.Leaf):
        return
    if event.name in uncertain_events(program) or any(one.schema.uncertainty is not None for one in resetting):
        raise no_resets(event.name, "the event depends on an uncertain stream")
    if chosen not in (Evaluator.AUTOMATON, Evaluator.FORECAST):
        raise no_resets(event.name, regular.reason)
    partition = {column.name for column in event.partition}
    for stream in resetting:
        if partition != set(stream.schema.key):
            key = ", ".join(stream.schema.key)
            demand = f"PARTITION BY {key}" if key else "no PARTITION BY"
            raise no_resets(event.name, f"a row of `{stream.schema.name}` resets its key, which needs {demand}")


def no_resets(event: str, reason: str) -> NotSupportedYet:
    return NotSupportedYet.of(
        "INK0420",
        f"`{event}` reads a stream with RESET WHEN, which is not supported yet here",
        notes=(reason, "RESET WHEN is supported for single events and for events of the automaton evaluator"),
        helps=("with PARTITION BY, ORDER BY and PER END, sequences of events are found by an automaton",),
    )


def require_bounded(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> None:
    """Raises `ProgramError` for streams and events with unbounded state; `source` is the text of `tree`."""
    found = [*_withdrawals(plan.program, tree, source), *_findings(plan, tree, source)]
    if found:
        raise ProgramError(found)


def _withdrawals(program: ProgramPlan, tree: s.Program, source: SourceText) -> Iterator[Diagnostic]:
    for schema in (stream.schema for stream in program.streams if is_withdrawable_for_ever(stream.schema)):
        decl = next(one for one in tree.statements if isinstance(one, s.StreamDecl) and one.name.text == schema.name)
        assert decl.op is not None
        length = "100 TICKS" if schema.time_type is Type.INTEGER and schema.tick is None else "1 HOUR"
        yield Diagnostic(
            "INK0605",
            f"`{schema.name}` cannot be read on a stream: its events can be withdrawn at any time",
            decl.op.span,
            source,
            "OP has no FOR",
            ("as long as an event can be withdrawn, everything that depends on it must be kept",),
            (
                f"write `OP {decl.op.text} FOR {length}`",
                "allow it with `--unbounded` (`unbounded=True`) where the stream ends",
            ),
        )


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
                    f"`{event.name}` cannot run on a stream: its state has no limit",
                    tree.event_name(event.name).span,
                    source,
                    verdict.reason,
                    ("an unbounded stream would exhaust the memory",),
                    tuple(advice(event, plan.program, event.name in regular)),
                )
            )
    return found
