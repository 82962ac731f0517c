"""Makes the worlds of a stream from its checked rows, by its kind of doubt."""

from __future__ import annotations

import pyarrow as pa

from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.worlds.streams.certain import CertainStream
from inkling.worlds.streams.imprecise import ImpreciseStream
from inkling.worlds.streams.lost import LossyStream
from inkling.worlds.streams.probable import ProbableStream

WorldStream = CertainStream | ImpreciseStream | ProbableStream | LossyStream


def world_stream(schema: StreamSchema, rows: pa.Table) -> WorldStream:
    match schema.doubt:
        case None:
            return CertainStream.of(schema, rows)
        case ImpreciseTime():
            return ImpreciseStream.of(schema, rows)
        case ProbableValue():
            return ProbableStream.of(schema, rows)
        case LostEvents():
            return LossyStream.of(schema, rows)
