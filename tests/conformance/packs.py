"""Packs: many cases as one program, so that one job or one streaming query checks all of them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.case import Case
from tests.conformance.cases import FAMILIES, family_cases, golden
from tests.conformance.forecasts import forecast_cases
from tests.conformance.golden import NAMES
from tests.conformance.keyed import COMBINATIONS, KEY_TYPES, keyed_case

ALONE = ("ticks_with_a_length", "within_time", "withdrawn_events")
"""These have another clock, or streams that others would have to be revised with."""
ONE_OF_EACH = (
    "consume_recent", "derived_columns", "derived_events", "not_deadline", "or", "repeat_at_least", "return_columns",
    "segments_on_same", "seq_strict", "table_binds", "table_tests", "allen_during", "look_ups_of_several_events",
    "events_in_where", "segments_inside",
)  # fmt: skip
FEW = ("derived_events", "events_in_where", "not_deadline", "table_binds")
SEVERAL = 18
"""So many golden cases are one program."""

EXACT = ("chain", "regular", "extended", "safe", "overlap", "unsafe", "relation")
"""Families that need no worlds."""
IN_WORLDS = ("timeworld", "valueworld", "lossworld")

TOGETHER = tuple(name for name in NAMES if name not in ALONE)
GOLDEN = {f"golden {first // SEVERAL}": TOGETHER[first : first + SEVERAL] for first in range(0, len(TOGETHER), SEVERAL)}
GOLDEN |= {name: (name,) for name in ALONE}


def cases_of(pack: str, seed: int = 0, *, ids: bool = False) -> list[Case]:
    """The cases of a pack, by its name; with `ids`, of streams that all have some."""
    if pack in ("one of each", "a few"):
        return [golden(name, ids=ids) for name in (ONE_OF_EACH if pack == "one of each" else FEW)]
    if pack in GOLDEN:
        return [golden(name, ids=ids) for name in GOLDEN[pack]]
    if pack == "forecasts":
        return list(forecast_cases(seed))
    if pack in FAMILIES:
        return list(family_cases(pack, seed))
    if pack in ("exact", "worlds"):
        families = EXACT if pack == "exact" else IN_WORLDS
        return [case for family in families for case in family_cases(family, seed)]
    return list(_keyed(pack.removeprefix("keys: "), seed))


def _keyed(kind: str, seed: int) -> Iterator[Case]:
    assert kind in KEY_TYPES, f"there is no pack of keys that are {kind}"
    yield from (keyed_case(family, one, seed) for family, one in COMBINATIONS if one == kind)
