"""Work that events of a stage share over one batch: encoded columns, indexed candidates, partial matches.

The physical plan names shared parts of patterns (`physical.sharing`). The first event that evaluates such a part stores
its partial matches in the session; other events continue from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.network import candidates as cand
from inkling.evaluators.network.bytecode import Code, compile_conditions
from inkling.evaluators.network.partials import (
    AFTER_ALL,
    NOWHERE,
    Arena,
    MatchContexts,
    Occurrences,
    Partials,
    RegisterLayout,
    at_most,
    layout_of,
    registers_of,
)
from inkling.evaluators.network.store import END, EVENT, ID, START, Store, build_store, column_of
from inkling.evaluators.stage.rows.batches import comes_from, rows_passing
from inkling.kernels.joins import join
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.plan import EventPlan
from inkling.model.batch import EventBatch, Ints, MatchBatch
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.physical.naming import type_of
from inkling.physical.plan import EventStep, LeafTest, Stage
from inkling.physical.sharing import WHOLE, Work, works_of


def column_types(step: EventStep, batch: EventBatch) -> dict[str, Type]:
    """The columns that kernels read by row, with their types."""
    ids = Type.STRING if pa.types.is_string(batch.ids.type) else Type.INTEGER
    own = {START: Type.TIME, END: Type.TIME, ID: ids, EVENT: Type.INTEGER}
    needed = {column for leaf in step.leaves for condition in leaf.all_across for column in _columns(condition)}
    if step.event.consumption is not None:
        needed |= {END, *(column for condition in _having(step.event) for column in _columns(condition))}
    return {column: own[column] if column in own else type_of(column) for column in sorted(needed)}


def _having(event: p.EventPlan) -> Iterator[e.Expr]:
    """Conditions of HAVING, which kernels test on each pair under a consumption policy."""
    yield from event.having
    yield from (one for part in p.parts_of(event.pattern) if isinstance(part, p.Narrowed) for one in part.having)


def _columns(condition: e.Expr) -> Iterator[str]:
    for part in e.walk(condition):
        match part:
            case e.ColumnOf(column=column) | e.ListColumn(column=column) | e.KeyColumn(column=column):
                yield column
            case e.TimeOf(edge=edge):
                yield START if edge is e.Edge.START else END
            case e.IdOf():
                yield column_of(part)
            case _:
                pass


WorkNumbers = Mapping[tuple[int, int], int]
"""The number of shared work, by the identity of a pattern node and the number of its first parts."""

Tested = tuple[tuple[int, ...], tuple[int, ...], frozenset[str]]
"""What selects the candidates of a leaf: its inputs, its bits, the columns that must have values."""


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """The registers of an event, and its shared work."""

    layout: RegisterLayout
    numbers: WorkNumbers


@dataclass(slots=True)
class SharingGroup:
    """Events of a stage that read the same rows; compiled once, used for any number of batches."""

    steps: tuple[EventStep, ...]
    shared: frozenset[Work] = frozenset()
    _prepared: dict[str, PreparedEvent] = field(default_factory=dict)
    _types: dict[pa.DataType, dict[str, Type]] = field(default_factory=dict)
    _often: frozenset[Tested] | None = None

    def prepared(self, step: EventStep) -> PreparedEvent:
        """Registers and shared work of an event; events with shared work have the same registers."""
        if not self._prepared:
            self._prepare()
        return self._prepared[step.event.name]

    def _prepare(self) -> None:
        identity = {work: number for number, work in enumerate(sorted(self.shared, key=repr))}
        layouts = {step.event.name: layout_of(step) for step in self.steps}
        numbers: dict[str, dict[tuple[int, int], int]] = {}
        for step in self.steps:
            known = [(node, work) for node, work in works_of(step) if work in identity]
            numbers[step.event.name] = {(id(node), work.n_parts): identity[work] for node, work in known}
        together = [step for step in self.steps if numbers[step.event.name]]
        registers = registers_of(together)
        moments = _union([layouts[step.event.name].moments for step in together])
        for name, layout in layouts.items():
            common = replace(layout, registers=registers, moments=moments) if numbers[name] else layout
            self._prepared[name] = PreparedEvent(common, numbers[name])

    def types(self, batch: EventBatch) -> dict[str, Type]:
        """Columns that conditions across events of any step read."""
        kind = batch.ids.type
        if kind not in self._types:
            needed = [column_types(step, batch) for step in self.steps]
            self._types[kind] = {column: types[column] for types in needed for column in types}
        return self._types[kind]

    @property
    def often(self) -> frozenset[Tested]:
        """Candidates of more than one leaf."""
        if self._often is None:
            tested = [_tested(leaf) for step in self.steps for leaf in step.leaves]
            self._often = frozenset(one for one in tested if tested.count(one) > 1)
        return self._often


@dataclass(slots=True)
class Session:
    """One batch, and the work that events of a group have done on it so far."""

    group: SharingGroup
    store: Store
    arena: Arena = field(default_factory=Arena)
    roots: MatchContexts | None = None
    found: dict[tuple[int, int | None], Occurrences | Partials] = field(default_factory=dict)
    _rows: dict[Tested, Ints] = field(default_factory=dict)
    _indexes: dict[Tested, cand.Index] = field(default_factory=dict)

    @classmethod
    def of(cls, group: SharingGroup, batch: EventBatch, n_keys: int) -> Session:
        return cls(group, build_store(batch, group.types(batch).items(), n_keys))

    def rows_of(self, leaf: LeafTest) -> Ints:
        """The candidates of a leaf: rows that pass its conditions on single events."""
        tested = _tested(leaf)
        if tested not in self.group.often:
            return rows_passing(leaf, self.store.batch)
        if tested not in self._rows:
            self._rows[tested] = rows_passing(leaf, self.store.batch)
        return self._rows[tested]

    def index_of(self, leaf: LeafTest, rows: Ints) -> cand.Index:
        """Candidates of a leaf, indexed by key and start."""
        tested = _tested(leaf)
        if rows is self._rows.get(tested) and tested in self._indexes:
            return self._indexes[tested]
        index = cand.index_rows(self.store, rows, self.store.batch.key[rows], self.store.n_keys)
        if rows is self._rows.get(tested):
            self._indexes[tested] = index
        return index

    def common(self, step: EventStep) -> Common:
        """The work that an event shares with other events of the group."""
        return Common(self, self.group.prepared(step).numbers)


@dataclass(slots=True)
class Common:
    """The shared work of one event; only work from the root contexts is shared."""

    session: Session
    numbers: WorkNumbers

    @property
    def arena(self) -> Arena:
        return self.session.arena if self.numbers else Arena()

    def whole(
        self, pattern: p.Pattern, contexts: MatchContexts, window: int | None, find: Callable[[], Occurrences]
    ) -> Occurrences:
        """The occurrences of a pattern, stored or found now."""
        number = self.numbers.get((id(pattern), WHOLE)) if contexts is self.session.roots else None
        if number is None:
            return find()
        found = self.session.found.get((number, window))
        if found is None:
            found = self.session.found[number, window] = find()
        assert isinstance(found, Occurrences)
        return found

    def first_parts(
        self, pattern: p.Pattern, n_parts: int, contexts: MatchContexts, window: int | None, fresh: Partials
    ) -> tuple[int, Partials]:
        """The largest number of first parts with stored partial matches, and these; else 0 and `fresh`."""
        if contexts is self.session.roots:
            for n_placed in range(n_parts, 0, -1):
                number = self.numbers.get((id(pattern), n_placed))
                found = None if number is None else self.session.found.get((number, window))
                if isinstance(found, Partials):
                    return n_placed, _with_gaps(found, fresh.gaps.shape[1])
        return 0, fresh

    def keep(
        self, pattern: p.Pattern, n_parts: int, contexts: MatchContexts, window: int | None, partials: Partials
    ) -> None:
        """Stores partial matches that other events share."""
        number = self.numbers.get((id(pattern), n_parts)) if contexts is self.session.roots else None
        if number is not None:
            self.session.found[number, window] = partials


@dataclass(slots=True)
class LeafLookup:
    """The candidates of the leaves of one event in a session's batch."""

    session: Session
    step: EventStep
    layout: RegisterLayout
    unit: Callable[[Duration], int]
    _scope: cand.Index | None = None
    _least_end: tuple[Ints, Ints] | None = None
    _rows: dict[int, Ints] = field(default_factory=dict)
    _plain_index: dict[int, cand.Index] = field(default_factory=dict)

    def only(self, slot: int, rows: Ints) -> None:
        """From now on, only these rows are candidates of a slot."""
        self._rows[slot] = rows
        self._plain_index.pop(slot, None)

    def rows(self, slot: int) -> Ints:
        """The candidates of a slot."""
        if slot not in self._rows:
            self._rows[slot] = self.session.rows_of(self.step.leaf(slot))
        return self._rows[slot]

    def index(self, leaf: p.Leaf, contexts: MatchContexts) -> tuple[cand.Index, Ints, Code]:
        """The indexed candidates of a leaf, the group of each context in the index, and the remaining conditions."""
        test, store = self.step.leaf(leaf.slot), self.session.store
        rows = self.rows(leaf.slot)
        equalities, rest = cand.split_equalities(test, self.layout, self.session.group.types(store.batch))
        code = compile_conditions(rest, leaf.slot, store, self.layout, self.unit)
        if equalities:
            index, group = cand.group_by_equality(store, rows, contexts, equalities)
            return index, group, code
        if leaf.slot not in self._plain_index:
            self._plain_index[leaf.slot] = self.session.index_of(test, rows)
        return self._plain_index[leaf.slot], contexts.key, code

    def lasts_at_most(self, found: Occurrences, key: Ints, within: p.Window | None) -> np.ndarray:
        match within:
            case None:
                return np.ones(len(found), bool)
            case p.EventCount(count=count):
                scope = self.scope
                inside = join.count_between(
                    key,
                    found.start,
                    found.start_place,
                    found.end,
                    found.end_place,
                    scope.offsets,
                    scope.start,
                    scope.start_place,
                    scope.end,
                    scope.end_place,
                )
                return inside <= count
            case _:
                return found.end - found.start <= self.length(within)

    def length(self, within: p.Window) -> int:
        assert not isinstance(within, p.EventCount)
        return within.count - 1 if isinstance(within, p.Points) else self.unit(within)

    def window_of(self, within: p.Window | None, window: int | None) -> int | None:
        """The tighter of a limit and the limit of the enclosing pattern."""
        if within is None or isinstance(within, p.EventCount):
            return window
        return self.length(within) if window is None else min(window, self.length(within))

    @property
    def scope(self) -> cand.Index:
        """All events of the scope by key and start."""
        if self._scope is None:
            store = self.session.store
            rows = np.flatnonzero(comes_from(store.batch, self.step.scope))
            self._scope = cand.index_rows(store, rows, store.batch.key[rows], store.n_keys)
        return self._scope

    @property
    def ends_from(self) -> tuple[Ints, Ints]:
        """By position in `scope`, the earliest end (time, place) of the events of its key from there on."""
        if self._least_end is None:
            scope = self.scope
            self._least_end = join.smallest_end_from(scope.offsets, scope.end, scope.end_place)
        return self._least_end


def ranges_of(contexts: MatchContexts, group: Ints, index: cand.Index) -> tuple[Ints, Ints]:
    """Per context, the first and the end position in an index of the events that start where the context allows."""
    far = np.full(len(contexts), AFTER_ALL)
    tight = at_most(contexts.first_until, contexts.first_until_place, contexts.until, far)
    return join.ranges(
        group,
        contexts.after,
        contexts.after_place,
        np.where(tight, contexts.first_until, contexts.until),
        np.where(tight, contexts.first_until_place, far),
        index.offsets,
        index.start,
        index.start_place,
    )


def _tested(leaf: LeafTest) -> Tested:
    return leaf.inputs, leaf.bits, leaf.present


def _with_gaps(partials: Partials, n_gaps: int) -> Partials:
    """Partial matches with columns for more absences; absences of shared parts come first."""
    held = partials.gaps[:, :n_gaps]
    more = np.full((len(partials), n_gaps - held.shape[1], 4), NOWHERE)
    return replace(partials, gaps=np.concatenate([held, more], axis=1))


Item = TypeVar("Item")


def _union(lists: Sequence[tuple[Item, ...]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(item for one in lists for item in one))


DerivedInputs = tuple[int, ...]
"""The inputs of a stage that its own events fill."""

Opened = dict[tuple[int, DerivedInputs], Session]
"""Sessions by the identity of their batch and the inputs that events of the stage fill."""

UNJOINED = (Evaluator.SEGMENTS, Evaluator.WINDOW, Evaluator.FORECAST)
"""Evaluators that have no partial matches to share."""


class SharedWork:
    """Which events of a stage read the same rows, and which have the same results as another one."""

    def __init__(self, stage: Stage, derived: Mapping[str, DerivedInputs]) -> None:
        self._derived_inputs = derived
        self._twins = dict(stage.sharing.twins)
        self._groups: dict[DerivedInputs, SharingGroup] = {}
        joined = [step for step in stage.steps if step.evaluator not in UNJOINED]
        for step in joined:
            read = derived[step.event.name]
            together = tuple(one for one in joined if derived[one.event.name] == read)
            if read not in self._groups:
                self._groups[read] = SharingGroup(together, frozenset(_shared_works(stage, together)))

    def session(self, step: EventStep, batch: EventBatch, n_keys: int, opened: Opened) -> Session:
        """The session over a batch; `opened` holds the sessions of one evaluation."""
        derived = self._derived_inputs[step.event.name]
        if (id(batch), derived) not in opened:
            opened[id(batch), derived] = Session.of(self._groups[derived], batch, n_keys)
        return opened[id(batch), derived]

    def original(
        self, event: str, until: Mapping[str, int] | None = None, since: Mapping[str, int] | None = None
    ) -> str | None:
        """The event with the same results, if both see the same rows; None otherwise."""
        twin = self._twins.get(event)
        if twin is None:
            return None
        alike = all(times is None or times.get(event) == times.get(twin) for times in (until, since))
        return twin if alike else None


def renamed(matches: MatchBatch, original: EventPlan, event: EventPlan) -> MatchBatch:
    """The matches of an event as matches of another event, whose values have other names."""
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
