"""A program whose stages do every step in several ways: whole, copied, divided by keys, put together again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.analysis.clock import measure_for
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.chosen import Chosen
from inkling.evaluators.stage.owners import Owners, is_among, owners_of
from inkling.evaluators.stage.registry import AutomataCarry, ConsumptionCarry, KeptRows, WindowCarry
from inkling.knowledge.materialize import known, surroundings
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.model.watermarks import Marks
from inkling.query import Program
from inkling.results import result_table
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.parts import Part, is_divisible, owners_of_part
from inkling.runtime.stage import Advanced, LiveStage, LiveState

Step = Callable[[LiveState, Sequence[Part]], tuple[LiveState, Advanced]]


@dataclass
class Tried:
    """The results of all steps, and what the states held that were divided."""

    results: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)
    n_parted: int = 0  # results of which some come from either part


class Trial:
    """Runs one program; every stage goes on with the state that one of the ways left behind."""

    def __init__(self, rng: random.Random, program: Program, tables: Mapping[str, pa.Table], tried: Tried) -> None:
        self._rng, self._tried, self._plan = rng, tried, program.physical
        tried.results = {event.name: [] for event in program.plan.events}
        self._events = {event.name: event for event in program.plan.events}
        measure = measure_for(program.plan, {stream.schema.name: Clock.TICKS for stream in program.plan.streams})
        facts = known(program.plan, tables, measure)
        around = surroundings(facts, measure)
        self._stages = [
            LiveStage.of(self._plan, stage.number, facts, around, owners=True) for stage in self._plan.stages
        ]
        clocks = {one.schema.name: Clock.TICKS for one in self._plan.program.streams}
        self._operators = Operators(self._plan, clocks, facts, around, measure, Sampling())
        self._states = [stage.start() for stage in self._stages]
        self._seen: list[list[Owners]] = [[] for _ in self._states]

    def have_begun(self, since: Mapping[str, int]) -> None:
        """Some events do not see rows that end by some time."""
        self._states = [replace(state, stage=replace(state.stage, since=since)) for state in self._states]

    def run(self, pushes: Iterable[Mapping[str, pa.Table]]) -> None:
        for push in pushes:
            fed = [self._operators.ingest(name, rows) for name, rows in push.items()]
            self._advance([part for one in fed for part in one.parts], Marks.together(one.marks for one in fed))
        self._advance([], Marks(finished=True))

    def _advance(self, parts: list[Part], marks: Marks) -> None:
        for number, stage in enumerate(self._stages):
            mine = [part for part in parts if part.stage == number]

            def step(state: LiveState, some: Sequence[Part], stage: LiveStage = stage) -> tuple[LiveState, Advanced]:
                return stage.advance(state, some, marks)

            found = self._in_every_way(number, step, mine)
            for name, matches in found.found.matches.items():
                if name in self._events:
                    table = result_table(self._events[name], matches, Clock.TICKS)
                    self._tried.results[name] += table.to_pylist()
                parts += self._operators.routes(name, matches)

    def _in_every_way(self, number: int, step: Step, parts: list[Part]) -> Advanced:
        before = self._states[number]
        saved = before.copied()
        stage = self._plan.stages[number]
        after, found = step(before, parts)
        wanted = _shown(found)
        states = [after, _checked(step(saved.copied(), parts), wanted)]
        if is_divisible(stage, self._plan.program):
            of_parts = [owners_of_part(part, stage) for part in parts]
            self._seen[number] += of_parts
            some = _some(self._rng, self._seen[number])
            self._tried.held.update(_held(saved))
            of_some, of_others = (Chosen(some, len(stage.key_types), others=others) for others in (False, True))
            one, other = saved.where(of_some, stage), saved.where(of_others, stage)
            states.append(_checked(step(one.merged(other), parts), wanted))
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
            states.append(other_after.merged(one_after))
            self._tried.n_parted += bool(len(owners[0]) and len(owners[1]))
        states.append(_checked(step(saved, parts), wanted))
        self._states[number] = self._rng.choice(states)
        return found


def _checked(stepped: tuple[LiveState, Advanced], wanted: list[str]) -> LiveState:
    state, found = stepped
    assert _shown(found) == wanted
    return state


def _shown(advanced: Advanced) -> list[str]:
    """Everything that came out of a step, without what numbers mean to one state only."""
    shown = [
        f"{name} {row}"
        for name, matches in advanced.found.matches.items()
        for row in zip(*_columns(matches), strict=True)
    ]
    for name in ("late", "rejects"):
        shown += [f"{name} {row}" for row in getattr(advanced, name).to_pylist()]
    return sorted(shown)


def _columns(matches: MatchBatch) -> list[list[object]]:
    assert matches.owner is not None
    numbers = (matches.owner, matches.start, matches.end, matches.detected_at)
    places = (matches.places(matches.start_place), matches.places(matches.end_place))
    return [
        *(column.tolist() for column in numbers),
        *(column.to_pylist() for column in (*places, *matches.values.values(), matches.lineage)),
    ]


def _require_keys(key_types: Sequence[object], advanced: Advanced) -> None:
    """Results that name their key have its hash."""
    for matches in advanced.found.matches.values():
        if len(key_types) == 1 and "k" in matches.values:
            assert np.array_equal(owners_of(pa.table({"@key0": matches.values["k"]}), 1), matches.owner)


def _owners(advanced: Advanced) -> Owners:
    found = [matches.owner for matches in advanced.found.matches.values() if matches.owner is not None]
    return np.concatenate([np.empty(0, np.uint64), *found])


def _some(rng: random.Random, seen: Sequence[Owners]) -> Owners:
    """Some keys, sorted; now and then none or all."""
    owners = np.unique(np.concatenate([np.empty(0, np.uint64), *seen]))
    share = rng.choice([0.0, 0.3, 0.5, 0.5, 0.7, 1.0])
    return owners[[rng.random() < share for _ in owners]]


def _only(part: Part, mask: np.ndarray) -> Part:
    return replace(part, rows=part.rows.filter(pa.array(mask)))


def _held(state: LiveState) -> list[str]:
    """The kinds of things that a state remembers."""
    carries: dict[str, Any] = dict(state.stage.carries)
    sizes = {
        "pending": len(state.pending),
        "raw": sum(map(len, state.raw.values())),
        "last": sum(map(len, state.last.values())),
        "rows": sum(one.n_kept for name, one in carries.items() if name == "network"),
        "automata": sum(one.n_kept for one in carries.values() if isinstance(one, AutomataCarry)),
        "windows": sum(one.n_kept for one in carries.values() if isinstance(one, WindowCarry)),
        "said": sum(
            len(one.last if one.last is not None else ()) for one in carries.values() if isinstance(one, WindowCarry)
        ),
        "waiting": sum(len(one.stored) for one in carries.values() if isinstance(one, ConsumptionCarry)),
        "forecasts": sum(one.n_kept for name, one in carries.items() if name != "network" and type(one) is KeptRows),
    }
    return [name for name, size in sizes.items() if size]
