"""Refuses programs over uncertain streams that a stream without an end could not answer."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.analysis.choice import Evaluator
from inkling.errors import Diagnostic, InputError, ProgramError
from inkling.evaluators.sampling import Sampling
from inkling.language import syntax as s
from inkling.logical.plan import Demand, StreamPlan
from inkling.logical.recursion import resting_on
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import PhysicalPlan
from inkling.source import SourceText

MOST_WORLDS = 1 << 15
"""How many worlds a stream may keep; each holds all that the program remembers of every key."""


def require_worlds_streamable(
    plan: PhysicalPlan, tree: s.Program, source: SourceText, sampling: Sampling, *, unbounded: bool
) -> None:
    """Raises an error with everything that stands in the way; certain programs always pass."""
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
            notes=("every world holds all that the program remembers of every key",),
            helps=("ask for less with a larger `--epsilon` or `--delta`",),
        )


def _impossible(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> Iterator[Diagnostic]:
    in_worlds = plan.answered_by(Evaluator.WORLDS)
    for event in plan.program.events:
        if event.name not in plan.uncertain:
            continue
        if event.demand is Demand.EXACT and event.name in in_worlds:
            yield Diagnostic(
                "INK0615",
                f"`{event.name}` demands EXACT, which cannot be promised on a stream",
                tree.event_name(event.name).span,
                source,
                "its probabilities are sampled there",
                ("all worlds can be enumerated only when all rows of a part of the data are known",),
                ("leave EXACT out, or run the program over files",),
            )
        if event.top is not None:
            yield Diagnostic(
                "INK0411",
                f"TOP of `{event.name}` on a stream is not supported yet",
                tree.event_name(event.name).span,
                source,
                f"because of `TOP {event.top}`",
                ("which results are the most probable is known when the stream ends",),
                ("ask for a CONFIDENCE instead",),
            )


def _waiting_for_numbers(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> Iterator[Diagnostic]:
    for stream in _in_worlds(plan):
        doubt = stream.schema.doubt
        if isinstance(doubt, LostEvents) and doubt.timeout is None and (doubt.count is None or doubt.bounds is None):
            yield Diagnostic(
                "INK0605",
                f"`{stream.schema.name}` cannot be read on a stream: nothing limits how long a number may be missing",
                _stream_name(tree, stream.schema.name).span,
                source,
                "what was lost shows with the next number of its key",
                ("until then no world can go on; on a finite stream this is no problem",),
                (
                    "add TIMEOUT, which closes a key that is silent for too long",
                    "allow it with `--unbounded` (`unbounded=True`) where every key goes on or the stream ends",
                ),
            )


def _in_worlds(plan: PhysicalPlan) -> list[StreamPlan]:
    """Streams that worlds are made of; relations between segments with lost ends do not wait for numbers."""
    program, wanted = plan.program, plan.uncertain - plan.answered_by(Evaluator.RELATION).keys()
    needed = {name for event in program.events if event.name in wanted for name in resting_on(event, program)}
    return [stream for stream in program.streams if stream.schema.name in needed]


def _stream_name(tree: s.Program, name: str) -> s.Ident:
    return next(one.name for one in tree.statements if isinstance(one, s.StreamDecl) and one.name.text == name)
