"""Makes the worlds of a stream from its checked rows, by its kind of doubt."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from inkling.evaluators.numbered.rows import NO_TABLES
from inkling.evaluators.worlds.streams.certain import CertainStream
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue

WorldStream = CertainStream | ImpreciseStream | ProbableStream | LossyStream


def world_stream(
    schema: StreamSchema,
    rows: pa.Table,
    tables: Mapping[str, pa.Table] = NO_TABLES,
    clock: Clock = Clock.TICKS,
    *,
    with_empty: bool = False,
) -> WorldStream:
    """`tables` and `clock` tell what was lost; `with_empty` asks for keys of which nothing happened."""
    match schema.doubt:
        case None:
            return CertainStream.of(schema, rows)
        case ImpreciseTime():
            return ImpreciseStream.of(schema, rows)
        case ProbableValue():
            return ProbableStream.of(schema, rows)
        case LostEvents():
            return LossyStream.of(schema, rows, tables=tables, clock=clock, with_empty=with_empty)
