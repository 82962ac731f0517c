"""A program with every kind of state, the messages it is sent, and what it should leave of them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from tests.kafka import avro

import inkling

LATENESS = 30
PROGRAM = f"""
STREAM Reading(id STRING, sensor STRING, value DOUBLE, t BIGINT)
    ID id KEY sensor TIME t ORDER BY id LATENESS {LATENESS} TICKS;
STREAM Visit(id STRING, sensor STRING, t BIGINT) ID id KEY sensor TIME t LATENESS {LATENESS} TICKS;

-- a window
EVENT jump(a.value AS low, b.value AS high) AS PATTERN
    SEQ(Reading a[value < 3], Reading b[value > a.value + 5]) WITHIN 5 TICKS PARTITION BY sensor;

-- an absence with a deadline
EVENT neglected(r.value AS value) AS PATTERN
    SEQ(Reading r[value > 8], NOT Visit, AFTER 6 TICKS) PARTITION BY sensor;

-- an automaton
EVENT spell(sensor) AS PATTERN
    SEQ STRICT(Reading[value < 5], Reading[value >= 5]{{1,3}}, Reading[value < 5]) PARTITION BY sensor PER END;
"""
EVENTS = ("jump", "neglected", "spell")
TICKS_PER_CHUNK, READINGS_PER_CHUNK, VISITS_PER_CHUNK = 20, 40, 12
AVRO_SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Reading",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "sensor", "type": "string"},
            {"name": "value", "type": "double"},
            {"name": "t", "type": "long"},
        ],
    }
)
SCHEMAS = {
    "Reading": pa.schema({"id": pa.string(), "sensor": pa.string(), "value": pa.float64(), "t": pa.int64()}),
    "Visit": pa.schema({"id": pa.string(), "sensor": pa.string(), "t": pa.int64()}),
}
BAD_JSON = (b"no JSON at all", b'{"id": "r1", "sens', b"\xff\xfe\x00", b"[1, 2]", b"", None)

Row = dict[str, object]


def chunk(number: int) -> dict[str, list[Row]]:
    """Rows of a stretch of time, out of order within the lateness."""
    rng = random.Random(number)

    def time() -> int:
        return number * TICKS_PER_CHUNK + rng.randrange(TICKS_PER_CHUNK + 10)

    readings: list[Row] = [
        {"id": f"r{number}-{place}", "sensor": rng.choice("abcd"), "value": float(rng.randrange(10)), "t": time()}
        for place in range(READINGS_PER_CHUNK)
    ]
    visits: list[Row] = [
        {"id": f"v{number}-{place}", "sensor": rng.choice("abcd"), "t": time()} for place in range(VISITS_PER_CHUNK)
    ]
    return {"Reading": readings, "Visit": visits}


def in_json(row: Row) -> bytes:
    return json.dumps(row).encode()


def in_avro(row: Row) -> bytes:
    identity, sensor, value, time = row["id"], row["sensor"], row["value"], row["t"]
    assert isinstance(identity, str)
    assert isinstance(sensor, str)
    assert isinstance(value, float)
    assert isinstance(time, int)
    return avro.text(identity) + avro.text(sensor) + avro.double(value) + avro.long(time)


WHOLE_AVRO = in_avro({"id": "r1", "sensor": "a", "value": 1.5, "t": 1})
BAD_AVRO = (WHOLE_AVRO[:-1], WHOLE_AVRO[:2], WHOLE_AVRO + b"\0", b"", None)


def expected(readings: Iterable[int], visits: Iterable[int] | None = None) -> dict[str, Counter[str]]:
    """The matches in some chunks, by event; `visits` are of the same chunks unless told."""
    numbers = list(readings)
    chunks = {"Reading": numbers, "Visit": numbers if visits is None else list(visits)}
    streams = {
        name: pa.Table.from_pylist([row for number in some for row in chunk(number)[name]], schema=SCHEMAS[name])
        for name, some in chunks.items()
    }
    found = inkling.parse(PROGRAM).run_local(streams)
    assert len(found.rejects) == 0
    return {name: bag(table.to_pylist()) for name, table in found.tables.items()}


def bag(rows: Iterable[Row]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


def written(out: Path, name: str) -> list[Row]:
    """All rows of an output in files, without the number of their micro-batch."""
    if not (out / name).exists():
        return []
    return list(ds.dataset(out / name, format="parquet").to_table().to_pylist())


def written_matches(out: Path) -> dict[str, Counter[str]]:
    return {name: bag(written(out, name)) for name in EVENTS}
