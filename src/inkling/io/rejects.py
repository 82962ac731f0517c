"""Rejects: rows that violate the declaration of their stream, with a reason and the invalid values."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.readers import utf8
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.model.terms import MalformedTermError, canonical

REJECTS_SCHEMA = pa.schema(dict.fromkeys(("stream", "reason", "detail", "row", "id"), pa.string()))
"""The columns of rejects; `row` is the row as JSON, or a JSON string with the text of a malformed record."""

AN_RDF_TERM = "an RDF term"
"""What a column of terms expects; the detail of a reject also says why a text is none."""

NO_REJECTS = REJECTS_SCHEMA.empty_table()


class Reason(Enum):
    """Why a row was rejected; the first reason that applies, in this order."""

    MALFORMED = "malformed"
    BAD_OP = "bad op"
    BAD_TIME = "bad time"
    NULL_TIME = "null time"
    ENDS_BEFORE_START = "ends before it starts"
    BAD_VALUE = "bad value"
    NULL_ERROR = "null error"
    BAD_ERROR = "bad error"
    NULL_CLOCK = "null clock"
    NULL_KEY = "null key"
    NULL_ID = "null id"
    NULL_ORDER = "null order"
    TOO_FAR_AHEAD = "too far ahead"
    DUPLICATE_ID = "duplicate id"
    NOTHING_TO_WITHDRAW = "nothing to withdraw"
    WITHDRAWN_TWICE = "withdrawn twice"
    TIED = "tied order"
    TOO_WIDE = "too wide"
    WEIGHT_COUNT = "weight count"
    WEIGHT_NOT_FINITE = "weight not finite"
    NEGATIVE_WEIGHT = "negative weight"
    ZERO_WEIGHTS = "zero weights"
    NULL_PROBABILITY = "null probability"
    BAD_PROBABILITY = "bad probability"
    DUPLICATE_VALUE = "duplicate value"
    PROBABILITY_SUM = "probability sum"
    CPT_ROW_SUM = "cpt row sum"
    CPT_ROW_MISSING = "cpt row missing"
    NULL_NUMBER = "null number"
    BAD_NUMBER = "bad number"
    AFTER_TIMEOUT = "after timeout"
    DUPLICATE_NUMBER = "duplicate number"
    BAD_COUNT = "bad count"
    ODD_COUNT = "odd count"
    BAD_BOUNDS = "bad bounds"
    BAD_RATE = "bad rate"
    NOT_INCREASING = "not increasing"
    ZERO_LENGTH_SEGMENT = "zero length segment"
    ZERO_WINDOW = "zero window with losses"
    MISSING_BOUND = "missing bound"
    ROLE_MISMATCH = "role mismatch"
    RUN_TOO_LONG = "run too long"


@dataclass(frozen=True, slots=True)
class Complaint:
    """The rows with one kind of fault; `column` has the value to report, `expected` describes valid values."""

    reason: Reason
    column: str
    mask: NDArray[np.bool_]
    expected: str = ""

    def detail(self, row: Mapping[str, object]) -> str:
        """The fault of one row in words."""
        match self.reason:
            case Reason.MALFORMED:
                return str(row[MALFORMED])
            case (
                Reason.NULL_TIME
                | Reason.NULL_KEY
                | Reason.NULL_ID
                | Reason.NULL_ORDER
                | Reason.NULL_ERROR
                | Reason.NULL_CLOCK
            ):
                return f"`{self.column}` is missing"
            case Reason.ENDS_BEFORE_START:
                start, end = shown(row[self.column]), shown(row[self.expected])
                return f"`{self.column}` is {start}, after `{self.expected}`, which is {end}"
            case Reason.BAD_OP if row[self.column] is None:
                return f"`{self.column}` is missing, expected {self.expected}"
            case Reason.BAD_VALUE if self.expected == AN_RDF_TERM:
                value = row[self.column]
                return f"`{self.column}` is {shown(value)}, expected {self.expected}: {reason_against(value)}"
            case Reason.BAD_OP | Reason.BAD_TIME | Reason.BAD_VALUE | Reason.BAD_ERROR:
                return f"`{self.column}` is {shown(row[self.column])}, expected {self.expected}"
            case Reason.TOO_FAR_AHEAD:
                return f"`{self.column}` is {shown(row[self.column])}, {self.expected}"
            case Reason.DUPLICATE_ID:
                return f"`{self.column}` is {shown(row[self.column])}, a duplicate{self.expected}"
            case Reason.TIED:
                return f"`{self.column}` is {shown(row[self.column])} for another row of the same time too"
            case _:
                raise AssertionError(f"{self.reason} is found by comparing rows, not in a column")


def rejected_rows(
    stream: str,
    raw: pa.Table,
    id_column: str | None,
    complaints: Sequence[Complaint],
    numbers: NDArray[np.int64] | None = None,
) -> pa.Table:
    """One reject per faulty row, with the first complaint about it, in the order of the rows."""
    first = np.full(len(raw), len(complaints))
    for rank in reversed(range(len(complaints))):
        first[complaints[rank].mask] = rank
    faulty = np.flatnonzero(first < len(complaints))
    rejects = []
    for place, row in zip(faulty, python_rows(raw.take(pa.array(faulty))), strict=True):
        complaint = complaints[first[place]]
        number = int(place) + 1 if numbers is None else int(numbers[place])
        identity = number if id_column is None else row.get(id_column)
        rejects.append(
            {
                "stream": stream,
                "reason": complaint.reason.value,
                "detail": complaint.detail(row),
                "row": row_json(row, malformed=complaint.reason is Reason.MALFORMED),
                "id": None if identity is None else str(_json_value(identity)),
            }
        )
    return pa.Table.from_pylist(rejects, schema=REJECTS_SCHEMA)


def reason_against(value: object) -> str:
    """Why a value is no RDF term."""
    try:
        canonical(str(value))
    except MalformedTermError as malformed:
        return str(malformed)
    return "the text is not UTF-8"


def python_rows(table: pa.Table) -> list[dict[str, object]]:
    """Rows as Python values; times that Python does not have are texts, such as `4611686018427387904 us`."""
    try:
        rows: list[dict[str, object]] = table.to_pylist()
        return rows
    except (OverflowError, ValueError):
        values = {name: [python_value(one) for one in table[name]] for name in table.column_names}
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def python_value(value: pa.Scalar) -> object:
    try:
        found: object = value.as_py()
    except (OverflowError, ValueError):
        return f"{value.value} {getattr(value.type, 'unit', 'days')}"
    return found


def row_json(row: Mapping[str, object], *, malformed: bool = False) -> str:
    """A row as JSON; a record that was read as JSON keeps its text."""
    original = row.get(ORIGINAL)
    if malformed:
        return json.dumps(original, ensure_ascii=False)
    if isinstance(original, str):
        return original
    values = {name: _json_value(value) for name, value in row.items() if name not in (MALFORMED, ORIGINAL)}
    return json.dumps(values, ensure_ascii=False)


def shown(value: object) -> str:
    """A value in a message; text is quoted, so that white space is visible."""
    plain = _json_value(value)
    return f"'{plain}'" if isinstance(plain, str) else str(plain)


def _json_value(value: object) -> str | int | float | bool | list[object] | None:
    """A value as JSON, the same for every reader of the row."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() else str(value)
        case datetime():
            if value.tzinfo is None:
                return value.isoformat()
            return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
        case date():
            return value.isoformat()
        case bytes():
            return utf8.shown(utf8.texts([value])[0])
        case list():
            return [_json_value(one) for one in value]
        case _:
            return str(value)
