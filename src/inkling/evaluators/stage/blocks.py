"""A large batch in blocks of whole keys, each small enough for what is looked up often to stay close at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.model.batch import EventBatch, Ints, MatchBatch

ROWS = 200_000
"""So many rows make a block, if their keys have no more."""


def one_by_one(batch: EventBatch, results: Callable[[EventBatch], Mapping[str, MatchBatch]]) -> dict[str, MatchBatch]:
    """The results of all blocks; the keys of a block are numbered from 0."""
    found: dict[str, list[MatchBatch]] = {}
    for first, last in _cuts(batch.key):
        least = int(batch.key[first])
        block = batch.between(first, last)
        block = replace(block, key=block.key - least)
        for name, matches in results(block).items():
            found.setdefault(name, []).append(replace(matches, key=matches.key + least))
    return {name: _joined(parts) for name, parts in found.items()}


def _cuts(key: Ints) -> list[tuple[int, int]]:
    """Where blocks begin and end: at the first row of a key, about every so many rows."""
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    wanted = np.arange(0, len(key), ROWS)
    begins = np.unique(starts[np.searchsorted(starts, wanted, side="right") - 1])
    return list(zip(begins.tolist(), [*begins[1:].tolist(), len(key)], strict=True))


def _joined(parts: list[MatchBatch]) -> MatchBatch:
    filled = [part for part in parts if len(part)] or parts[:1]

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in filled])

    return MatchBatch(
        filled[0].event,
        column("key"),
        column("start"),
        column("start_place"),
        column("end"),
        column("end_place"),
        column("detected_at"),
        {name: pa.concat_arrays([part.values[name] for part in filled]) for name in filled[0].values},
        pa.concat_arrays([part.lineage for part in filled]),
        filled[0].place_words,
    )
