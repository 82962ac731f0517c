"""What every evaluator promises, whoever drives it: local, Spark batch or a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from inkling.model.batch import EventBatch, MatchBatch

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Progress:
    """Which part of the time line a step decides: results known after `after` and up to `until`."""

    after: int
    until: int


class Evaluator(Protocol[State]):
    """Results of one event, from batches that arrive in time order per key.

    A batch holds every event with `progress.after < end <= progress.until`. The results of all steps together do not
    depend on how the events were cut into batches.
    """

    def start(self) -> State: ...

    def step(self, state: State, batch: EventBatch, progress: Progress) -> tuple[State, MatchBatch]: ...
