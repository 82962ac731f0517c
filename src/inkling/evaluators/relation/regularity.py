"""Notes on a run over lost events: answers that were sampled, and arrivals that are more regular than declared.

Probabilities assume that arrivals are a Poisson process, or have Erlang gaps of the declared shape (SimpMatch, section
3.2). Near-periodic arrivals make them wrong, so the variation of recorded gaps is compared with the declaration.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.rows import NumberedRows
from inkling.evaluators.hashes import key_hashes
from inkling.evaluators.relation.program import RelationProgram
from inkling.io.normalize import START
from inkling.model.batch import Ints
from inkling.model.uncertainty import LostEvents
from inkling.results import BOUNDS, ROUNDING


def notes_of(program: RelationProgram, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]) -> list[str]:
    """Answers that were sampled, and streams whose arrivals are more regular than they say."""
    return [*_sampled(program, tables), *_regular(program, rows)]


def _sampled(program: RelationProgram, tables: Mapping[str, pa.Table]) -> Iterator[str]:
    for event in program.part.events:
        table = tables[event.name]
        n = int(((table["error"].to_numpy() > ROUNDING) & (np.array(table["method"].to_pylist()) != BOUNDS)).sum())
        if n:
            yield f"{n:,} of {len(table):,} of {event.name} sampled ({program.limits.n_samples:,} orders)"


def _regular(program: RelationProgram, rows: Mapping[str, pa.Table]) -> Iterator[str]:
    for schema in (stream.schema for stream in program.part.streams):
        uncertainty = schema.uncertainty
        if not isinstance(uncertainty, LostEvents) or uncertainty.intensity is not None or not len(rows[schema.name]):
            continue
        found = NumberedRows.of(schema, rows[schema.name], tables=program.tables)
        recorded = found.rows.slice(0, found.n_recorded)
        key = np.unique(key_hashes(schema, recorded), return_inverse=True)[1]
        number, time = recorded[uncertainty.number].to_numpy().astype(np.int64), recorded[START].to_numpy()
        n_lost = int(np.diff(found.gaps).sum())
        note = regularity_note(schema.name, regularity(key, number, time), n_lost, uncertainty.shape)
        if note is not None:
            yield note


LEAST_GAPS = 30
CLEARLY_LESS = 0.5
"""Of what the declaration says; gaps that vary a little less do little harm."""

SIGMAS = 2.5758
LARGEST_SHAPE = 20
"""Gaps more regular than these differ little, and each costs as many points per lost event."""


class Regularity(NamedTuple):
    """Squared coefficient of variation of the gaps between neighbors: 1 by chance, 0 as by a clock."""

    n_gaps: int
    variation: float
    upper: float  # with 99 % confidence it is not more

    @property
    def shape(self) -> int:
        """The shape of Erlang gaps that vary as much."""
        return min(LARGEST_SHAPE, max(1, round(1 / max(self.variation, 1 / LARGEST_SHAPE))))


def regularity(key: Ints, number: Ints, time: Ints) -> Regularity | None:
    """How gaps between recorded events with consecutive numbers vary, key by key; None where there are too few.

    Keys may differ in how fast their events come: gaps of each are compared with their own mean.

    >>> every = np.arange(40)
    >>> regularity(every * 0, every, every * 10)
    Regularity(n_gaps=39, variation=0.0, upper=0.0)
    """
    order = np.lexsort((number, key))
    key, number, time = key[order], number[order], time[order]
    follows = (np.diff(key) == 0) & (np.diff(number) == 1)
    gaps = np.diff(time)[follows].astype(np.float64)
    _, group, size = np.unique(key[1:][follows], return_inverse=True, return_counts=True)
    enough = size[group] > 2  # one of them is left out below
    gaps, group = gaps[enough], np.unique(group[enough], return_inverse=True)[1]
    if gaps.size < LEAST_GAPS or not gaps.any():
        return None
    gaps /= gaps.mean()
    n = np.bincount(group).astype(np.float64)
    total, squares = np.bincount(group, gaps), np.bincount(group, gaps**2)
    spread, level = _terms(n, total, squares)
    variation = _ratio(spread.sum(), level.sum())
    less = _terms(n[group] - 1, total[group] - gaps, squares[group] - gaps**2)
    without = _ratio(spread.sum() - spread[group] + less[0], level.sum() - level[group] + less[1])
    deviation = np.sqrt((gaps.size - 1) / gaps.size * ((without - without.mean()) ** 2).sum())
    return Regularity(gaps.size, float(variation), float(variation + SIGMAS * deviation))


def _terms(n: np.ndarray, total: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each key, weighted by its gaps: estimates of the variance of a gap and of its squared mean, both unbiased."""
    mean = total / n
    variance = np.maximum(squares - n * mean**2, 0.0) / (n - 1)
    return n * variance, n * (mean**2 - variance / n)


def _ratio(spread: np.ndarray, level: np.ndarray) -> np.ndarray:
    return spread / np.maximum(level, np.finfo(np.float64).tiny)


def regularity_note(stream: str, found: Regularity | None, n_lost: int, shape: int = 1) -> str | None:
    """A warning where events were lost whose neighbors come clearly more regularly than gaps of the shape do."""
    if found is None or n_lost == 0 or found.upper >= CLEARLY_LESS / shape:
        return None
    declared = "random gaps" if shape == 1 else f"gaps of shape {shape}"
    return (
        f"arrivals of `{stream}` are more regular than declared: the squared coefficient of variation of "
        f"{found.n_gaps:,} gaps is {found.variation:.2f}, not {1 / shape:.2g} as for {declared}, which probabilities "
        f"of the {n_lost:,} lost events assume; `GAPS ERLANG {found.shape}` after `NUMBERED BY` fits better"
    )
