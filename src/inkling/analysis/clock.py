"""The time unit of a run: the data determine the clock, and every duration of the program must match it."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from inkling.errors import InputError
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.time import FARTHEST, Clock, Duration, TimeUnit
from inkling.model.uncertainty import ImpreciseTime, LostEvents


def time_unit(plan: p.ProgramPlan, clocks: Mapping[str, Clock]) -> TimeUnit:
    """The time unit of a program whose streams have these clocks."""
    stamped = sorted(name for name, clock in clocks.items() if clock is Clock.TIMESTAMP)
    ticking = sorted(name for name, clock in clocks.items() if clock is Clock.TICKS)
    if stamped and ticking:
        raise InputError.of(
            "INK0505",
            f"the times of `{stamped[0]}` are timestamps and those of `{ticking[0]}` are integers",
            notes=("the streams of one run share one clock",),
        )
    clock = Clock.TIMESTAMP if stamped else Clock.TICKS
    for use in plan.ticks_only:
        if use.needs_dates and set(use.streams) & set(ticking):
            raise InputError.of(
                "INK0506",
                f"`{use.words}` is a date or a length of time, but the times of the input are integers",
                helps=("declare the type of the times, and how long a tick is: `t BIGINT) TIME t TICK 1 SECONDS;`",),
            )
        if not use.needs_dates and clock is Clock.TIMESTAMP and set(use.streams) & set(stamped):
            raise InputError.of(
                "INK0506",
                f"`{use.words}` uses a plain number as a length of time, but the input has timestamps",
                helps=("write the unit, for example `30 SECONDS`",),
            )
    tick = _common_tick(plan)
    unit = TimeUnit(clock, tick)
    for span in spans_of(plan, clock):
        try:
            length = unit(span)
        except ValueError as problem:
            counted = "integers" if clock is Clock.TICKS else "timestamps"
            epoch = (
                "if they count seconds since 1970, add `EPOCH SECONDS` to the stream; if one tick lasts a second,\n"
                "add `TICK 1 SECOND`"
            )
            raise InputError.of(
                "INK0507",
                f"{problem}",
                notes=(f"the times of the input are {counted}",),
                helps=(epoch,) if clock is Clock.TICKS else (),
            ) from None
        if abs(length) > FARTHEST:
            raise InputError.of("INK0507", f"{span} exceeds the range of times", notes=(_LIMIT,))
    return unit


def _common_tick(plan: p.ProgramPlan) -> Duration | None:
    ticks = {stream.schema.name: stream.schema.tick for stream in plan.streams if stream.schema.tick is not None}
    if not ticks:
        return None
    (first, tick), *others = ticks.items()
    for name, other in others:
        if other != tick:
            raise InputError.of(
                "INK0505",
                f"one tick of `{first}` lasts {tick} and one of `{name}` {other}",
                notes=("the streams of one run share one clock",),
                helps=("put the events of each stream into a separate program",),
            )
    return tick


_LIMIT = f"a duration is at most {FARTHEST} time units of the input"


def spans_of(plan: p.ProgramPlan, clock: Clock) -> Iterator[Duration]:
    """All durations of a program; POINTS apply to ticks only."""
    for window in _windows(plan):
        if isinstance(window, Duration):
            yield window
        elif isinstance(window, p.Points) and clock is Clock.TICKS:
            yield Duration(Fraction(window.count), "TICKS")
    for stream in plan.streams:
        yield from (span for span in (stream.schema.late, stream.schema.op_for) if span is not None)
        if isinstance(stream.schema.uncertainty, ImpreciseTime | LostEvents):
            yield from stream.schema.uncertainty.spans
        for column in stream.derived:
            yield from _in_expression(column.expr)
    for event in plan.events:
        if event.keep is not None:
            yield event.keep
        for output in (*event.head, *event.returns):
            yield from _in_expression(output.expr)
        for condition in (*event.having, *event.preferred):
            yield from _in_expression(condition)
        for part in p.parts_of(event.pattern):
            yield from _in_part(part)


def _windows(plan: p.ProgramPlan) -> Iterator[p.Window | None]:
    for event in plan.events:
        yield event.within
        for part in p.parts_of(event.pattern):
            if isinstance(part, p.Sequence | p.Narrowed | p.Quantified):
                yield part.within


def _in_part(part: p.Part) -> Iterator[Duration]:
    match part:
        case p.Deadline(after=after) | p.Sliding(last=Duration() as after):
            yield after
        case p.TimePoint(since_zero=since_zero):
            yield since_zero
        case p.StreamStart(back=back) if back is not None:
            yield back
        case p.Narrowed(having=conditions) | p.Leaf(demands=conditions):
            for condition in conditions:
                yield from _in_expression(condition)
        case _:
            pass


def _in_expression(expr: e.Expr) -> Iterator[Duration]:
    return (part.span for part in e.walk(expr) if isinstance(part, e.SpanLiteral))
