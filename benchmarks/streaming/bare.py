"""What has to be kept at least, counted on the same readings by a plain loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

WORD = 8
"""A key, a time or an id, in bytes."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Things to keep, and their bytes as bare arrays: nothing that says which, no gaps, nothing shared."""

    n: int
    n_bytes: int


def open_matches(readings: pa.Table) -> Kept:
    """For where the three steps end: of each device, the first step that waits, and the two that do.

    Each is a key, and a time and an id for each of its steps.
    """
    device, step, _ = _fitting(readings)
    first, second = set(), set()
    for one, what in zip(device.tolist(), step.tolist(), strict=True):
        if what == 0:
            first.add(one)
        elif what == 1:
            if one in first:
                first.remove(one)
                second.add(one)
        else:
            second.discard(one)
    n_words = len(first) * 3 + len(second) * 5
    return Kept(len(first) + len(second), n_words * WORD)


def in_window(readings: pa.Table, window_us: int) -> Kept:
    """For every match in a window: the readings in it that fit a step, each a key, a time, an id and the step."""
    _, _, us = _fitting(readings)
    latest = readings["t"].cast(pa.int64()).to_numpy().max()
    n = int((us >= latest - window_us).sum())
    return Kept(n, n * (3 * WORD + 1))


def _fitting(readings: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Device, step and time of the readings that fit a step, in order."""
    kind, level, code = (readings[name].to_numpy() for name in ("kind", "level", "code"))
    fits = (kind == 0) & (level > 0.5) | (kind == 1) & (code >= 500) | (kind == 2)
    us = readings["t"].cast(pa.int64()).to_numpy()
    return readings["device"].to_numpy()[fits], kind[fits], us[fits]
