"""Recursive events whose rules have one or two operands: compiled for `kernels.joins.least_model`.

An alternative that reads no result of its group is evaluated by the join network; its results are given to the kernel,
which derives all others moment by moment. Events with other alternatives are derived in rounds (`recursion`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.consumption.event import NO_CANDIDATE, ConsumptionEvent, shifted
from inkling.evaluators.consumption.pairs import ANY_SLOT, RowLayout, for_kernels
from inkling.evaluators.network.bytecode import Code, compile_conditions
from inkling.evaluators.network.event import NetworkEvent
from inkling.evaluators.network.partials import SlotRegister
from inkling.evaluators.network.store import END, START, Store
from inkling.evaluators.stage.rows.batches import has_bits
from inkling.evaluators.stage.rules import EXACT, EXACT_FACTOR, Operand, Rule, RuleReader, UnfitError, conditions_on
from inkling.kernels.joins import least_model as kernel
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.recursion import MOST_ROUNDS, EventGroup, without_end
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import FOREVER, UNORDERED, EventBatch, Ints, MatchBatch, sorted_words
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.physical.naming import physical_name, type_of
from inkling.physical.plan import Stage

Evaluators = Mapping[str, NetworkEvent | ConsumptionEvent]

WHOLE = (Type.INTEGER, Type.TIME, Type.DURATION)
NOTHING = -1
NO_OPERAND = -2
POLICIES = {p.Selection.RECENT: kernel.RECENT, p.Selection.CHRONOLOGICAL: kernel.CHRONOLOGICAL}


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows of a batch that wait for a partner: their numbers, operands and depths, and the first absence after each."""

    row: Ints
    operand: Ints
    killed: Ints
    depth: Ints

    @classmethod
    def none(cls) -> Self:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, nothing)


@dataclass(frozen=True)
class LeastModel:
    """The rules of one group, and the events restricted to alternatives that joins evaluate."""

    stage: Stage
    events: tuple[p.EventPlan, ...]
    rules: tuple[Rule, ...]
    bases: tuple[NetworkEvent | ConsumptionEvent, ...]
    context: ExpressionContext
    _written: dict[str, tuple[pa.Array, kernel.ModelRules]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, stage: Stage, group: EventGroup, evaluators: Evaluators) -> Self | None:
        """The model of a group if the kernel can derive it."""
        names = [event.name for event in group.events]
        rules: list[Rule] = []
        bases: list[NetworkEvent | ConsumptionEvent] = []
        context = next(iter(evaluators.values())).context
        for number, event in enumerate(group.events):
            reader = RuleReader(stage, evaluators[event.name].step, names)
            base: list[p.Pattern] = []
            own: list[Rule] = []
            recurring: list[Rule] = []
            is_whole = True
            for item in _alternatives(event.pattern):
                recurs = any(group.names.intersection(leaf.sources or event.scope) for leaf in p.leaves(item))
                if not recurs:
                    base.append(item)
                try:
                    rule = reader.rule(number, item)
                except UnfitError:
                    if recurs:
                        return None
                    is_whole = False
                else:
                    own.append(rule)
                    recurring += [rule] if recurs else []
            if not is_whole:
                own = recurring  # also rules that read results of the group only under NOT
                if not all(rule.needs_result for rule in own):
                    return None
                bases.append(_restricted(evaluators[event.name], base))
            rules += own
        return cls(stage, group.events, tuple(rules), tuple(bases), context)

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        return tuple(operand for rule in self.rules for operand in rule.operands)

    @cached_property
    def column_types(self) -> dict[str, Type]:
        """The columns that rules read and fill."""
        return _column_types(self)

    @cached_property
    def texts(self) -> list[pa.Array]:
        """The texts that rules write."""
        literals = [
            part.value
            for rule in self.rules
            for one in rule.head
            for part in e.walk(one)
            if isinstance(part, e.Literal) and isinstance(part.value, str)
        ]
        return [pa.array(literals, pa.string())] if literals else []

    @cached_property
    def limits(self) -> np.ndarray:
        """Per column of the kernel the largest exact value, or 0."""
        product = any(_has_product(one) for rule in self.rules for one in rule.head)
        kinds = [Type.TIME, Type.TIME, *(self.column_types[name] for name in sorted(self.column_types))]
        factors = [EXACT_FACTOR if product and kind is Type.INTEGER else EXACT for kind in kinds]
        limits = np.array([limit if kind in WHOLE else 0.0 for limit, kind in zip(factors, kinds, strict=True)])
        if not any(isinstance(part, e.TimeOf) for one in _expressions(self) for part in e.walk(one)):
            limits[:2] = 0.0
        return limits

    def _rules_for(self, rows: _Given) -> kernel.ModelRules:
        """The rules as bytecode, which depends on the texts of a batch only."""
        if "rules" not in self._written or not self._written["rules"][0].equals(rows.texts):
            self._written["rules"] = rows.texts, _Writer(self, rows).model_rules()
        rules = self._written["rules"][1]
        passing = self._reads[:, rows.batch.source]
        for number, operand in enumerate(self.operands):
            if operand.leaf.bits:
                passing[number] &= has_bits(operand.leaf.bits, rows.batch.bits)
        return rules._replace(passing=passing)

    @cached_property
    def _reads(self) -> np.ndarray:
        """[operand, input]: whether rows of an input may fill an operand."""
        reads = np.zeros((len(self.operands), len(self.stage.inputs)), bool)
        for number, operand in enumerate(self.operands):
            reads[number, list(operand.leaf.inputs)] = True
        return reads

    def run(self, batch: EventBatch, n_keys: int, until: int) -> dict[str, MatchBatch] | None:
        """The results of all events over the rows of other sources; None if numbers or times are out of reach."""
        derived = self.derived(batch, n_keys, -FOREVER, Waiting.none(), until)
        return None if derived is None else {event.name: derived.matches(event, until) for event in self.events}

    def derived(
        self, batch: EventBatch, n_keys: int, done: int, waiting: Waiting, until: int = FOREVER
    ) -> ModelOutcome | None:
        """What follows from the rows that end after `done`, given those that waited then."""
        if len(batch) and not (
            np.array_equal(batch.known, batch.end)
            and (batch.end_place == UNORDERED).all()
            and (batch.start_place == -UNORDERED).all()
        ):
            return None
        seeds = [base.evaluate(batch, n_keys, until) for base in self.bases]
        rows = _Given.of(self, batch, n_keys, seeds)
        if rows is None:
            return None
        status, *found = kernel.least_model(rows.model_rows(done, waiting), self._rules_for(rows))
        if status == kernel.TOO_LARGE:
            return None
        if status == kernel.ENDLESS:
            raise without_end(one.name for one in self.events)
        return ModelOutcome(self, rows, *found)


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """All rows of a derivation, those that are given first, and the rows that wait for a partner."""

    model: LeastModel
    given: _Given
    columns: np.ndarray
    key: Ints
    start: Ints
    end: Ints
    event: Ints
    depth: Ints
    left: Ints
    right: Ints
    waiting_row: Ints
    waiting_operand: Ints
    waiting_killed: Ints

    @property
    def waiting(self) -> Waiting:
        return Waiting(self.waiting_row, self.waiting_operand, self.waiting_killed, self.depth[self.waiting_row])

    def matches(self, event: p.EventPlan, until: int) -> MatchBatch:
        """The results of an event, in order."""
        return self.matches_at(event, self.new_rows(event, until))

    def new_rows(self, event: p.EventPlan, until: int) -> Ints:
        """The rows of its results, in order; those that were given as rows of the batch are no new ones."""
        is_new = self.event == self.model.events.index(event)
        is_new[: len(self.given.batch)] = False
        mine = np.flatnonzero(is_new & (self.end <= until))
        return mine[np.lexsort((self.start[mine], self.end[mine], self.key[mine]))]

    def matches_at(self, event: p.EventPlan, rows: Ints) -> MatchBatch:
        n, end = len(rows), self.end[rows]
        return MatchBatch(
            event.name,
            self.key[rows],
            self.start[rows],
            np.full(n, -UNORDERED),
            end,
            np.full(n, UNORDERED),
            end,
            {
                output.name: self.given.decoded(self.columns[self.given.place_of(output), rows], output.type)
                for output in event.head
            },
            self.given.lineages(rows, self.left, self.right),
            self.given.batch.place_words,
        )


def _alternatives(pattern: p.Pattern) -> tuple[p.Pattern, ...]:
    return pattern.items if isinstance(pattern, p.Disjunction) else (pattern,)


def _restricted(
    evaluator: NetworkEvent | ConsumptionEvent, items: Sequence[p.Pattern]
) -> NetworkEvent | ConsumptionEvent:
    """The event with some of its alternatives only."""
    pattern = items[0] if len(items) == 1 else p.Disjunction(tuple(items))
    step = replace(evaluator.step, event=replace(evaluator.step.event, pattern=pattern))
    return type(evaluator)(step, evaluator.context)


def _has_product(expr: e.Expr) -> bool:
    return any(isinstance(part, e.Arithmetic) and part.operator == "*" for part in e.walk(expr))


@dataclass(slots=True)
class _Given:
    """The rows that the kernel starts with: those of other sources, then seeds."""

    model: LeastModel
    batch: EventBatch
    seeds: list[MatchBatch]
    store: Store  # its numbers have a column per row, with room for more
    texts: pa.Array
    ids: pa.Array
    id_offsets: Ints

    @classmethod
    def of(cls, model: LeastModel, batch: EventBatch, n_keys: int, seeds: list[MatchBatch]) -> Self | None:
        types = model.column_types
        names = (START, END, *sorted(types))
        columns = [batch.columns.get(name) for name in names]
        texts = [column for column, name in zip(columns, names, strict=True) if name in types and types[name].is_text]
        words = model.texts + [column for column in texts if column is not None]
        for found in seeds:
            words += [column for column in found.values.values() if pa.types.is_string(column.type)]
        n = len(batch) + sum(map(len, seeds))
        numbers = np.full((len(names), max(1024, 2 * n)), np.nan)
        store = Store(batch, n_keys, names, numbers, {}, sorted_words(words, pa.string()), has_halves=False)
        store.facts = model.context.tables
        numbers[0, : len(batch)], numbers[1, : len(batch)] = batch.start, batch.end
        for place, column in enumerate(columns):
            if column is not None:
                numbers[place, : len(batch)] = _encoded(column, types[names[place]], store.words)
        lineage = [found.lineage for found in seeds]
        ids = pa.concat_arrays([batch.ids, *(one.flatten() for one in lineage)])
        offsets, n_ids = [batch.id_offsets.astype(np.int64)], len(batch.ids)
        for one in lineage:
            given = one.offsets.to_numpy().astype(np.int64)
            offsets.append(given[1:] - given[0] + n_ids)
            n_ids += int(given[-1] - given[0])
        rows = cls(model, batch, seeds, store, store.words, ids, np.concatenate(offsets))
        at = len(batch)
        for found in seeds:
            event = next(one for one in model.events if one.name == found.event)
            here = slice(at, at + len(found))
            numbers[0, here], numbers[1, here] = found.start, found.end
            for output in event.head:
                numbers[rows.place_of(output), here] = _encoded(found.values[output.name], output.type, store.words)
            at += len(found)
        return rows if rows._are_exact(at) else None

    def place_of(self, output: p.Output) -> int:
        return self.store.number_of(physical_name(output.name, output.type))

    def _are_exact(self, n: int) -> bool:
        limits = self.model.limits
        return not (np.abs(self.store.numbers[limits > 0, :n]) > limits[limits > 0, None]).any()

    def decoded(self, values: np.ndarray, kind: Type) -> pa.Array:
        missing = np.isnan(values)
        if kind is Type.DOUBLE:
            return pa.array(values, mask=missing)
        whole = pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
        if kind.is_text:
            return self.texts.take(whole)
        return whole if kind is Type.INTEGER else whole.cast(ARROW_TYPES[kind])

    def lineages(self, rows: Ints, left: Ints, right: Ints) -> pa.ListArray:
        """The ids of all events that some rows depend on; numbers are copied at once, texts by their places."""
        if pa.types.is_string(self.ids.type):
            ends, places = kernel.lineages(rows, left, right, self.id_offsets, np.arange(len(self.ids)))
            ids = self.ids.take(pa.array(places))
        else:
            ends, numbers = kernel.lineages(rows, left, right, self.id_offsets, self.ids.to_numpy())
            ids = pa.array(numbers)
        return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), ids)

    def model_rows(self, done: int, waiting: Waiting) -> kernel.ModelRows:
        batch, seeds, inputs = self.batch, self.seeds, self.model.stage.inputs
        numbers = {event.name: number for number, event in enumerate(self.model.events)}
        ranks = self.source_ranks()
        by_input = np.array([ranks[one.source] for one in inputs], np.int64)
        event_of_input = np.array([numbers.get(one.source, kernel.OUTER) for one in inputs], np.int64)

        def joined(own: Ints, name: str) -> Ints:
            return np.concatenate([own, *(getattr(found, name) for found in seeds)])

        event = [event_of_input[batch.source], *(np.full(len(found), numbers[found.event]) for found in seeds)]
        depth = np.where(event[0] == kernel.OUTER, -1, 0)
        depth[waiting.row] = waiting.depth
        source = [by_input[batch.source], *(np.full(len(found), ranks[found.event]) for found in seeds)]
        end = joined(batch.end, "end")
        order = np.argsort(end, kind="stable")
        return kernel.ModelRows(
            self.store.numbers,
            joined(batch.key, "key"),
            joined(batch.start, "start"),
            end,
            np.concatenate(event),
            np.concatenate([depth, *(np.zeros(len(found), np.int64) for found in seeds)]),
            np.concatenate(source),
            batch.event.astype(np.int64),
            self.id_offsets,
            self._ranked_ids(),
            order[end[order] > done],
            waiting.row,
            waiting.operand,
            waiting.killed,
        )

    def _ranked_ids(self) -> Ints:
        """Numbers that compare as the ids do."""
        if self.ids.type == pa.int64() and not self.ids.null_count:
            return np.asarray(self.ids.to_numpy())
        if not len(self.ids):
            return np.empty(0, np.int64)
        return np.asarray(pc.rank(self.ids, sort_keys="ascending", tiebreaker="dense"), dtype=np.int64)

    def source_ranks(self) -> dict[str, int]:
        names = {one.source for one in self.model.stage.inputs} | {event.name for event in self.model.events}
        return {name: rank for rank, name in enumerate(sorted(names))}


def _encoded(column: pa.Array, kind: Type, words: pa.Array) -> np.ndarray:
    """Doubles, whole numbers or the places of texts in a dictionary, as doubles with NaN for null."""
    if kind.is_text:
        column = pc.index_in(column, value_set=words)
    if column.null_count or pa.types.is_boolean(column.type):
        number = pa.int64() if kind is not Type.DOUBLE else pa.float64()
        column = column if column.type == number else column.cast(number)
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.asarray(column.to_numpy(zero_copy_only=False)).astype(np.float64)


def _column_types(model: LeastModel) -> dict[str, Type]:
    found = {physical_name(output.name, output.type) for event in model.events for output in event.head}
    for expression in _expressions(model):
        found |= {part.column for part in e.walk(expression) if isinstance(part, e.ColumnOf | e.KeyColumn)}
    return {name: type_of(name) for name in found}


def _expressions(model: LeastModel) -> list[e.Expr]:
    """All that rules compute."""
    expressions = [one for rule in model.rules for one in (*rule.tests, *rule.head)]
    for rule in model.rules:
        for operand in rule.operands:
            expressions += [*operand.keys, *operand.across]
            expressions += [
                one for number in operand.leaf.inputs for one in conditions_on(model.stage, operand.leaf, number)
            ]
    return expressions


class _Writer:
    """Writes the rules of a model for the kernel, with codes of the texts of one batch."""

    def __init__(self, model: LeastModel, rows: _Given) -> None:
        self._model, self._rows = model, rows
        self._codes: list[Code] = []

    def model_rules(self) -> kernel.ModelRules:
        model, rows = self._model, self._rows
        events = {event.name: number for number, event in enumerate(model.events)}
        operands = [(rule, operand) for rule in model.rules for operand in rule.operands]
        n_keys = max(len(operand.keys) for _, operand in operands)
        n_values = max(1, *(len(event.head) for event in model.events))
        n_names = max(1, *(len(rule.names) for rule in model.rules))
        named = np.full((len(model.rules), n_names), NOTHING)
        head = np.full((len(model.rules), n_values), NOTHING)
        head_columns = np.full((len(model.events), n_values), NOTHING)
        keys = np.full((len(operands), n_keys), NOTHING)
        local = np.full((len(operands), len(model.events)), NO_OPERAND)
        for number, event in enumerate(model.events):
            for place, output in enumerate(event.head):
                head_columns[number, place] = rows.place_of(output)
        for number, rule in enumerate(model.rules):
            for place, name in enumerate(rule.names):
                named[number, place] = _moment(rule.layout, name)
            for place, value in enumerate(rule.head):
                head[number, place] = self._written((value,), NO_CANDIDATE, rule.layout)
        for number, (rule, operand) in enumerate(operands):
            slot = operand.leaf.slot
            for place, value in enumerate(operand.keys):
                keys[number, place] = self._written((value,), slot, rule.layout)
            for place in operand.leaf.inputs:
                source = model.stage.inputs[place].source
                if source in events:
                    conditions = conditions_on(model.stage, operand.leaf, place)
                    local[number, events[source]] = self._written(conditions, e.ROW, rule.layout)
        test = [self._written(rule.tests, NO_CANDIDATE, rule.layout) for rule in model.rules]
        across = [self._written(operand.across, operand.leaf.slot, rule.layout) for rule, operand in operands]
        codes, instructions, constants = self._joined()
        ranks = rows.source_ranks()
        policies = [rule.policy for rule in model.rules]
        return kernel.ModelRules(
            _numbers(rule.event for rule in model.rules),
            _numbers(relation for rule in model.rules for relation in rule.relations),
            _offsets(len(rule.relations) for rule in model.rules),
            _numbers(self._window(rule) for rule in model.rules),
            _numbers(0 if one is None else POLICIES[one.selection] for one in policies),
            np.array([one is not None and one.keeping for one in policies], bool),
            _numbers(test),
            named,
            _offsets(len(rule.operands) for rule in model.rules),
            _numbers(operand.role for _, operand in operands),
            _numbers(
                NOTHING if operand.role == kernel.ABSENT else rule.layout.slots.index(operand.leaf.slot)
                for rule, operand in operands
            ),
            np.empty((0, 0), bool),
            local,
            _numbers(across),
            keys,
            np.array([rule.right_is_point for rule in model.rules], bool),
            head,
            head_columns,
            model.limits,
            codes,
            instructions,
            constants,
            _numbers(ranks[event.name] for event in model.events),
            _numbers(rule.layout.register(ANY_SLOT, SlotRegister.HERE) for rule in model.rules),
            max(len(rule.layout.slots) for rule in model.rules) + 1,
            max(len(rule.layout.moments) for rule in model.rules),
            MOST_ROUNDS,
        )

    def _window(self, rule: Rule) -> int:
        lengths = [
            one.count - 1 if isinstance(one, p.Points) else self._model.context.unit(one)
            for one in rule.windows
            if isinstance(one, p.Points | Duration)
        ]
        return min(lengths, default=NOTHING)

    def _written(self, conditions: tuple[e.Expr, ...], slot: int, layout: RowLayout) -> int:
        """The number of the bytecode of some conditions or of a value; NOTHING for no condition."""
        if not conditions:
            return NOTHING
        given = tuple(for_kernels(one) for one in conditions)
        self._codes.append(compile_conditions(given, slot, self._rows.store, layout, self._model.context.unit))
        return len(self._codes) - 1

    def _joined(self) -> tuple[Ints, Ints, np.ndarray]:
        first, written = 0, []
        for code in self._codes:
            written.append(shifted(code.instructions, first))
            first += len(code.constants)
        instructions = np.concatenate([np.empty((0, 3), np.int64), *written])
        constants = np.concatenate([np.empty(0), *(code.constants for code in self._codes)])
        return _offsets(map(len, written)), instructions, constants


def _moment(layout: RowLayout, slot: int) -> int:
    """The place of the end of a named pattern; its start is the next one."""
    end = layout.moment(slot, e.Edge.END)
    assert layout.moment(slot, e.Edge.START) == end + 1
    return end


def _numbers(numbers: Iterable[int]) -> Ints:
    return np.array(list(numbers), np.int64)


def _offsets(lengths: Iterable[int]) -> Ints:
    return np.cumsum([0, *lengths], dtype=np.int64)
