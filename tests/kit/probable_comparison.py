"""Whether probabilities are those that the definition gives, and a readable list of what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa
from tests.kit.comparison import MOST_LINES
from tests.kit.probable_oracle import BaseEvent, ProbableResult, base_event

from inkling.logical import plan as p
from inkling.meaning.streams import RawRow
from inkling.model.event import Value
from inkling.model.uncertainty import LostEvents

Expected = Mapping[str, Iterable[ProbableResult]]


@dataclass(frozen=True, slots=True)
class FoundResult:
    """A result that a runner gave."""

    values: tuple[Value, ...]  # of the head
    start: int
    end: int
    lineage: tuple[Value, ...]
    probability: Fraction | float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.values} [{self.start}, {self.end}] {self.probability} lineage {list(self.lineage)}"


Found = Mapping[str, Sequence[FoundResult]]


def found_in(plan: p.ProgramPlan, tables: Mapping[str, pa.Table]) -> dict[str, list[FoundResult]]:
    """The results in public tables, one per event."""
    found = {}
    for event in plan.events:
        names = [output.name for output in event.head]
        found[event.name] = [
            FoundResult(
                tuple(row[name] for name in names),
                row["start"],
                row["end"],
                tuple(row["lineage"]),
                row["probability"],
                row["error"],
            )
            for row in tables[event.name].to_pylist()
        ]
    return found


@dataclass(frozen=True, slots=True)
class Names:
    """Which events an id may stand for; null stands for any lost one.

    Ids are compared as texts, which numbers become where some streams have texts.
    """

    events: Mapping[str, frozenset[BaseEvent]]

    @classmethod
    def of(cls, plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]]) -> Names:
        named: dict[str, set[BaseEvent]] = {}
        for stream in plan.streams:
            for number, row in enumerate(rows.get(stream.schema.name, ()), start=1):
                event = base_event(stream.schema, row, number)
                identity = number if stream.schema.id is None else row.get(stream.schema.id)
                named.setdefault(str(identity), set()).add(event)
        return cls({name: frozenset(some) for name, some in named.items()})

    def fit(self, lineage: Sequence[Value], wanted: ProbableResult) -> bool:
        """Whether the ids are those of the events that the result depends on, where these are part of what it is."""
        if wanted.events is None or wanted.lineage is None:
            return True
        return len(lineage) == len(wanted.events) and all(
            name is lost if name is None else event in self.events[str(name)]
            for name, event, lost in zip(lineage, wanted.events, wanted.lineage, strict=True)
        )


def paired(
    plan: p.ProgramPlan,
    event: p.EventPlan,
    names: Names,
    wanted: Iterable[ProbableResult],
    found: Sequence[FoundResult],
) -> tuple[list[tuple[ProbableResult, FoundResult | None]], list[FoundResult]]:
    """Every expected result with the one that was found for it, and what was found without being expected.

    Results that look alike, because nothing shows the key that distinguishes them, are paired by probability.
    """

    def shown(one: ProbableResult | FoundResult) -> tuple[object, ...]:
        return (one.values, one.start, one.end) if knows_times(one.lineage) else (one.values,)

    knows_times = knowing_times(plan, event)
    left: dict[tuple[object, ...], list[FoundResult]] = {}
    for one in sorted(found, key=lambda one: one.probability):
        left.setdefault(shown(one), []).append(one)
    pairs: list[tuple[ProbableResult, FoundResult | None]] = []
    for want in sorted(wanted, key=lambda one: one.probability):
        alike = left.get(shown(want), [])
        like = next((one for one in alike if names.fit(one.lineage, want)), None)
        if like is not None:
            alike.remove(like)
        pairs.append((want, like))
    return pairs, [one for some in left.values() for one in some]


def same_in(event: p.EventPlan, names: Names, want: ProbableResult, found: Iterable[FoundResult]) -> list[FoundResult]:
    """What was found in some worlds and may be the expected result, whose times may go beyond those of these worlds."""
    return [
        one
        for one in found
        if one.values == want.values
        and (event.per is not p.Per.MATCH or names.fit(one.lineage, want))
        and (event.per is not p.Per.INTERVAL or one.start == want.start)
        and (event.per not in (p.Per.INTERVAL, p.Per.END) or one.end == want.end)
    ]


def probable_differences(
    plan: p.ProgramPlan,
    rows: Mapping[str, Sequence[RawRow]],
    expected: Expected,
    found: Found,
    *,
    tolerance: float | None = None,
) -> list[str]:
    """Results that are missing (`-`), unexpected (`+`) or wrongly probable (`!`); without a tolerance, at all."""
    names = Names.of(plan, rows)
    lines: list[str] = []
    for event in plan.events:
        pairs, unexpected = paired(plan, event, names, expected[event.name], found[event.name])
        about = [f"  + {one}" for one in unexpected]
        for want, like in pairs:
            if like is None:
                about.append(f"  - {want}")
            elif not _as_probable(want.probability, like.probability, tolerance):
                about.append(f"  ! {like}, expected {want}")
        if about:
            lines += [f"{event.name}:", *about[:MOST_LINES]]
    return lines


def knowing_times(plan: p.ProgramPlan, event: p.EventPlan) -> Callable[[Sequence[Value] | None], bool]:
    """Whether start and end are known: of lost events the definition tells the order, and some time that fits it.

    A window starts with a member that is not part of its lineage.
    """
    losing = {one.schema.name for one in plan.streams if isinstance(one.schema.uncertainty, LostEvents)}
    streams = {one.schema.name for one in plan.streams}
    for one in plan.events:
        if losing & set(one.sources):
            losing.add(one.name)
    if event.name not in losing:
        return lambda lineage: True
    if event.per is p.Per.MATCH and set(event.sources) <= streams and not isinstance(event.pattern, p.Sliding):
        return lambda lineage: lineage is not None and None not in lineage
    return lambda lineage: False


def _as_probable(wanted: Fraction, found: Fraction | float, tolerance: float | None) -> bool:
    return found == wanted if tolerance is None else abs(float(wanted) - float(found)) <= tolerance
