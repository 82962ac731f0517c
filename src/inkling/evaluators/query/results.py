"""Results of queries: answers of groundings combined into results, with the public columns.

Groundings are independent, so a result of several groundings has the probability 1 - Π(1 - p) (Lahar, section 3.2).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from inkling.analysis.query.strategy import Engine
from inkling.errors import InputError
from inkling.evaluators.division import COUNT, SURVIVAL
from inkling.evaluators.query.answers import CHANCE, END, ERROR, GROUNDING, HEAD, KNOWN, LAST, START
from inkling.evaluators.query.program import QueryEventEvaluator, QueryProgram
from inkling.logical import expr as e
from inkling.logical.expr import ColumnOf, KeyColumn, ListColumn
from inkling.logical.plan import EventPlan, Per
from inkling.logical.settings import is_forecast
from inkling.model.time import Clock
from inkling.results import (
    EXACT,
    FORECAST,
    Matches,
    Numbers,
    in_order,
    may_reach,
    methods,
    most_probable,
    public_table,
    require_exact,
)

_PLAIN = (ColumnOf, KeyColumn, ListColumn, e.Literal)
"""Expressions that differ for different values of a variable; with others, several groundings may be one result."""

NEGLECTED = 1e-7
"""Errors up to this size come from what safe plans neglect on streams; errors of samples are larger."""


def combined(evaluator: QueryEventEvaluator, found: pa.Table) -> pa.Table:
    """One row per result: the probability that at least one of its groundings is true."""
    if not is_combined(evaluator) or not len(found):
        return found
    parts = gathered(evaluator, found)
    any_of_them = -np.expm1(parts[SURVIVAL].to_numpy())
    chance = np.where(parts[COUNT].to_numpy() == 1, parts[CHANCE].to_numpy(), any_of_them)
    whole = parts.drop_columns([SURVIVAL, COUNT])
    return whole.set_column(whole.schema.get_field_index(CHANCE), CHANCE, pa.chunked_array([chance]))


def is_combined(evaluator: QueryEventEvaluator) -> bool:
    """Whether a result may have several groundings."""
    computed = any(not isinstance(one.expr, _PLAIN) for one in evaluator.event.head)
    return evaluator.strategy.is_combined or evaluator.event.per is Per.VALUES or computed


def gathered(evaluator: QueryEventEvaluator, found: pa.Table) -> pa.Table:
    """One row per result: its number of groundings, Σ log(1 - p), and the likeliest answer of the last time."""
    event = evaluator.event
    names = [output.name for output in (*event.head, *event.returns)]
    by = [HEAD, *([END] if event.per is Per.END else [])]
    found = found.sort_by([(END, "descending"), (CHANCE, "descending"), (LAST, "ascending")])
    with np.errstate(divide="ignore"):
        survival = np.log1p(-np.minimum(found[CHANCE].to_numpy(), 1.0))
    table = found.append_column(SURVIVAL, pa.array(survival))
    wanted: list[tuple[str, str]] = [(SURVIVAL, "sum"), (CHANCE, "first"), (CHANCE, "count"), (START, "min")]
    wanted += [(KNOWN, "max"), (ERROR, "sum"), (LAST, "first"), *([] if END in by else [(END, "max")])]
    wanted += [(name, "first") for name in names]
    grouped = table.group_by(by, use_threads=False).aggregate(wanted)
    columns = {name: grouped[f"{name}_first"] for name in names}
    columns[HEAD] = grouped[HEAD]
    columns[END] = grouped[END if END in by else f"{END}_max"]
    columns[KNOWN] = grouped[f"{KNOWN}_max"]
    columns[START] = grouped[f"{START}_min"]
    columns[CHANCE] = grouped[f"{CHANCE}_first"]
    columns[ERROR] = grouped[f"{ERROR}_sum"]
    columns[LAST] = grouped[f"{LAST}_first"]
    columns[SURVIVAL] = grouped[f"{SURVIVAL}_sum"]
    columns[COUNT] = grouped[f"{CHANCE}_count"]
    return pa.table(columns)


def added_up(parts: Sequence[pa.Table]) -> pa.Table:
    """Probabilities of first matches added up over time: one row per grounding, whether it is ever true."""
    found = pa.concat_tables(parts).sort_by([(END, "descending")])
    others = [name for name in found.column_names if name not in (GROUNDING, END, KNOWN, START, CHANCE, ERROR)]
    wanted = [
        (END, "max"),
        (KNOWN, "max"),
        (START, "min"),
        (CHANCE, "sum"),
        (ERROR, "max"),
        *((name, "first") for name in others),
    ]
    grouped = found.group_by([GROUNDING], use_threads=False).aggregate(wanted)
    named = {f"{name}_{how}": name for name, how in wanted}
    return grouped.rename_columns([named.get(name, name) for name in grouped.column_names]).select(found.column_names)


def results_of(event: EventPlan, found: pa.Table, ids: pa.DataType, clock: Clock) -> pa.Table:
    """Public columns of the results that CONFIDENCE and TOP leave."""
    table = in_order(event, public_table(event, _probable_enough(event, found, ids), clock))
    return table if event.top is None or is_forecast(event) else most_probable(table, event.top)


def _probable_enough(event: EventPlan, found: pa.Table, ids: pa.DataType) -> Matches:
    if is_forecast(event):
        return _matches(found, ids, found[CHANCE], found[ERROR], FORECAST)
    chance, error = np.clip(found[CHANCE].to_numpy(), 0.0, 1.0), found[ERROR].to_numpy()
    require_exact(event, error, NEGLECTED, not_exact)
    method = methods(chance, error, event.confidence, NEGLECTED)
    kept = may_reach(chance, error, event.confidence)
    if not kept.all():
        found, chance, method, error = found.filter(pa.array(kept)), chance[kept], method[kept], error[kept]
    return _matches(found, ids, chance, error, method)


def matches_of(event: EventPlan, found: pa.Table, ids: pa.DataType) -> Matches:
    """Answers as matches, before CONFIDENCE is applied."""
    return _matches(found, ids, found[CHANCE], found[ERROR], FORECAST if is_forecast(event) else EXACT)


def _matches(found: pa.Table, ids: pa.DataType, chance: Numbers, error: Numbers, method: np.ndarray | str) -> Matches:
    last = found[LAST].combine_chunks().cast(ids)
    return Matches(
        found[START].to_numpy(),
        found[END].to_numpy(),
        found[KNOWN].to_numpy(),
        found,
        pa.ListArray.from_arrays(pa.array(np.arange(len(found) + 1, dtype=np.int32)), last),
        chance,
        error,
        method,
    )


def not_exact(event: EventPlan, n_sampled: int, n_answers: int, largest: float) -> InputError:
    return InputError.of(
        "INK0655",
        f"`{event.name}` demands EXACT, but it has too many states to enumerate",
        notes=(f"{n_sampled:,} of {n_answers:,} answers would be sampled, to ± {largest:g}",),
        helps=("leave EXACT out; `inkling explain` shows what makes the event hard",),
    )


def sampled_text(tables: Mapping[str, pa.Table], program: QueryProgram) -> str | None:
    """A note about answers that were sampled, or None."""
    counts = {name: int((tables[name]["error"].to_numpy() > NEGLECTED).sum()) for name in program.strategies}
    sampled_parts = [
        f"{n:,} of {len(tables[name]):,} of {name}"
        for name, n in counts.items()
        if n and program.strategies[name].engine is not Engine.FORECAST
    ]
    return f"{', '.join(sampled_parts)} sampled ({program.sampling.n_worlds:,} worlds)" if sampled_parts else None
