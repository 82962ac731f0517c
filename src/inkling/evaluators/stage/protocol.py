"""What an evaluator is to its stage: a stepper that answers some events, and a carry, what it keeps between steps.

A stage is a loop over its steppers. All of them see the rows of a step, and what those before them have found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import pyarrow as pa

from inkling.analysis.lag import lag_of
from inkling.evaluators.stage.chosen import Chosen, concatenated
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.layout import Layout
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import ProgramPlan
from inkling.model.batch import FOREVER, MatchBatch
from inkling.physical.plan import EventStep, Stage

SPARE_ROWS = 256
"""So many rows that cannot matter any more may stay before they are cleared away."""


class Carry(Protocol):
    """What a stepper keeps between steps; a step may use it up."""

    @property
    def n_kept(self) -> int:
        """About how many rows and open matches it holds."""
        ...

    def copied(self) -> Self:
        """The same, which later steps of the original leave as it is."""
        ...

    def where(self, chosen: Chosen) -> Self:
        """What is kept of some keys, which shares nothing with the original that a step would change."""
        ...

    def merged(self, other: Self) -> Self:
        """What is kept of some keys and of others."""
        ...


C = TypeVar("C", bound=Carry)
E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Rows with the columns of keys, most of them stage rows that may still matter; no step changes them in place."""

    rows: pa.Table
    n_trimmed: int  # rows that were left when others were last cleared away

    @property
    def n_kept(self) -> int:
        return len(self.rows)

    def copied(self) -> Self:
        return self

    def where(self, chosen: Chosen) -> Self:
        rows = chosen.rows(self.rows)
        return replace(self, rows=rows, n_trimmed=min(self.n_trimmed, len(rows)))

    def merged(self, other: Self) -> Self:
        return replace(self, rows=concatenated([self.rows, other.rows]), n_trimmed=self.n_trimmed + other.n_trimmed)

    def is_tidy(self, rows: pa.Table) -> bool:
        """Whether it would cost more to look through what is kept from now on than to keep all of it."""
        return len(rows) <= self.n_trimmed + self.n_trimmed // 4 + SPARE_ROWS


@dataclass(slots=True)
class Arrived:
    """The rows of one step, which end after `after` and by `until`, and what was found in them so far."""

    rows: pa.Table
    after: int
    until: int
    since: Mapping[str, int]  # of events that do not see rows which end by then
    found: dict[str, MatchBatch] = field(default_factory=dict)  # by event
    tied: list[pa.Table] = field(default_factory=list)  # rows that `ORDER BY` does not tell apart from the row before


class Stepper(Protocol[C]):
    """Answers some events of a stage over rows that arrive in time order.

    The results of all steps together do not depend on how the rows were cut into steps.
    """

    @property
    def name(self) -> str:
        """Tells it apart from the other steppers of its stage."""
        ...

    @property
    def events(self) -> tuple[str, ...]: ...

    def start(self) -> C: ...

    def step(self, carry: C, arrived: Arrived) -> tuple[C, Mapping[str, MatchBatch]]:
        """Results that are settled by the end of the step and were not before."""
        ...

    def migrated(self, carry: C, before: Any, layout: Layout, kept: frozenset[str]) -> C:
        """What the stepper `before` with the same name has left, for events that are kept; others begin anew."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """What steppers are made from, besides the events they answer."""

    engine: StageEngine
    program: ProgramPlan
    around: Surroundings
    owners: bool  # whether results say whose they are

    @property
    def stage(self) -> Stage:
        return self.engine.stage

    def evaluator(self, step: EventStep) -> Any:
        """What the plan has chosen for an event."""
        return self.engine.evaluator(step)

    def lag(self, step: EventStep) -> int:
        """How much later than its rows an event can be decided."""
        return lag_of(step.event, self.program, self.around.measure)


@dataclass(frozen=True)
class EventStepper(Generic[E]):
    """What steppers of one event have in common."""

    stage: Stage
    event: str
    evaluator: E
    lag: int
    owners: bool  # whether results say whose they are

    @classmethod
    def of(cls, steps: Iterable[EventStep], setting: Setting) -> list[Self]:
        """Those of events that it takes; another stepper has to answer the others."""
        return [
            cls(setting.stage, step.event.name, setting.evaluator(step), setting.lag(step), setting.owners)
            for step in steps
            if cls.takes(step, setting)
        ]

    @staticmethod
    def takes(step: EventStep, setting: Setting) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"event {self.event}"

    @property
    def events(self) -> tuple[str, ...]:
        return (self.event,)

    def times(self, arrived: Arrived) -> tuple[int, int, int]:
        """The time after which rows are seen, and those after and by which what ends is to be decided."""
        since = arrived.since.get(self.event, -FOREVER)
        return since, behind(arrived.after, self.lag), behind(arrived.until, self.lag)

    def migrated(self, carry: Any, before: object, layout: Layout, kept: frozenset[str]) -> Any:
        rows = layout.rows(carry.rows)
        assert len(rows) == len(carry.rows), "rows of an event that is kept are kept, in the same order"
        return replace(carry, rows=rows)


def behind(time: int, lag: int) -> int:
    """A time with a lag; the end of all time has none."""
    return time if time >= FOREVER else max(time - lag, -FOREVER)
