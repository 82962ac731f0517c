"""Work that events of a stage do together: one session per set of rows, and results under another name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inkling.analysis.choice import Evaluator
from inkling.evaluators.network.session import Group, Session
from inkling.logical.plan import EventPlan
from inkling.model.batch import EventBatch, MatchBatch
from inkling.physical.plan import EventStep, Stage
from inkling.physical.sharing import Work, works_of

Feeds = tuple[int, ...]
"""The inputs of a stage that its own events fill."""

Opened = dict[tuple[int, Feeds], Session]
"""Sessions by the identity of their batch and what the events feed each other."""

UNJOINED = (Evaluator.SEGMENTS, Evaluator.WINDOW, Evaluator.FORECAST)
"""Evaluators that have no partial matches to share."""


class SharedWork:
    """Which events of a stage look at the same rows, and which of them have the results of another."""

    def __init__(self, stage: Stage, feeds: Mapping[str, Feeds]) -> None:
        self._feeds = feeds
        self._twins = dict(stage.sharing.twins)
        self._groups: dict[Feeds, Group] = {}
        joined = [step for step in stage.steps if step.evaluator not in UNJOINED]
        for step in joined:
            read = feeds[step.event.name]
            together = tuple(one for one in joined if feeds[one.event.name] == read)
            if read not in self._groups:
                self._groups[read] = Group(together, frozenset(_shared_works(stage, together)))

    def session(self, step: EventStep, batch: EventBatch, n_keys: int, opened: Opened) -> Session:
        """The session over a batch, which lives as long as what is `opened`."""
        feeds = self._feeds[step.event.name]
        if (id(batch), feeds) not in opened:
            opened[id(batch), feeds] = Session.of(self._groups[feeds], batch, n_keys)
        return opened[id(batch), feeds]

    def original(
        self, event: str, until: Mapping[str, int] | None = None, since: Mapping[str, int] | None = None
    ) -> str | None:
        """The event whose results another one has too, if both see the same rows."""
        twin = self._twins.get(event)
        if twin is None:
            return None
        alike = all(times is None or times.get(event) == times.get(twin) for times in (until, since))
        return twin if alike else None


def renamed(matches: MatchBatch, original: EventPlan, event: EventPlan) -> MatchBatch:
    """The results of an event as those of another one with the same values under other names."""
    names = [output.name for output in (*original.head, *original.returns)]
    others = [output.name for output in (*event.head, *event.returns)]
    values = {other: matches.values[name] for name, other in zip(names, others, strict=True)}
    return replace(matches, event=event.name, values=values)


def _shared_works(stage: Stage, steps: tuple[EventStep, ...]) -> set[Work]:
    shared: set[Work] = set()
    for step in steps:
        mine = {(part.pattern, part.n_parts) for part in stage.sharing.parts if step.event.name in part.events}
        shared |= {work for _, work in works_of(step) if (work.pattern, work.n_parts) in mine}
    return shared
