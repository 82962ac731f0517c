"""Filtered marginals of a stream of readings, step by step; memory grows with the number of keys, not with time."""

import json
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.infer.estimates import EstimateKind, InferenceTask, forward_pass
from inkling.infer.functions import Options, grid_of, names_of
from inkling.infer.model import Floats, Model
from inkling.infer.readings import NOTHING_READ, Readings, clock_of_readings, in_order, readings_of
from inkling.infer.settings import Grid, Moment, require_share, step_of, wrong_option
from inkling.infer.steps import StepExtent, blocks, key_text, time_text, times_of
from inkling.io import Data, read_table
from inkling.model.time import Clock
from inkling.stored import Stored, opened, readable, sealed

BELIEF, ERROR = "@belief", "@error"
_ABOUT = b"inkling"


@dataclass(frozen=True, slots=True)
class _State:
    """The filtered marginals of every key after step `at`."""

    grid: Grid
    at: int
    names: pa.Table
    belief: Floats  # [key, state]
    error: Floats  # [key]


class Filter:
    """Rows of `filtered` as readings are pushed; each push must have all readings of the steps that it completes.

    A key starts with its first reading (with the option `start`, there) and has a row at every later step.

    Examples
    --------
    >>> movement = [{"previous": a, "state": b, "p": 0.5} for a in "OH" for b in "OH"]
    >>> live = Filter(Model.of(movement, [{"reader": "r", "state": "H", "p": 0.5}]))
    >>> live.push([{"key": "joe", "t": 1, "reader": "r"}])["p"].to_pylist()
    [1.0]
    >>> [round(p, 3) for p in live.push([], until=2)["p"].to_pylist()]
    [0.667, 0.333]
    """

    def __init__(self, model: Model, *, prune: float = 0.0, **options: Unpack[Options]) -> None:
        require_share(prune)
        if options.get("stop") is not None:
            raise wrong_option("a live filter has no `stop`")
        self._question = InferenceTask(model, EstimateKind.FILTERED, names_of(options), prune)
        self._options = options
        self._state: _State | None = None

    @property
    def model(self) -> Model:
        return self._question.model

    def push(self, readings: Data, *, until: Moment | None = None) -> pa.Table:
        """The marginals at each newly completed step: up to the step of `until`, or of the latest reading.

        With `prune`, `left_out` covers all steps of the key so far.
        """
        table = read_table(readings, what="readings")
        state, question = self._state, self._question
        if not len(table) and (state is None or until is None):
            return pa.table({}) if state is None else self._none(state)
        if len(table):
            clock = clock_of_readings(table, question.names) if state is None else state.grid.clock
            grid = grid_of(clock, self._options) if state is None else state.grid
            rows = readings_of(table, question.model, question.names, clock)
        else:
            assert state is not None
            grid, rows = state.grid, _no_readings(state)
        if grid.first is not None:
            rows = _from_step(rows, grid.first, grid)
        number = rows.time // grid.every
        last = int(number.max(initial=state.at if state else np.iinfo(np.int64).min))
        if until is not None:
            last = max(last, step_of(grid, until)) if not len(number) else step_of(grid, until)
        self._require_in_time(rows, number, last, grid)
        return self._advance(rows, grid, last)

    def _advance(self, rows: Readings, grid: Grid, last: int) -> pa.Table:
        """Advances all keys to step `last`; a known key continues with an empty reading at the first new step."""
        state, question = self._state, self._question
        n_known = 0 if state is None else len(state.names)
        if state is not None and last <= state.at:
            return self._none(state)
        both, place = rows, np.full(len(rows.time), NOTHING_READ, np.int64)
        if state is not None:
            times = np.full(n_known, (state.at + 1) * grid.every, np.int64)
            keyed = rows.names.take(pa.array(np.repeat(np.arange(len(rows)), np.diff(rows.keys))))
            together = pa.concat_tables([state.names, keyed.cast(state.names.schema)])
            outcomes = np.concatenate([np.full(n_known, NOTHING_READ, np.int32), rows.outcome])
            both = in_order(together, np.concatenate([times, rows.time]), outcomes)
            place = np.where(both.row < n_known, both.row, NOTHING_READ)
        known = np.maximum.reduceat(place, both.keys[:-1]) if len(both) else place
        going_on = known >= 0
        extent = StepExtent(StepExtent.of(both, grid).first, np.full(len(both), last))
        if grid.first is not None and state is not None:
            extent = StepExtent(np.where(going_on, state.at + 1, grid.first), extent.last)
        belief, error = np.zeros((len(both), len(question.model.states))), np.zeros(len(both))
        if state is not None:
            belief[going_on], error[going_on] = state.belief[known[going_on]], state.error[known[going_on]]
        found, begin = [], 0
        for steps in blocks(both, extent, grid, question.model):
            part = slice(begin, begin + len(steps.names))
            passed = forward_pass(question.model, steps, grid, belief[part], going_on[part])
            marginals, error[part] = question.marginals(steps, grid, passed.belief, error[part])
            found.append(marginals)
            belief[part] = passed.belief[steps.seen.keys[1:] - 1]
            begin += len(steps.names)
        self._state = _State(grid, last, both.names, belief, error)
        return pa.concat_tables(found) if found else self._none(self._state)

    def save(self) -> bytes:
        """The state as bytes, for `restore`."""
        if self._state is None:
            return b""
        state = self._state
        columns = dict(zip(state.names.column_names, state.names.columns, strict=True))
        columns[BELIEF] = pa.FixedSizeListArray.from_arrays(pa.array(state.belief.ravel()), state.belief.shape[1])
        columns[ERROR] = pa.array(state.error)
        about = {
            "model": self.model.fingerprint(),
            "prune": self._question.prune,
            "clock": state.grid.clock.value,
            "every": state.grid.every,
            "first": state.grid.first,
            "at": state.at,
        }
        table = pa.table(columns).replace_schema_metadata({_ABOUT: json.dumps(about)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sealed(sink.getvalue(), Stored.FILTER)

    def restore(self, saved: bytes) -> None:
        """Continues from the state saved by another filter with the same model and options."""
        if not saved:
            self._state = None
            return
        contents = opened(saved, Stored.FILTER)
        with readable(Stored.FILTER):
            table = pa.ipc.open_stream(pa.py_buffer(contents)).read_all()
            about = json.loads((table.schema.metadata or {})[_ABOUT])
        clock = Clock(about["clock"])
        grid = grid_of(clock, self._options)
        mine = {"model": self.model.fingerprint(), "prune": self._question.prune}
        mine |= {"every": grid.every, "first": grid.first}
        other = next((name for name, value in mine.items() if about[name] != value), None)
        if other is not None:
            message = "another model" if other == "model" else f"another `{other}`"
            raise InputError.of("INK0668", f"the filter was saved with {message}")
        belief = table[BELIEF].combine_chunks().flatten().to_numpy().reshape(len(table), -1).copy()
        error = table[ERROR].to_numpy().copy()
        names = table.drop_columns([BELIEF, ERROR]).replace_schema_metadata(None).combine_chunks()
        self._state = _State(grid, about["at"], names, belief, error)

    def _require_in_time(self, rows: Readings, number: NDArray[np.int64], last: int, grid: Grid) -> None:
        at = None if self._state is None else self._state.at
        late = number <= at if at is not None else np.zeros(len(number), bool)
        early = number > last
        if late.any() or early.any():
            place = int((late | early).argmax())
            who = key_text(rows.names, int(np.searchsorted(rows.keys, place, side="right")) - 1)
            when = time_text(int(number[place]), grid)
            done = time_text(at if late.any() and at is not None else last, grid)
            reason = f"steps up to {done} are done" if late.any() else f"steps after {done} are not complete"
            raise InputError.of(
                "INK0667",
                f"a reading of {who} in the step at {when} cannot be used: {reason}",
                helps=("push complete steps, in order",),
            )

    def _none(self, state: _State) -> pa.Table:
        time = times_of(np.zeros(0, np.int64), state.grid).type
        return self._question.schema(state.names.schema, time).empty_table()


def _from_step(rows: Readings, first: int, grid: Grid) -> Readings:
    """The readings from step `first` on."""
    counts = rows.time // grid.every >= first
    key = np.repeat(np.arange(len(rows)), np.diff(rows.keys))
    return in_order(rows.names.take(pa.array(key[counts])), rows.time[counts], rows.outcome[counts])


def _no_readings(state: _State) -> Readings:
    nothing = np.zeros(0, np.int64)
    return Readings(state.names.slice(0, 0), np.zeros(1, np.int64), nothing, nothing.astype(np.int32), nothing)
