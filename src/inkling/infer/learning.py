"""Models learned from readings without known states: the Baum-Welch algorithm (expectation maximization)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from inkling.infer.estimates import smoothed_pass
from inkling.infer.functions import Options, grid_of, names_of
from inkling.infer.model import Floats, Model
from inkling.infer.readings import Readings, clock_of_readings, readings_of
from inkling.infer.settings import Grid, wrong_option
from inkling.infer.steps import NOT_HEARD, StepExtent, blocks
from inkling.io import Data, read_table
from inkling.kernels.inference.hidden_states import expected_counts


@dataclass(frozen=True, slots=True)
class Learned:
    """A model, and the log-likelihood of the readings before each round and after the last."""

    model: Model
    log_likelihood: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """Expected counts given all readings: the result of the expectation step."""

    began: Floats  # [state]: first steps of keys
    moved: Floats  # [move]
    reported: Floats  # [outcome, state]
    held: Floats  # [state]: steps spent in it
    log_likelihood: float


def learn(
    readings: Data,
    model: Model,
    *,
    rounds: int = 20,
    least_gain: float = 1e-6,
    movement: bool = True,
    readers: bool = True,
    prior: bool = False,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[Options],
) -> Learned:
    """A model with a higher likelihood of the readings than the given model, from which learning starts.

    Moves and outcomes of probability 0 keep it. Learning stops early when a round gains less than `least_gain` in
    log-likelihood per step.

    Parameters
    ----------
    movement, readers, prior
        Which parts of the model are learned; the others do not change.
    """
    if rounds < 1:
        raise wrong_option(f"expected at least one round, found {rounds}")
    names = names_of(options)
    table = read_table(readings, what="readings")
    clock = clock_of_readings(table, names)
    grid = grid_of(clock, options)
    rows = readings_of(table, model, names, clock)
    n_steps = max(1, int(StepExtent.of(rows, grid).lengths.sum()))
    likelihoods = []
    for done in range(rounds):
        counts = count(rows, grid, model)
        likelihoods.append(counts.log_likelihood)
        if len(likelihoods) > 1 and likelihoods[-1] - likelihoods[-2] < least_gain * n_steps:
            return Learned(model, tuple(likelihoods))
        model = improved(model, counts, movement=movement, readers=readers, prior=prior)
        if progress is not None:
            progress(done + 1, rounds)
    return Learned(model, (*likelihoods, count(rows, grid, model).log_likelihood))


def count(readings: Readings, grid: Grid, model: Model) -> Counts:
    """The expectation step: a forward and a backward pass over all keys."""
    n_states = len(model.states)
    began, moved = np.zeros(n_states), np.zeros(len(model.moves.target))
    reported, all_held, log_likelihood = np.zeros(model.chance.shape), np.zeros(n_states), 0.0
    for steps in blocks(readings, StepExtent.of(readings, grid), grid, model):
        passed = smoothed_pass(model, steps, grid)
        held = np.zeros_like(steps.seen.likelihood)
        expected_counts(steps.seen, model.moves, passed.belief, passed.ahead, moved, held, began)
        reported += reports(held, steps.heard, len(model.outcomes))
        all_held += held.sum(axis=0)
        log_likelihood += float(np.log(passed.totals).sum())
    return Counts(began, moved, reported, all_held, log_likelihood)


def reports(held: Floats, heard: NDArray[np.int32], n_outcomes: int) -> Floats:
    """[outcome, state]: expected reports, from the expected steps of each observation in each state."""
    out = np.zeros((n_outcomes, held.shape[1]), held.dtype)
    for reader in range(heard.shape[1]):
        some = heard[:, reader] != NOT_HEARD
        np.add.at(out, heard[some, reader], held[some])
    return out


def improved(model: Model, counts: Counts, *, movement: bool, readers: bool, prior: bool) -> Model:
    """The maximization step; states without expected steps keep their distributions."""
    better = model
    if movement:
        source = np.repeat(np.arange(len(model.states)), np.diff(model.moves.offsets))
        totals = np.zeros(len(model.states), counts.moved.dtype)
        np.add.at(totals, source, counts.moved)
        left = totals[source]
        chance = np.where(left > 0, counts.moved / np.where(left > 0, left, 1), model.moves.chance)
        better = replace(better, moves=model.moves._replace(chance=chance))
    if readers:
        some = counts.held > 0
        chance = np.where(some, counts.reported / np.where(some, counts.held, 1), model.chance)
        better = replace(better, chance=chance)
    if prior and counts.began.sum() > 0:
        better = replace(better, prior=counts.began / counts.began.sum())
    return better
