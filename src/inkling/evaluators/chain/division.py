"""How chains are divided among workers: by the key of a stage, or by overlapping slices of time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.chain.event import probable_enough
from inkling.evaluators.chain.program import ChainProgram, events_of
from inkling.evaluators.division import (
    ByKey,
    ByTime,
    Carried,
    Conditions,
    Division,
    EvaluatorPart,
    EventMatches,
    Piece,
    Slice,
)
from inkling.evaluators.protocol import Rows
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.logical import expr as e
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import EventStep, Input, Stage


@dataclass(frozen=True, kw_only=True)
class ChainPart(EvaluatorPart):
    """Chains of one stage, with the rows that a worker needs for them."""

    program: ChainProgram
    stage: Stage
    tables: Mapping[str, pa.Table]

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches]:
        late = [one.stream for one in self.carried if not one.is_derived]
        ready = {**rows, **all_derived(late, rows, self.program.context)}
        events = events_of(self.program, self.stage, ready, self.tables)
        start, first = events.batch.start, None
        if isinstance(piece, Slice):
            first = (start >= piece.begins) & (start < piece.ends)
        for name, evaluator in self.program.evaluators(self.stage).items():
            for some in evaluator.evaluate(events.batch, events.moments, events.n_keys, first=first):
                yield EventMatches(name, probable_enough(evaluator.step.event, some))


def chain_parts(program: ChainProgram, tables: Mapping[str, pa.Table]) -> list[EvaluatorPart]:
    """One part per stage; without a key, one for chains with a window, and one for chains that cannot be divided."""
    return [
        _part(program, replace(stage, steps=steps), tables)
        for stage in program.physical.stages
        for steps in _divided(program, stage)
    ]


def _divided(program: ChainProgram, stage: Stage) -> list[tuple[EventStep, ...]]:
    if stage.key_types:
        return [stage.steps]
    windows = {name: one.window for name, one in program.evaluators(stage).items()}
    limited = tuple(step for step in stage.steps if windows[step.event.name] > 0)
    endless = tuple(step for step in stage.steps if windows[step.event.name] <= 0)
    return [steps for steps in (limited, endless) if steps]


def _part(program: ChainProgram, stage: Stage, tables: Mapping[str, pa.Table]) -> ChainPart:
    events = tuple(step.event for step in stage.steps)
    return ChainPart(
        events=events,
        ids=dict.fromkeys((event.name for event in events), ARROW_TYPES[stage.id_type]),
        carried=tuple(_carried(one, stage) for one in program.part.streams if _inputs(one, stage)),
        division=_division(program, stage),
        program=program,
        stage=stage,
        tables=tables,
    )


def _division(program: ChainProgram, stage: Stage) -> Division:
    evaluators = list(program.evaluators(stage).values())
    window = max(one.window for one in evaluators)
    if stage.key_types or window <= 0:
        return ByKey({one.source: one.key for one in stage.inputs})
    before = max(one.window - 1 if one.chain.looks_before else -1 for one in evaluators)
    return ByTime(window, before, program.grid)


def _inputs(stream: StreamPlan, stage: Stage) -> list[Input]:
    return [one for one in stage.inputs if one.source == stream.schema.name]


def _carried(stream: StreamPlan, stage: Stage) -> Carried:
    schema, inputs = stream.schema, _inputs(stream, stage)
    uncertainty, is_derived = schema.uncertainty, _looks_across_keys(stream, inputs)
    widest = uncertainty.widest if isinstance(uncertainty, ImpreciseTime) else None
    return replace(
        Carried.of(stream, _read(stream, inputs), is_derived=is_derived),
        useful=_useful(inputs) if schema.id is None else None,
        widest=None if widest is None else schema.units(widest),
        # rows with one id may lie in different partitions
        is_distinct=is_derived or any(not set(one.key) <= set(schema.key) for one in inputs),
    )


def _looks_across_keys(stream: StreamPlan, inputs: list[Input]) -> bool:
    """Whether derived columns read rows of other keys than that of the stage, which a worker may not have."""
    looks_back = stream.reset_when is not None or any(
        isinstance(part, e.PreviousColumn | e.SinceChange) for one in stream.derived for part in e.walk(one.expr)
    )
    return looks_back and any(not one.key or one.key != stream.schema.key for one in inputs)


def _useful(inputs: list[Input]) -> Conditions | None:
    """The filter of rows that some leaf can use; None where leaves look up tables."""
    kept = [(one.keep,) for one in inputs if one.keep is not None and not one.atoms]
    return kept if len(kept) == len(inputs) else None


def _read(stream: StreamPlan, inputs: list[Input]) -> Iterator[str]:
    """The columns of a stream that chains read."""
    if isinstance(stream.schema.uncertainty, ImpreciseTime) and stream.schema.uncertainty.weights is not None:
        yield stream.schema.uncertainty.weights
    exprs = [column.expr for column in stream.derived]
    for one in inputs:
        yield from one.key
        yield from (name.rsplit("|", 1)[0] for name in one.columns)
        exprs += [bit.expr for bit in (*one.early, *one.late)]
        exprs += [computed.expr for computed in one.computed]
        exprs += [arg for atom in one.atoms for arg in atom.args if arg is not None]
    for expr in exprs:
        for part in e.walk(expr):
            if isinstance(part, e.ColumnOf | e.KeyColumn | e.PreviousColumn | e.SinceChange):
                yield part.column
                yield part.column.rsplit("|", 1)[0]
