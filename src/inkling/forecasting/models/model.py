"""The model of a forecast: word counts, how distributions are learned from them, and the automaton they belong to.

Also the log-loss of models on the next symbol, and context-tree weighting.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import lgamma
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from inkling.automata.dfa import Dfa
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import Contexts, tree_contexts, with_laws
from inkling.forecasting.models.counts import WordCounts, check_codes
from inkling.forecasting.models.forecasts import waiting_times
from inkling.forecasting.models.full_order import full_contexts, shrunk
from inkling.forecasting.models.gaps import GapCounts
from inkling.forecasting.models.intact import checksum, require_description, require_gaps, require_words
from inkling.forecasting.models.prediction_tree import CounterTree, PredictionTree, Thresholds, learn_tree
from inkling.forecasting.models.public_engine import label_contexts, path_waiting_times
from inkling.shown import ShownInNotebooks
from inkling.whole_files import written_whole

KRICHEVSKY_TROFIMOV = 0.5

_log_gamma = np.vectorize(lgamma, otypes=[np.float64])


def log_block(counts: npt.NDArray[np.float64], prior: float = KRICHEVSKY_TROFIMOV) -> npt.NDArray[np.float64]:
    """The logarithm of the Krichevsky-Trofimov block probability of counts of symbols, [..., symbol].

    >>> np.round(np.exp(log_block(np.array([[1.0, 0.0], [2.0, 1.0]]))), 12).tolist()
    [0.5, 0.0625]
    """
    n = counts.shape[-1]
    total = counts.sum(axis=-1)
    return np.asarray(
        (_log_gamma(counts + prior) - lgamma(prior)).sum(axis=-1) - _log_gamma(total + n * prior) + lgamma(n * prior)
    )


def weighted_tree(counted: CounterTree, order: int, prior: float = KRICHEVSKY_TROFIMOV) -> PredictionTree:
    """Context-tree weighting: a mixture of all prediction suffix trees of at most this order.

    Willems, Shtarkov and Tjalkens, *The context-tree weighting method: basic properties*, IEEE Transactions on
    Information Theory 1995, with the Krichevsky-Trofimov estimator for any number of symbols. A context that was never
    seen with its next older symbol predicts like a new child: all symbols alike. Positions at the beginning of a key,
    which have no older symbol, count as a child of their own.
    """
    n = counted.n_symbols
    codes = [_followed(counted, length) for length in range(order + 1)]
    counts = [counted.followers(length, codes[length]) for length in range(order + 1)]
    blocks = [log_block(one, prior) for one in counts]
    weighted: list[npt.NDArray[np.float64]] = [np.empty(0)] * order + [blocks[order]]
    for length in range(order - 1, -1, -1):
        parent = np.searchsorted(codes[length], codes[length + 1] % n**length)
        split = np.bincount(parent, weighted[length + 1], len(codes[length])).astype(np.float64)
        begun = counts[length].copy()
        np.subtract.at(begun, parent, counts[length + 1])
        split += log_block(np.maximum(begun, 0.0), prior)
        weighted[length] = np.logaddexp(blocks[length], split) - np.log(2)
    laws: list[npt.NDArray[np.float64]] = []
    above = np.full((1, n), 0.0)  # contribution of the shorter contexts
    left = np.ones((1, 1))  # weight that remains for longer contexts
    for length in range(order + 1):
        if length:
            parent = np.searchsorted(codes[length - 1], codes[length] % n ** (length - 1))
            above, left = above[parent], left[parent]
        own = (counts[length] + prior) / (counts[length].sum(axis=1, keepdims=True) + n * prior)
        stop = np.exp(blocks[length] - weighted[length])[:, None] / (2 if length < order else 1)
        above = above + left * stop * own
        left = left * (1 - stop)
        laws.append(above + left / n)
    return PredictionTree(
        n, np.repeat(np.arange(order + 1), [len(one) for one in codes]), np.concatenate(codes), np.concatenate(laws)
    )


def _followed(counted: CounterTree, length: int) -> npt.NDArray[np.int64]:
    """Contexts of one length that have a next symbol; the empty context always."""
    if length == 0:
        return np.zeros(1, np.int64)
    longer, _ = counted.level(length + 1)
    return np.unique(longer // counted.n_symbols)


FORMAT = 2
"""Models of format 1, which have no checksum, are read, too."""

ABOUT, WORD, GAP = "about", "word", "gap"
"""What a row of a model's table is."""


def counts_in(table: pa.Table, n_symbols: int, order: int) -> tuple[WordCounts, GapCounts]:
    """The counts of words and of gaps in a table whose rows are distinguished by the column `what`."""
    what = table["what"]
    words = table.filter(pc.equal(what, WORD)).select(["group", "state", "length", "code", "count"])
    described = words.replace_schema_metadata({"n_symbols": str(n_symbols), "order": str(order)})
    return WordCounts.from_arrow(described), GapCounts.from_arrow(table.filter(pc.equal(what, GAP)))


Learner: TypeAlias = Literal["tree", "full", "weighted", "wayeb"]


@dataclass(frozen=True, slots=True)
class Learning:
    """How the distribution of the next symbol is learned from counts."""

    kind: Learner = "tree"
    order: int = 1
    p_min: float = 0.001
    alpha: float = 0.0
    gamma_min: float = 0.001
    ratio: float = 1.05
    shrinkage: float | None = None  # events that the model of all weighs in the model of a group; none: it is one model
    symbols: int | None = None  # for smoothing, with those that never occur; none: as many as the model has

    def __post_init__(self) -> None:
        if self.kind not in get_args(Learner):
            raise ValueError(f"a model is learned as one of {get_args(Learner)}, not as {self.kind!r}")
        if self.order < 0:
            raise ValueError(f"an order is at least 0, not {self.order}")

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds.of(p_min=self.p_min, alpha=self.alpha, gamma_min=self.gamma_min, ratio=self.ratio)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastModel(ShownInNotebooks):
    """The contents of a model file; contexts and chains are derived from it."""

    event: str
    alphabet: tuple[str, ...]  # the condition of each symbol, in words
    fingerprint: str  # of the automaton
    n_states: int  # of the automaton
    counts: WordCounts
    gaps: GapCounts = field(default_factory=GapCounts.empty)
    learning: Learning = field(default_factory=Learning)
    version: int = 1

    def __post_init__(self) -> None:
        if len(self.alphabet) != self.counts.n_symbols:
            raise ValueError(f"{self.counts.n_symbols} symbols were counted, {len(self.alphabet)} are named")
        if self.learning.order > self.counts.order:
            raise ValueError(
                f"order {self.learning.order} needs words that were not counted; the order of the counts is "
                f"{self.counts.order}"
            )

    @property
    def n_events(self) -> float:
        return self.counts.n_events

    def check(self, dfa: Dfa) -> None:
        """Rejects an automaton other than the one that the counts were made with."""
        if dfa.fingerprint != self.fingerprint:
            raise ValueError(
                f"the model of `{self.event}` was learned with another automaton: {self.fingerprint[:12]}, "
                f"not {dfa.fingerprint[:12]}"
            )

    def tree(self) -> PredictionTree:
        """The prediction suffix tree of all groups together."""
        counted = CounterTree.of(self.counts.total().shallower(self.learning.order))
        if self.learning.kind == "weighted":
            return weighted_tree(counted, self.learning.order)
        return learn_tree(counted, self.learning.order, self.learning.thresholds, self.learning.symbols)

    def contexts(self, group: str | None = None) -> Contexts:
        """The contexts of all groups together, or of one group if groups have models of their own."""
        learning = self.learning
        own = None
        if group is not None and learning.shrinkage is not None:
            own = self.counts.of_group(group).shallower(learning.order)
        if learning.kind == "full":
            everyone = full_contexts(self.counts.total().shallower(learning.order), self.n_states)
            return everyone if own is None or learning.shrinkage is None else shrunk(everyone, own, learning.shrinkage)
        tree = self.tree()
        contexts = label_contexts(tree) if learning.kind == "wayeb" else tree_contexts(tree)
        if own is None or learning.shrinkage is None:
            return contexts
        return with_laws(contexts, tree.shrunk(CounterTree.of(own), learning.shrinkage))

    def gaps_of(self, group: str | None = None) -> GapCounts:
        """The gaps of all groups together, or of one group, shrunk towards all groups like its contexts."""
        strength = self.learning.shrinkage
        if group is None or strength is None:
            return self.gaps.total()
        return self.gaps.of_group(group).shrunk(self.gaps, strength)

    def waiting_times(self, chain: MarkovChain, horizon: int) -> npt.NDArray[np.float64]:
        """The waiting times of all states, exact unless they are computed as by the public engine."""
        if self.learning.kind == "wayeb":
            return path_waiting_times(chain, horizon).times
        return waiting_times(chain, horizon)

    def chain(self, dfa: Dfa, group: str | None = None) -> MarkovChain:
        self.check(dfa)
        return MarkovChain.of_dfa(dfa, self.contexts(group))

    def to_arrow(self) -> pa.Table:
        """Words and gaps in one table, distinguished by the column `what`; a row `about` has the rest as JSON."""
        words, gaps = self.counts.to_arrow(), self.gaps.to_arrow()
        about = {
            "format": FORMAT,
            "event": self.event,
            "alphabet": self.alphabet,
            "fingerprint": self.fingerprint,
            "n_states": self.n_states,
            "order": self.counts.order,
            "learning": asdict(self.learning),
            "version": self.version,
        }
        about["checksum"] = checksum(json.loads(json.dumps(about)), self.counts, self.gaps)
        described = pa.table({"about": pa.array([json.dumps(about, ensure_ascii=False)], pa.string())})
        parts = [
            table.append_column("what", pa.array([what] * table.num_rows, pa.string())).replace_schema_metadata(None)
            for what, table in ((ABOUT, described), (WORD, words), (GAP, gaps))
        ]
        return pa.concat_tables(parts, promote_options="default")

    @classmethod
    def from_arrow(cls, table: pa.Table) -> ForecastModel:
        if not {"what", "about"} <= {*table.column_names}:
            raise ValueError("not a model: it does not name its event")
        described = table["about"].filter(pc.fill_null(pc.equal(table["what"], ABOUT), False)).to_pylist()
        if len(described) != 1:
            raise ValueError(f"not a model: {len(described)} rows name its event")
        try:
            about = json.loads(described[0])
        except (TypeError, ValueError):
            raise ValueError("the model is damaged: its description is not JSON") from None
        if not isinstance(about, dict):
            raise ValueError("the model is damaged: its description is no object")
        require_description(about, range(1, FORMAT + 1))
        n_symbols, order = len(about["alphabet"]), about["order"]
        check_codes(n_symbols, order + 1)
        rows = {kind: table.filter(pc.fill_null(pc.equal(table["what"], kind), False)) for kind in (WORD, GAP)}
        if len(rows[WORD]) + len(rows[GAP]) + 1 != len(table):
            raise ValueError("the model is damaged: it has rows that count nothing")
        require_words(rows[WORD], n_symbols, order, about["n_states"])
        require_gaps(rows[GAP], n_symbols)
        counts, gaps = counts_in(table, n_symbols, order)
        if about["format"] > 1 and about.get("checksum") != checksum(about, counts, gaps):
            raise ValueError("the model is damaged: its checksum does not fit its contents")
        return cls(
            about["event"],
            tuple(about["alphabet"]),
            about["fingerprint"],
            about["n_states"],
            counts,
            gaps,
            Learning(**about["learning"]),
            about["version"],
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Lets a model be passed wherever a table is expected."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def save(self, path: str | Path) -> ForecastModel:
        """Writes the model atomically, as the next version of an existing file; returns the saved model."""
        path = Path(path)
        before = ForecastModel.load(path).version if path.exists() else 0
        saved = replace(self, version=max(self.version, before + 1))
        with written_whole(path) as file:
            pq.write_table(saved.to_arrow(), file, write_page_checksum=True)
        return saved

    @classmethod
    def load(cls, path: str | Path) -> ForecastModel:
        try:
            table = pq.read_table(path, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is not a model: {error}") from error
        return cls.from_arrow(table)


def log_loss(contexts: Contexts, counts: WordCounts, *, floor: float = 0.0) -> float:
    """The average log-loss in bits per event: the mean of -log2 of the probability of the next symbol.

    The order of the counts must be at least that of the model. With a ``floor``, every symbol has at least this
    probability, and an unknown context predicts all symbols alike. Without, an impossible symbol has an infinite loss.
    """
    if counts.order < contexts.depth:
        raise ValueError(f"the model looks back {contexts.depth} events, the counts {counts.order}")
    if not counts.n_events:
        raise ValueError("without events there is nothing to predict")
    n = counts.n_symbols
    before, symbol = np.divmod(counts.code, n)
    context = _contexts_after(contexts, before, counts.length.astype(np.int64) - 1)
    state = counts.state if len(contexts.gamma) > 1 else np.zeros(len(before), np.int32)
    law = contexts.gamma[state, context]
    if floor:
        known = law.sum(axis=1, keepdims=True) > 0
        law = np.where(known, law * (1 - n * floor) + floor, 1 / n)
    with np.errstate(divide="ignore"):
        bits = -np.log2(law[np.arange(len(symbol)), symbol])
    return float((bits * counts.count).sum() / counts.n_events)


def best_order(losses: Mapping[int, float]) -> int:
    """The order with the least loss; of equal losses, the smallest order."""
    return min(losses, key=lambda order: (losses[order], order))


def _contexts_after(
    contexts: Contexts, code: npt.NDArray[np.int64], length: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The contexts after words given by code and length, from the beginning of a key."""
    here = np.zeros(len(code), np.int64)
    for left in range(int(length.max(initial=0)), 0, -1):
        rows = length >= left
        symbol = code[rows] // np.int64(contexts.n_symbols) ** (left - 1) % contexts.n_symbols
        here[rows] = contexts.next[here[rows], symbol]
    return here
