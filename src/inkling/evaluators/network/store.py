"""The columns of a batch as arrays of doubles and codes, for conditions across events.

Doubles hold integers of at most 53 bits exactly. Larger integers are compared by halves of 32 bits: a comparison of
sums of integers asks for the sign of their difference, whose halves are exact in doubles, and the rounded sum of both
halves still has the right sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.logical import expr as e
from inkling.logical.evaluate import Row
from inkling.model.batch import EventBatch, Ints, Mask
from inkling.model.time import Duration
from inkling.model.types import Type

if TYPE_CHECKING:
    from inkling.evaluators.network.calls import Call

HIGH, LOW = "@high", "@low"
"""Suffixes of the columns with the upper and lower halves."""

LOWER_BITS = 32
UNIT = float(1 << LOWER_BITS)  # of the upper half
EXACT = 1 << 53
WHOLE = (Type.INTEGER, Type.TIME, Type.DURATION)

Reference = e.ColumnOf | e.ListColumn | e.TimeOf | e.IdOf
Term = tuple[int, Reference | int]
"""A sign, and a column or a constant."""


def needs_halves(whole: NDArray[np.int64]) -> bool:
    return bool(len(whole)) and not -EXACT <= int(whole.min()) <= int(whole.max()) <= EXACT


def halves_of(whole: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    return {HIGH: whole >> LOWER_BITS, LOW: whole & ((1 << LOWER_BITS) - 1)}


def half_of(number: int, half: str) -> float:
    return float(number >> LOWER_BITS if half == HIGH else number & ((1 << LOWER_BITS) - 1))


def difference(compared: e.Compare, unit: Callable[[Duration], int]) -> tuple[Term, ...] | None:
    """The terms of left minus right, if both are sums of integers; None otherwise."""
    left, right = _terms(compared.left, 1, unit), _terms(compared.right, -1, unit)
    return None if left is None or right is None else left + right


def _terms(expr: e.Expr, sign: int, unit: Callable[[Duration], int]) -> tuple[Term, ...] | None:
    match expr:
        case e.Literal(value=int(value), type=Type.INTEGER):
            return ((sign, value),)
        case e.SpanLiteral(span=span):
            return ((sign, unit(span)),)
        case e.ColumnOf() | e.ListColumn() | e.TimeOf() | e.IdOf():
            return ((sign, expr),) if expr.type in WHOLE else None
        case e.Negate(item=item):
            return _terms(item, -sign, unit)
        case e.Arithmetic(operator="+" | "-" as symbol, left=left, right=right):
            one = _terms(left, sign, unit)
            other = _terms(right, sign if symbol == "+" else -sign, unit)
            return None if one is None or other is None else one + other
        case _:
            return None


Doubles = NDArray[np.float64]

START, END, ID, EVENT = "@start", "@end", "@id", "@event"
"""Pseudo columns: the row's own interval and id, and the number of its event in the batch."""


@dataclass(slots=True)
class Store:
    """A batch plus the encodings of the columns that conditions across events compare.

    Strings share one sorted dictionary, so their codes compare like the strings. `exact` holds integers for equality,
    `numbers` doubles (NaN for null) for the bytecode. With `has_halves`, integer columns also have columns of halves.
    """

    batch: EventBatch
    n_keys: int
    columns: tuple[str, ...]
    numbers: Doubles
    exact: dict[str, tuple[Ints, Mask]]
    words: pa.Array  # the sorted dictionary
    has_halves: bool
    facts: Mapping[str, Sequence[Row]] = field(default_factory=dict)  # for conditions that look pairs up
    calls: list[Call] = field(default_factory=list)  # of Python, by conditions

    def number_of(self, column: str) -> int:
        return self.columns.index(column)

    def raise_failures(self) -> None:
        """Raises what a call of Python raised: compiled code has gone on with null for its value."""
        for call in self.calls:
            if call.failure is not None:
                raise call.failure

    def code_of(self, word: str) -> float:
        """The code of a string constant; between the codes of its neighbors if no event has it."""
        position = int(np.searchsorted(self.words.to_numpy(zero_copy_only=False), word)) if len(self.words) else 0
        known = position < len(self.words) and self.words[position].as_py() == word
        return float(position) if known else position - 0.5


def build_store(batch: EventBatch, needed: Iterable[tuple[str, Type]], n_keys: int) -> Store:
    """Encode the needed columns of a batch."""
    wanted = sorted(set(needed), key=lambda pair: pair[0])
    arrays = {name: array_of(batch, name) for name, _ in wanted}
    strings = [arrays[name] for name, kind in wanted if kind.is_text]
    words = _sorted_words(strings)
    exact: dict[str, tuple[Ints, Mask]] = {}
    doubles: dict[str, Doubles] = {}
    for name, kind in wanted:
        array = arrays[name]
        valid = np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False), dtype=bool)
        if kind.is_text:
            exact[name] = (_codes(array, words), valid)
            doubles[name] = np.where(valid, exact[name][0], np.nan)
        elif kind is Type.DOUBLE:
            nearest = pc.fill_null(array.cast(pa.float64(), safe=False), float("nan"))
            doubles[name] = nearest.to_numpy(zero_copy_only=False)
            exact[name] = ((doubles[name] + 0.0).view(np.int64), valid)
        else:
            whole = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
            exact[name] = (np.ascontiguousarray(whole, dtype=np.int64), valid)
            doubles[name] = np.where(valid, whole.astype(np.float64), np.nan)
    whole_columns = [name for name, kind in wanted if kind in WHOLE]
    has_halves = any(needs_halves(exact[name][0]) for name in whole_columns)
    for name in whole_columns if has_halves else ():
        whole, valid = exact[name]
        for half, values in halves_of(whole).items():
            doubles[name + half] = np.where(valid, values.astype(np.float64), np.nan)
    numbers = np.full((len(doubles), len(batch)), np.nan)
    for position, column in enumerate(doubles.values()):
        numbers[position] = column
    return Store(batch, n_keys, tuple(doubles), numbers, exact, words, has_halves)


def column_of(reference: Reference) -> str:
    """The column, or pseudo column, that a reference reads."""
    match reference:
        case e.ColumnOf(column=column) | e.ListColumn(column=column):
            return column
        case e.TimeOf(edge=edge):
            return START if edge is e.Edge.START else END
        case e.IdOf(of_any=of_any):
            return EVENT if of_any else ID


def array_of(batch: EventBatch, name: str) -> pa.Array:
    """A column, or pseudo column, of a batch."""
    match name:
        case "@start":
            return pa.array(batch.start)
        case "@end":
            return pa.array(batch.end)
        case "@id":
            return batch.ids.take(pa.array(batch.id_offsets[:-1]))
        case "@event":
            return pa.array(batch.event)
        case _:
            return batch.columns[name]


def _sorted_words(strings: list[pa.Array]) -> pa.Array:
    if not strings:
        return pa.array([], pa.string())
    together = pa.chunked_array([array.cast(pa.string()) for array in strings])
    unique = pc.drop_null(pc.unique(together))
    return unique.take(pc.array_sort_indices(unique))


def _codes(array: pa.Array, words: pa.Array) -> Ints:
    found = pc.fill_null(pc.index_in(array.cast(pa.string()), value_set=words), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)
