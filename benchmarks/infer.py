"""Probable streams from readings: the compiled passes beside NumPy, and how they grow with keys, time and states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from inkling.examples.building import corridor

from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from inkling import infer
from inkling.infer.estimates import EstimateKind, InferenceTask, forward_pass, smoothed_pass
from inkling.infer.model import Model
from inkling.infer.readings import readings_of
from inkling.infer.settings import Grid, Names
from inkling.infer.steps import StepExtent, TimeSteps, blocks
from inkling.model.time import Clock

NAME = "inference"
SECONDS = 900
PARTICLES = 200
GRID = Grid(Clock.TICKS, 1, 1, SECONDS)
NAMES = Names(("person",))
LEAST_FORWARD, LEAST_BOTH, LEAST_ROWS, LEAST_PARTICLES = 20e6, 10e6, 1e6, 5e6
MOST_GROWTH = 1.35


def run(people: int, repeats: int, seed: int) -> Iterator[Row]:
    model = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    readings = corridor.walk(people=people, seed=seed).readings
    steps = steps_of(readings, model)
    n = sum(len(one) for one in steps)
    data = f"{quantity(people)} people, {SECONDS} steps each, {len(model.states)} states"
    yield _passes(model, steps, n, data, repeats)
    yield _rows(model, readings, n, data, repeats)
    yield _particles(model, steps, n, data, repeats)
    yield from _growth(people, repeats, seed)


def steps_of(readings: pa.Table, model: Model) -> list[TimeSteps]:
    rows = readings_of(readings, model, NAMES, Clock.TICKS)
    return list(blocks(rows, StepExtent.of(rows, GRID), GRID, model))


def _passes(model: Model, steps: list[TimeSteps], n: int, data: str, repeats: int) -> Row:
    dense = np.zeros((len(model.states), len(model.states)))
    source = np.repeat(np.arange(len(model.states)), np.diff(model.moves.offsets))
    dense[source, model.moves.target] = model.moves.chance

    def one_way() -> float:
        return sum(float(np.log(forward_pass(model, one, GRID).totals).sum()) for one in steps)

    def in_numpy() -> float:
        """All keys of a block at once, a step at a time."""
        told = 0.0
        for one in steps:
            likelihood = one.seen.likelihood[one.seen.code].reshape(len(one.names), SECONDS, -1)
            belief = np.broadcast_to(model.prior, likelihood[:, 0].shape)
            kept = np.empty_like(likelihood)
            for step in range(SECONDS):
                joint = (belief if step == 0 else belief @ dense) * likelihood[:, step]
                totals = joint.sum(axis=1, keepdims=True)
                kept[:, step] = belief = joint / totals
                told += float(np.log(totals).sum())
        return told

    one_way()
    ours, numpy_ = best_of(repeats, one_way, in_numpy)
    assert abs(ours.answer - numpy_.answer) < 1e-6 * abs(numpy_.answer)
    cells = n * len(model.states)
    return Row(
        "filter: forward pass",
        data,
        ours.seconds,
        ours.cpu_seconds,
        n,
        f"{quantity(cells)} probabilities",
        (Baseline.of("NumPy, all keys of a step at once", numpy_),),
        (Goal("steps × states/s", cells / ours.seconds, least=LEAST_FORWARD),),
    )


def _rows(model: Model, readings: pa.Table, n: int, data: str, repeats: int) -> Row:
    def smoothed() -> int:
        return len(infer.smoothed(readings, model, key="person"))

    smoothed()
    (ours,) = best_of(repeats, smoothed)
    return Row(
        "smooth: from readings to rows with `previous`",
        data,
        ours.seconds,
        ours.cpu_seconds,
        n,
        f"{quantity(ours.answer)} rows",
        (),
        (Goal("rows/s", ours.answer / ours.seconds, least=LEAST_ROWS),),
    )


def _particles(model: Model, steps: list[TimeSteps], n: int, data: str, repeats: int) -> Row:
    question = InferenceTask(model, EstimateKind.PARTICLES, NAMES, n_particles=PARTICLES)

    def followed() -> int:
        return sum(len(question.answer(one, GRID)) for one in steps)

    followed()
    (ours,) = best_of(repeats, followed)
    return Row(
        f"particles: {PARTICLES} per key",
        data,
        ours.seconds,
        ours.cpu_seconds,
        n,
        f"{quantity(ours.answer)} rows",
        (),
        (Goal("particle steps/s", n * PARTICLES / ours.seconds, least=LEAST_PARTICLES),),
    )


def _growth(people: int, repeats: int, seed: int) -> Iterator[Row]:
    """Twice the keys, and twice the states with as many moves each, take twice the time."""
    few, many = people // 2, people
    model = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    sizes = {}
    for n in (few, many):
        steps = steps_of(corridor.walk(people=n, seed=seed).readings, model)
        sizes[f"{n} keys"] = (model, steps)
    for n_states in (50, 100):
        ring = ring_model(n_states)
        sizes[f"{n_states} states"] = (ring, steps_of(_stray(people // 4, seed), ring))
    times = {}
    for name, (one, steps) in sizes.items():

        def both(one: Model = one, steps: list[TimeSteps] = steps) -> int:
            return sum(len(smoothed_pass(one, part, GRID).belief) for part in steps)

        both()
        (times[name],) = best_of(repeats, both)
    (keys, more_keys), (states, more_states) = (list(times)[:2], list(times)[2:])
    for small, large in ((keys, more_keys), (states, more_states)):
        ratio = times[large].seconds / times[small].seconds / 2
        cells = times[large].answer * len(sizes[large][0].states)
        yield Row(
            f"both passes: {small} to {large}",
            f"{SECONDS} steps per key",
            times[large].seconds,
            times[large].cpu_seconds,
            times[large].answer,
            "smoothed marginals",
            (),
            (
                Goal("growth over proportion", ratio, most=MOST_GROWTH),
                Goal("steps × states/s", cells / times[large].seconds, least=LEAST_BOTH),
            ),
        )


def ring_model(n_states: int) -> Model:
    """Places in a ring, four ways on from each, a reader everywhere."""
    names = [f"s{number:03}" for number in range(n_states)]
    movement = [
        {"previous": names[at], "state": names[(at + by) % n_states], "p": p}
        for at in range(n_states)
        for by, p in ((0, 0.4), (1, 0.3), (-1 % n_states, 0.2), (2, 0.1))
    ]
    return Model.of(movement, [{"reader": "A1", "state": name, "p": 0.01 + 0.5 * (name < "s010")} for name in names])


def _stray(people: int, seed: int) -> pa.Table:
    rows = corridor.walk(people=people, seed=seed).readings
    readers = [None if name != "A1" else name for name in rows["reader"].to_pylist()]
    return rows.set_column(2, "reader", pa.array(readers, pa.string()))
