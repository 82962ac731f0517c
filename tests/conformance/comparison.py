"""Whether the public columns of a run say what the definition says, and what another run says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.conformance.case import Case
from tests.kit.comparison import MOST_LINES, differences
from tests.kit.exact_events import chains_of, relations_of, strategies_of
from tests.kit.naive_forecasts import agree
from tests.kit.oracle import ProbableResult
from tests.kit.probable_comparison import FoundResult, Names, knowing_times, paired

from inkling.analysis.query.strategy import Engine
from inkling.logical import plan as p
from inkling.meaning.streams import plain
from inkling.model.types import Type
from inkling.results import ROUNDING

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]

TOLERANCE = 1e-9
UNKNOWN = 0


def against_definition(case: Case, found: Tables, *, samples_worlds: bool) -> list[str]:
    """What differs from the definition: results with their values, times, lineage, probability, method and error.

    A runner that `samples_worlds` may do so where an event needs worlds; everything else is exact.
    """
    lines = _forecasts(case, found)
    found = {name: rows for name, rows in found.items() if name not in case.forecasts}
    plan = case.program.plan
    lines += [f"{event.name} is hidden" for event in plan.events if event.hidden and event.name in found]
    if case.is_certain:
        lines += differences(plan, case.expected, found)
        lines += [f"{name}: {row}" for name, rows in found.items() for row in rows if not _is_certain(row)]
        return lines
    names = Names.of(plan, case.rows)
    exact = {*chains_of(plan), *strategies_of(plan), *relations_of(plan)}
    for event in plan.shown:
        if event.name in case.forecasts:
            continue
        rows = found.get(event.name, ())
        about = _uncertain(plan, event, names, case.expected[event.name], rows)
        if not samples_worlds or event.name in exact:
            about += [f"  ! {dict(row)} is not exact" for row in rows if row["method"] != "exact"]
        if about:
            lines += [f"{event.name}: {len(case.expected[event.name])} expected", *about[:MOST_LINES]]
    return lines


def _forecasts(case: Case, found: Tables) -> list[str]:
    """What differs in forecasts; where two are equally good, either is right."""
    lines = []
    for name, forecasts in case.forecasts.items():
        wanted, asked = dict(forecasts.said), forecasts.asked
        for row in found.get(name, ()):
            ids, said = wanted.pop((row["k"] if asked.keyed else None, row["end"]), (frozenset(), None))
            right = said is not None and agree(asked, row, said) and ids >= {*row["lineage"]}
            right &= row["start"] == row["end"] == row["detected_at"] and row["probability"] == row["chance"]
            right &= (row["event"], row["method"], row["op"], row["model"]) == (name, "forecast", "+", 1)
            right &= row["error"] == row["margin"] == 0.0 and len(row["lineage"]) == 1
            if not right:
                lines.append(f"  ! {dict(row)}, expected {said}")
        lines += [f"{name} - {place}: {said}" for place, (_, said) in wanted.items()]
    return lines


def _is_certain(row: Row) -> bool:
    return (row["probability"], row["method"], row["error"], row["op"]) == (1.0, "exact", 0.0, "+")


def _uncertain(
    plan: p.ProgramPlan, event: p.EventPlan, names: Names, wanted: Sequence[ProbableResult], found: Sequence[Row]
) -> list[str]:
    results = [_result(plan, event, row) for row in found]
    rows = {id(result): row for result, row in zip(results, found, strict=True)}
    wanted = _demanded(event, wanted)
    if _engines(plan).get(event.name) is Engine.SAFE:  # safe plans do not follow where matches begin
        wanted = [replace(one, start=UNKNOWN) for one in wanted]
    pairs, unexpected = paired(plan, event, names, wanted, results)
    knows_times = knowing_times(plan, event)
    sampled = {id(one) for one in results if rows[id(one)]["method"] != "exact"}
    lines = [f"  + {one}" for one in unexpected]
    for want, like in pairs:
        if like is None:
            error = max((one.error for one in results if id(one) in sampled), default=0.0)
            # what holds in few worlds may be in none of those that were drawn
            if want.probability > error:
                lines.append(f"  - {want}")
            continue
        row = rows[id(like)]
        if id(like) in sampled:
            right = 0 < like.error < 1 and abs(float(want.probability) - float(like.probability)) <= like.error
        else:
            right = abs(float(want.probability) - float(like.probability)) <= TOLERANCE and row["error"] <= TOLERANCE
        right &= row["op"] == "+" and row["event"] == event.name
        right &= not knows_times(like.lineage) or id(like) in sampled or plain(row["detected_at"]) == want.detected_at
        if not right:
            lines.append(f"  ! {dict(row)}, expected {want}")
    return lines


def _demanded(event: p.EventPlan, wanted: Sequence[ProbableResult]) -> Sequence[ProbableResult]:
    """The results that CONFIDENCE and TOP leave."""
    demand = event.confidence
    if demand is not None:
        least = demand.threshold + (ROUNDING if demand.strict else -ROUNDING)
        wanted = [one for one in wanted if one.probability > least]
    if event.top is None:
        return wanted
    ranked = sorted(wanted, key=lambda one: -one.probability)
    assert len({one.probability for one in ranked[: event.top + 1]}) == len(ranked[: event.top + 1]), "a tie of TOP"
    return ranked[: event.top]


def _engines(plan: p.ProgramPlan) -> dict[str, Engine]:
    return {name: one.engine for name, one in strategies_of(plan).items()}


def _result(plan: p.ProgramPlan, event: p.EventPlan, row: Row) -> FoundResult:
    values = tuple(plain(row[output.name]) for output in event.head)
    times = (plain(row["start"]), plain(row["end"]))
    if _engines(plan).get(event.name) is Engine.SAFE:
        times = (UNKNOWN, times[1])
    return FoundResult(values, *times, tuple(row["lineage"]), row["probability"], row["error"])  # type: ignore[arg-type]


def against_run(case: Case, expected: Tables, found: Tables) -> list[str]:
    """What differs between two runs in any public column; numbers may differ in the last digits.

    A query over probable streams names one event of many that may be the last.
    """
    lines, queries = [], _engines(case.program.plan)
    for name, rows in expected.items():
        without = ("lineage", "error") if name in queries else ()
        wanted, mine = (Counter(_line(row, without) for row in some) for some in (rows, found.get(name, ())))
        if wanted != mine:
            lines += [f"{name}: {len(rows)} here, {len(found.get(name, ()))} there"]
            lines += [f"  - {line}" for line in [*(wanted - mine)][:MOST_LINES]]
            lines += [f"  + {line}" for line in [*(mine - wanted)][:MOST_LINES]]
    return lines


def _line(row: Row, without: Sequence[str]) -> str:
    return repr(sorted((name, _rounded(value)) for name, value in row.items() if name not in without))


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    value = plain(value)
    return round(value, 8) + 0.0 if isinstance(value, float) else value


def only(case: Case, found: Tables) -> Tables:
    """The results of one of the cases of a pack, in which all ids are texts as soon as some stream has such."""
    plan = case.program.plan
    names = [event.name for event in plan.events if event.name in found or not event.hidden]
    schemas = [stream.schema for stream in plan.streams]
    columns = [schema.column(schema.id) for schema in schemas if schema.id is not None]
    if any(column is None or column.type is Type.STRING for column in columns):
        return {name: found.get(name, []) for name in names}
    return {name: [{**row, "lineage": [*map(int, row["lineage"])]} for row in found.get(name, [])] for name in names}
