"""Rejects programs over uncertain streams that cannot be evaluated on unbounded streams."""

from collections.abc import Iterator

from inkling.analysis.choice import Evaluator
from inkling.errors import Diagnostic, InputError, ProgramError
from inkling.evaluators.sampling import Sampling
from inkling.language import syntax as s
from inkling.logical.plan import Demand, StreamPlan
from inkling.logical.recursion import dependencies_of
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import PhysicalPlan
from inkling.source import SourceText

MOST_WORLDS = 1 << 15
"""The limit on sampled worlds on a stream; the state of every key is kept in each world."""


def require_worlds_streamable(
    plan: PhysicalPlan, tree: s.Program, source: SourceText, sampling: Sampling, *, unbounded: bool
) -> None:
    """Raises one error with all reasons; certain programs always pass."""
    if not plan.uncertain:
        return
    found = [*_impossible(plan, tree, source), *([] if unbounded else _waiting_for_numbers(plan, tree, source))]
    if found:
        raise ProgramError(found)
    n_worlds, _ = sampling.once.plan(plan.program.events)
    if n_worlds > MOST_WORLDS and plan.answered_by(Evaluator.WORLDS):
        raise InputError.of(
            "INK0616",
            f"a stream would have to keep {n_worlds:,} worlds, the limit is {MOST_WORLDS:,}",
            notes=("every world holds the whole state of every key",),
            helps=("use a larger `--epsilon` or `--delta`",),
        )


def _impossible(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> Iterator[Diagnostic]:
    in_worlds = plan.answered_by(Evaluator.WORLDS)
    for event in plan.program.events:
        if event.name not in plan.uncertain:
            continue
        if event.demand is Demand.EXACT and event.name in in_worlds:
            yield Diagnostic(
                "INK0615",
                f"`{event.name}` demands EXACT, which is not possible on a stream",
                tree.event_name(event.name).span,
                source,
                "its probabilities are sampled there",
                ("all worlds can be enumerated only when all rows of a part of the data are known",),
                ("leave EXACT out, or run the program over files",),
            )


def _waiting_for_numbers(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> Iterator[Diagnostic]:
    for stream in _in_worlds(plan):
        uncertainty = stream.schema.uncertainty
        if (
            isinstance(uncertainty, LostEvents)
            and uncertainty.timeout is None
            and (uncertainty.count is None or uncertainty.bounds is None)
        ):
            yield Diagnostic(
                "INK0605",
                f"`{stream.schema.name}` cannot be read on a stream: a sequence number may be missing for any time",
                _stream_name(tree, stream.schema.name).span,
                source,
                "a lost event is noticed only with the next number of its key",
                ("until then its worlds are incomplete",),
                (
                    "add TIMEOUT, which closes a key that is silent for too long",
                    "allow it with `--unbounded` (`unbounded=True`) if every key gets more events or the stream ends",
                ),
            )


def _in_worlds(plan: PhysicalPlan) -> list[StreamPlan]:
    """Streams that are read in worlds. Relations between segments do not wait for missing numbers."""
    program, wanted = plan.program, plan.uncertain - plan.answered_by(Evaluator.RELATION).keys()
    needed = {name for event in program.events if event.name in wanted for name in dependencies_of(event, program)}
    return [stream for stream in program.streams if stream.schema.name in needed]


def _stream_name(tree: s.Program, name: str) -> s.Ident:
    return next(one.name for one in tree.statements if isinstance(one, s.StreamDecl) and one.name.text == name)
