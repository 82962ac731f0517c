"""Answers of queries: per grounding and time, the probability that the query is true (Lahar, section 2.3, `q@t`).

Engines return `Answers`. With what results show, they become a table: the values of head and RETURN, and the columns
below, whose names begin with `@`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.query.probable_events import Numbers
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import ROW, ColumnOf, Expr, KeyColumn, rebuilt
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.runs import changes

GROUNDING, HEAD, END, KNOWN, START = "@grounding", "@head", "@end", "@known", "@start"
CHANCE, ERROR, LAST = "@chance", "@error", "@last"
"""Columns of answers: the grounding, the identity of the result, its times, probability and error, the id of the last
event."""

BEFORE = np.int64(-(2**62))
"""A time before all times."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers per grounding and time; impossible ones are left out."""

    grounding: Hashes
    time: Ints  # t, when a match ends
    chance: Numbers  # P[q@t]
    start: Ints  # the earliest start of a match that ends at t
    error: NDArray[np.float64]  # the most by which a sampled or truncated probability may be wrong
    known: Ints | None = None  # the time by which the answer is known in all worlds; None: t
    weight: Numbers | None = None  # marginal probability of each row of the block; None: the probability in the row

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def exactly(cls, grounding: Hashes, time: Ints, chance: Numbers, start: Ints | None = None) -> Answers:
        return cls(grounding, time, chance, time if start is None else start, np.zeros(len(time)))


def joined(parts: Sequence[Answers]) -> Answers:
    """Answers of different groundings or times, in one."""

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    return Answers(column("grounding"), column("time"), column("chance"), column("start"), column("error"))


def ever(answers: Answers) -> Answers:
    """Per grounding, from probabilities that the first match ends at t: the probability that any match ends."""
    order = np.lexsort((answers.time, answers.grounding))
    grounding, time = answers.grounding[order], answers.time[order]
    first = np.flatnonzero(changes(grounding))
    if not len(first):
        return answers
    last = np.append(first[1:], len(grounding)) - 1
    return Answers(
        grounding[first],
        time[last],
        np.add.reduceat(answers.chance[order], first),
        np.minimum.reduceat(answers.start[order], first),
        np.maximum.reduceat(answers.error[order], first),
        last_time(time, answers.chance[order], first),
        answers.weight,
    )


def last_time(time: Ints, chance: Numbers, first: Ints) -> Ints:
    """Of each stretch from one place in `first` to the next, the last time with a positive probability, or BEFORE."""
    return np.maximum.reduceat(np.where(chance > 0, time, BEFORE), first)


def answer_table(
    shown: Mapping[str, pa.Array],
    last: pa.ChunkedArray,
    *,
    grounding: Hashes,
    head: Hashes,
    end: Ints,
    known: Ints,
    start: Ints,
    chance: Numbers | pa.Array,
    error: Numbers | pa.Array,
) -> pa.Table:
    """Answers as a table: what results show, and the columns of this module."""
    columns = {GROUNDING: grounding, HEAD: head.view(np.int64), END: end, KNOWN: known, START: start, ERROR: error}
    chances = chance.astype(np.float64) if isinstance(chance, np.ndarray) else chance
    return pa.table({**shown, **{name: pa.array(one) for name, one in columns.items()}, CHANCE: chances, LAST: last})


def shown(expr: Expr, rows: pa.Table, context: ExpressionContext) -> pa.Array:
    """The value of an output of a result, read from the row of its last event."""

    def on_row(part: Expr) -> Expr:
        if isinstance(part, KeyColumn):
            return ColumnOf(ROW, part.column, part.type)
        return rebuilt(part, on_row)

    def resolve(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnOf)
        return rows[part.column].combine_chunks()

    return evaluate(on_row(expr), resolve, len(rows), context).cast(ARROW_TYPES[expr.type])
