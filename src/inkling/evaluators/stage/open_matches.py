"""Open matches of a sequence or of AND, recomputed from the rows that the network keeps.

For each number n of first parts, a probe event looks for SEQ(part 1, ..., part n). A match of the probe is open unless
something followed that closes it: an absent pattern, the next part under NEXT, any event under STRICT. Of AND, there is
a probe for every choice of some items; all of its matches are open. Automata, windows and consumption policies keep no
partial matches, so their open matches are not available.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.open_matches import Begun, awaits, awaits_others, choices, not_kept
from inkling.evaluators.stage.engine import StageEngine
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of, numbers_in, part_event
from inkling.logical.patterns.maximal import without_maximal
from inkling.logical.printing.text import PartTexts
from inkling.logical.recursion import dependencies_of
from inkling.model.batch import FOREVER, MatchBatch
from inkling.model.time import Duration
from inkling.physical.plan import EventStep, LeafTest, Sharing

if TYPE_CHECKING:
    from inkling.evaluators.stage.evaluator import StageEvaluator

_OURS = "\ue000"
"""The first character of names of probe events; no program can write it."""

Ids = tuple[object, ...]


def begun_matches(
    stage: StageEvaluator,
    step: EventStep,
    until: int,
    rows: Callable[[], pa.Table],
    declared: p.EventPlan | None = None,
    world: str | None = None,
) -> list[Begun]:
    """The partial matches of an event among stage rows, by world.

    `world` is the column of the head with the number of the world. `declared` is the event as the program declares it,
    for the texts of its parts.
    """
    _require_rows(step)
    if until >= FOREVER:
        return []
    texts = PartTexts.of(declared or _declared(stage, step))
    disjuncts = enumerate(zip(disjuncts_of(step.event), disjuncts_of(texts.event), strict=True))
    given = rows()
    return [
        one
        for number, (way, own) in disjuncts
        for one in _OfWay(stage, step, number, way, until, world).found(given, own, texts)
    ]


def _require_rows(step: EventStep) -> None:
    if step.evaluator is not Evaluator.NETWORK:
        raise not_kept(step.event.name, f"the {step.evaluator} does not store open matches part by part")
    for way in disjuncts_of(step.event):
        if not isinstance(way.whole, p.Sequence | p.Leaf | p.Conjunction):
            raise not_kept(step.event.name, "only sequences and AND are listed part by part")


@dataclass(frozen=True, slots=True)
class _OfWay:
    stage: StageEvaluator
    step: EventStep
    number: int
    way: Disjunct
    watermark: int
    world: str | None

    def found(self, rows: pa.Table, own: Disjunct, texts: PartTexts) -> Iterator[Begun]:
        if isinstance(self.way.whole, p.Leaf):
            return  # a single event is complete at once
        if isinstance(self.way.whole, p.Conjunction):
            yield from self._some_items(rows, own, texts)
            return
        waits_at_end = bool(self.way.absences_after(len(self.way.parts)))
        last = len(self.way.parts) if waits_at_end else len(self.way.parts) - 1
        probes: dict[str, EventStep] = {}
        closings: dict[int, list[tuple[str, p.Pattern]]] = {}
        for reached in range(1, last + 1):
            so_far = self.way.framed(self.way.upto_with_absences(reached))
            probes[f"{reached}"] = self._step(f"{reached}", so_far)
            closings[reached] = [(f"{reached} {number}", one) for number, one in enumerate(self._closing(reached))]
            for name, closing in closings[reached]:
                probes[name] = self._step(name, p.Sequence(p.Policy.ANY, (so_far, closing)))
        answers = self._run(rows, probes)
        for reached in range(1, last + 1):
            closed = {one for name, closing in closings[reached] for one in self._followed(answers[name], closing)}
            begun = list(self._begun(answers[f"{reached}"], reached, awaits(own, texts, reached)))
            closed |= {one for longer in begun for one in self._passed(longer)}
            yield from (one for one in begun if (one.world, one.lineage) not in closed)

    def _some_items(self, rows: pa.Table, own: Disjunct, texts: PartTexts) -> Iterator[Begun]:
        chosen = {f"{some}": some for some in choices(self.step.event.name, self.way)}
        probes = {
            name: self._step(name, self.way.framed(self.way.some(some)), self.way.having_on(some))
            for name, some in chosen.items()
        }
        answers = self._run(rows, probes)
        for name, some in chosen.items():
            yield from self._begun(answers[name], len(some), awaits_others(own, texts, some))

    def _followed(self, found: MatchBatch, closing: p.Pattern) -> Iterator[tuple[object, Ids]]:
        """Lineages of first parts that are closed, and their prefixes."""
        single = self._is_single(closing)
        for world, ids in zip(self._worlds(found), _ids(found), strict=True):
            yield from ((world, ids[:n]) for n in ((len(ids) - 1,) if single else range(1, len(ids))))

    def _is_single(self, closing: p.Pattern) -> bool:
        """Whether the closing pattern adds one id to the lineage."""
        if not isinstance(closing, p.Leaf):
            return False
        return all(self.stage.plan.program.event(name) is None for name in closing.sources or self.step.event.scope)

    def _passed(self, longer: Begun) -> Iterator[tuple[object, Ids]]:
        """Shorter prefixes that an eager repetition closes by taking one more event."""
        group, after = self.way.parts[longer.reached - 1], self.way.parts[longer.reached : longer.reached + 1]
        if not isinstance(group, p.Repetition) or not group.eager or longer.end >= self.watermark:
            return
        following = after[0].pattern if after and isinstance(after[0], p.Repetition) else next(iter(after), None)
        if isinstance(following, p.Leaf) and self._are_points(following.sources or self.step.event.scope):
            yield from ((longer.world, longer.lineage[:n]) for n in range(1, len(longer.lineage)))

    def _closing(self, reached: int) -> Iterator[p.Pattern]:
        """Patterns that close a partial match of the first parts if they follow it."""
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
        """Whether events of these sources are points, so that later rows also start later."""
        inputs = {one.source: one.interval for one in self.stage.stage.inputs}
        return not any(inputs.get(source, True) for source in sources)

    def _step(self, name: str, pattern: p.Pattern, having: tuple[e.Expr, ...] = ()) -> EventStep:
        numbers = numbers_in(pattern)
        named = f"{_OURS}{name}"
        whole = self.step.event
        one_more = p.Slot(self._any_event.slot, None, (), repeated=False, negated=False)
        head = tuple(output for output in whole.head if output.name == self.world)
        of_parts = replace(whole, head=head, slots=(*whole.slots, one_more))
        made = part_event(of_parts, named, without_maximal(pattern), having)

        def probe(test: LeafTest) -> LeafTest:
            known = test.reading_only(numbers.slots, numbers.atoms)
            return replace(
                known,
                slot=numbers.slots[test.slot],
                across=numbers.all_of(known.across),
                by_key=numbers.all_of(known.by_key),
            )

        return replace(self.step, event=made, leaves=tuple(map(probe, map(self._test, p.leaves(pattern)))))

    def _test(self, leaf: p.Leaf) -> LeafTest:
        if leaf == self._any_event:
            return LeafTest(leaf.slot, self.step.scope, (), ())
        return self.step.leaf(leaf.slot)

    def _run(self, rows: pa.Table, probes: dict[str, EventStep]) -> dict[str, MatchBatch]:
        stage = self.stage.stage
        needed = dependencies_of(_declared(self.stage, self.step), self.stage.plan.program)
        upstream = tuple(
            step for step in stage.steps if step.evaluator is Evaluator.NETWORK and step.event.name in needed
        )
        asked = replace(stage, steps=(*upstream, *probes.values()), sharing=Sharing())
        found = StageEngine(asked, self.stage.tables, self.stage.context).run(rows).matches
        return {name: found[f"{_OURS}{name}"] for name in probes}

    def _begun(self, found: MatchBatch, reached: int, awaits: str) -> Iterator[Begun]:
        n = len(self.way.parts)
        rows = zip(self._worlds(found), found.start.tolist(), found.end.tolist(), _ids(found), strict=True)
        for world, start, end, lineage in rows:
            latest = self._latest(start, end, reached)
            if latest is None or latest > self.watermark:
                yield Begun(self.number, reached, n, awaits, start, end, latest, world, lineage)

    def _worlds(self, found: MatchBatch) -> list[object]:
        return [None] * len(found) if self.world is None else found.values[self.world].to_pylist()

    def _latest(self, start: int, end: int, reached: int) -> int | None:
        unit = self.stage.context.unit
        keep = () if self.step.event.keep is None else (self.step.event.keep,)
        limits = [
            start + (limit.count - 1 if isinstance(limit, p.Points) else unit(limit))
            for limit in (*self.way.limits, *keep)
            if isinstance(limit, p.Points | Duration)
        ]
        following = self.way.parts[reached : reached + 1]
        if following and isinstance(following[0], p.Deadline):
            limits.append(end + unit(following[0].after))
        return min(limits, default=None)


def _declared(stage: StageEvaluator, step: EventStep) -> p.EventPlan:
    """The event as the program declares it."""
    event = stage.plan.program.event(step.event.name)
    assert event is not None
    return event


def _ids(found: MatchBatch) -> list[Ids]:
    return [tuple(ids) for ids in found.lineage.to_pylist()]
