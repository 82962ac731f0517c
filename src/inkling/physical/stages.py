"""Which events run together: one stage per partition key, later stages read what earlier ones derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.analysis.partition import KeyColumns, partition_of
from inkling.analysis.policies import read_sources
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.types import Type


@dataclass(slots=True)
class Group:
    """Events that will share a stage."""

    key_types: tuple[Type, ...]
    declared: bool  # PARTITION BY, where a null belongs to no partition; else equalities, where it is a key of its own
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)  # per source
    events: list[EventPlan] = field(default_factory=list)
    verdicts: dict[str, Verdict[KeyColumns]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placement:
    """What is fixed beforehand: how many stages there are, and in which some events stand."""

    n_stages: int
    homes: Mapping[str, int]


class NoPlaceError(Exception):
    """An event fits into none of the stages that there are."""

    def __init__(self, event: str) -> None:
        super().__init__(f"{event} fits into no stage")
        self.event = event


def group_events(program: ProgramPlan, placement: Placement | None = None) -> list[Group]:
    """Put each event into the first stage that fits: same key per source, and everything it uses is there.

    A placement leaves stages without events empty, and fails with `NoPlaceError` where it gives too little room.
    """
    groups: list[Group | None] = [] if placement is None else _reserved(program, placement)
    homes = {} if placement is None else placement.homes
    home: dict[str, int] = {}
    for event in program.events:
        verdict = partition_of(event)
        types = _key_types(program, event, verdict.conclusion)
        used = [source for source in read_sources(event) if source in home]
        earliest = max((home[source] for source in used), default=0)
        number = homes.get(event.name)
        if number is None:
            number = _first_fitting(groups, earliest, event, verdict.conclusion, types, program)
        if number is None:
            if placement is not None:
                raise NoPlaceError(event.name)
            number = len(groups)
            groups.append(None)
        group = groups[number] = groups[number] or Group(types, bool(event.partition))
        group.keys.update({source: verdict.conclusion.get(source, ()) for source in read_sources(event)})
        group.events.append(event)
        group.verdicts[event.name] = verdict
        home[event.name] = number
    return [group or Group((), declared=False) for group in groups]


def _reserved(program: ProgramPlan, placement: Placement) -> list[Group | None]:
    """The stages with the keys of the events whose stage is fixed, but without events."""
    groups: list[Group | None] = [None] * placement.n_stages
    for event in program.events:
        if event.name in placement.homes:
            keys = partition_of(event).conclusion
            number = placement.homes[event.name]
            group = groups[number] or Group(_key_types(program, event, keys), bool(event.partition))
            group.keys.update({source: keys.get(source, ()) for source in read_sources(event)})
            groups[number] = group
    return groups


def _first_fitting(
    groups: list[Group | None],
    earliest: int,
    event: EventPlan,
    keys: KeyColumns,
    types: tuple[Type, ...],
    program: ProgramPlan,
) -> int | None:
    """A stage that the event can share, or else an empty one."""
    possible = range(earliest, len(groups))
    for number in possible:
        group = groups[number]
        if group is not None and _fits(group, event, keys, types, program):
            return number
    return next((number for number in possible if groups[number] is None), None)


def _fits(group: Group, event: EventPlan, keys: KeyColumns, types: tuple[Type, ...], program: ProgramPlan) -> bool:
    if group.key_types != types or group.declared != bool(event.partition):
        return False
    for source in read_sources(event):
        wanted = keys.get(source, ())
        if group.keys.get(source, wanted) != wanted:
            return False
        maker = next((other for other in group.events if other.name == source), None)
        if maker is not None and not _same_key(maker, group, wanted):
            return False
    return True


def _same_key(maker: EventPlan, group: Group, wanted: tuple[str, ...]) -> bool:
    """Whether the key of a derived event is the key under which it was derived."""
    outputs = {output.name: output.expr for output in maker.head}
    own = [column.name for column in maker.partition]
    if own:
        return len(own) == len(wanted) and all(
            isinstance(expr := outputs.get(name), e.KeyColumn) and expr.column == column
            for name, column in zip(wanted, own, strict=True)
        )
    keys = group.verdicts[maker.name].conclusion
    if not wanted:
        return not keys
    leaf_keys = {(slot.number, keys[source]) for slot in maker.slots for source in slot.sources if source in keys}
    expr = outputs.get(wanted[0])
    return len(wanted) == 1 and isinstance(expr, e.ColumnOf) and (expr.slot, (expr.column,)) in leaf_keys


def _key_types(program: ProgramPlan, event: EventPlan, keys: KeyColumns) -> tuple[Type, ...]:
    if event.partition:
        return tuple(column.type for column in event.partition)
    for source, columns in keys.items():
        schema = column_types(program, source)
        return tuple(schema[column] for column in columns)
    return ()


def column_types(program: ProgramPlan, source: str) -> dict[str, Type]:
    """The columns of a stream or derived event."""
    stream = program.stream(source)
    if stream is not None:
        return {column.name: column.type for column in stream.schema.columns}
    event = program.event(source)
    assert event is not None
    return {column.name: column.type for column in event.schema.columns}
