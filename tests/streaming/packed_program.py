"""A random program with many events that all partition by the key, to be run as one query."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.kit.arrival import with_lateness
from tests.kit.coverage import program_features
from tests.kit.programs import Options, random_program
from tests.kit.universe import Declared

import inkling
from inkling.errors import InklingError
from inkling.query import Program


def packed_program(
    rng: random.Random,
    streams: Sequence[Declared],
    n_events: int,
    lateness: int,
    with_any_of: frozenset[str] = frozenset(),
) -> Program:
    """Each event has one of the features, if some are given."""
    declared = ""
    events: list[str] = []
    while len(events) < n_events:
        text = random_program(
            rng,
            streams,
            Options(partitioned=True, n_events=1, without=frozenset({"ties with order"}), needing=with_any_of),
        )
        declared, _, event = text.partition("EVENT e0")
        try:
            plan = inkling.parse(text).plan
        except InklingError:
            continue
        if with_any_of and not with_any_of & program_features(plan):
            continue
        if [column.name for column in plan.events[0].partition] == ["k"]:
            events.append(f"EVENT e0{event}".replace("e0", f"e{len(events)}"))
    return inkling.parse("\n".join([with_lateness(declared, lateness), *events]))
