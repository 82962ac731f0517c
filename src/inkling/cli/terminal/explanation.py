"""Explanations of results as lines of text: how far a pattern got, derivations, and possible worlds."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from inkling.cli.terminal.messages import counted
from inkling.evaluators.worlds.details.influence import UncertainEvent
from inkling.evaluators.worlds.details.likeliest import Likeliest
from inkling.evaluators.worlds.details.outcomes import Dependence, EventOutcome, WorldScenario
from inkling.io.spellings import EPOCH
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.results import LEADING, TRAILING
from inkling.why.explanation import Derivation, Fact, InWorlds, LikeliestCourse, Looked, Shown
from inkling.why.forecasts import ForecastReasons
from inkling.why.progress import PatternProgress, Step
from inkling.why.uncertain import UncertainWhy

WIDEST = 72
"""Characters of a part that are shown in the table."""


def progress_lines(progress: PatternProgress) -> list[str]:
    """The steps below each other, then what stood in the way."""
    has_limit = any(step.too_long is not None for step in progress.steps)
    headings = ("", "rows", "candidates", "matches", *(["too long"] if has_limit else []))
    grid: list[tuple[str, ...] | str] = [headings]
    way: str | None = None
    for step in progress.steps:
        if step.way != way and step.way is not None:
            grid.append(f"{step.way}:")
        way = step.way
        grid.append(_cells(step)[: len(headings)])
    rows = [row for row in grid if not isinstance(row, str)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    lines = [row if isinstance(row, str) else _aligned(row, widths) for row in grid]
    found = f"{progress.event}: {counted(progress.n_results, 'result')}"
    if not progress.obstacles:
        return [*lines, "", found]
    return [*lines, "", *([found] if progress.n_results else []), *progress.obstacles]


def _cells(step: Step) -> tuple[str, ...]:
    numbers = (step.rows, step.candidates, step.matches, step.too_long)
    what = step.what if len(step.what) <= WIDEST else f"{step.what[: WIDEST - 1]}…"
    return (what, *("" if number is None else f"{number:,}" for number in numbers))


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    first, *numbers = row
    cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))]
    return "  ".join(cells).rstrip()


def tree_lines(tree: Derivation) -> list[str]:
    """A result, and below it what it depends on."""
    return [_line(None, tree), *_below(tree, "")]


def _below(tree: Derivation, indent: str) -> Iterator[str]:
    inside: list[tuple[str | None, Derivation] | Fact] = [*tree.parts, *tree.facts]
    for place, one in enumerate(inside, start=1):
        branch, deeper = _branch(indent, is_last=place == len(inside))
        if isinstance(one, Fact):
            yield f"{branch}with {_fact_line(one)}"
            yield from _below_fact(one, deeper)
            continue
        yield branch + _line(*one)
        yield from _below(one[1], deeper)


def _below_fact(fact: Fact, indent: str) -> Iterator[str]:
    for place, one in enumerate(fact.parts, start=1):
        branch, deeper = _branch(indent, is_last=place == len(fact.parts))
        yield f"{branch}from {_fact_line(one)}"
        yield from _below_fact(one, deeper)


def _branch(indent: str, *, is_last: bool) -> tuple[str, str]:
    """The beginning of a line of a tree, and the indent of the lines below it."""
    return f"{indent}{'└─ ' if is_last else '├─ '}", indent + ("   " if is_last else "│  ")


def _fact_line(fact: Fact) -> str:
    rule = "" if fact.note is None else f"  -- {fact.note}"
    return f"{fact.table}{listed(fact.values)}{rule}"


def _line(name: str | None, tree: Derivation) -> str:
    called = "" if name is None else f"{name}: "
    own = "" if not tree.is_row else " (lost)" if tree.ids[0] is None else f" #{tree.ids[0]}"
    when = text_of(tree.start) if tree.start == tree.end else f"{text_of(tree.start)} to {text_of(tree.end)}"
    return f"{called}{tree.source}{own}{listed(tree.values)} at {when}"


def listed(values: Mapping[str, Shown]) -> str:
    """Names and values in parentheses."""
    return f"({', '.join(f'{name}={text_of(value)}' for name, value in values.items())})"


def text_of(value: Shown) -> str:
    """A value as programs write it, a timestamp in ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return repr(value) if isinstance(value, str) else str(value)


MOST_WAITING = 10
"""How many events ahead are listed."""


def forecast_lines(reasons: ForecastReasons, tree: Derivation) -> list[str]:
    """A forecast, the state and the context in which it was made, and what may come next."""
    of_group = "" if reasons.group is None else f" of {reasons.group!r}"
    after = ", then ".join(reasons.context) or "any events"
    kinds = [one for one in reasons.next if one.count or one.probability >= LEAST_LISTED]
    wide = max((len(one.kind) for one in kinds), default=0)
    waiting = [f"{share:.4f}" for share in reasons.waiting[:MOST_WAITING]]
    more = "" if len(reasons.waiting) <= MOST_WAITING else ", …"
    away = counted(reasons.distance, "event")
    return [
        *tree_lines(tree),
        f"  `{reasons.event}` is in state {reasons.state}, at least {away} from a detection",
        f"  the model{of_group} looks at: {after}",
        "  next event, with its number in the training data and its probability:",
        *(f"    {one.kind:<{wide}}  {one.count:>8,.0f}  {one.probability:.4f}" for one in kinds),
        f"  probability of the next detection with the first event from now, the second, …: {', '.join(waiting)}{more}",
    ]


LEAST_LISTED = 0.0005
"""Smaller probabilities of events that never came are not listed."""

MOST_LISTED = 20
"""How many possible results are listed."""


def overview_lines(why: UncertainWhy, event: str) -> list[str]:
    """All possible results with their probabilities, then how far the pattern got in the most probable world."""
    possible, n_reported = why.possible, len(why.results)
    lines = [_summary(why, event), ""]
    numbers = [_number(one) for one in possible["probability"].to_pylist()[:MOST_LISTED]]
    width = max((len(one) for one in numbers), default=0)
    for number, row in enumerate(possible.slice(0, MOST_LISTED).to_pylist(), start=1):
        left_out = "" if number <= n_reported else f", left out by {why.left_out(number)}"
        lines.append(f"{number:>3}  {numbers[number - 1].rjust(width)}  {_result(row)}{left_out}")
    if len(possible) > MOST_LISTED:
        lines.append(f"and {counted(len(possible) - MOST_LISTED, 'possible result')} more")
    if len(possible):
        lines.append("")
    return [*lines, f"{_called(why.most_probable_world)}:", "", *progress_lines(why.progress)]


def nowhere_lines(why: UncertainWhy, event: str, ids: str) -> list[str] | None:
    """How far the pattern got around events that no possible result depends on; None if there are no such events."""
    progress = why.progress_around(ids.split(","))
    if progress is None:
        return None
    return [
        _no_world(why, f"a result of `{event}` that depends on {ids}"),
        "",
        "the most probable world of this part of the data:",
        "",
        *progress_lines(progress),
    ]


def result_lines(why: UncertainWhy, number: int) -> list[str]:
    """The worlds of one result, and what it depends on."""
    (row,) = why.possible.slice(number - 1, 1).to_pylist()
    found = why.worlds(number)
    lines = [_result(row), *_probability(why, found)]
    if found.looked is None:
        none = "worlds cannot distinguish this result from another one with the same columns"
        return [*lines, "", *(_course(found.course) if found.course is not None else [none])]
    if found.looked.is_sample and found.course is not None:
        lines += ["", *_course(found.course)]
    lines += ["", f"{_kind(found.looked)} worlds with the result:"]
    for place, one in enumerate(found.having):
        lines += _scenario(one.scenario, found.looked, why.clock)
        is_same = place > 0 and one.tree == found.having[place - 1].tree
        lines += ["  with the same derivation"] if is_same else ["  with the derivation:", *_indented(one.tree)]
    if not found.having:
        lines.append("  none")
    lines += ["", f"{_kind(found.looked)} worlds without the result:"]
    for lacking in found.lacking:
        lines += _scenario(lacking, found.looked, why.clock)
    if not found.lacking:
        lines.append("  none")
    if found.dependences:
        lines += ["", *_dependences(found, why.clock)]
    return lines


def _course(course: LikeliestCourse) -> list[str]:
    return [
        "on the most probable course of events with the result, the derivation",
        *_indented(course.tree),
        f"whose events happen together with probability {_number(course.together)}",
    ]


def _indented(tree: Derivation) -> Iterator[str]:
    return (f"    {line}" for line in tree_lines(tree))


def _summary(why: UncertainWhy, event: str) -> str:
    n_reported, n_possible = len(why.results), len(why.possible)
    if not n_possible:
        return _no_world(why, f"a result of `{event}`")
    sentence = f"{event}: {counted(n_reported, 'result')}"
    left_out = n_possible - n_reported
    return f"{sentence}, and {counted(left_out, 'possible result')} left out" if left_out else sentence


def _no_world(why: UncertainWhy, what: str) -> str:
    if not why.n_sampled:
        return f"no possible world has {what}"
    sure = f"{100 * (1 - why.sampling.delta):g} %"
    return (
        f"none of {why.n_sampled:,} sampled worlds (seed {why.sampling.seed}) has {what}:"
        f" its probability is below {why.unseen:.2g} with {sure} confidence"
    )


def _called(world: Likeliest) -> str:
    if world.is_drawn:
        return "the most probable world, with lost events placed at random"
    return "the most probable world" if world.is_unique else "one of several most probable worlds"


def _probability(why: UncertainWhy, found: InWorlds) -> Iterator[str]:
    looked, is_exact = found.looked, found.method == "exact"
    sure = f"with {100 * (1 - why.sampling.delta):g} % confidence"
    if not is_exact:
        undecided = ", undecided" if found.method == "undecided" else ""
        yield f"probability {_number(found.probability)} ± {found.error:.2g} {sure}{undecided}"
    elif looked is None or looked.is_sample:
        yield f"probability {_number(found.probability)}, exact"
    else:
        share = f"{looked.n_having:,} of {looked.n_worlds:,} possible worlds have it"
        yield f"probability {_number(found.probability)}, exact: {share}"
    if looked is not None and looked.is_sample:
        sentence = f"{looked.n_having:,} of {looked.n_worlds:,} sampled worlds (seed {why.sampling.seed}) have it"
        share = f": {_number(looked.n_having / looked.n_worlds)} ± {looked.error:.2g} {sure}"
        yield sentence + (share if is_exact else "")
    if found.left_out is not None:
        yield f"not reported: left out by {found.left_out}"


def _scenario(one: WorldScenario, looked: Looked, clock: Clock) -> Iterator[str]:
    if looked.is_sample:
        yield f"  {one.n_worlds:,} of {looked.n_worlds:,} sampled worlds:"
    else:
        yield f"  probability {_number(one.probability)}:"
    if not one.outcomes:
        yield "    no uncertain event makes a difference"
        return
    for event, outcome in one.outcomes:
        yield f"    {_event(event)} {_outcome(event, outcome, clock, in_words=True)}"
    left = looked.n_events - len(one.outcomes)
    if left:
        yield f"    summed over {counted(left, 'other uncertain event')}"


def _dependences(found: InWorlds, clock: Clock) -> Iterator[str]:
    without = {one.event: _with_error(one.without, one.error) for one in found.without}
    grid: list[tuple[str, str, str]] = [("depends on", "chance", "result then")]
    for one in found.dependences:
        grid.append((f"{_event(one.event)} {_possible_times(one.event, clock)}".rstrip(), "", ""))
        grid += _given(one, clock)
        if one.event in without:
            grid.append(("  left out of the data", "", without[one.event]))
    widths = [max(len(row[column]) for row in grid) for column in range(3)]
    for first, chance, result in grid:
        yield f"{first.ljust(widths[0])}  {chance.rjust(widths[1])}  {result.rjust(widths[2])}".rstrip()


def _given(one: Dependence, clock: Clock) -> list[tuple[str, str, str]]:
    return [
        (
            f"  {_outcome(one.event, given.outcome, clock, in_words=False)}",
            _number(given.probability),
            _with_error(given.result, given.error),
        )
        for given in one.given
    ]


def _event(event: UncertainEvent) -> str:
    if event.id is None:
        return f"{event.stream} (lost){listed(dict(event.lost))}"
    return f"{event.stream} #{event.id}"


def _outcome(event: UncertainEvent, outcome: EventOutcome, clock: Clock, *, in_words: bool) -> str:
    if not outcome.happens:
        return "does not happen"
    if event.id is None:
        return _between(outcome.low, outcome.high, clock)
    if not outcome.values:
        return _when(outcome.low, outcome.high, clock)
    values = ", ".join(f"{name}={text_of(value)}" for name, value in outcome.values)
    return f"has {values}" if in_words else values


def _possible_times(event: UncertainEvent, clock: Clock) -> str:
    if event.id is not None:
        return _when(event.low, event.high, clock)
    return "" if event.low == event.high else _between(event.low, event.high, clock)  # one border, and a rate


def _between(low: int, high: int, clock: Clock) -> str:
    if low <= -FOREVER:
        return f"before {_time(high, clock)}"
    return f"after {_time(low, clock)}" if high >= FOREVER else f"between {_time(low, clock)} and {_time(high, clock)}"


def _when(low: int, high: int, clock: Clock) -> str:
    return f"at {_time(low, clock)}" if low == high else f"at {_time(low, clock)} to {_time(high, clock)}"


def _time(time: int, clock: Clock) -> str:
    return text_of(EPOCH + timedelta(microseconds=time) if clock is Clock.TIMESTAMP else time)


def _result(row: Mapping[str, Shown]) -> str:
    values = {name: value for name, value in row.items() if name not in (*LEADING, *TRAILING) and value is not None}
    when = text_of(row["start"]) if row["start"] == row["end"] else f"{text_of(row['start'])} to {text_of(row['end'])}"
    return f"{row['event']}{listed(values)} at {when}"


def _kind(looked: Looked) -> str:
    return "most frequent" if looked.is_sample else "most probable"


def _with_error(number: float, error: float) -> str:
    return f"{_number(number)} ± {error:.2g}" if error else _number(number)


def _number(number: float) -> str:
    return f"{number:.4g}"
