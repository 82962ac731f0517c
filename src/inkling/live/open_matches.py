"""Partial matches of a running sequence that may still be completed, found anew in the rows that its stage keeps.

Nothing is remembered for this: whoever asks pays. Only the network keeps rows; automata, windows and consumption
policies keep states in which parts cannot be told apart any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.errors import NotSupportedYet
from inkling.evaluators.stage.engine import StageEngine
from inkling.live.stage import LiveStage, LiveState
from inkling.logical import plan as p
from inkling.logical.part_texts import PartTexts
from inkling.logical.recursion import resting_on
from inkling.logical.ways import Way, numbers_in, part_event, ways_of
from inkling.model.batch import FOREVER, MatchBatch
from inkling.model.time import Clock, Span
from inkling.physical.plan import EventStep, LeafTest, Sharing
from inkling.results import in_time

_OURS = "\ue000"
"""Begins the names of events that no program writes."""


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """The first parts of a sequence, which wait for the next one; times count as those of the streams do."""

    reached: int  # parts that have happened
    parts: int  # of how many
    awaits: str
    start: int
    end: int
    latest: int | None  # when it must be complete, if something says so
    lineage: tuple[object, ...]


def open_matches(stages: Iterable[tuple[LiveStage, LiveState]], event: str) -> list[OpenMatch]:
    """The open matches of an event, oldest first."""
    for stage, held in stages:
        step = next((step for step in stage.plan.stages[stage.number].steps if step.event.name == event), None)
        if step is None:
            continue
        watermark = held.clocks.watermark
        _require_rows(step)
        if watermark >= FOREVER:
            return []
        rows = stage.rows_so_far(held)
        found = [one for way in ways_of(step.event) for one in _OfWay(stage, step, way, watermark).found(rows)]
        return sorted(found, key=lambda one: (one.start, one.end, -one.reached))
    raise AssertionError(f"no stage looks for {event}")


def _require_rows(step: EventStep) -> None:
    is_told_apart = all(isinstance(way.whole, p.Sequence | p.Leaf) for way in ways_of(step.event))
    if step.evaluator is Evaluator.NETWORK and is_told_apart:
        return
    keeper = "a pattern that is no sequence" if step.evaluator is Evaluator.NETWORK else f"the {step.evaluator}"
    raise NotSupportedYet.of(
        "INK0428",
        f"open matches of `{step.event.name}` are not supported yet",
        notes=(f"{keeper} does not keep them part by part",),
        helps=("run `inkling why` over the rows so far",),
    )


@dataclass(frozen=True, slots=True)
class _OfWay:
    stage: LiveStage
    step: EventStep
    way: Way
    watermark: int

    def found(self, rows: pa.Table) -> Iterator[OpenMatch]:
        if isinstance(self.way.whole, p.Leaf):
            return  # a single event is complete at once
        waits_at_end = bool(self.way.absences_after(len(self.way.parts)))
        last = len(self.way.parts) if waits_at_end else len(self.way.parts) - 1
        probes: dict[str, EventStep] = {}
        for reached in range(1, last + 1):
            so_far = self.way.framed(self.way.upto_with_absences(reached))
            probes[f"{reached}"] = self._step(f"{reached}", so_far)
            for number, closing in enumerate(self._closing(reached)):
                name = f"{reached} {number}"
                probes[name] = self._step(name, p.Sequence(p.Policy.ANY, (so_far, closing)))
        answers = self._run(rows, probes)
        texts = PartTexts.of(_declared(self.stage, self.step))
        own = _own_way(texts.event, self.way, self.step.event)
        for reached in range(1, last + 1):
            closed = {one for name, found in answers.items() if name.startswith(f"{reached} ") for one in _ids(found)}
            awaits = self._awaits(own, texts, reached)
            told = list(self._told(answers[f"{reached}"], reached, awaits))
            closed |= {ids for one in told for ids in self._passed(one, told)}
            for one in told:
                if not any(one.lineage == ids[: len(one.lineage)] for ids in closed):
                    yield one

    def _passed(self, longer: OpenMatch, told: list[OpenMatch]) -> Iterator[tuple[object, ...]]:
        """What an eager repetition has left behind by taking one more event: the next part can only follow that one."""
        group, after = self.way.parts[longer.reached - 1], self.way.parts[longer.reached : longer.reached + 1]
        if not isinstance(group, p.Repetition) or not group.eager or longer.end >= self.watermark:
            return
        following = after[0].pattern if after and isinstance(after[0], p.Repetition) else next(iter(after), None)
        if isinstance(following, p.Leaf) and self._are_points(following.sources or self.step.event.scope):
            yield from (one.lineage for one in told if _is_begun_by(longer.lineage, one.lineage))

    def _closing(self, reached: int) -> Iterator[p.Pattern]:
        """What must not have followed the first parts, or they wait in vain."""
        sequence = self.way.whole
        assert isinstance(sequence, p.Sequence)
        for absent in self.way.absences_after(reached):
            yield absent.pattern
        following = self.way.parts[reached : reached + 1]
        if not following or isinstance(following[0], p.Absent | p.Deadline | p.StreamStart):
            return
        if sequence.policy is p.Policy.STRICT and self._are_points(self.step.event.scope):
            yield self._any_event
        after = following[0]
        if not isinstance(after, p.Leaf) or sequence.policy is not p.Policy.NEXT:
            return
        if self._are_points(after.sources or self.step.event.scope):
            yield after

    @property
    def _any_event(self) -> p.Leaf:
        return p.Leaf(len(self.step.event.slots), ())

    def _are_points(self, sources: tuple[str, ...]) -> bool:
        """Whether events of these come in the order of their starts, so that one that is still to come is later."""
        inputs = {one.source: one.interval for one in self.stage.plan.stages[self.stage.number].inputs}
        return not any(inputs.get(source, True) for source in sources)

    def _step(self, name: str, pattern: p.Pattern) -> EventStep:
        numbers = numbers_in(pattern)
        named = f"{_OURS}{name}"
        whole = self.step.event
        one_more = p.Slot(self._any_event.slot, None, (), repeated=False, negated=False)
        made = part_event(replace(whole, head=(), slots=(*whole.slots, one_more)), named, pattern)
        leaves = tuple(
            replace(test, slot=numbers.slots[test.slot], across=numbers.all_of(test.across))
            for test in map(self._test, p.leaves(pattern))
        )
        return replace(self.step, event=made, leaves=leaves)

    def _test(self, leaf: p.Leaf) -> LeafTest:
        if leaf == self._any_event:
            return LeafTest(leaf.slot, self.step.scope, (), ())
        return self.step.leaf(leaf.slot)

    def _run(self, rows: pa.Table, probes: dict[str, EventStep]) -> dict[str, MatchBatch]:
        stage = self.stage.plan.stages[self.stage.number]
        needed = resting_on(_declared(self.stage, self.step), self.stage.plan.program)
        upstream = tuple(
            step for step in stage.steps if step.evaluator is Evaluator.NETWORK and step.event.name in needed
        )
        asked = replace(stage, steps=(*upstream, *probes.values()), sharing=Sharing())
        found = StageEngine(asked, self.stage.tables, self.stage.around).run(rows).matches
        return {name: found[f"{_OURS}{name}"] for name in probes}

    def _told(self, found: MatchBatch, reached: int, awaits: str) -> Iterator[OpenMatch]:
        ids = found.lineage.to_pylist()
        for start, end, lineage in zip(found.start.tolist(), found.end.tolist(), ids, strict=True):
            latest = self._latest(start, end, reached)
            if latest is None or latest > self.watermark:
                yield OpenMatch(reached, len(self.way.parts), awaits, start, end, latest, tuple(lineage))

    def _latest(self, start: int, end: int, reached: int) -> int | None:
        measure = self.stage.around.measure
        keep = () if self.step.event.keep is None else (self.step.event.keep,)
        limits = [
            start + (limit.count - 1 if isinstance(limit, p.Points) else measure(limit))
            for limit in (*self.way.limits, *keep)
            if isinstance(limit, p.Points | Span)
        ]
        following = self.way.parts[reached : reached + 1]
        if following and isinstance(following[0], p.Deadline):
            limits.append(end + measure(following[0].after))
        return min(limits, default=None)

    def _awaits(self, way: Way, texts: PartTexts, reached: int) -> str:
        following = way.parts[reached : reached + 1]
        return texts.part(following[0]) if following else " and ".join(map(texts.part, way.absences_after(reached)))


def _declared(stage: LiveStage, step: EventStep) -> p.EventPlan:
    """The event with the names of columns that the program uses."""
    event = stage.plan.program.event(step.event.name)
    assert event is not None
    return event


def _own_way(event: p.EventPlan, way: Way, planned: p.EventPlan) -> Way:
    return ways_of(event)[ways_of(planned).index(way)]


def _is_begun_by(longer: tuple[object, ...], ids: tuple[object, ...]) -> bool:
    return len(ids) < len(longer) and longer[: len(ids)] == ids


def _ids(found: MatchBatch) -> Iterator[tuple[object, ...]]:
    yield from map(tuple, found.lineage.to_pylist())


def open_table(found: list[OpenMatch], clock: Clock) -> pa.Table:
    """Open matches as a table, with times of the clock."""
    times = {
        name: in_time(pa.array([getattr(one, name) for one in found], pa.int64()), clock)
        for name in ("start", "end", "latest")
    }
    return pa.table(
        {
            "reached": pa.array([one.reached for one in found], pa.int64()),
            "parts": pa.array([one.parts for one in found], pa.int64()),
            "awaits": pa.array([one.awaits for one in found], pa.string()),
            **times,
            "lineage": pa.array([list(one.lineage) for one in found], _lineage_type(found)),
        }
    )


def _lineage_type(found: list[OpenMatch]) -> pa.DataType:
    are_texts = any(isinstance(one, str) for match in found for one in match.lineage)
    return pa.list_(pa.string() if are_texts else pa.int64())
