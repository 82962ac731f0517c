"""Checks of probable streams: the alternatives of an event sum to at most 1, and no value occurs twice.

With GIVEN, rows must list the successors of every previous value that has a positive probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.checks.findings import Finding, Numbers, Verdicts, counted, number_words, numbered, split, value_words
from inkling.io.normalize import END, START
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.model.batch import Mask
from inkling.model.schema import StreamSchema, value_columns
from inkling.model.uncertainty import TOLERANCE, ProbableValue

NEARLY = float(TOLERANCE)


def checked_alternatives(schema: StreamSchema, uncertainty: ProbableValue, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects; with GIVEN, a chain is cut at its first faulty step."""
    if not len(rows):
        return rows, NO_REJECTS
    written = rows[uncertainty.probability].cast(pa.float64()).to_numpy()
    steps = AlternativeSteps.of(schema, uncertainty, rows)
    about = _Alternatives(schema, uncertainty, rows, steps, written, np.clip(np.nan_to_num(written), 0.0, 1.0))
    findings = about.findings()
    if uncertainty.given:
        chains = Chains.of(steps)
        findings.append(about.unfollowed(chains, Verdicts.of(steps.n_steps, findings).guilty))
        verdicts = Verdicts.of(steps.n_steps, findings)
        cause = chains.spread(verdicts.guilty)
    else:
        verdicts = Verdicts.of(steps.n_steps, findings)
        cause = np.where(verdicts.guilty, np.arange(steps.n_steps), -1)

    @cache
    def fault(step: int) -> tuple[Reason, str]:
        reason, detail = verdicts.fault(step)
        return reason, f"at time {steps.time[step]}, {detail}" if uncertainty.given else detail

    of_row = cause[steps.step]
    good, rejects = split(schema, rows, of_row >= 0, lambda place: fault(int(of_row[place])))
    return _clipped(good, uncertainty.probability), rejects


def _clipped(rows: pa.Table, name: str) -> pa.Table:
    """The rows with probabilities clipped to [0, 1]; `NEARLY` is tolerated outside."""
    chances = rows[name].to_numpy()
    if not ((chances < 0) | (chances > 1)).any():
        return rows
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), pa.array(np.clip(chances, 0, 1)))


@dataclass(frozen=True, slots=True)
class _Alternatives:
    schema: StreamSchema
    uncertainty: ProbableValue
    rows: pa.Table
    steps: AlternativeSteps
    written: NDArray[np.float64]
    chances: NDArray[np.float64]

    def findings(self) -> list[Finding]:
        """The faults of single steps."""
        steps, probability = self.steps, self.uncertainty.probability
        is_null = np.isnan(self.written)
        is_outside = (self.written < -NEARLY) | (self.written > 1 + NEARLY)
        is_repeated = (np.bincount(steps.alternative) > 1) & (np.bincount(steps.alternative, self.chances) > 0)
        sums = np.bincount(steps.source, self.chances).astype(np.float64)
        is_too_much = (sums > 1 + NEARLY)[steps.source]
        unconditional = is_too_much & (steps.given == NOTHING)
        conditional = is_too_much & (steps.given != NOTHING)

        def missing(step: int) -> str:
            rows = self.steps.members(step)
            return f"`{probability}` is missing in {is_null[rows].sum()} of {counted(len(rows), 'alternative')}"

        def outside(step: int) -> str:
            rows = self.steps.members(step)
            wrong = number_words(self.written[rows][is_outside[rows]][0])
            return f"`{probability}` is {wrong} in one of {counted(len(rows), 'alternative')}, expected 0 to 1"

        def repeated(step: int) -> str:
            rows = self.steps.members(step)
            row = int(rows[is_repeated[steps.alternative[rows]]][0])
            n_times = int((steps.alternative[rows] == steps.alternative[row]).sum())
            return f"{self._value(row)} is given {n_times} times{self._after(row)}"

        return [
            Finding(Reason.NULL_PROBABILITY, steps.per_step(is_null), missing),
            Finding(Reason.BAD_PROBABILITY, steps.per_step(is_outside), outside),
            Finding(Reason.DUPLICATE_VALUE, steps.per_step(is_repeated[steps.alternative]), repeated),
            Finding(Reason.PROBABILITY_SUM, steps.per_step(unconditional), self._sum(unconditional, sums)),
            Finding(Reason.CPT_ROW_SUM, steps.per_step(conditional), self._sum(conditional, sums)),
        ]

    def unfollowed(self, chains: Chains, guilty: Mask) -> Finding:
        """Steps without rows for a state that the KEY may have had before."""
        found = chains.unfollowed(self.chances, guilty)
        mask = np.zeros(self.steps.n_steps, bool)
        mask[list(found)] = True

        def detail(step: int) -> str:
            return f"no row has the probabilities after {self._state(found[step])}"

        return Finding(Reason.CPT_ROW_MISSING, mask, detail)

    def _sum(self, is_too_much: Mask, sums: NDArray[np.float64]) -> Callable[[int], str]:
        def detail(step: int) -> str:
            rows = self.steps.members(step)
            row = int(rows[is_too_much[rows]][0])
            n_alternatives = int((self.steps.source[rows] == self.steps.source[row]).sum())
            total = number_words(sums[self.steps.source[row]])
            return f"probabilities of {counted(n_alternatives, 'alternative')}{self._after(row)} sum to {total}"

        return detail

    def _state(self, missing: Unfollowed) -> str:
        mass = f"which has probability {number_words(missing.mass)}"
        if missing.state == NOTHING:
            return f"no event, {mass}"
        return f"{self._value(int(np.argmax(self.steps.value == missing.state)))}, {mass}"

    def _value(self, row: int) -> str:
        names = [name for name in value_columns(self.uncertainty, self.schema) if name in self.rows.column_names]
        values = [self.rows[name][row].as_py() for name in names]
        return f"the value {value_words(values)}" if values else "the event"

    def _after(self, row: int) -> str:
        if self.steps.given[row] == NOTHING:
            return ""
        return f" after {value_words([self.rows[name][row].as_py() for name in self.uncertainty.given])}"


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """A previous state for which a step has no rows, and its probability."""

    state: int
    mass: float


@dataclass(frozen=True, slots=True)
class Chains:
    """The division of steps into chains; a chain starts with a KEY, or at a step without previous values."""

    steps: AlternativeSteps
    is_anew: NDArray[np.bool_]
    starts: NDArray[np.bool_]

    @classmethod
    def of(cls, steps: AlternativeSteps) -> Chains:
        is_anew = ~steps.per_step(steps.given != NOTHING)
        return cls(steps, is_anew, steps.starts_key | is_anew)

    @property
    def chain(self) -> Numbers:
        """Number of the chain of each step."""
        return np.cumsum(self.starts) - 1

    def spread(self, guilty: NDArray[np.bool_]) -> Numbers:
        """Per step the first guilty step of its chain up to it, or -1; from there on, the chain is rejected."""
        places = np.arange(len(guilty))
        found = np.where(guilty, places, len(guilty))
        first = np.minimum.reduceat(found, np.flatnonzero(self.starts))[self.chain]
        return np.where(first <= places, first, -1)

    def unfollowed(self, chances: NDArray[np.float64], guilty: NDArray[np.bool_]) -> dict[int, Unfollowed]:
        """The first step of each chain that lacks rows for a previous state, unless an earlier step is guilty."""
        begins = np.append(np.flatnonzero(self.starts), self.steps.n_steps)
        walks = (
            self._walk(range(begins[chain], begins[chain + 1]), chances, guilty) for chain in self._suspects(chances)
        )
        return dict(found for found in walks if found is not None)

    def _suspects(self, chances: NDArray[np.float64]) -> Numbers:
        """Chains in which some state has no rows at the next step, even if its probability is 0: a fast prefilter."""
        steps = self.steps
        sums = np.bincount(steps.source, chances, minlength=1)
        continues = np.append(~self.starts[1:], False)
        places = int(max(steps.value.max(initial=0), steps.given.max(initial=0))) + 2

        def pairs(step: Numbers, state: Numbers | int) -> Numbers:
            return np.asarray(step * places + state + 1, np.int64)

        possible = (chances > 0) & continues[steps.step]
        leaves_some = (sums[steps.source] < 1 - NEARLY) & continues[steps.step]
        wanted = np.concatenate(
            [
                pairs(steps.step[possible] + 1, steps.value[possible]),
                pairs(steps.step[leaves_some] + 1, NOTHING),
                pairs(np.flatnonzero(steps.starts_key & ~self.is_anew), NOTHING),
            ]
        )
        missing = np.unique(wanted[~np.isin(wanted, pairs(steps.step, steps.given))])
        return np.unique(self.chain[missing // places])

    def _walk(
        self, chain: range, chances: NDArray[np.float64], guilty: NDArray[np.bool_]
    ) -> tuple[int, Unfollowed] | None:
        """Propagates probabilities of states along a chain, to the first step without rows for a possible state."""
        steps = self.steps
        masses = {NOTHING: 1.0}
        for step in chain:
            if guilty[step]:
                return None
            rows = steps.members(step)
            followers: dict[int, list[tuple[int, float]]] = {}
            for given, value, chance in zip(
                steps.given[rows].tolist(), steps.value[rows].tolist(), chances[rows].tolist(), strict=True
            ):
                followers.setdefault(given, []).append((value, chance))
            if not self.is_anew[step]:
                for state, mass in masses.items():
                    if mass > NEARLY and state not in followers:
                        return step, Unfollowed(state, mass)
            masses = _moved(masses, followers)
        return None


def _moved(masses: dict[int, float], followers: dict[int, list[tuple[int, float]]]) -> dict[int, float]:
    after: dict[int, float] = {}
    for state, mass in masses.items():
        moves = followers.get(state, [])
        total = sum(chance for _, chance in moves)
        is_full = total >= 1 - NEARLY
        for value, chance in moves:
            after[value] = after.get(value, 0.0) + mass * (chance / total if is_full else chance)
        if not is_full:
            after[NOTHING] = after.get(NOTHING, 0.0) + mass * (1 - total)
    return after


NOTHING = -1
"""The state of a KEY that has no event."""


@dataclass(frozen=True, slots=True)
class AlternativeSteps:
    """Rows grouped by step, which is a key and a time; steps are sorted by both.

    `value` and `given` number the states after and before a row. A source is a step and a previous state, an
    alternative a source and a value.
    """

    step: Numbers
    value: Numbers
    given: Numbers
    source: Numbers
    alternative: Numbers
    time: Numbers
    starts_key: NDArray[np.bool_]
    order: Numbers
    offsets: Numbers

    @property
    def n_steps(self) -> int:
        return len(self.time)

    def members(self, step: int) -> Numbers:
        """The positions of the rows of a step in the table."""
        return self.order[self.offsets[step] : self.offsets[step + 1]]

    def per_step(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[step]: whether one of its rows is set."""
        return np.bincount(self.step[rows], minlength=self.n_steps) > 0

    @classmethod
    def of(cls, schema: StreamSchema, uncertainty: ProbableValue, rows: pa.Table) -> AlternativeSteps:
        n_rows = len(rows)
        key = numbered([rows[name] for name in schema.key], n_rows)
        time = rows[START].to_numpy()
        order = _by_key_and_time(key, time)
        starts_key = np.diff(key[order], prepend=-1) != 0
        is_first = starts_key | (np.diff(time[order], prepend=time[order][:1]) != 0)
        step = np.empty(n_rows, np.int64)
        step[order] = np.cumsum(is_first) - 1
        values = [name for name in value_columns(uncertainty, schema) if name in rows.column_names]
        value, given = _states(rows, values, uncertainty.given)
        source = numbered([step, given], n_rows) if uncertainty.given else step
        ends = [rows[END]] if schema.is_interval else []
        alternative = numbered([source, *(rows[name] for name in values), *ends], n_rows)
        offsets = np.append(np.flatnonzero(is_first), n_rows)
        first = offsets[:-1]
        return cls(
            step,
            value,
            given,
            source,
            alternative,
            time[order][first],
            starts_key[first],
            order.astype(np.int64),
            offsets,
        )


def _by_key_and_time(key: Numbers, time: Numbers) -> Numbers:
    """The places of the rows by key and time; files usually have this order."""
    more, later = np.diff(key), np.diff(time)
    if ((more > 0) | ((more == 0) & (later >= 0))).all():
        return np.arange(len(key))
    return np.lexsort((time, key))


def _states(rows: pa.Table, values: list[str], given: tuple[str, ...]) -> tuple[Numbers, Numbers]:
    """The states after and before each row, in one numbering."""
    n_rows = len(rows)
    if not given:
        return np.zeros(n_rows, np.int64), np.full(n_rows, NOTHING)
    both = [
        pa.chunked_array([*rows[value].chunks, *rows[before].cast(rows[value].type).chunks], rows[value].type)
        for value, before in zip(values, given, strict=False)
    ]
    states = numbered(both, 2 * n_rows)
    nothing = np.logical_and.reduce([rows[before].is_null().to_numpy() for before in given])
    return states[:n_rows], np.where(nothing, NOTHING, states[n_rows:])
