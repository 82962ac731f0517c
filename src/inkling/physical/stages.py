"""Assigns events to stages: one stage per partition key; later stages read the results of earlier ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.analysis.partition import KeyColumns, partition_of, shows_key
from inkling.analysis.policies import read_sources
from inkling.analysis.verdict import Verdict
from inkling.errors import NotSupportedYet
from inkling.logical import expr as e
from inkling.logical.plan import EventPlan, ProgramPlan, Sliding
from inkling.logical.recursion import EventGroup, group_of, groups_of
from inkling.model.types import Type


@dataclass(slots=True)
class StageDraft:
    """The events of a stage that is being planned, with its key columns per source."""

    key_types: tuple[Type, ...]
    declared: bool  # with PARTITION BY, null keys are dropped; with a key inferred from equalities, null is a key
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)  # per source
    events: list[EventPlan] = field(default_factory=list)
    verdicts: dict[str, Verdict[KeyColumns]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placement:
    """A given number of stages, and the stages of some events."""

    n_stages: int
    homes: Mapping[str, int]


class NoPlaceError(Exception):
    """An event fits into none of the given stages."""

    def __init__(self, event: str) -> None:
        super().__init__(f"{event} fits into no stage")
        self.event = event


def group_events(program: ProgramPlan, placement: Placement | None = None) -> list[StageDraft]:
    """Puts each event into the first stage with the same key per source and after the events that it reads.

    Mutually recursive events share a stage.

    A placement leaves stages without events empty, and fails with `NoPlaceError` where it gives too little room.
    """
    groups: list[StageDraft | None] = [] if placement is None else _reserved(program, placement)
    homes = {} if placement is None else placement.homes
    home: dict[str, int] = {}
    for together in groups_of(program):
        verdicts = _verdicts(together, program)
        event, verdict = together.events[0], verdicts[together.events[0].name]
        types = _key_types(program, event, verdict.conclusion)
        used = [source for one in together.events for source in read_sources(one) if source in home]
        earliest = max((home[source] for source in used), default=0)
        number = homes.get(event.name)
        if number is None:
            number = _first_fitting(groups, earliest, together, verdicts, types, program)
        if number is None:
            if placement is not None:
                raise NoPlaceError(event.name)
            number = len(groups)
            groups.append(None)
        group = groups[number] = groups[number] or StageDraft(types, bool(event.partition))
        for one in together.events:
            keys = verdicts[one.name].conclusion
            group.keys.update({source: keys.get(source, ()) for source in read_sources(one)})
            group.events.append(one)
            group.verdicts[one.name] = verdicts[one.name]
            home[one.name] = number
    return [group or StageDraft((), declared=False) for group in groups]


def _verdicts(together: EventGroup, program: ProgramPlan) -> dict[str, Verdict[KeyColumns]]:
    """The key of each event; mutually recursive events have one key or none."""
    verdicts = {event.name: partition_of(event) for event in together.events}
    if not together.is_recursive:
        return verdicts
    trial = StageDraft((), bool(together.events[0].partition))
    kinds = set()
    for event in together.events:
        keys = verdicts[event.name].conclusion
        kinds.add((_key_types(program, event, keys), bool(event.partition)))
        trial.events.append(event)
        trial.verdicts[event.name] = verdicts[event.name]
    wanted: dict[str, set[tuple[str, ...]]] = {}
    for event in together.events:
        for source in read_sources(event):
            wanted.setdefault(source, set()).add(tuple(verdicts[event.name].conclusion.get(source, ())))
    agree = len(kinds) == 1 and all(len(keys) == 1 for keys in wanted.values())
    own = [event for event in together.events if event.name in wanted]
    if agree and all(_same_key(event, trial, next(iter(wanted[event.name]))) for event in own):
        return verdicts
    if any(event.partition for event in together.events):
        raise NotSupportedYet.of(
            "INK0426",
            f"recursive results of {together.events[0].name} span several partitions, which is not supported yet",
            helps=("add the columns of PARTITION BY to the head, or leave PARTITION BY out",),
        )
    alone: Verdict[KeyColumns] = Verdict({}, "recursive results have no common key")
    return dict.fromkeys(verdicts, alone)


def _reserved(program: ProgramPlan, placement: Placement) -> list[StageDraft | None]:
    """Stages with the keys of the events whose stage is given, but without events."""
    groups: list[StageDraft | None] = [None] * placement.n_stages
    for event in program.events:
        if event.name in placement.homes:
            keys = _verdicts(group_of(event, program), program)[event.name].conclusion
            number = placement.homes[event.name]
            group = groups[number] or StageDraft(_key_types(program, event, keys), bool(event.partition))
            group.keys.update({source: keys.get(source, ()) for source in read_sources(event)})
            groups[number] = group
    return groups


def _first_fitting(
    groups: list[StageDraft | None],
    earliest: int,
    together: EventGroup,
    verdicts: Mapping[str, Verdict[KeyColumns]],
    types: tuple[Type, ...],
    program: ProgramPlan,
) -> int | None:
    """A stage that the event can share, or else an empty one."""
    possible = range(earliest, len(groups))
    for number in possible:
        group = groups[number]
        if group is not None and all(
            _fits(group, event, verdicts[event.name].conclusion, types) for event in together.events
        ):
            return number
    return next((number for number in possible if groups[number] is None), None)


def _fits(group: StageDraft, event: EventPlan, keys: KeyColumns, types: tuple[Type, ...]) -> bool:
    if group.key_types != types or group.declared != bool(event.partition):
        return False
    continues = isinstance(event.pattern, Sliding) or event.consumption is not None
    if continues and {other.name for other in group.events} & set(event.sources):
        return False  # its state continues from row to row, so its inputs must be complete before it runs
    for source in read_sources(event):
        wanted = keys.get(source, ())
        if group.keys.get(source, wanted) != wanted:
            return False
        maker = next((other for other in group.events if other.name == source), None)
        if maker is not None and not _same_key(maker, group, wanted):
            return False
    return True


def _same_key(maker: EventPlan, group: StageDraft, wanted: tuple[str, ...]) -> bool:
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
    columns = {
        slot.number: column for slot in maker.slots for source in slot.sources for column in keys.get(source, ())[:1]
    }
    shown = outputs.get(wanted[0])
    return len(wanted) == 1 and shown is not None and shows_key(shown, maker.pattern, columns)


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
