"""Every key reports about once a minute: the blocks of minutes, and the order in which reports arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .randomness import BlockRandom, Booleans, Draws, Integers

BLOCK_ROWS = 1 << 17
MOST_STEPS = 1024
MINUTE_US = 60_000_000
TIMESTAMP = pa.timestamp("us", tz="UTC")

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive steps of all keys, with the random numbers that belong to them."""

    first_step: int
    n_steps: int
    random: BlockRandom


def steps_per_block(keys: int, block_rows: int = BLOCK_ROWS) -> int:
    """Depends on the keys alone, so that longer data begins with shorter data."""
    return max(1, min(MOST_STEPS, block_rows // keys))


def blocks_from(seed: int, scenario: str, n_steps: int) -> Iterator[Block]:
    """Endless blocks; block 0 of the random numbers is left to the setup of the keys."""
    first = 0
    block = 1
    while True:
        yield Block(first, n_steps, BlockRandom(seed, scenario, block))
        first += n_steps
        block += 1


class MinuteClock:
    """Each key has its own second of the minute, and jitters around it while `alert`."""

    def __init__(self, keys: int, random: BlockRandom, start_us: int) -> None:
        self._start_us = start_us
        self._phase_ms = 5_000 + (random.unit((keys,)) * 50_000).astype(np.int32)

    def offsets_ms(self, jitter: Draws, alert: Booleans) -> Draws:
        """Milliseconds into the minute at which each report is made, always less than a minute."""
        around_ms = (jitter >> 3).astype(np.int32) - 4096
        return (self._phase_ms + around_ms * alert).astype(np.uint16)

    def times_us(self, block: Block, offsets_ms: Draws) -> Integers:
        """Time of each report; report `i` of every key lies in minute `i`."""
        steps = np.arange(block.first_step, block.first_step + block.n_steps)
        times: Integers = self._start_us + steps[:, None] * MINUTE_US + offsets_ms.astype(np.int64) * 1_000
        return times


def arrival_order(offsets_ms: Draws) -> Integers:
    """Positions in the flattened block, by time; minutes (rows) never overlap."""
    n_steps, keys = offsets_ms.shape
    within = np.argsort(offsets_ms, axis=1, kind="stable")
    order: Integers = (within + np.arange(n_steps)[:, None] * keys).ravel()
    return order


def previous_of(block: npt.NDArray[Scalar], before: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Each key's value one step earlier; `before` holds the values ahead of the block."""
    return np.concatenate([before[None, :], block[:-1]])


def latest_of(block: npt.NDArray[Scalar], is_known: Booleans, before: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Each key's most recent known value, its own row included; `before` holds those ahead of the block."""
    known_rows = np.where(is_known, np.arange(1, len(block) + 1)[:, None], 0)
    latest_rows = np.maximum.accumulate(known_rows, axis=0)
    return np.take_along_axis(np.concatenate([before[None, :], block]), latest_rows, axis=0)


def start_us(start: datetime | int | None, default: datetime) -> int:
    """Microseconds since 1970; a datetime without a zone is read as UTC, an integer as microseconds."""
    if isinstance(start, int):
        return start
    moment = default if start is None else start
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 1_000_000
