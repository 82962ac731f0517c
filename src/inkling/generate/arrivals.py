"""Rows in the order in which they arrive: some after their time, some withdrawn afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Integers, Marks
from inkling.generate.randomness import BlockRandom

OP = "op"


@dataclass(frozen=True, slots=True)
class Disorder:
    """What share of rows comes late, up to how much; and what share is withdrawn, up to how long after it came."""

    late: float = 0.0
    most_late: int = 0
    withdrawn: float = 0.0
    most_kept: int = 0


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Rows with an `op`, when each arrives, and the rows that stand in the end."""

    rows: pa.Table
    moments: Integers
    standing: pa.Table


def arrivals(rows: pa.Table, disorder: Disorder, seed: int, name: str = "") -> Arrivals:
    """Rows in the order of `t`, whole numbers, as they arrive; ids are told apart by the column `id`.

    >>> rows = pa.table({"id": [1, 2, 3], "t": [10, 20, 30]})
    >>> arrivals(rows, Disorder(withdrawn=1.0, most_kept=5), seed=1).rows["op"].to_pylist()
    ['+', '-', '+', '-', '+', '-']
    """
    random = BlockRandom(seed, f"arrivals {name}", 1)
    n = rows.num_rows
    moments = rows["t"].to_numpy().astype(np.int64)
    moments = moments + _delays(random, n, disorder.late, disorder.most_late)
    is_withdrawn: Marks = random.unit((n,)) < disorder.withdrawn
    gone = np.flatnonzero(is_withdrawn)
    ends = moments[gone] + 1 + (random.unit((gone.size,)) * max(0, disorder.most_kept - 1)).astype(np.int64)
    source = np.concatenate([np.arange(n), gone])
    moment = np.concatenate([moments, ends])
    order = np.argsort(moment, kind="stable")
    op = pa.array(np.where(order < n, "+", "-"))
    arrived = rows.take(pa.array(source[order])).append_column(OP, op).combine_chunks()
    return Arrivals(arrived, moment[order], rows.filter(pa.array(~is_withdrawn)))


def _delays(random: BlockRandom, n: int, share: float, most: int) -> Integers:
    """Of a share of rows a delay between one and `most`, of the others none."""
    is_late = random.unit((n,)) < share
    return np.where(is_late, 1 + (random.unit((n,)) * max(0, most - 1)).astype(np.int64), 0)
