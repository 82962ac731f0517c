"""Which events may read streams with `RESET WHEN`: those that remember nothing, or the state of an automaton."""

from __future__ import annotations

from dataclasses import replace

from inkling.analysis.choice import Evaluator
from inkling.analysis.policies import read_sources
from inkling.analysis.verdict import Verdict
from inkling.errors import NotSupportedYet
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.in_worlds import doubtful_events
from inkling.physical.naming import physical_name


def physical_reset(condition: e.Expr) -> e.Expr:
    """The condition over physical columns."""
    if isinstance(condition, e.ColumnOf):
        return replace(condition, column=physical_name(condition.column, condition.type))
    return e.rebuilt(condition, physical_reset)


def refuse_resets(event: p.EventPlan, program: p.ProgramPlan, chosen: Evaluator, regular: Verdict[bool]) -> None:
    """A reset clears what its key is in the middle of, so it must be plain what that is."""
    resetting = [stream for name in read_sources(event) if (stream := program.stream(name)) and stream.reset_when]
    if not resetting or isinstance(event.pattern, p.Leaf):
        return
    if event.name in doubtful_events(program) or any(one.schema.doubt is not None for one in resetting):
        raise no_resets(event.name, "it rests on an uncertain stream")
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
        notes=(reason, "resets are known to events that an automaton finds, and to single events"),
        helps=("with PARTITION BY, ORDER BY and PER END, sequences of events are found by an automaton",),
    )
