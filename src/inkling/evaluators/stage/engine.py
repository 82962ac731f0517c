"""All events of a stage over all rows of some keys: stage rows in, matches of every event out.

Automata answer regular events first. The other events follow in the order of their dependencies, each over the rows and
the matches of events that it reads; events that depend on each other are derived in rounds (`recursion`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.automaton.events import RegularEvents, automata_of
from inkling.evaluators.consumption.event import ConsumptionEvent
from inkling.evaluators.forecast.event import ForecastEvent, WatchingEvent
from inkling.evaluators.forecast.learning import LearningEvent
from inkling.evaluators.forecast.symbols import SymbolEvent
from inkling.evaluators.memory import working_on
from inkling.evaluators.network.event import NetworkEvent
from inkling.evaluators.network.session import Opened, SharedWork, renamed
from inkling.evaluators.segments.event import SegmentsEvent
from inkling.evaluators.stage.least_model import LeastModel
from inkling.evaluators.stage.recursion import Recursion
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch, key_codes
from inkling.evaluators.stage.rows.prepare import InputReader
from inkling.evaluators.stage.rows.row_tests import in_pieces, resets_in, without_resets
from inkling.evaluators.windows.event import WindowEvent
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import forecast_of
from inkling.logical.recursion import EventGroup, groups_among
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch, one_after_another
from inkling.model.runs import changes
from inkling.physical.plan import EventStep, Stage

AnyEvent = NetworkEvent | SegmentsEvent | WindowEvent | ConsumptionEvent | SymbolEvent

EVENTS: dict[str, Callable[[EventStep, ExpressionContext], AnyEvent]] = {
    Evaluator.SEGMENTS: SegmentsEvent,
    Evaluator.WINDOW: WindowEvent,
    Evaluator.CONSUMPTION: ConsumptionEvent,
}

BLOCK_ROWS = 200_000
"""The approximate number of rows of a block of whole keys: joins within a block stay in the processor cache."""

NO_MODEL = pa.table({})
"""In place of the model of a forecast whose state is migrated but not evaluated."""


@dataclass(frozen=True, slots=True)
class StageResults:
    """Matches by event, and the partition key of each key code."""

    matches: Mapping[str, MatchBatch]
    keys: pa.Table


class StageEngine:
    """Evaluates the events of one stage; compiled once, used for any number of batches."""

    def __init__(self, stage: Stage, tables: Mapping[str, pa.Table], context: ExpressionContext) -> None:
        self.stage = stage
        self._tables = tables
        self._context = context
        produced = {step.event.name for step in stage.steps}
        self._derived_inputs = {
            step.event.name: tuple(
                i for i, one in enumerate(stage.inputs) if one.source in produced & set(step.event.sources)
            )
            for step in stage.steps
        }
        self._shared = SharedWork(stage, self._derived_inputs)
        self._steps = {step.event.name: step for step in stage.steps}
        self._groups = groups_among([step.event for step in stage.steps])
        self._events: dict[str, AnyEvent] = {}
        self._readers: dict[int, InputReader] = {}
        self._models: dict[frozenset[str], LeastModel | None] = {}
        self._regular = tuple(step for step in stage.steps if step.evaluator is Evaluator.AUTOMATON)

    @cached_property
    def automata(self) -> tuple[RegularEvents, ...]:
        """The automata of all regular events."""
        return automata_of(self._regular, self.stage.resets, self._context) if self._regular else ()

    @cached_property
    def _originals(self) -> tuple[RegularEvents, ...]:
        """The automata of regular events, without events that have the same results as another one."""
        originals = tuple(step for step in self._regular if self._shared.original(step.event.name) is None)
        if len(originals) == len(self._regular):
            return self.automata
        return automata_of(originals, self.stage.resets, self._context)

    @property
    def recursive(self) -> frozenset[str]:
        """The events that depend on themselves."""
        return frozenset(name for group in self._groups if group.is_recursive for name in group.names)

    def run(self, rows: pa.Table) -> StageResults:
        """Matches over stage rows with all rows of their keys."""
        rows = rows.combine_chunks()
        codes, keys = key_codes(rows, len(self.stage.key_types))
        base = event_batch(self.stage, rows, codes)
        return StageResults(self.results(rows, codes, base), keys)

    def results(self, rows: pa.Table, codes: Ints, base: EventBatch) -> dict[str, MatchBatch]:
        """Matches over stage rows, the codes of their keys, and the rows as a batch."""
        found = self._by_automata(base)
        if any(bit is not None for bit in self.stage.resets):
            found |= self._in_pieces(base, found)
            found |= self._forecasts_with_resets(codes, base)
            rows, kept = without_resets(self.stage, rows, codes)
            assert kept is not None
            codes, base = kept, base.take(np.flatnonzero(~resets_in(self.stage.resets, base)))
        if len(base) > BLOCK_ROWS and not self._originals and not any(self._derived_inputs.values()):
            nothing = pa.table({})
            return _by_blocks(base, lambda block: self.rest(nothing, block.key, block, {}))
        return self.rest(rows, codes, base, found)

    def _by_automata(self, batch: EventBatch) -> dict[str, MatchBatch]:
        """Matches of automata, unless ORDER BY leaves two of their events unordered."""
        able = [automata for automata in self._originals if not automata.ties(batch).any()]
        found: dict[str, MatchBatch] = {}
        for automata in able:
            working_on(automata.steps[0].event.name)
            found |= {matches.event: matches for matches in automata.evaluate(batch)}
        return found

    def _in_pieces(self, base: EventBatch, found: Mapping[str, MatchBatch]) -> dict[str, MatchBatch]:
        """Matches of regular events without an automaton, separately for each piece between two resets."""
        left = [step for step in self._regular if step.event.name not in found]
        left = [step for step in left if self._shared.original(step.event.name) is None]
        if not left:
            return {}
        pieces, keys = in_pieces(self.stage.resets, base)
        opened: Opened = {}
        results = {}
        for step in left:
            evaluator = self.event(step)
            assert isinstance(evaluator, NetworkEvent)
            session = self._shared.session(step, pieces, len(keys), opened)
            matches = evaluator.evaluate(pieces, len(keys), FOREVER, session=session)
            results[step.event.name] = replace(matches, key=keys[matches.key])
        return results

    def _forecasts_with_resets(self, codes: Ints, base: EventBatch) -> dict[str, MatchBatch]:
        """Matches of forecasts and their learning, which handle resets themselves."""
        n_keys = int(codes.max()) + 1 if len(codes) else 0
        steps = [step for step in self.stage.steps if step.evaluator is Evaluator.FORECAST]
        own = [step for step in steps if not self._derived_inputs[step.event.name]]
        return {step.event.name: self.event(step).evaluate(base, n_keys, FOREVER) for step in own}

    def run_batch(self, batch: EventBatch) -> dict[str, MatchBatch]:
        """Matches over a batch in canonical order, for stages in which no event reads another."""
        assert not any(self._derived_inputs.values()), "derived events need stage rows"
        return self.rest(pa.table({}), batch.key, batch, self._by_automata(batch))

    def rest(
        self,
        rows: pa.Table,
        codes: Ints,
        base: EventBatch,
        found: dict[str, MatchBatch],
        until: Mapping[str, int] | None = None,
        among_rows: frozenset[str] = frozenset(),
        since: Mapping[str, int] | None = None,
    ) -> dict[str, MatchBatch]:
        """Matches of all events known by their time in `until`, given the matches `found` so far.

        The network also answers regular events whose automata met unordered events. Matches of events `among_rows` are
        rows already. An event in `since` does not see rows that end by that time.
        """
        n_keys = int(codes.max()) + 1 if len(codes) else 0
        opened: Opened = {}
        batches: dict[tuple[int, ...], EventBatch] = {}
        for group in self._groups:
            if group.is_recursive:
                found |= self._recursive(group, rows, codes, found, until or {}, among_rows, since or {})
                continue
            step = self._steps[group.events[0].name]
            name = step.event.name
            if name in found:
                continue
            original = self._shared.original(name, until, since)
            if original is not None and original in found:
                found[name] = renamed(found[original], self._steps[original].event, step.event)
                continue
            derived = self._derived_inputs[name]
            if derived not in batches:
                batches[derived] = self._with_derived(step, rows, codes, base, found, among_rows)
            batch = batches[derived]
            if since and name in since:
                batch = _after(batch, since[name])
            known_by = FOREVER if until is None else until.get(name, FOREVER)
            working_on(name)
            evaluator = self.event(step)
            if isinstance(evaluator, NetworkEvent):
                session = self._shared.session(step, batch, n_keys, opened)
                found[name] = evaluator.evaluate(batch, n_keys, known_by, session=session)
            else:
                found[name] = evaluator.evaluate(batch, n_keys, known_by)
        return found

    def _recursive(
        self,
        group: EventGroup,
        rows: pa.Table,
        codes: Ints,
        found: Mapping[str, MatchBatch],
        until: Mapping[str, int],
        among_rows: frozenset[str],
        since: Mapping[str, int],
    ) -> dict[str, MatchBatch]:
        """Matches of events that depend on each other."""
        working_on(group.events[0].name)
        evaluators = self._recursive_events(group)
        derived = {
            number
            for event in group.events
            for number in self._derived_inputs[event.name]
            if self.stage.inputs[number].source not in among_rows | group.names
        }
        rows, codes = self._read_by(group, rows, codes)
        tables, all_codes = [rows], [codes]
        for number in sorted(derived):
            table, some_codes = self.rows_of_input(number, found[self.stage.inputs[number].source])
            tables.append(table)
            all_codes.append(some_codes)

        def visible(name: str, batch: EventBatch) -> EventBatch:
            return _after(batch, since[name]) if name in since else batch

        def derived_rows(name: str, matches: MatchBatch) -> tuple[pa.Table, Ints]:
            tables_and_codes = [
                self.rows_of_input(i, matches) for i, one in enumerate(self.stage.inputs) if one.source == name
            ]
            if not tables_and_codes:
                return rows.slice(0, 0), codes[:0]
            return pa.concat_tables([table for table, _ in tables_and_codes]), np.concatenate(
                [some for _, some in tables_and_codes]
            )

        known = {event.name: until.get(event.name, FOREVER) for event in group.events}
        together, together_codes = pa.concat_tables(tables), np.concatenate(all_codes)
        model = self._least_model(group, evaluators)
        if model is not None and len(set(known.values())) == 1 and not group.names & since.keys():
            n_keys = int(together_codes.max()) + 1 if len(together_codes) else 0
            batch = event_batch(self.stage, together, together_codes)
            derived_all = model.run(batch, n_keys, next(iter(known.values())))
            if derived_all is not None:
                return derived_all
        recursion = Recursion(self.stage, group, evaluators, derived_rows)
        return recursion.run(together, together_codes, known, visible)

    def models(self) -> Iterator[tuple[EventGroup, LeastModel | None]]:
        """The recursive groups, and their models if compiled loops can derive them."""
        for group in self._groups:
            if group.is_recursive:
                yield group, self._least_model(group, self._recursive_events(group))

    def _recursive_events(self, group: EventGroup) -> dict[str, NetworkEvent | ConsumptionEvent]:
        evaluators: dict[str, NetworkEvent | ConsumptionEvent] = {}
        for event in group.events:
            evaluator = self.event(self._steps[event.name])
            assert isinstance(evaluator, NetworkEvent | ConsumptionEvent), "windows and segments do not recur"
            evaluators[event.name] = evaluator
        return evaluators

    def _least_model(
        self, group: EventGroup, evaluators: Mapping[str, NetworkEvent | ConsumptionEvent]
    ) -> LeastModel | None:
        if group.names not in self._models:
            self._models[group.names] = LeastModel.of(self.stage, group, evaluators)
        return self._models[group.names]

    def _read_by(self, group: EventGroup, rows: pa.Table, codes: Ints) -> tuple[pa.Table, Ints]:
        """The rows that events of a group read."""
        if r.SOURCE not in rows.column_names:
            return rows, codes
        sources = {source for event in group.events for source in event.sources}
        inputs = [number for number, one in enumerate(self.stage.inputs) if one.source in sources]
        is_read = np.isin(rows[r.SOURCE].to_numpy(), inputs)
        return rows.filter(pa.array(is_read)), codes[is_read]

    def rows_of_input(self, number: int, matches: MatchBatch) -> tuple[pa.Table, Ints]:
        """Matches as stage rows of one input, and the codes of their keys."""
        source = source_table(matches).append_column("@code", pa.array(matches.key))
        table = self.input_rows(number, source, keep_column="@code")
        return table.drop_columns(["@code"]), table["@code"].to_numpy()

    def input_rows(self, number: int, source: pa.Table, *, keep_column: str | None = None) -> pa.Table:
        """Rows of a derived event as stage rows of one input."""
        if number not in self._readers:
            self._readers[number] = InputReader(self.stage, number, self._tables, self._context)
        return self._readers[number](source, keep_column=keep_column)

    def event(self, step: EventStep) -> AnyEvent:
        """The compiled event; the network evaluates regular events that have no automaton."""
        name = step.event.name
        if name not in self._events:
            if step.evaluator == Evaluator.FORECAST:
                self._events[name] = self._forecaster(step)
            else:
                self._events[name] = EVENTS.get(step.evaluator, NetworkEvent)(step, self._context)
        return self._events[name]

    def _forecaster(self, step: EventStep) -> SymbolEvent:
        forecast, n_inputs = forecast_of(step.event), len(self.stage.inputs)
        if forecast.learns:
            return LearningEvent(step, n_inputs, self.stage.resets, self._context)
        kind = WatchingEvent if forecast.watches else ForecastEvent
        return kind(step, n_inputs, self.stage.resets, self._context, self._tables.get(forecast.model, NO_MODEL))

    def derived_rows(self, name: str, matches: MatchBatch) -> pa.Table:
        """Matches of an event as stage rows of all inputs that read it."""
        source = source_table(matches)
        return pa.concat_tables(
            self.input_rows(number, source) for number, given in enumerate(self.stage.inputs) if given.source == name
        )

    def _with_derived(
        self,
        step: EventStep,
        rows: pa.Table,
        codes: Ints,
        base: EventBatch,
        found: Mapping[str, MatchBatch],
        among_rows: frozenset[str],
    ) -> EventBatch:
        """The batch of a step: the rows, and the matches of earlier steps of the stage that it reads."""
        derived = [i for i in self._derived_inputs[step.event.name] if self.stage.inputs[i].source not in among_rows]
        if not derived:
            return base
        tables, all_codes = [rows], [codes]
        for number in derived:
            table, some_codes = self.rows_of_input(number, found[self.stage.inputs[number].source])
            all_codes.append(some_codes)
            tables.append(table)
        return event_batch(self.stage, pa.concat_tables(tables), np.concatenate(all_codes))


def _after(batch: EventBatch, time: int) -> EventBatch:
    seen = batch.end > time
    return batch if seen.all() else batch.take(np.flatnonzero(seen))


def source_table(matches: MatchBatch) -> pa.Table:
    """Matches of an event as rows of a derived event."""
    columns: dict[str, pa.Array] = dict(matches.values)
    columns[r.START] = pa.array(matches.start)
    columns[r.END] = pa.array(matches.end)
    columns[r.PLACE] = matches.places(matches.start_place)
    columns[r.END_PLACE] = matches.places(matches.end_place)
    columns[r.KNOWN] = pa.array(matches.detected_at)
    columns[r.IDS] = matches.lineage
    return pa.table(columns)


def _by_blocks(batch: EventBatch, results: Callable[[EventBatch], Mapping[str, MatchBatch]]) -> dict[str, MatchBatch]:
    """Matches of all blocks of whole keys; the keys of a block are numbered from 0."""
    found: dict[str, list[MatchBatch]] = {}
    for first, last in _cuts(batch.key):
        least = int(batch.key[first])
        block = batch.between(first, last)
        block = replace(block, key=block.key - least)
        for name, matches in results(block).items():
            found.setdefault(name, []).append(replace(matches, key=matches.key + least))
    return {
        name: one_after_another([part for part in parts if len(part)] or parts[:1]) for name, parts in found.items()
    }


def _cuts(key: Ints) -> list[tuple[int, int]]:
    """First and end row of each block: whole keys, about `BLOCK_ROWS` rows."""
    starts = np.flatnonzero(changes(key))
    wanted = np.arange(0, len(key), BLOCK_ROWS)
    begins = np.unique(starts[np.searchsorted(starts, wanted, side="right") - 1])
    return list(zip(begins.tolist(), [*begins[1:].tolist(), len(key)], strict=True))
