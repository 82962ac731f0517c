"""Analysis for evaluation in possible worlds: which rows share their worlds, and what can be enumerated."""

from collections.abc import Callable, Iterable

from inkling.analysis.bounds.lag import lag_of
from inkling.analysis.bounds.window import total_horizon
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.continuous_ties import lost_time
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.inlined import is_own_key
from inkling.model.time import FOREVER, Duration
from inkling.model.uncertainty import LostEvents


def common_key(program: p.ProgramPlan) -> Verdict[tuple[str, ...]]:
    """The partition columns that all events share, if the uncertainty of every stream stays within a partition."""
    keys = {tuple(column.name for column in event.partition) for event in program.events}
    if len(keys) != 1 or () in keys:
        return Verdict((), "not all events are PARTITION BY the same columns")
    (key,) = keys
    for stream in program.streams:
        if stream.schema.uncertainty is not None and not set(key) <= set(stream.schema.key):
            return Verdict((), f"events of one KEY of {stream.schema.name} can fall into several partitions")
        if stream.derived and not set(key) <= set(stream.schema.key):
            return Verdict((), f"derived columns of {stream.schema.name} look back along another key")
    for event in program.events:
        if any(event.name in reader.sources for reader in program.events):
            for output in (*event.head, *event.returns):
                if output.name in key and not is_own_key(output):
                    return Verdict((), f"`{output.name}` of {event.name} can be the key of another partition")
    return Verdict(key, "all events are PARTITION BY it, and it is part of the KEY of every uncertain stream")


def reach_of(program: p.ProgramPlan, unit: Callable[[Duration], int]) -> int | None:
    """The largest distance in time between events that affect one result; None without limit."""
    if any(stream.derived for stream in program.streams):
        return None  # derived columns look back to the row before, however long ago
    horizon = total_horizon(program.events, unit)
    behind = max((lag_of(event, program, unit) for event in program.events), default=0)
    return None if horizon is None or behind >= FOREVER else horizon + behind


def needs_lengths(program: p.ProgramPlan) -> Verdict[bool]:
    """Whether some event depends on times of lost events, not only on their order."""
    losing = {stream.schema.name for stream in program.streams if isinstance(stream.schema.uncertainty, LostEvents)}
    for stream in program.streams:
        asks = [derived.name for derived in stream.derived if _reads_time(derived.expr, stream.schema.start)]
        if stream.schema.name in losing and asks:
            phrase = f"`{asks[0]}` of {stream.schema.name} is computed from times"
            return Verdict(True, f"{phrase}, and only the order of lost events is known")
    for event in program.events:
        if losing & dependencies_of(event, program) and (why := _measured(event, program)) is not None:
            return Verdict(True, f"{event.name} has {why}, and only the order of lost events is known")
    return Verdict(False, "only the order of lost events matters")


def _reads_time(expr: e.Expr, time: str) -> bool:
    return any(
        isinstance(part, e.SinceChange) or (isinstance(part, e.ColumnOf | e.PreviousColumn) and part.column == time)
        for part in e.walk(expr)
    )


def _measured(event: p.EventPlan, program: p.ProgramPlan) -> str | None:
    if event.keep is not None:
        return "KEEP FOR"
    windows = [event.within]
    for part in p.parts_of(event.pattern):
        match part:
            case p.Deadline():
                return "AFTER"
            case p.Sliding(last=Duration()):
                return "LAST"
            case p.TimePoint():
                return "AT a time"
            case p.StreamStart(back=back) if back is not None:
                return "a limit on NOT"
            case p.Sequence(within=within) | p.Narrowed(within=within) | p.Quantified(within=within):
                windows.append(within)
            case _:
                pass
    if any(isinstance(window, Duration | p.Points) for window in windows):
        return "WITHIN"
    if any(isinstance(part, e.TimeOf) for expr in _expressions(event) for part in e.walk(expr)):
        return "START or END"
    if any(lost_time(expr, event, program) is not None for expr in _expressions(event)):
        return "the time of an event"
    return None


def _expressions(event: p.EventPlan) -> Iterable[e.Expr]:
    yield from (output.expr for output in (*event.head, *event.returns))
    yield from event.having
    yield from event.preferred
    yield from p.expressions_of(event.pattern)
