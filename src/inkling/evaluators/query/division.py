"""How queries are divided among workers: by the variables on which all of their subgoals are independent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.analysis.query.query import Query, of_row
from inkling.analysis.query.strategy import Strategy
from inkling.evaluators.division import (
    COUNT,
    SURVIVAL,
    ByKey,
    Carried,
    Conditions,
    EvaluatorPart,
    EventMatches,
    Finish,
    Piece,
)
from inkling.evaluators.protocol import Rows
from inkling.evaluators.query.answers import HEAD
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.event import QueryEvent
from inkling.evaluators.query.groundings import holding_column
from inkling.evaluators.query.packed import Packed, packing_of, predicate_shifts, unpacked
from inkling.evaluators.query.program import QueryEventEvaluator, QueryProgram, may_sample
from inkling.evaluators.query.results import NEGLECTED, gathered, is_combined, matches_of, not_exact
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.evaluators.stage.rows.format import END
from inkling.io.normalize import row_schema
from inkling.logical import expr as e
from inkling.logical.plan import Demand, Per, StreamPlan
from inkling.logical.settings import is_forecast

FURTHER = (pa.field(HEAD, pa.int64()), pa.field(SURVIVAL, pa.float64()), pa.field(COUNT, pa.int64()))


@dataclass(frozen=True, kw_only=True)
class QueryPart(EvaluatorPart):
    """Queries that read the same streams and are divided by the same columns."""

    program: QueryProgram
    packing: Mapping[str, Packed] | None  # None: rows travel as they are

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches]:
        answers = self._answers(rows)
        del rows
        for name, table in answers:
            if len(table):
                yield self._found(self.program.evaluators[name], table)

    def _answers(self, rows: Rows) -> Iterator[tuple[str, pa.Table]]:
        program = self.program
        if self.packing is None:
            ready = all_derived(program.part.streams, rows, program.context)
            for name, evaluator in program.evaluators.items():
                yield name, evaluator.advance(evaluator.start(), ready)[1]
            return
        every, shifts = unpacked(self.packing, rows), predicate_shifts(program)
        del rows
        for name, evaluator in program.evaluators.items():
            assert isinstance(evaluator, QueryEvent)
            bits = (1 << 2 * len(evaluator.strategy.query.subgoals)) - 1
            predicates = (every.predicates >> shifts[name]) & bits
            yield name, evaluator.ingest(evaluator.start(), every.events, predicates, every.tables)[1]

    def _found(self, evaluator: QueryEventEvaluator, table: pa.Table) -> EventMatches:
        if is_combined(evaluator):
            table = gathered(evaluator, table)
        name = evaluator.event.name
        further = {one.name: table[one.name] for one in FURTHER if one.name in table.column_names}
        return EventMatches(name, matches_of(evaluator.event, table, self.ids[name]), further)


_Columns = tuple[tuple[str, tuple[str, ...]], ...]


def query_parts(program: QueryProgram, *, may_pack: bool = True) -> list[EvaluatorPart]:
    """Parts of a program; queries that automata answer are apart from others, because their rows can be packed."""
    found: dict[tuple[_Columns, bool], list[str]] = {}
    for event in program.part.events:
        by_chains = isinstance(program.evaluators[event.name].engine, Regular)
        found.setdefault((_columns(program.strategies[event.name]), by_chains), []).append(event.name)
    return [_part(program, names, dict(columns), may_pack=may_pack) for (columns, _), names in found.items()]


def _columns(strategy: Strategy) -> _Columns:
    query = strategy.query
    names = sorted(query.sources)
    columns = {tuple(holding_column(query, one, name) for name in names) for one in strategy.variables}
    return tuple((name, tuple(some[place] for some in sorted(columns))) for place, name in enumerate(names))


def _part(
    program: QueryProgram, names: Sequence[str], columns: Mapping[str, tuple[str, ...]], *, may_pack: bool
) -> QueryPart:
    evaluators = {name: program.evaluators[name] for name in names}
    mine = replace(
        program,
        part=replace(
            program.part,
            streams=tuple(one for one in program.part.streams if one.schema.name in columns),
            events=tuple(one for one in program.part.events if one.name in names),
        ),
        strategies={name: program.strategies[name] for name in names},
    )
    packing = packing_of(mine, evaluators) if may_pack else None
    return QueryPart(
        events=mine.part.events,
        ids={name: program.id_types[name] for name in names},
        carried=tuple(_carried(one, mine, columns[one.schema.name], packing) for one in mine.part.streams),
        division=ByKey(columns),
        finishes={name: _finish(one) for name, one in evaluators.items()},
        further=FURTHER,
        program=mine,
        packing=packing,
    )


def _finish(evaluator: QueryEventEvaluator) -> Finish:
    event = evaluator.event
    by = (HEAD, *((END,) if event.per is Per.END else ())) if is_combined(evaluator) else None
    if is_forecast(event):
        return Finish(by, is_ranked=False)
    may_be_rejected = event.demand is Demand.EXACT and may_sample(evaluator)
    return Finish(by, NEGLECTED, not_exact if may_be_rejected else None)


def _carried(
    stream: StreamPlan, program: QueryProgram, key: Sequence[str], packing: Mapping[str, Packed] | None
) -> Carried:
    schema = stream.schema
    useful = _useful(stream, [one.query for one in program.strategies.values()])
    if packing is not None:
        one = packing[schema.name].packing
        return Carried(stream, one.schema, useful=useful, packing=one)
    # rows with one id may lie in different partitions
    is_distinct = schema.uncertainty is None and not set(key) <= set(schema.key)
    return replace(Carried.of(stream), useful=useful, is_distinct=is_distinct)


def _useful(stream: StreamPlan, queries: Sequence[Query]) -> Conditions | None:
    """The filter of rows that some subgoal can use; of probable streams it reads KEY only, to keep groups whole."""
    schema = stream.schema
    if schema.uncertainty is None and (schema.id is not None or stream.derived):
        return None
    decisive = set(schema.key) if schema.uncertainty is not None else set(row_schema(schema).names)
    choices = []
    for subgoal in (one for query in queries for one in query.subgoals if one.source == schema.name):
        conditions = [of_row(one, subgoal) for one in subgoal.filters]
        asked = [one for one in conditions if not e.looks_up(one) and _reads(one) <= decisive]
        if not asked:
            return None
        choices.append(asked)
    return choices


def _reads(condition: e.Expr) -> set[str]:
    """The columns of a row that a condition reads; `@more` where it reads more than columns."""
    read = set()
    for part in e.walk(condition):
        if isinstance(part, e.ColumnOf):
            read.add(part.column)
        elif isinstance(part, e.TimeOf | e.IdOf | e.KeyColumn):
            read.add("@more")
    return read
