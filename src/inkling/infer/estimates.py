"""Estimates of the hidden states of some keys, step by step: marginals, Markov chains and best paths, as rows."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.infer.model import Floats, Model
from inkling.infer.settings import Grid, Names
from inkling.infer.steps import TimeSteps, key_text, time_text, times_of
from inkling.kernels.inference import best_states, particles
from inkling.kernels.inference.belief_rows import NONE, chain_rows, marginal_rows
from inkling.kernels.inference.hidden_states import DONE, Moves, backward, forward, smooth
from inkling.kernels.worlds.draws import cumulated
from inkling.model.hashes import combined, hashes_of


class EstimateKind(Enum):
    FILTERED = "filtered"
    SMOOTHED = "smoothed"
    PATH = "path"
    LIKELIEST = "likeliest"
    PARTICLES = "particles"


@dataclass(frozen=True, slots=True)
class InferenceTask:
    """The model, the kind of estimate and its options; it is pickled and sent to workers."""

    model: Model
    kind: EstimateKind
    names: Names
    prune: float = 0.0
    n_particles: int = 1000
    seed: int = 0

    def answer(self, steps: TimeSteps, grid: Grid) -> pa.Table:
        """The estimates for some keys, sorted by key and time."""
        match self.kind:
            case EstimateKind.FILTERED:
                return self.marginals(steps, grid, forward_pass(self.model, steps, grid).belief)[0]
            case EstimateKind.PARTICLES:
                return self.marginals(steps, grid, self._followed(steps, grid))[0]
            case EstimateKind.SMOOTHED:
                return self._chain(steps, grid)
            case EstimateKind.PATH:
                return self._path(steps, grid)
            case EstimateKind.LIKELIEST:
                return self._likeliest(steps, grid)

    def schema(self, keys: pa.Schema, time: pa.DataType) -> pa.Schema:
        """The schema of the table that `answer` returns."""
        names = self.names
        fields = [*keys, pa.field(names.time, time)]
        if self.kind is EstimateKind.SMOOTHED:
            fields.append(pa.field(names.previous, pa.string()))
        fields.append(pa.field(names.state, pa.string()))
        if self.kind is not EstimateKind.PATH:
            fields.append(pa.field(names.prob, pa.float64()))
        if self.prune > 0 and self.kind not in (EstimateKind.PATH, EstimateKind.LIKELIEST):
            fields.append(pa.field(names.left_out, pa.float64()))
        return pa.schema(fields)

    def marginals(
        self, steps: TimeSteps, grid: Grid, belief: Floats, error_before: Floats | None = None
    ) -> tuple[pa.Table, Floats]:
        """Rows of marginals, and the pruning error of each key; `error_before` is that of its earlier steps."""
        error = np.zeros(len(steps.names))
        row = np.zeros(len(self.model.states))
        keys = steps.seen.keys
        empty, codes, probs = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
        n = marginal_rows(keys, belief, self.prune, row, error, empty, codes, probs)
        step, state, prob = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n)
        marginal_rows(keys, belief, self.prune, row, error, step, state, prob)
        if error_before is not None:
            error = 1 - (1 - error_before) * (1 - error)
        there = state != self.model.nothing_code
        step, state, prob = step[there], state[there], prob[there]
        return self._rows(steps, times_of(steps.number[step], grid), step, state, prob, error=error), error

    def _chain(self, steps: TimeSteps, grid: Grid) -> pa.Table:
        passed = smoothed_pass(self.model, steps, grid)
        model, seen = self.model, steps.seen
        error = np.zeros(len(steps.names))
        given = (seen, model.moves, passed.belief, passed.ahead, self.prune, error)
        n = chain_rows(*given, np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
        step, previous, state = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
        prob = np.empty(n)
        chain_rows(*given, step, previous, state, prob)
        if model.nothing is not None:
            step, previous, state, prob = _without_nothing(step, previous, state, prob, model.nothing_code)
        times = times_of(steps.number[step], grid)
        return self._rows(steps, times, step, state, prob, previous=previous, error=np.minimum(error, 1.0))

    def _path(self, steps: TimeSteps, grid: Grid) -> pa.Table:
        model = self.model
        state = np.empty(len(steps), np.int32)
        with np.errstate(divide="ignore"):
            prior, moves = np.log(model.prior), model.moves._replace(chance=np.log(model.moves.chance))
            seen = steps.seen._replace(likelihood=np.log(steps.seen.likelihood))
        require_possible(best_states.likeliest_paths(seen, prior, moves, state), steps, grid)
        step = np.flatnonzero(state != model.nothing_code)
        return self._rows(steps, times_of(steps.number[step], grid), step, state[step], None)

    def _likeliest(self, steps: TimeSteps, grid: Grid) -> pa.Table:
        belief = forward_pass(self.model, steps, grid).belief
        state = np.empty(len(steps), np.int32)
        best_states.likeliest(belief, self.model.nothing_code, state)
        step = np.flatnonzero(state != self.model.nothing_code)
        times = times_of(steps.number[step], grid)
        return self._rows(steps, times, step, state[step], belief[step, state[step]])

    def _followed(self, steps: TimeSteps, grid: Grid) -> Floats:
        model = self.model
        tokens = combined(*(hashes_of(_hashable(column)) for column in steps.names.columns))
        all_states = np.array([0, len(model.states)])
        prior = cumulated(all_states, model.prior, np.array([True]))
        offsets = model.moves.offsets
        moves = Moves(offsets, model.moves.target, cumulated(offsets, model.moves.chance, np.diff(offsets) > 0))
        belief = np.zeros((len(steps), len(model.states)))
        seed, n = np.uint64(self.seed), self.n_particles
        stuck = particles.follow(steps.seen, prior, moves, steps.number, tokens, seed, n, belief)
        if stuck != DONE:
            raise InputError.of(
                "INK0666",
                f"none of {n:,} particles explains the readings of {_place(steps, stuck, grid)}",
                helps=("use more particles, or the exact filter",),
            )
        return belief

    def _rows(
        self,
        steps: TimeSteps,
        times: pa.Array,
        step: NDArray[np.int64],
        state: NDArray[np.int32],
        prob: Floats | None,
        *,
        previous: NDArray[np.int32] | None = None,
        error: Floats | None = None,
    ) -> pa.Table:
        key = steps.key_of[step]
        states = pa.array(self.model.states, pa.string())
        taken = steps.names.take(pa.array(key))
        columns = dict(zip(taken.column_names, taken.columns, strict=True))
        columns[self.names.time] = times
        if previous is not None:
            columns[self.names.previous] = states.take(pa.array(previous, mask=previous == NONE))
        columns[self.names.state] = states.take(pa.array(state))
        if prob is not None:
            columns[self.names.prob] = pa.array(prob)
        if self.prune > 0 and error is not None:
            columns[self.names.left_out] = pa.array(error[key])
        return pa.table(columns)


@dataclass(frozen=True, slots=True)
class Pass:
    """The result of a forward pass, or of a forward and a backward pass."""

    belief: Floats  # [step, state]: filtered marginals, or smoothed ones after both passes
    totals: Floats  # [step]: probability of the observation given the earlier ones
    ahead: Floats  # [step, state]: backward messages; no rows without a backward pass


def forward_pass(
    model: Model, steps: TimeSteps, grid: Grid, before: Floats | None = None, going_on: NDArray[np.bool_] | None = None
) -> Pass:
    """Filtered marginals; a key that is `going_on` continues from the belief `before`, others start from the prior."""
    n_keys, n_states = len(steps.names), len(model.states)
    belief, totals = np.empty((len(steps), n_states)), np.empty(len(steps))
    before = np.zeros((n_keys, n_states)) if before is None else before
    going_on = np.zeros(n_keys, bool) if going_on is None else going_on
    stuck = forward(steps.seen, model.prior, model.moves, before, going_on, belief, totals)
    require_possible(stuck, steps, grid)
    return Pass(belief, totals, np.zeros((0, n_states)))


def smoothed_pass(model: Model, steps: TimeSteps, grid: Grid) -> Pass:
    """Smoothed marginals and backward messages."""
    passed = forward_pass(model, steps, grid)
    ahead = np.empty_like(passed.belief)
    require_possible(backward(steps.seen, model.moves, ahead), steps, grid)
    require_possible(smooth(passed.belief, ahead), steps, grid)
    return replace(passed, ahead=ahead)


def require_possible(stuck: int, steps: TimeSteps, grid: Grid) -> None:
    if stuck != DONE:
        raise InputError.of(
            "INK0665",
            f"the readings of {_place(steps, stuck, grid)} have probability 0 in the model",
            notes=("no reachable state explains them, or the probability underflows",),
            helps=("give readers a small probability in every state",),
        )


def _hashable(column: pa.ChunkedArray) -> pa.Array:
    """The column in a type that can be hashed: text, integers and Booleans as they are, everything else as text."""
    kind = column.type
    plain = pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array if plain else array.cast(pa.string())


def _place(steps: TimeSteps, step: int, grid: Grid) -> str:
    return f"{key_text(steps.names, int(steps.key_of[step]))} at {time_text(int(steps.number[step]), grid)}"


def _without_nothing(
    step: NDArray[np.int64], previous: NDArray[np.int32], state: NDArray[np.int32], prob: Floats, nothing: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], Floats]:
    """Rows without the state `nothing` ("no event"): moves to it are dropped, moves from it get no `previous`.

    If all moves from a value lead to it, one row of probability 0 stays: a chain must list followers of each value.
    """
    begins = np.ones(len(step), bool)
    begins[1:] = (step[1:] != step[:-1]) | (previous[1:] != previous[:-1])
    is_nothing = state == nothing
    group = np.cumsum(begins) - 1
    n_others = np.bincount(group[~is_nothing], minlength=int(begins.sum()))
    alone = is_nothing & (n_others[group] == 0)
    kept = ~is_nothing | alone
    other = np.int32(0 if nothing != 0 else 1)
    state, prob = np.where(alone, other, state), np.where(alone, 0.0, prob)
    previous = np.where(previous == nothing, np.int32(NONE), previous)
    return step[kept], previous[kept], state[kept], prob[kept]
