"""What travels inside a streaming query: tables as bytes, addressed to an operator (`stage`) and a bucket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import pyarrow as pa

from inkling.model.watermarks import Watermarks

SCHEMA = "stage int, bucket int, kind int, about int, n bigint, payload binary"
ARROW_SCHEMA = pa.schema(
    [
        pa.field("stage", pa.int32()),
        pa.field("bucket", pa.int32()),
        pa.field("kind", pa.int32()),
        pa.field("about", pa.int32()),
        pa.field("n", pa.int64()),
        pa.field("payload", pa.binary()),
    ]
)
EVERY_STAGE = -1


class Kind(IntEnum):
    ROWS = 0  # rows of the stage
    RAW = 1  # rows of stream number `about`, whose derived columns are missing
    WATERMARKS = 2  # watermarks of streams
    RESULTS = 3  # of event number `about`
    LATE = 4
    REJECTS = 5
    STATE = 6  # what a bucket keeps, in numbers
    READ = 7  # how many rows of stream number `about` came in
    ROWS_GONE = 8  # rows of the stage that never happened
    RAW_GONE = 9  # the same of stream number `about`; to changelogs, withdrawals by id
    TAKEN_BACK = 10  # how many of the results of event number `about` are withdrawals


INWARD = frozenset({Kind.ROWS, Kind.RAW, Kind.WATERMARKS, Kind.ROWS_GONE, Kind.RAW_GONE})
WITHDRAWN = frozenset({Kind.ROWS_GONE, Kind.RAW_GONE})
OF_STREAM = frozenset({Kind.RAW, Kind.RAW_GONE})


def kind_of_rows(*, of_stream: bool, withdrawn: bool) -> Kind:
    """How rows travel inward."""
    if withdrawn:
        return Kind.RAW_GONE if of_stream else Kind.ROWS_GONE
    return Kind.RAW if of_stream else Kind.ROWS


@dataclass(frozen=True, slots=True)
class Message:
    """`n` counts what the payload holds."""

    stage: int
    bucket: int
    kind: Kind
    about: int
    n: int
    payload: bytes

    def as_tuple(self) -> tuple[int, int, int, int, int, bytes]:
        return self.stage, self.bucket, int(self.kind), self.about, self.n, self.payload


def record_batch(messages: Iterable[Message]) -> Iterator[pa.RecordBatch]:
    """The messages as Spark takes them back, nothing for none."""
    columns = list(zip(*(message.as_tuple() for message in messages), strict=True))
    if columns:
        arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)


def watermarks_payload(watermarks: Watermarks) -> bytes:
    about = {
        "latest": dict(watermarks.latest),
        "idle": sorted(watermarks.idle),
        "finished": watermarks.finished,
        "roles": dict(watermarks.roles),
    }
    return json.dumps(about).encode()


def watermarks_of(payload: bytes | str) -> Watermarks:
    found = json.loads(payload)
    return Watermarks(
        found.get("latest", {}),
        frozenset(found.get("idle", ())),
        bool(found.get("finished", False)),
        {name: (even, odd) for name, (even, odd) in found.get("roles", {}).items()},
    )
