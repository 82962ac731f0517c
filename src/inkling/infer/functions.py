"""The public functions of inference: each takes readings and a model, and returns rows of a stream."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

import pyarrow as pa

from inkling.infer.estimates import EstimateKind, InferenceTask
from inkling.infer.model import Model
from inkling.infer.readings import clock_of_readings, readings_of
from inkling.infer.settings import Grid, Length, Moment, Names, require_particles, require_share
from inkling.infer.steps import StepExtent, blocks, times_of
from inkling.io import Data, read_table
from inkling.model.time import Clock

Rows: TypeAlias = Any
"""An Arrow table, or a Spark DataFrame if the readings are one."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished keys and the number of all keys."""


class Options(TypedDict, total=False):
    """The names of columns, and the division of time into steps; all options have defaults.

    `key`, `time`, `reader` and `value` name columns of the readings (by default `key`, `t`, `reader`, `value`), `state`
    the column of states in the result. A step lasts `every` (1 tick). The steps of a key go from `start` (its first
    reading) to `stop` (its last reading); readings outside are ignored.
    """

    key: str | Sequence[str]
    time: str
    reader: str
    value: str
    state: str
    every: Length
    start: Moment | None
    stop: Moment | None


def filtered(readings: Data, model: Model, *, prune: float = 0.0, **options: Unpack[Options]) -> Rows:
    """The distribution of each key over states at each step, given the readings up to it: rows for `PROBABILITY p`.

    With `prune`, the smallest probabilities of each step, at most this much in total, are moved to "no event". The
    column `left_out` bounds how much that changes the probability of any result about the key.

    Examples
    --------
    >>> movement = [{"previous": a, "state": b, "p": 0.5} for a in "OH" for b in "OH"]
    >>> model = Model.of(movement, [{"reader": "r", "state": "H", "p": 0.5}])
    >>> filtered([{"key": "joe", "t": 1, "reader": "r"}], model).to_pylist()
    [{'key': 'joe', 't': 1, 'state': 'H', 'p': 1.0}]
    """
    require_share(prune)
    return _answered(readings, InferenceTask(model, EstimateKind.FILTERED, names_of(options), prune), options)


def smoothed(readings: Data, model: Model, *, prune: float = 0.0, **options: Unpack[Options]) -> Rows:
    """The moves of each key from step to step, given all readings: rows for `PROBABILITY p GIVEN previous`.

    The first step of a key has rows without `previous`. With `prune`, the least likely moves of each step, at most this
    probable in total, go to the other moves from the same state; `left_out` is as for `filtered`.
    """
    require_share(prune)
    return _answered(readings, InferenceTask(model, EstimateKind.SMOOTHED, names_of(options), prune), options)


def viterbi(readings: Data, model: Model, **options: Unpack[Options]) -> Rows:
    """The most probable path of each key (Viterbi algorithm)."""
    return _answered(readings, InferenceTask(model, EstimateKind.PATH, names_of(options)), options)


def mle(readings: Data, model: Model, **options: Unpack[Options]) -> Rows:
    """The most probable state at each step, given the readings up to it; ties with `nothing` go to the other state."""
    return _answered(readings, InferenceTask(model, EstimateKind.LIKELIEST, names_of(options)), options)


def particles(
    readings: Data, model: Model, *, n: int = 1000, seed: int = 0, prune: float = 0.0, **options: Unpack[Options]
) -> Rows:
    """The estimate of `filtered` by n particles per key; it depends on the seed, not on the workers that compute it."""
    require_share(prune)
    require_particles(n, seed)
    question = InferenceTask(model, EstimateKind.PARTICLES, names_of(options), prune, n, seed)
    return _answered(readings, question, options)


def _answered(readings: Data, question: InferenceTask, options: Options) -> Rows:
    if type(readings).__module__.startswith("pyspark."):
        from inkling.infer.on_spark import answered_on_spark

        return answered_on_spark(readings, question, options)
    return answered(read_table(readings, what="readings"), question, options)


def answered(table: pa.Table, question: InferenceTask, options: Options, progress: Progress | None = None) -> pa.Table:
    """The estimates for all keys, computed in this process, some keys at a time."""
    clock = clock_of_readings(table, question.names)
    grid = grid_of(clock, options)
    readings = readings_of(table, question.model, question.names, clock)
    found = []
    n_done = 0
    for steps in blocks(readings, StepExtent.of(readings, grid), grid, question.model):
        found.append(question.answer(steps, grid))
        n_done += len(steps.names)
        if progress is not None:
            progress(n_done, len(readings))
    return pa.concat_tables(
        [question.schema(readings.names.schema, times_of(readings.time[:0], grid).type).empty_table(), *found]
    )


def grid_of(clock: Clock, options: Options) -> Grid:
    return Grid.of(clock, options.get("every", 1), options.get("start"), options.get("stop"))


def names_of(options: Options) -> Names:
    unknown = sorted(set(options) - Options.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"unexpected keyword argument {unknown[0]!r}, expected one of {', '.join(Options.__annotations__)}"
        )
    key = options.get("key", "key")
    return Names(
        (key,) if isinstance(key, str) else tuple(key),
        options.get("time", "t"),
        options.get("reader", "reader"),
        options.get("value", "value"),
        options.get("state", "state"),
    )
