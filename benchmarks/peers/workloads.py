"""The patterns that every engine answers: as programs, as Arrow rows in memory, and the sizes they run at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

DEVICES = 1_000
N_KINDS, N_CODES = 10, 1_000
MANY_PATTERNS = (1, 10, 100)

STREAM = """\
STREAM Reading(id BIGINT, device BIGINT, t BIGINT, kind INT, level DOUBLE, code INT)
  ID id KEY device TIME t TICK 1 MILLISECOND ORDER BY id;
"""
SEQUENCE = """\
EVENT found(device) AS
  PATTERN SEQ NEXT(Reading[kind = 0 AND level > 0.5], Reading[kind = 1 AND code >= 500], Reading[kind = 2])
  WITHIN 60 SECONDS PARTITION BY device;
"""
REPETITION = """\
EVENT found(device, sum(b.level) AS total) AS
  PATTERN SEQ STRICT(Reading a[kind = 0], Reading b[kind >= 2]+, Reading c[kind = 1]) PARTITION BY device;
"""
ABSENCE = """\
EVENT found(device) AS
  PATTERN SEQ(Reading a[kind = 0], NOT Reading b[kind = 1]) WITHIN 10 SECONDS PARTITION BY device;
"""


def patterns(n: int) -> str:
    """Sequences of three steps, each with limits of its own."""
    return "\n".join(
        f"EVENT found{number}(device) AS\n  PATTERN SEQ NEXT(Reading[kind = 0 AND code >= {10 * number}"
        f" AND code < {10 * number + 10}], Reading[kind = 1 AND level > {number / 200}], Reading[kind = 2])"
        "\n  WITHIN 60 SECONDS PARTITION BY device;"
        for number in range(n)
    )


@dataclass(frozen=True, slots=True)
class Workload:
    """A question; `text` is the program, `key` the name by which engines in Java know it."""

    key: str
    title: str
    text: str
    shares: float = 1.0  # of all events, for what takes long


WORKLOADS: tuple[Workload, ...] = (
    Workload("sequence", "sequence of three steps", STREAM + SEQUENCE),
    Workload("sequence-tenth", "the same, a tenth of the events", STREAM + SEQUENCE, 0.1),
    Workload("repetition", "repetition with a sum", STREAM + REPETITION),
    Workload("absence", "absence until a deadline", STREAM + ABSENCE),
    *(
        Workload(f"patterns-{n}", f"{n} pattern{'s' if n > 1 else ''} at once", STREAM + patterns(n), 0.2)
        for n in MANY_PATTERNS
    ),
)
BY_KEY = {one.key: one for one in WORKLOADS}


def readings(events: int, seed: int = 0) -> pa.Table:
    """A reading per millisecond, of devices and kinds at random; the rows of fewer events are the first of more."""
    random = np.random.default_rng(seed)
    ids = np.arange(events)
    # drawn row by row, so that fewer events are the beginning of more
    draws = random.random((events, 4))
    return pa.table(
        {
            "id": ids,
            "device": (draws[:, 0] * DEVICES).astype(np.int64),
            "t": ids,
            "kind": (draws[:, 1] * N_KINDS).astype(np.int32),
            "level": draws[:, 2],
            "code": (draws[:, 3] * N_CODES).astype(np.int32),
        }
    )


def write_for_java(table: pa.Table, path: Path) -> None:
    """The columns one after the other, as big-endian numbers, after their number."""
    kinds = {"device": ">i4", "t": ">i8", "kind": ">i4", "level": ">f8", "code": ">i4"}
    with path.open("wb") as file:
        file.write(np.array([len(table)], ">i4").tobytes())
        for name, kind in kinds.items():
            file.write(table[name].to_numpy().astype(kind).tobytes())


Answer = Callable[[pa.Table, Workload], int]
"""The number of matches of a workload in some readings."""
