"""Damaged snapshots, models and filters: each is rejected by name, and none gives other results."""

import random
import traceback
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.attack.findings import Finding

import inkling
from inkling.errors import InklingError, InternalError
from inkling.forecasting.learning.files import load_model
from inkling.forecasting.models.model import ForecastModel
from inkling.local_stream import LocalStream

PROGRAMS = (
    """STREAM S(k STRING, x BIGINT, t BIGINT) KEY k TIME t LATENESS 3 TICKS;
    EVENT a(s.k AS k) AS PATTERN SEQ(S s[x > 2], NOT S n[x = 0], S u[x < 9]) PARTITION BY k WITHIN 20 TICKS;
    EVENT b(s.k AS k) AS PATTERN SEQ STRICT(S s[x > 1], S u) PARTITION BY k WITHIN 9 TICKS;""",
    """STREAM S(k STRING, x BIGINT, t BIGINT) KEY k TIME t LATENESS 3 TICKS SPECULATIVE;
    EVENT a(s.k AS k) AS PATTERN SEQ(S s[x > 2], S u[x < s.x]) PARTITION BY k WITHIN 20 TICKS;""",
    """STREAM S(k STRING, x BIGINT, p DOUBLE, t BIGINT) KEY k TIME t PROBABILITY p;
    EVENT a AS PATTERN SEQ(S s[x > 2], S u[x < 5]) WITHIN 6 TICKS;""",
)
ROWS = [{"k": "ab"[n % 2], "x": n * 7 % 11, "p": 0.5, "t": n} for n in range(40)]


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The bytes after one change: a bit, a cut, zeros, a gap, other bytes, or a swap of two blocks."""
    changed, at = bytearray(data), draw.randrange(len(data))
    match draw.randrange(7):
        case 0 | 1:
            changed[at] ^= 1 << draw.randrange(8)
        case 2:
            del changed[at:]
        case 3:
            changed[at : at + 64] = bytes(len(changed[at : at + 64]))
        case 4:
            del changed[at : at + draw.randint(1, 64)]
        case 5:
            changed[at:at] = draw.randbytes(draw.randint(1, 64))
        case _:
            size = draw.randint(1, 64)
            changed = changed[size:] + changed[:size]
    return bytes(changed)


def attack(seed: int, n: int, folder: Path) -> tuple[int, list[Finding]]:
    """Try `n` damages; returns how many changed anything, and the first finding of each place."""
    draw, found, tried = random.Random(seed), dict[tuple[str, str], Finding](), 0
    programs = [inkling.parse(text) for text in PROGRAMS]
    snapshots = []
    for program in programs:
        stream = program.open(unbounded=True)
        stream.push(ROWS)
        snapshots.append(stream.snapshot())
    model = _model(folder)
    for number in range(n):
        kind = number % (len(programs) + 2)
        if kind < len(programs):
            data = damaged(snapshots[kind], draw)
            if data == snapshots[kind]:
                continue
            what, finding = "snapshot", _outcome(lambda kind=kind, data=data: LocalStream.restore(programs[kind], data))  # type: ignore[misc]
        elif kind == len(programs):
            path = folder / "damaged.parquet"
            data = damaged(model, draw)
            path.write_bytes(data)
            what, finding = "model", _outcome(lambda path=path, data=data: _same_or_refused(path, model))  # type: ignore[misc]
        else:
            table = _altered(pq.read_table(folder / "model.parquet"), draw)
            what, finding = "altered model", _outcome(lambda table=table: _read(table))  # type: ignore[misc]
        tried += 1
        if finding is not None:
            found.setdefault(finding, Finding(what, *finding, f"seed {seed}, number {number}"))
    return tried, list(found.values())


def _outcome(read: object) -> tuple[str, str] | None:
    """The exception and its place if bytes are accepted, or end otherwise than in a message."""
    try:
        read()  # type: ignore[operator]
    except InternalError as problem:
        return "InternalError", str(problem)[:200]
    except InklingError:
        return None
    except Exception as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        return type(problem).__name__, f"{last.filename.rpartition('/src/')[2]}:{last.lineno}"
    return "accepted", "damage was not noticed"


def _model(folder: Path) -> bytes:
    program = inkling.parse(
        "STREAM S(k STRING, x BIGINT, t BIGINT) KEY k TIME t ORDER BY t;"
        "EVENT a AS PATTERN SEQ NEXT(S s[x > 2], S u[x < 5]) PARTITION BY k; FORECAST a WITHIN 3 EVENTS;"
    )
    (model,) = program.fit({"S": ROWS}).values()
    model.save(folder / "model.parquet")
    return (folder / "model.parquet").read_bytes()


def _same_or_refused(path: Path, original: bytes) -> None:
    """Padding and statistics of Parquet files may change unnoticed; counts may not."""
    loaded = load_model(path)
    before = ForecastModel.from_arrow(pq.read_table(pa.BufferReader(original)))
    if loaded.to_arrow().equals(before.to_arrow()):
        raise inkling.InputError.of("INK0618", "the same model")


def _altered(table: pa.Table, draw: random.Random) -> pa.Table:
    names = [name for name in table.column_names if table[name].null_count < len(table)]
    name = draw.choice(names)
    values = table[name].to_pylist()
    at = draw.choice([place for place, value in enumerate(values) if value is not None])
    odd: list[object] = [None, "x", ""] if isinstance(values[at], str) else [None, -1, 7 + values[at], 0]
    values[at] = draw.choice([one for one in odd if one != values[at]])
    return table.set_column(table.column_names.index(name), name, pa.array(values, table[name].type))


def _read(table: pa.Table) -> None:
    try:
        ForecastModel.from_arrow(table)
    except ValueError as problem:
        raise inkling.InputError.of("INK0630", str(problem)) from problem
