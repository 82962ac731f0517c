"""Which events run together: one stage per partition key, later stages read what earlier ones derived."""

from __future__ import annotations

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


def group_events(program: ProgramPlan) -> list[Group]:
    """Put each event into the first stage that fits: same key per source, and everything it uses is there."""
    groups: list[Group] = []
    home: dict[str, int] = {}
    for event in program.events:
        verdict = partition_of(event)
        types = _key_types(program, event, verdict.conclusion)
        used = [source for source in read_sources(event) if source in home]
        earliest = max((home[source] for source in used), default=0)
        for number in range(earliest, len(groups)):
            if _fits(groups[number], event, verdict.conclusion, types, program):
                break
        else:
            number = len(groups)
            groups.append(Group(types, bool(event.partition)))
        group = groups[number]
        group.keys.update({source: verdict.conclusion.get(source, ()) for source in read_sources(event)})
        group.events.append(event)
        group.verdicts[event.name] = verdict
        home[event.name] = number
    return groups


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
