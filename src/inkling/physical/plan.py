"""The physical plan: stages with one partition key each, their inputs, and the evaluator of each event."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from inkling.analysis.choice import Choice, uncertain_choice
from inkling.logical.expr import ColumnOf, Expr, atoms_of, slots_of, walk
from inkling.logical.plan import EventPlan, Pattern, ProgramPlan, TableAtom
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.physical.conditions import Near
from inkling.physical.stages import Placement
from inkling.program_files import ProgramFiles

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Bit:
    """A condition on one row of an input; `expr` refers to the row by slot `ROW`."""

    number: int
    expr: Expr


@dataclass(frozen=True, slots=True)
class Computed:
    """A value of one row that kernels compare but cannot compute; vectorized expressions compute it first."""

    name: str  # physical
    expr: Expr


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a stage: a stream or derived event, possibly joined with background tables.

    `early` conditions read stored or joined columns, so Spark tests them before the shuffle; `late` conditions read
    derived columns and are tested in the worker, where `computed` values are computed too.
    """

    name: str  # unique in the stage; the source's own name unless tables are joined
    source: str
    is_derived: bool  # the source is another event
    key: tuple[str, ...]  # columns of the partition key of the stage, in its order
    columns: tuple[str, ...]  # physical names of the columns that kernels and outputs read
    atoms: tuple[TableAtom, ...]
    early: tuple[Bit, ...]
    late: tuple[Bit, ...]
    computed: tuple[Computed, ...]
    keep: Expr | None  # rows on which this is false affect no event; it may read columns of tables
    ordered: bool
    interval: bool  # its events may be intervals
    in_scope: bool  # rows are events of the scope (rows of joined inputs are not)

    @property
    def left_to_worker(self) -> tuple[Expr, ...]:
        """The expressions that the worker evaluates."""
        return (*(bit.expr for bit in self.late), *(one.expr for one in self.computed))

    identity: tuple[
        str, ...
    ]  # columns of KEY that are not in the key of the stage: they distinguish events with the same id
    called: str | None = None  # column with original ids, which order simultaneous events in worlds
    values: tuple[
        str, ...
    ] = ()  # all columns of a derived event in its order: they distinguish rows of the same events
    near: Near | None = None  # a bound on the distance between rows and facts, for joined inputs
    reset: int | None = None  # number of the condition under which a row resets its key


@dataclass(frozen=True, slots=True)
class LeafTest:
    """The candidates of a leaf: rows of these inputs on which all bits are true and `across` holds."""

    slot: int
    inputs: tuple[int, ...]  # positions in the stage's inputs
    bits: tuple[int, ...]
    across: tuple[Expr, ...]  # conditions that also read other slots
    check: LeafTest | None = None  # the CHECK that a candidate must pass after it is chosen
    by_key: tuple[Expr, ...] = ()  # equalities of key columns: they hold for all candidates of a key that have values

    @property
    def present(self) -> frozenset[str]:
        """The columns that are compared by key: a candidate without a value equals nothing."""
        columns = (part for one in self.by_key for part in walk(one) if isinstance(part, ColumnOf))
        return frozenset(part.column for part in columns if part.slot == self.slot)

    @property
    def all_bits(self) -> tuple[int, ...]:
        """The bits tested before and after a candidate is chosen."""
        return self.bits if self.check is None else (*self.bits, *self.check.bits)

    @property
    def all_across(self) -> tuple[Expr, ...]:
        return self.across if self.check is None else (*self.across, *self.check.across)

    def reading_only(self, slots: Container[int], atoms: Container[int]) -> LeafTest:
        """The test without conditions that read other slots or look-ups."""

        def known(conditions: tuple[Expr, ...]) -> tuple[Expr, ...]:
            return tuple(
                one
                for one in conditions
                if all(slot in slots for slot in slots_of(one)) and all(atom in atoms for atom in atoms_of(one))
            )

        return replace(self, across=known(self.across), by_key=known(self.by_key))


@dataclass(frozen=True, slots=True)
class EventStep:
    """One event of a stage and how it is evaluated."""

    event: EventPlan
    choice: Choice
    leaves: tuple[LeafTest, ...]
    scope: tuple[int, ...]  # positions of the inputs whose rows STRICT counts
    key_reason: str
    conditions: tuple[Bit, ...] = ()  # the conditions of its leaves, for evaluators that build symbols from them

    @property
    def evaluator(self) -> str:
        """The evaluator of the event in one world."""
        return self.choice.in_one_world.evaluator

    @property
    def is_uncertain(self) -> bool:
        return self.choice.within_world is not None

    @property
    def inputs(self) -> frozenset[int]:
        """Positions of the inputs that the step reads."""
        return frozenset(self.scope) | {place for leaf in self.leaves for place in leaf.inputs}

    def leaf(self, slot: int) -> LeafTest:
        return next(leaf for leaf in self.leaves if leaf.slot == slot)


@dataclass(frozen=True, slots=True)
class SharedPart:
    """A pattern that several events share, or its first `n_parts` parts; 0 means the whole pattern."""

    pattern: Pattern
    n_parts: int
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sharing:
    """Common subexpressions of a stage: events with the same results, and patterns shared by several events."""

    twins: tuple[tuple[str, str], ...] = ()
    parts: tuple[SharedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """Events that share one partition key, and so one pass over the data."""

    number: int
    key_types: tuple[Type, ...]
    drops_null_keys: bool  # with PARTITION BY; a key inferred from equalities keeps null keys
    inputs: tuple[Input, ...]
    steps: tuple[EventStep, ...]
    id_type: Type
    n_bits: int
    sliced: bool  # no key, but every event has a window: the stage is sliced by time
    text_places: bool  # ORDER BY compares strings, not integers
    mixed_places: bool  # some streams are ordered by integers and others by strings, which come after all integers
    sharing: Sharing = Sharing()

    @property
    def resets(self) -> tuple[int | None, ...]:
        """Per input, the number of the condition under which a row resets its key."""
        return tuple(one.reset for one in self.inputs)


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """How a program runs: every step names what answers its event."""

    program: ProgramPlan
    stages: tuple[Stage, ...]
    clock: Clock | None = None  # of the data, once it is known
    asked: frozenset[str] | None = None  # the events to evaluate; None: all
    _on_clocks: dict[Clock, PhysicalPlan] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def steps(self) -> dict[str, EventStep]:
        """By event."""
        return {step.event.name: step for stage in self.stages for step in stage.steps}

    @property
    def uncertain(self) -> frozenset[str]:
        """The events that depend on an uncertain stream."""
        return frozenset(name for name, step in self.steps.items() if step.is_uncertain)

    def answered_by(self, evaluator: str) -> dict[str, Choice]:
        """The events of an evaluator, in the order of the program."""
        steps = self.steps
        names = (one.name for one in self.program.events if self.asked is None or one.name in self.asked)
        chosen = ((name, steps[name].choice) for name in names)
        return {name: choice for name, choice in chosen if choice.evaluator == evaluator}

    @property
    def id_types(self) -> dict[str, pa.DataType]:
        """The type of the ids in lineage, by event."""
        from inkling.logical.vectorized import (
            ARROW_TYPES,  # imported late: checking and explaining a program need no Arrow
        )

        return {step.event.name: ARROW_TYPES[stage.id_type] for stage in self.stages for step in stage.steps}

    def part(self, names: Container[str], read: Container[str] | None = None) -> ProgramPlan:
        """Some events, and the streams that they read: their sources, unless others are given."""
        events = tuple(event for event in self.program.events if event.name in names)
        read = {name for event in events for name in event.sources} if read is None else read
        streams = tuple(stream for stream in self.program.streams if stream.schema.name in read)
        return replace(self.program, streams=streams, events=events)

    def answering(self, events: Iterable[str]) -> PhysicalPlan:
        """The plan restricted to some of the events."""
        return replace(self, asked=frozenset(events))

    @property
    def placement(self) -> Placement:
        """The stage of each event."""
        homes = {step.event.name: stage.number for stage in self.stages for step in stage.steps}
        return Placement(len(self.stages), homes)

    def on_clock(self, clock: Clock) -> PhysicalPlan:
        """The plan once the clock of the data is known; the choice of uncertain evaluators can depend on the clock."""
        if self.clock is clock or not self.uncertain:
            return self
        if clock not in self._on_clocks:
            stages = tuple(self._stage_on(stage, clock) for stage in self.stages)
            self._on_clocks[clock] = replace(self, stages=stages, clock=clock)
        return self._on_clocks[clock]

    def _stage_on(self, stage: Stage, clock: Clock) -> Stage:
        return replace(stage, steps=tuple(self._step_on(step, clock) for step in stage.steps))

    def _step_on(self, step: EventStep, clock: Clock) -> EventStep:
        event = self.program.event(step.event.name)
        if event is None or not step.is_uncertain:
            return step
        return replace(step, choice=uncertain_choice(event, self.program, step.choice.in_one_world, clock))


class Runnable(Protocol):
    """A program that is bound and planned, and the files that its tables name."""

    @property
    def plan(self) -> ProgramPlan: ...
    @property
    def physical(self) -> PhysicalPlan: ...
    @property
    def files(self) -> ProgramFiles: ...
