"""Which matches are open over uncertain streams: `inkling.meaning.open_matches`, summed over all worlds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.kit.context import Tables, expression_context
from tests.kit.probable_oracle import BaseEvent, certain_worlds, events_of

from inkling.logical import plan as p
from inkling.logical.printing.text import PartTexts
from inkling.meaning.open_matches import open_in_world, until
from inkling.meaning.semantics import derive
from inkling.meaning.streams import RawRow
from inkling.model.time import Clock

Begun = tuple[int, str, tuple[BaseEvent, ...]]
"""How many parts have happened, which parts of AND have not, and the events that happened."""


@dataclass(frozen=True, slots=True)
class OpenShare:
    """The probability of the worlds in which a match is open, and how early and late it is there."""

    probability: Fraction
    start: int
    end: int
    latest: int | None


def open_oracle(
    plan: p.ProgramPlan,
    rows: Mapping[str, Sequence[RawRow]],
    name: str,
    now: int,
    watermark: int,
    tables: Tables | None = None,
) -> dict[Begun, OpenShare]:
    """The open matches of an event after some rows."""
    context = expression_context(plan, tables or {}, Clock.TICKS)
    found: dict[Begun, OpenShare] = {}
    for prob, program, world in certain_worlds(plan, rows, tables or {}, context):
        event = program.event(name)
        assert event is not None
        happened = until(world, now)
        here: dict[Begun, OpenShare] = {}
        declared = plan.event(name)
        assert declared is not None
        for parts, result, latest in open_in_world(event, happened, watermark, context):
            begun = len(parts), awaited(declared, parts), events_of(result.lineage)
            here[begun] = OpenShare(prob, result.start, result.end, latest)
        for begun, one in here.items():
            found[begun] = one if begun not in found else _hull(found[begun], one)
    return found


def awaited(event: p.EventPlan, happened: Collection[int]) -> str:
    """The parts of AND that have not happened; nothing for a sequence, where the number of the others says it."""
    if not isinstance(event.pattern, p.Conjunction):
        return ""
    texts = PartTexts.of(event)
    left = (texts.part(one) for place, one in enumerate(event.pattern.items) if place not in happened)
    return without_conditions(" and ".join(left))


def without_conditions(text: str) -> str:
    """The text of parts as rewrites leave it, which move conditions."""
    return re.sub(r"\[.*?\]", "", text)


def _hull(one: OpenShare, other: OpenShare) -> OpenShare:
    latest = None if one.latest is None or other.latest is None else max(one.latest, other.latest)
    return OpenShare(one.probability + other.probability, min(one.start, other.start), max(one.end, other.end), latest)


OpenGroup = tuple[int, tuple[object, ...]]
"""How many parts have happened, and the values of the variables that they share."""

Variables = Callable[[BaseEvent], tuple[object, ...]]


def open_groups(
    plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]], name: str, now: int, variables: Variables
) -> dict[OpenGroup, OpenShare]:
    """The open matches of a query after some rows; `variables` says what the first event of a match has."""
    context = expression_context(plan, {}, Clock.TICKS)
    found: dict[OpenGroup, OpenShare] = {}
    for prob, program, world in certain_worlds(plan, rows, {}, context):
        event = program.event(name)
        assert event is not None
        happened = until(world, now)
        whole = replace(event, head=(), returns=(), per=p.Per.MATCH)
        over: set[object] = set()
        if event.per is p.Per.VALUES:
            over = {variables(events_of(one.result.lineage)[0]) for one in derive(whole, happened, context, {})}
        here: dict[OpenGroup, OpenShare] = {}
        for parts, result, latest in open_in_world(event, happened, now - 1, context):
            group = len(parts), variables(events_of(result.lineage)[0])
            one = OpenShare(prob, result.start, result.end, latest)
            if group[1] not in over:
                here[group] = one if group not in here else replace(_hull(here[group], one), probability=prob)
        for group, one in here.items():
            found[group] = one if group not in found else _hull(found[group], one)
    return found
