"""Rows come late and are withdrawn: after every push, what was told and not taken back is what the definition gives."""

from __future__ import annotations

import random

import pytest
from tests.kit.seeds import at_length, first_of
from tests.properties.revised import (
    Tally,
    loose_programs,
    packed_programs,
    packed_rules,
    small_streams_are_trimmed_too,
    tried,
)

KINDS: dict[str, tuple[str, ...]] = {
    "anything": (),
    "next": ("SEQ NEXT",),
    "strict": ("SEQ STRICT",),
    "absences": ("NOT between",),
    "absences at the end": ("NOT last",),
    "timeouts": ("ON TIMEOUT",),
    "repetitions": ("+",),
    "windows": ("WINDOW",),
    "windows on change": ("WINDOW", "ON CHANGE"),
    "recent": ("CONSUME RECENT",),
    "chronological": ("CONSUME CHRONOLOGICAL",),
    "restart": ("CONSUME RESTART",),
    "looking back": ("PREV",),
    "events of events": ("derived event as input",),
    "order": ("ORDER BY",),
    "order by text": ("ORDER BY text",),
    "order by text and numbers": ("ORDER BY text and numbers",),
    "values": ("PER VALUES",),
}
PROGRAMS, SCRIPTS, DATASETS = 5, 2, 28
EXTENDING_PROGRAMS, EXTENDING_DATASETS = 10, 4
LOOSE_SEEDS, LOOSE_PROGRAMS, LOOSE_SCRIPTS = range(3), 12, 3


@pytest.fixture(autouse=True)
def _trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    small_streams_are_trimmed_too(monkeypatch)


@pytest.mark.parametrize("kind", first_of(KINDS, 3))
def test_what_stands_is_what_the_definition_gives(kind: str) -> None:
    rng, tally = random.Random(kind), Tally()
    for revised in packed_programs(rng, frozenset(KINDS[kind]), PROGRAMS, DATASETS):
        tried(rng, revised, SCRIPTS, tally)
    assert tally.n_cases == PROGRAMS * SCRIPTS * DATASETS
    assert tally.n_checks > 2 * tally.n_cases
    assert tally.n_withdrawn > 2
    assert tally.n_late or kind == "windows on change"  # no row of its scripts is late
    assert len(tally.rejected) == 2


def test_rules_that_rest_on_themselves() -> None:
    rng, tally = random.Random(5), Tally()
    for revised in packed_rules(rng, PROGRAMS, DATASETS):
        tried(rng, revised, SCRIPTS, tally)
    assert tally.n_cases == PROGRAMS * SCRIPTS * DATASETS
    assert tally.n_withdrawn > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", at_length(range(8)))
def test_rules_that_extend_their_streams(seed: int) -> None:
    """Withdrawn rows are facts of the recursive event."""
    rng, tally = random.Random(f"extending {seed}"), Tally()
    for revised in packed_rules(rng, EXTENDING_PROGRAMS, EXTENDING_DATASETS, extending=True):
        tried(rng, revised, SCRIPTS, tally)
    assert tally.n_cases == EXTENDING_PROGRAMS * SCRIPTS * EXTENDING_DATASETS
    assert tally.n_withdrawn


@pytest.mark.parametrize("seed", LOOSE_SEEDS)
def test_keys_that_meet_and_rows_that_are_no_events(seed: int) -> None:
    rng, tally = random.Random(seed), Tally()
    for revised in loose_programs(rng, LOOSE_PROGRAMS):
        tried(rng, revised, LOOSE_SCRIPTS, tally)
    assert tally.n_cases == LOOSE_PROGRAMS * LOOSE_SCRIPTS
    assert tally.n_withdrawn


def test_the_number_of_cases_is_what_it_says() -> None:
    assert (len(KINDS) + 1) * PROGRAMS * SCRIPTS * DATASETS >= 5000
