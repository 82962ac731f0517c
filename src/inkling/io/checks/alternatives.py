"""Alternatives of one event: probabilities that leave room for each other, and a value once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.checks.chains import Chains, Unfollowed
from inkling.io.checks.findings import Finding, Mask, Verdicts, counted, number_words, split, value_words
from inkling.io.checks.steps import NOTHING, Steps
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ProbableValue
from inkling.model.value_worlds import value_columns
from inkling.model.weights import TOLERANCE

NEARLY = float(TOLERANCE)


def checked_alternatives(schema: StreamSchema, doubt: ProbableValue, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Events whose alternatives make up a distribution; with GIVEN, chains of them as far as they are sound."""
    if not len(rows):
        return rows, NO_REJECTS
    written = rows[doubt.probability].cast(pa.float64()).to_numpy()
    steps = Steps.of(schema, doubt, rows)
    about = _Alternatives(schema, doubt, rows, steps, written, np.clip(np.nan_to_num(written), 0.0, 1.0))
    findings = about.findings()
    if doubt.given:
        chains = Chains.of(steps)
        findings.append(about.unfollowed(chains, Verdicts.of(steps.n_steps, findings).guilty))
        verdicts = Verdicts.of(steps.n_steps, findings)
        cause = chains.spread(verdicts.guilty)
    else:
        verdicts = Verdicts.of(steps.n_steps, findings)
        cause = np.where(verdicts.guilty, np.arange(steps.n_steps), -1)

    @cache
    def said(step: int) -> tuple[Reason, str]:
        reason, detail = verdicts.said(step)
        return reason, f"at time {steps.time[step]}, {detail}" if doubt.given else detail

    of_row = cause[steps.step]
    good, rejects = split(schema, rows, of_row >= 0, lambda place: said(int(of_row[place])))
    return _clipped(good, doubt.probability), rejects


def _clipped(rows: pa.Table, name: str) -> pa.Table:
    """Probabilities in [0, 1]; the column as it is where they are."""
    chances = rows[name].to_numpy()
    if not ((chances < 0) | (chances > 1)).any():
        return rows
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), pa.array(np.clip(chances, 0, 1)))


@dataclass(frozen=True, slots=True)
class _Alternatives:
    schema: StreamSchema
    doubt: ProbableValue
    rows: pa.Table
    steps: Steps
    written: NDArray[np.float64]
    chances: NDArray[np.float64]

    def findings(self) -> list[Finding]:
        """Faults that a step has on its own."""
        steps, probability = self.steps, self.doubt.probability
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
        """Steps that do not say what follows a state in which the KEY may have been."""
        found = chains.unfollowed(self.chances, guilty)
        mask = np.zeros(self.steps.n_steps, bool)
        mask[list(found)] = True

        def detail(step: int) -> str:
            return f"no row says what follows {self._state(found[step])}"

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
        names = [name for name in value_columns(self.doubt, self.schema) if name in self.rows.column_names]
        values = [self.rows[name][row].as_py() for name in names]
        return f"the value {value_words(values)}" if values else "the event"

    def _after(self, row: int) -> str:
        if self.steps.given[row] == NOTHING:
            return ""
        return f" after {value_words([self.rows[name][row].as_py() for name in self.doubt.given])}"
