"""The messages inside a streaming query: tables as bytes, addressed to an operator (`stage`) and a bucket."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import pyarrow as pa

from inkling.model.watermarks import Watermarks

SCHEMA = "stage int, bucket int, kind int, about int, n bigint, payload binary"
ARROW_SCHEMA = pa.schema(
    {**dict.fromkeys(("stage", "bucket", "kind", "about"), pa.int32()), "n": pa.int64(), "payload": pa.binary()}
)
EVERY_STAGE = -1

BEFORE_REASON = ": "
"""Between the name of a stream and a reason, which does not contain it."""


class MessageKind(IntEnum):
    ROWS = 0  # rows of the stage
    RAW = 1  # rows of stream number `about`, whose derived columns are missing
    WATERMARKS = 2  # watermarks of streams
    RESULTS = 3  # of event number `about`
    LATE = 4  # of stream number `about`
    REJECTS = 5
    STATE = 6  # statistics of the state of a bucket
    READ = 7  # the number of rows of stream number `about`
    ROWS_GONE = 8  # withdrawn rows of the stage
    RAW_GONE = 9  # withdrawn rows of stream number `about`; for changelogs, withdrawals by id
    WITHDRAWALS = 10  # the number of withdrawals among the results of event number `about`
    REASON = 11  # the number of rejects of one stream for one reason; the payload names both


INWARD = frozenset(
    {MessageKind.ROWS, MessageKind.RAW, MessageKind.WATERMARKS, MessageKind.ROWS_GONE, MessageKind.RAW_GONE}
)
WITHDRAWN = frozenset({MessageKind.ROWS_GONE, MessageKind.RAW_GONE})
OF_STREAM = frozenset({MessageKind.RAW, MessageKind.RAW_GONE})


def kind_of_rows(*, of_stream: bool, withdrawn: bool) -> MessageKind:
    """The kind of a message with rows for an operator."""
    if withdrawn:
        return MessageKind.RAW_GONE if of_stream else MessageKind.ROWS_GONE
    return MessageKind.RAW if of_stream else MessageKind.ROWS


@dataclass(frozen=True, slots=True)
class Message:
    """A payload with its address; `n` is the number of rows in it."""

    stage: int
    bucket: int
    kind: MessageKind
    about: int
    n: int
    payload: bytes

    def as_tuple(self) -> tuple[int, int, int, int, int, bytes]:
        return self.stage, self.bucket, int(self.kind), self.about, self.n, self.payload


def reason_messages(stage: int, bucket: int, rejects: pa.Table) -> Iterator[Message]:
    """How many rejects there are of each stream and for each reason."""
    counts = rejects.group_by(["stream", "reason"]).aggregate([([], "count_all")])
    for one in counts.to_pylist():
        payload = f"{one['stream']}{BEFORE_REASON}{one['reason']}".encode()
        yield Message(stage, bucket, MessageKind.REASON, 0, one["count_all"], payload)


def record_batch(messages: Iterable[Message]) -> Iterator[pa.RecordBatch]:
    """The messages as a batch for Spark; no batch without messages."""
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
    if watermarks.chains:
        about["chains"] = dict(watermarks.chains)
    return json.dumps(about).encode()


def watermarks_of(payload: bytes | str) -> Watermarks:
    found = json.loads(payload)
    return Watermarks(
        found.get("latest", {}),
        frozenset(found.get("idle", ())),
        bool(found.get("finished", False)),
        {name: (even, odd) for name, (even, odd) in found.get("roles", {}).items()},
        {name: tuple((lo, hi, n) for lo, hi, n in some) for name, some in found.get("chains", {}).items()},
    )
