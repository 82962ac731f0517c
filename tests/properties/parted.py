"""A program whose stages do every step in several ways: whole, copied, divided by keys, put together again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.clock import time_unit
from inkling.evaluators.automaton.evaluator import AutomatonEvaluator
from inkling.evaluators.consumption.evaluator import ConsumptionEvaluator, ConsumptionState
from inkling.evaluators.forecast.evaluator import ForecastEvaluator
from inkling.evaluators.network.evaluator import NetworkEvaluator
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.format import STAGE_ROWS
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_of
from inkling.evaluators.windows.evaluator import WindowEvaluator, WindowState
from inkling.knowledge.materialize import expression_context, known
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks
from inkling.query import Program
from inkling.results import result_table
from inkling.runtime.buffered import BufferedState
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.routing import RoutedRows
from inkling.runtime.stage import STAGE, BufferedStage

Step = Callable[[BufferedState, Sequence[RoutedRows]], tuple[BufferedState, Emitted]]


@dataclass
class Tried:
    """The results of all steps, and what the states held that were divided."""

    results: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)
    n_parted: int = 0  # results of which some come from either part


class Trial:
    """Runs one program; every stage continues with the state that one of the ways left behind."""

    def __init__(self, rng: random.Random, program: Program, tables: Mapping[str, pa.Table], tried: Tried) -> None:
        self._rng, self._tried, self._plan = rng, tried, program.physical
        tried.results = {event.name: [] for event in program.plan.events}
        self._events = {event.name: event for event in program.plan.events}
        unit = time_unit(program.plan, {stream.schema.name: Clock.TICKS for stream in program.plan.streams})
        facts = known(program.plan, tables, unit)
        context = expression_context(facts, unit)
        self._stages = [
            BufferedStage(self._plan, stage.number, facts, context, owners=True) for stage in self._plan.stages
        ]
        clocks = {one.schema.name: Clock.TICKS for one in self._plan.program.streams}
        self._operators = Operators(self._plan, clocks, facts, context, unit, Sampling())
        self._states = [stage.start() for stage in self._stages]
        self._seen: list[list[Owners]] = [[] for _ in self._states]

    def have_begun(self, since: Mapping[str, int]) -> None:
        """Some events do not see rows that end by some time."""
        self._states = [
            replace(state, evaluators={STAGE: replace(state.evaluators[STAGE], since=since)}) for state in self._states
        ]

    def run(self, pushes: Iterable[Mapping[str, pa.Table]]) -> None:
        for push in pushes:
            fed = [self._operators.ingest(name, rows) for name, rows in push.items()]
            self._advance([part for one in fed for part in one.parts], Watermarks.merged(one.watermarks for one in fed))
        self._advance([], Watermarks(finished=True))

    def _advance(self, parts: list[RoutedRows], watermarks: Watermarks) -> None:
        for number, stage in enumerate(self._stages):
            mine = [part for part in parts if part.stage == number]

            def step(
                state: BufferedState, some: Sequence[RoutedRows], stage: BufferedStage = stage
            ) -> tuple[BufferedState, Emitted]:
                return stage.advance(state, some, watermarks)

            found = self._in_every_way(number, step, mine)
            for name, matches in found.matches.items():
                if name in self._events:
                    table = result_table(self._events[name], matches, Clock.TICKS)
                    self._tried.results[name] += table.to_pylist()
                parts += self._operators.routes(name, matches)

    def _in_every_way(self, number: int, step: Step, parts: list[RoutedRows]) -> Emitted:
        before = self._states[number]
        live, stage = self._stages[number], self._plan.stages[number]
        saved = live.copied(before)
        after, found = step(before, parts)
        wanted = _shown(found)
        states = [after, _checked(step(live.copied(saved), parts), wanted)]
        if live.evaluator.is_divisible:
            of_parts = [live.owners(part.stream or STAGE_ROWS, part.rows) for part in parts]
            self._seen[number] += of_parts
            some = _some(self._rng, self._seen[number])
            self._tried.held.update(_held(live, saved))
            one, other = live.split(saved, some)
            states.append(_checked(step(live.merge(one, other), parts), wanted))
            one, other = live.split(saved, some)
            masks = [is_among(owners, some) for owners in of_parts]
            one_after, one_found = step(one, [_only(part, mask) for part, mask in zip(parts, masks, strict=True)])
            other_after, other_found = step(
                other, [_only(part, ~mask) for part, mask in zip(parts, masks, strict=True)]
            )
            assert sorted([*_shown(one_found), *_shown(other_found)]) == wanted
            owners = [_owners(one_found), _owners(other_found)]
            assert is_among(owners[0], some).all()
            assert not is_among(owners[1], some).any()
            _require_keys(stage.key_types, found)
            states.append(live.merge(other_after, one_after))
            self._tried.n_parted += bool(len(owners[0]) and len(owners[1]))
        states.append(_checked(step(saved, parts), wanted))
        self._states[number] = self._rng.choice(states)
        return found


def _checked(stepped: tuple[BufferedState, Emitted], wanted: list[str]) -> BufferedState:
    state, found = stepped
    assert _shown(found) == wanted
    return state


def _shown(emitted: Emitted) -> list[str]:
    """Everything that came out of a step, without what numbers mean to one state only."""
    shown = [
        f"{name} {row}" for name, matches in emitted.matches.items() for row in zip(*_columns(matches), strict=True)
    ]
    for name in ("late", "rejects"):
        shown += [f"{name} {row}" for row in getattr(emitted, name).to_pylist()]
    return sorted(shown)


def _columns(matches: MatchBatch) -> list[list[object]]:
    assert matches.owner is not None
    numbers = (matches.owner, matches.start, matches.end, matches.detected_at)
    places = (matches.places(matches.start_place), matches.places(matches.end_place))
    return [
        *(column.tolist() for column in numbers),
        *(column.to_pylist() for column in (*places, *matches.values.values(), matches.lineage)),
    ]


def _require_keys(key_types: Sequence[object], emitted: Emitted) -> None:
    """Results that name their key have its hash."""
    for matches in emitted.matches.values():
        if len(key_types) == 1 and "k" in matches.values:
            assert np.array_equal(owners_of(pa.table({"@key0": matches.values["k"]}), 1), matches.owner)


def _owners(emitted: Emitted) -> Owners:
    found = [matches.owner for matches in emitted.matches.values() if matches.owner is not None]
    return np.concatenate([np.empty(0, np.uint64), *found])


def _some(rng: random.Random, seen: Sequence[Owners]) -> Owners:
    """Some keys, sorted; now and then none or all."""
    owners = np.unique(np.concatenate([np.empty(0, np.uint64), *seen]))
    share = rng.choice([0.0, 0.3, 0.5, 0.5, 0.7, 1.0])
    return owners[[rng.random() < share for _ in owners]]


def _only(part: RoutedRows, mask: np.ndarray) -> RoutedRows:
    return replace(part, rows=part.rows.filter(pa.array(mask)))


def _held(live: BufferedStage, state: BufferedState) -> list[str]:
    """The kinds of things that a state remembers."""
    stage = state.evaluators[STAGE]
    states = list(zip(live.evaluator.members, stage.evaluators, strict=True))
    sizes = Counter(
        {
            "pending": len(state.waiting[STAGE_ROWS]),
            "raw": sum(len(rows) for name, rows in state.waiting.items() if name != STAGE_ROWS),
            "last": sum(map(len, stage.last.values())),
        }
    )
    for member, held in states:
        match member, held:
            case WindowEvaluator(), WindowState(last=last):
                sizes["windows"] += member.n_kept(held)
                sizes["said"] += 0 if last is None else len(last)
            case ConsumptionEvaluator(), ConsumptionState(stored=stored):
                sizes["waiting"] += len(stored)
            case AutomatonEvaluator(), _:
                sizes["automata"] += member.n_kept(held)
            case ForecastEvaluator(), _:
                sizes["forecasts"] += member.n_kept(held)
            case NetworkEvaluator(), _:
                sizes["rows"] += member.n_kept(held)
            case _:
                raise AssertionError(f"{member.name} has another state")
    return [name for name, size in sizes.items() if size]
