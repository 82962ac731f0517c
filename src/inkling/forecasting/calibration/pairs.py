"""Results joined with the truth: pairs of a probability and whether the result happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError, nearest
from inkling.io import Data, read_table

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]
Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Stated probabilities and outcomes; equal pairs may be counted in one row."""

    prob: Floats
    error: Floats  # half width of the interval of an estimate, 0 when exact
    n: Ints  # pairs in a row
    n_happened: Ints
    n_missed: int = 0  # of these pairs, those that happened without a result: their probability is 0

    @classmethod
    def of(cls, prob: Floats, error: Floats, happened: Booleans, n_missed: int = 0) -> Pairs:
        """One pair in each row."""
        return cls(prob, error, np.ones(prob.size, np.int64), happened.astype(np.int64), n_missed)

    def __len__(self) -> int:
        return int(self.n.sum())

    @property
    def base_rate(self) -> float:
        """The share of pairs that happened."""
        return float(self.n_happened.sum() / self.n.sum())


def labeled(results: Data, column: str) -> Pairs:
    """Pairs from results that have the truth in a column of their own."""
    table = read_table(results, what="results")
    prob, error = probabilities(table)
    return _some(Pairs.of(prob, error, _booleans(table, column)))


def joined(results: Data, truth: Data, on: Sequence[str], among: Data | None = None) -> Pairs:
    """Pairs from results and a table of the truth, joined on the columns `on`.

    A result without a partner did not happen. A row of the truth or of `among` without a result has probability 0, with
    the largest error among the results, because sampled worlds may have missed it.
    """
    if not on:
        raise incomparable("there is no column to join results and truth on", help="name some, such as `on=['key']`")
    found = read_table(results, what="results")
    named = {"results": found, "truth": read_table(truth, what="truth")}
    if among is not None:
        named["candidates"] = read_table(among, what="candidates")
    keys = keys_of(named, on)
    claimed, happened = keys["results"], set(keys["truth"])
    _require_distinct(claimed, on)
    prob, error = probabilities(found)
    unclaimed = (happened | set(keys.get("candidates", ()))) - set(claimed)
    largest = float(error.max(initial=0.0))
    return _some(
        Pairs.of(
            np.concatenate([prob, np.zeros(len(unclaimed))]),
            np.concatenate([error, np.full(len(unclaimed), largest)]),
            np.array([key in happened for key in (*claimed, *unclaimed)], dtype=np.bool_),
            len(unclaimed & happened),
        )
    )


def _some(pairs: Pairs) -> Pairs:
    if not len(pairs):
        raise incomparable("there are neither results nor ground truth", help="calibration needs at least one result")
    return pairs


def probabilities(table: pa.Table) -> tuple[Floats, Floats]:
    prob = _numbers(table, "probability")
    error = _numbers(table, "error") if "error" in table.column_names else np.zeros(prob.size)
    outside = prob[(prob < 0) | (prob > 1)]
    if outside.size:
        raise incomparable(f"a probability lies in [0, 1], found {outside[0]:g}")
    if (error < 0).any():
        raise incomparable(f"an error is not negative, found {error.min():g}")
    return prob, error


def _numbers(table: pa.Table, name: str) -> Floats:
    values = _converted(table, name, pa.float64(), "numbers")
    numbers: Floats = values.to_numpy()
    if np.isnan(numbers).any():
        raise incomparable(f"`{name}` of the results holds NaN")
    return numbers


def _booleans(table: pa.Table, name: str) -> Booleans:
    marks: Booleans = _converted(table, name, pa.bool_(), "true or false").to_numpy()
    return marks


def _converted(table: pa.Table, name: str, kind: pa.DataType, expected: str) -> pa.ChunkedArray:
    column = column_of(table, name, "results")
    if column.null_count:
        raise incomparable(f"`{name}` of the results is missing in {column.null_count} of {len(column)} rows")
    try:
        return column.cast(kind)
    except pa.ArrowException:
        raise incomparable(f"`{name}` of the results has the type {column.type}, expected {expected}") from None


def keys_of(tables: Mapping[str, pa.Table], on: Sequence[str]) -> dict[str, list[Key]]:
    """The key of every row of every table; values of different types are compared as text."""
    columns: dict[str, list[list[object]]] = {what: [] for what in tables}
    for name in on:
        given = {what: column_of(table, name, what) for what, table in tables.items()}
        if any(pa.types.is_nested(column.type) for column in given.values()):
            raise incomparable(f"`{name}` holds lists, which cannot be joined on", help="name columns of plain values")
        as_text = len({column.type for column in given.values()}) > 1
        for what, column in given.items():
            columns[what].append((column.cast(pa.string()) if as_text else column).to_pylist())
    return {what: list(zip(*values, strict=True)) for what, values in columns.items()}


def _require_distinct(keys: list[Key], on: Sequence[str]) -> None:
    seen: set[Key] = set()
    for key in keys:
        if key in seen:
            shown = ", ".join(f"{name} {value}" for name, value in zip(on, key, strict=True))
            raise incomparable(
                f"several results have {shown}",
                help="name more columns, so that each result has its own row of the ground truth",
            )
        seen.add(key)


def column_of(table: pa.Table, name: str, what: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        close = nearest(name, table.column_names, n=1)
        raise InputError.of(
            "INK0558",
            f"the {what} {'has' if what == 'truth' else 'have'} no column `{name}`",
            notes=(f"the columns are {', '.join(table.column_names)}",),
            helps=(f"write `{close[0]}`",) if close else (),
        )
    column = table[name]
    return pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column


def incomparable(message: str, *, help: str | None = None) -> InputError:
    return InputError.of("INK0558", message, helps=() if help is None else (help,))
