"""What every evaluator promises, whoever drives it: local, Spark batch or a stream."""

from __future__ import annotations

from typing import Protocol, TypeVar

from inkling.model.batch import MatchBatch

State = TypeVar("State")
Rows = TypeVar("Rows", contravariant=True)


class Stepper(Protocol[State, Rows]):
    """Results from rows that arrive in time order.

    The rows of a step hold every event that ends after the previous step's `until` and not after this one's. The
    results of all steps together do not depend on how the events were cut into steps.
    """

    def start(self) -> State: ...

    def step(self, state: State, rows: Rows, until: int) -> tuple[State, dict[str, MatchBatch]]: ...
