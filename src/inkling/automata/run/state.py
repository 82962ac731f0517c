"""The state of automata between batches: the runs (partial matches) of all keys that have any."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from inkling.automata.run.rows import concatenated, frozen, frozen_as
from inkling.kernels.automaton.lineage import number_reachable
from inkling.kernels.automaton.witness import Nodes, Runs

_RUN_TYPES = (np.int64, np.int32, np.int64, np.int32)
_NODE_TYPES = (np.int64, np.int32, np.int64, np.int64, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class AutomatonState:
    """Runs by key and pattern, and their events; keys without runs are not stored.

    ``fingerprint`` identifies the patterns that the state belongs to.
    """

    fingerprint: bytes
    n_patterns: int
    key: npt.NDArray[np.int64]  # ascending
    runs: Runs
    nodes: Nodes

    @classmethod
    def empty(cls, fingerprint: bytes, n_patterns: int) -> "AutomatonState":
        nothing = np.empty(0, dtype=np.int64)
        runs = Runs._make([np.zeros(1, dtype=np.int64), *[nothing] * 3])
        return _tidy(fingerprint, n_patterns, nothing, runs, Nodes._make([nothing] * 5))

    @classmethod
    def assembled(
        cls,
        fingerprint: bytes,
        n_patterns: int,
        key: npt.NDArray[np.int64],
        begins: npt.NDArray[np.int64],
        counts: npt.NDArray[np.int64],
        runs: Runs,
        nodes: Nodes,
    ) -> "AutomatonState":
        """The state of some keys; their runs are at ``begins``, [key, pattern], in the lists ``runs``."""
        live = np.flatnonzero(counts.sum(axis=1))
        order = live[np.argsort(key[live], kind="stable")]
        wanted = counts[order].reshape(-1)
        offset = np.concatenate([[0], np.cumsum(wanted)])
        places = np.repeat(begins[order].reshape(-1) - offset[:-1], wanted) + np.arange(offset[-1])
        picked = Runs(offset, runs.state[places], runs.node[places], runs.rank[places])
        return _tidy(fingerprint, n_patterns, key[order], picked, nodes)

    @property
    def n_keys(self) -> int:
        return len(self.key)

    @property
    def begins(self) -> npt.NDArray[np.int64]:
        """[key, pattern]: the first run."""
        return self.runs.offset[:-1].reshape(self.n_keys, self.n_patterns)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """[key, pattern]: the number of runs."""
        return np.diff(self.runs.offset).reshape(self.n_keys, self.n_patterns)

    def slots_of(self, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The positions of keys in this state, -1 for keys without runs."""
        if not self.n_keys:
            return np.full(len(keys), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.key, keys), self.n_keys - 1)
        return np.where(self.key[places] == keys, places, -1)

    def live_events(self) -> npt.NDArray[np.int64]:
        """The events that a later match can contain."""
        return np.unique(self.nodes.event)

    def only(self, keys: npt.ArrayLike) -> "AutomatonState":
        """The state of some keys."""
        return self._kept(np.isin(self.key, np.asarray(keys, dtype=np.int64)))

    def without(self, keys: npt.ArrayLike) -> "AutomatonState":
        """The state without some keys."""
        return self._kept(~np.isin(self.key, np.asarray(keys, dtype=np.int64)))

    def joined(self, other: "AutomatonState") -> "AutomatonState":
        """The union of two states, which must not share a key."""
        if (self.fingerprint, self.n_patterns) != (other.fingerprint, other.n_patterns):
            raise ValueError("the states belong to different patterns")
        if np.isin(self.key, other.key).any():
            raise ValueError("the states share a key")
        shift = len(self.nodes.event)
        moved = other.nodes._replace(parent=np.where(other.nodes.parent < 0, -1, other.nodes.parent + shift))
        node = np.where(other.runs.node < 0, -1, other.runs.node + shift)
        return AutomatonState.assembled(
            self.fingerprint,
            self.n_patterns,
            np.concatenate([self.key, other.key]),
            np.concatenate([self.begins, other.begins + len(self.runs.state)]),
            np.concatenate([self.counts, other.counts]),
            concatenated(self.runs, other.runs._replace(node=node)),
            concatenated(self.nodes, moved),
        )

    def renamed(self, codes: npt.NDArray[np.int64]) -> "AutomatonState":
        """The state with keys renumbered by their rank in ascending `codes`."""
        return replace(self, key=frozen(np.searchsorted(codes, self.key), np.int64))

    def as_stored(self) -> "StoredRuns":
        """The state for storage; ascending columns become differences, which need fewer bytes."""
        runs = self.runs._replace(offset=np.diff(self.runs.offset), node=_steps(self.runs.node))
        nodes = self.nodes._replace(event=_steps(self.nodes.event), first=self.nodes.event - self.nodes.first)
        return StoredRuns(self.fingerprint, self.n_patterns, _steps(self.key), runs, nodes)

    @classmethod
    def from_stored(cls, stored: "StoredRuns") -> "AutomatonState":
        runs, nodes, events = stored.runs, stored.nodes, np.cumsum(stored.nodes.event)
        offset = np.concatenate([[0], np.cumsum(runs.offset)])
        return cls(
            stored.fingerprint,
            stored.n_patterns,
            frozen(np.cumsum(stored.key), np.int64),
            frozen_as(runs._replace(offset=offset, node=np.cumsum(runs.node)), _RUN_TYPES),
            frozen_as(nodes._replace(event=events, first=events - nodes.first), _NODE_TYPES),
        )

    def _kept(self, kept: npt.NDArray[np.bool_]) -> "AutomatonState":
        return AutomatonState.assembled(
            self.fingerprint,
            self.n_patterns,
            self.key[kept],
            self.begins[kept],
            self.counts[kept],
            self.runs,
            self.nodes,
        )


@dataclass(frozen=True, slots=True, eq=False)
class StoredRuns:
    """A state in storage form: ascending columns as differences, first events as distances."""

    fingerprint: bytes
    n_patterns: int
    key: npt.NDArray[np.int64]
    runs: Runs
    nodes: Nodes


def _tidy(fingerprint: bytes, n_patterns: int, key: npt.NDArray[np.int64], runs: Runs, nodes: Nodes) -> AutomatonState:
    """A state with fixed types and without events that no run needs."""
    parent = frozen(nodes.parent, np.int64)
    number = number_reachable(parent, frozen(runs.node, np.int64))
    kept = number >= 0
    renumbered = np.append(number, -1)  # so that -1 (no node) stays -1
    nodes = Nodes._make(column[kept] for column in nodes)
    nodes = nodes._replace(parent=renumbered[nodes.parent])
    runs = runs._replace(node=renumbered[runs.node])
    return AutomatonState(
        fingerprint, n_patterns, frozen(key, np.int64), frozen_as(runs, _RUN_TYPES), frozen_as(nodes, _NODE_TYPES)
    )


def _steps(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first number, then the differences of neighbors."""
    return np.diff(array, prepend=0)
