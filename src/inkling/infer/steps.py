"""Readings on a grid of time: a key has one observation per step, from its first step to its last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.infer.model import Floats, Model
from inkling.infer.readings import NOTHING_READ, Readings
from inkling.infer.settings import Grid
from inkling.kernels.inference.hidden_states import Seen
from inkling.model.time import Clock

NOT_HEARD = -1


def observations(
    step: NDArray[np.int64], outcome: NDArray[np.int32], n_steps: int, model: Model
) -> tuple[NDArray[np.int32], NDArray[np.int32], int | None]:
    """The observation of every step, [observation, reader]: outcome or NOT_HEARD, and a step with a conflict or None.

    An observation is the set of outcomes of one step; equal sets share a number. Sets grow by one outcome per round,
    for all steps at once. A conflict is a reader that reports two outcomes in one step.
    """
    reader_of = model.reader_of
    n_outcomes = max(1, len(model.outcomes))
    cells = np.unique(step * n_outcomes + outcome)
    step, outcome = cells // n_outcomes, (cells % n_outcomes).astype(np.int32)
    rank = np.arange(len(step)) - np.searchsorted(step, step)
    code = np.zeros(n_steps, np.int32)
    heard = np.full((1, len(model.readers)), NOT_HEARD, np.int32)
    for nth in range(int(rank.max(initial=-1)) + 1):
        these, more = step[rank == nth], outcome[rank == nth]
        again = heard[code[these], reader_of[more]] != NOT_HEARD
        if again.any():
            return code, heard, int(these[again.argmax()])
        pairs, place = np.unique(code[these].astype(np.int64) * n_outcomes + more, return_inverse=True)
        longer = heard[pairs // n_outcomes]
        added = pairs % n_outcomes
        longer[np.arange(len(pairs)), reader_of[added]] = added
        code[these] = len(heard) + place
        heard = np.concatenate([heard, longer])
    return code, heard, None


def likelihoods(heard: NDArray[np.int32], model: Model) -> Floats:
    """[observation, state]: its probability; readers are independent given the state."""
    silent = model.silent
    out = np.ones((len(heard), len(model.states)), model.chance.dtype)
    for reader in range(len(model.readers)):
        reported = heard[:, reader]
        out *= np.where((reported != NOT_HEARD)[:, None], model.chance[reported], silent[reader])
    return out


BLOCK_CELLS = 1 << 20
"""Steps times states that are processed together; the steps of a key are never split."""

MOST_CELLS = 1 << 30


@dataclass(frozen=True, slots=True)
class TimeSteps:
    """The steps of some keys, sorted by key."""

    names: pa.Table  # the key columns, one row per key
    number: NDArray[np.int64]  # of each step on the grid
    seen: Seen
    heard: NDArray[np.int32]  # per observation, the outcome of each reader

    def __len__(self) -> int:
        return len(self.number)

    @property
    def key_of(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.names)), np.diff(self.seen.keys))


@dataclass(frozen=True, slots=True)
class StepExtent:
    """The first and last step of each key; a key whose last step precedes its first has none."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, readings: Readings, grid: Grid) -> StepExtent:
        begin, end = readings.time[readings.keys[:-1]], readings.time[readings.keys[1:] - 1]
        first = begin // grid.every if grid.first is None else np.full(len(readings), grid.first)
        last = end // grid.every if grid.last is None else np.full(len(readings), grid.last)
        return cls(first, last)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.maximum(self.last - self.first + 1, 0)


def blocks(readings: Readings, extent: StepExtent, grid: Grid, model: Model) -> Iterator[TimeSteps]:
    """The steps of all keys, some keys at a time; readings before the first or after the last step are ignored."""
    cells = extent.lengths * len(model.states)
    if len(cells) and cells.max() > MOST_CELLS:
        worst = int(cells.argmax())
        raise InputError.of(
            "INK0664",
            f"the readings of {key_text(readings.names, worst)} span {extent.lengths[worst]:,} steps",
            notes=(f"with {len(model.states)} states, at most {MOST_CELLS // len(model.states):,} fit in memory",),
            helps=("use a longer `every`, or limit the time with `start` and `stop`",),
        )
    sizes = np.cumsum(cells)
    begin = 0
    while begin < len(readings):
        done = sizes[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(sizes, done + BLOCK_CELLS, side="right")))
        yield _steps(readings, extent, grid, model, begin, end)
        begin = end


def _steps(readings: Readings, extent: StepExtent, grid: Grid, model: Model, begin: int, end: int) -> TimeSteps:
    lengths = extent.lengths[begin:end]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_steps = int(offsets[-1])
    number = np.arange(n_steps) - np.repeat(offsets[:-1] - extent.first[begin:end], lengths)
    rows = slice(readings.keys[begin], readings.keys[end])
    key = np.repeat(np.arange(end - begin), np.diff(readings.keys[begin : end + 1]))
    within = readings.time[rows] // grid.every - extent.first[begin:end][key]
    counts = (within >= 0) & (within < lengths[key]) & (readings.outcome[rows] != NOTHING_READ)
    names = readings.names.slice(begin, end - begin)
    place = offsets[key] + within
    code, heard, twice = observations(place[counts], readings.outcome[rows][counts], n_steps, model)
    if twice is not None:
        who = key_text(names, int(np.searchsorted(offsets, twice, side="right")) - 1)
        raise InputError.of(
            "INK0664",
            f"one reader reports two values of {who} in the step at {time_text(int(number[twice]), grid)}",
            helps=("use a shorter `every`, or keep one reading per step",),
        )
    return TimeSteps(names, number, Seen(offsets, code, likelihoods(heard, model)), heard)


def times_of(number: NDArray[np.int64], grid: Grid) -> pa.Array:
    """The times at which steps start."""
    kind = pa.int64() if grid.clock is Clock.TICKS else pa.timestamp("us", tz="UTC")
    return pa.array(number * grid.every, pa.int64()).cast(kind)


def time_text(number: int, grid: Grid) -> str:
    return str(times_of(np.array([number]), grid)[0].as_py())


def key_text(names: pa.Table, place: int) -> str:
    return ", ".join(f"{name} `{names[name][place].as_py()}`" for name in names.column_names)
