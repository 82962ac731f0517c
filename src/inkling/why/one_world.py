"""One world of an uncertain program: a certain program over certain streams, which is explained like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from inkling.io.normalize import ID
from inkling.local import TakenIn
from inkling.logical import plan as p
from inkling.logical.in_worlds import in_worlds
from inkling.model.batch import MatchBatch
from inkling.model.event import Value
from inkling.model.schema import Column
from inkling.why.progress import Progress, progress_of
from inkling.why.questions import answers
from inkling.why.trees import Derivation, Trees, columns_of
from inkling.worlds.combine import identities
from inkling.worlds.run import WorldData
from inkling.worlds.streams.placed import Placed, world_rows
from inkling.worlds.variants import Worlds


@dataclass(frozen=True)
class OneWorld:
    """What happens in one world; `written` is the event as its user wrote it."""

    written: p.EventPlan
    plan: p.ProgramPlan
    given: TakenIn
    columns: Mapping[str, tuple[Column, ...]]
    ids: Mapping[Value, Value]
    scale: int

    @classmethod
    def of(
        cls, data: WorldData, part: p.ProgramPlan, event: p.EventPlan, given: TakenIn, worlds: Worlds, number: int
    ) -> OneWorld:
        """The world with a number among some worlds; `part` is the event with all it rests on, as written."""
        program = data.program
        sources = {}
        ids: dict[Value, Value] = {}
        for stream, placed in zip(worlds.streams, worlds.placed, strict=True):
            here = np.flatnonzero(placed.worlds == number)
            times = None if placed.times is None else placed.times[here]
            one = Placed(placed.rows[here], np.zeros(len(here), np.int64), times)
            name = stream.schema.name
            sources[name] = world_rows(stream.rows, stream.tokens, one, stream.time_columns, program.scale)
            called = stream.rows[ID].take(one.rows).to_pylist()
            ids.update(zip(stream.tokens.view(np.int64)[one.rows].tolist(), called, strict=True))
        known = replace(given, sources=sources, around=program.around)
        world = in_worlds(part, finer=program.scale > 1)
        return cls(event, world, known, columns_of(part), ids, program.scale)

    @property
    def event(self) -> p.EventPlan:
        found = self.plan.event(self.written.name)
        assert found is not None
        return found

    @cached_property
    def matches(self) -> Mapping[str, MatchBatch]:
        return answers(self.plan, self.given)

    def progress(self) -> Progress:
        """How far the pattern gets in this world."""
        return progress_of(self.event, self.plan, self.given, self.written)

    def tree(self, identity: int) -> Derivation:
        """What the result rests on in this world."""
        own = identities(self.written, self.matches[self.event.name])
        (place, *_) = np.flatnonzero(own == np.uint64(identity)).tolist()
        trees = Trees(self.plan, self.given, self.matches, self.columns, self.ids.get, self.scale)
        return trees.of(self.event, place)
