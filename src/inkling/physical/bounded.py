"""Refuses programs that a stream without an end could not run, because what they keep would grow for ever."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.analysis.bounded import advice, state_bound
from inkling.analysis.choice import Evaluator
from inkling.analysis.revision import is_withdrawable_for_ever
from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.logical.plan import ProgramPlan
from inkling.model.types import Type
from inkling.physical.plan import PhysicalPlan
from inkling.source import SourceText


def require_bounded(plan: PhysicalPlan, tree: s.Program, source: SourceText) -> None:
    """Raises `ProgramError` with all whose state nothing limits; `source` is the text of `tree`."""
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
            f"`{schema.name}` cannot be read on a stream: its events can be withdrawn for ever",
            decl.op.span,
            source,
            "nothing says for how long",
            ("as long as an event can be withdrawn, all that rests on it must be kept",),
            (
                f"say how long: `OP {decl.op.text} FOR {length}`",
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
                    f"`{event.name}` cannot run on a stream: what it keeps has no limit",
                    tree.event_name(event.name).span,
                    source,
                    verdict.reason,
                    ("on a stream without an end this fills any memory; on a finite one it is no problem",),
                    tuple(advice(event, plan.program, event.name in regular)),
                )
            )
    return found
