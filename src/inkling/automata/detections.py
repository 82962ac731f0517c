"""What a pass over rows found: where each pattern held, and the first match that ends there."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from inkling.automata.rows import frozen, frozen_all
from inkling.automata.tables import Marks
from inkling.kernels.lineage import write_lineage
from inkling.kernels.witness import Nodes


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """Lists of events: list i stands at ``offsets[i]`` up to ``offsets[i + 1]``, in the order of the rows."""

    offsets: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Where patterns were detected, ordered by row and pattern.

    Witnesses share their beginnings until `lineage` writes them out; under a repetition their total length
    can be quadratic in the rows, so drop what is not wanted first, with `only`.
    """

    pattern: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]  # in the batch
    key: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]  # last node of the witness
    nodes: Nodes
    marks: Marks

    def __len__(self) -> int:
        return len(self.row)

    def only(self, wanted: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> "Detections":
        """Some of the detections, by mask or index."""
        return replace(
            self,
            pattern=self.pattern[wanted],
            row=self.row[wanted],
            key=self.key[wanted],
            node=self.node[wanted],
        )

    def of_pattern(self, number: int) -> "Detections":
        """The detections of one pattern."""
        return self if not len(self) else self.only(self.pattern == number)

    def first_event(self) -> npt.NDArray[np.int64]:
        """The first member of each witness, -1 where it has none."""
        return _of_nodes(self.nodes.first, self.node, -1)

    def n_members(self) -> npt.NDArray[np.int64]:
        """How many entries the lineage of each detection has."""
        return _of_nodes(self.nodes.size, self.node, 0)

    def lineage(self) -> Lineage:
        """The members of each witness; an event that fills two slots is listed twice."""
        offsets = np.concatenate([[0], np.cumsum(self.n_members())])
        events = np.empty(offsets[-1], dtype=np.int64)
        slots = np.empty(offsets[-1], dtype=np.int32)
        write_lineage(
            frozen_all(self.nodes),
            frozen(self.node, np.int64),
            frozen(offsets, np.int64),
            frozen(self.marks.start, np.int64),
            frozen(self.marks.slot, np.int32),
            events,
            slots,
        )
        return Lineage(offsets, events, slots)


def _of_nodes(values: npt.NDArray[np.int64], node: npt.NDArray[np.int64], without: int) -> npt.NDArray[np.int64]:
    found = np.full(len(node), without, np.int64)
    some = node >= 0
    found[some] = values[node[some]]
    return found
