"""The programs of the examples, and how many rows they run over unless told."""

from __future__ import annotations

from pathlib import Path

from inkling.errors import InputError
from inkling.examples import FOLDER


def example_program(name: str) -> Path:
    """The path of an example's program."""
    path = FOLDER / name / f"{name}.ink"
    if not path.exists():
        raise InputError.of("INK0551", f"the program of example `{name}` is not installed")
    return path


FEWER = dict.fromkeys(("traffic", "alarms", "heat", "supply_chain", "flower"), 20_000) | {
    "building": 500,
    "mixed": 6_000,
    "stocks": 10_000,
    "trades": 20_000,
    "blizzard": 50_000,
    "tsunami": 30_000,
    "approach": 60_000,
    "cluster": 20_000,
    "funnel": 10_000,
    "motorway": 43_200,
    "buses": 12_000,
}
"""Rows of examples with much to do for each: in hundreds of worlds, or with several results of every row."""


def n_events(name: str, asked: int | None, usual: int) -> int:
    """Rows of the main stream of an example, if nobody asks for a number."""
    return asked or FEWER.get(name, usual)
