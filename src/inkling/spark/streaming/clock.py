"""What the times of a streaming frame count, which must be known before its first row."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from inkling.io.normalize import declared_clock
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock


def clock_of_frame(frame: DataFrame, schema: StreamSchema) -> Clock:
    """Integers count ticks; timestamps and texts are points of the calendar, unless the stream declares integers."""
    declared = declared_clock(schema)
    if declared is not None:
        return declared
    whole = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.DecimalType)
    return Clock.TICKS if isinstance(frame.schema[schema.start].dataType, whole) else Clock.TIMESTAMP
