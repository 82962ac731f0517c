"""Bad files in all formats: every row is used, rejected or late, or the run ends in a message of inkling."""

import gzip
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from tests.attack.findings import Finding, finding_about

import inkling
from inkling.cli.terminal.failures import diagnostics_of
from inkling.errors import InternalError
from inkling.io import read_table

Run: TypeAlias = Callable[[inkling.Program, Path], tuple[int, int]]
"""Runs a program over a file; returns the rows in, and the rows that were used, rejected or late."""

PROGRAMS = {
    "stamped": "STREAM S(k STRING, x BIGINT, y DOUBLE, up BOOLEAN, t TIMESTAMP) KEY k TIME t LATENESS 9 DAYS;",
    "ticks": "STREAM S(k STRING, x BIGINT, y DOUBLE, up BOOLEAN, t BIGINT) KEY k TIME t LATENESS 9 TICKS;",
}
EVENTS = """
EVENT one(s.k AS k, s.x AS x) AS PATTERN S s;
EVENT rise(a.k AS k, b.x - a.x AS more, b.y AS y) AS PATTERN SEQ(S a, S b[y > a.y AND up]) PARTITION BY k WITHIN {};
"""
WINDOWS = {"stamped": "2 HOURS", "ticks": "5 TICKS"}
SUFFIXES = (".csv", ".jsonl", ".parquet", ".csv.gz", ".jsonl.gz", ".json")
_ODD = (
    *("", " ", "null", "NaN", "inf", "-0", "1e400", "0x10", "1_000", "١٢", "9" * 30, "-9223372036854775809", "true"),
    *(
        "9999-12-31T23:59:59-12:00",
        "0000-01-01",
        "2024-02-30",
        "2024-01-01T25:00",
        "\ufeff",
        "ÿ",
        "🗼",
        "a,b",
        '"',
        "\\",
    ),
    *("2024-01-01T00:00:00+14:59", "1970-01-01T00:00:00.0000001Z", "\0", "\u2028", "{}", "[1]", "\x1b[31m", "=1+1"),
)
_TYPES: tuple[Callable[[random.Random], pa.Array], ...] = (
    lambda draw: pa.array([draw.randrange(-(2**63), 2**63) for _ in range(5)], pa.int64()),
    lambda draw: pa.array([draw.randrange(2**64) for _ in range(5)], pa.uint64()),
    lambda draw: pa.array([draw.uniform(-1e300, 1e300), float("nan"), float("inf"), None, -0.0], pa.float64()),
    lambda draw: pa.array([1.5, None, 2.0, 3.0, -1.0], pa.float32()),
    lambda draw: pa.array([draw.randrange(-(2**62), 2**62) for _ in range(5)]).cast(pa.timestamp("us")),
    lambda draw: pa.array([draw.randrange(2**62) for _ in range(5)]).cast(pa.timestamp("ns", "Europe/Paris")),
    lambda draw: pa.array([draw.randrange(2**50) for _ in range(5)]).cast(pa.timestamp("ms", "UTC")),
    lambda draw: pa.array([draw.randrange(-(2**31), 2**31) for _ in range(5)], pa.int32()).cast(pa.date32()),
    lambda draw: pa.array([0, 1, 2, None, 4], pa.int64()).cast(pa.time64("us")),
    lambda draw: pa.array([0, 1, 2, None, 4], pa.int64()).cast(pa.duration("us")),
    lambda draw: pa.array([b"a", b"\xff", None, b"", b"1"], pa.binary()),
    lambda draw: pa.array(["a", "1", None, "", "2024-01-01"], pa.large_string()),
    lambda draw: pa.array(["a", "b", "a", None, "a"]).dictionary_encode(),
    lambda draw: pa.array([[1], [], None, [2, 3], [4]]),
    lambda draw: pa.array([{"a": 1}, None, {"a": 2}, {"a": 3}, {"a": None}]),
    lambda draw: pa.array([True, None, False, True, True]),
    lambda draw: pa.nulls(5),
    lambda draw: pa.array([1, 2, 3, None, 10**17]).cast(pa.decimal128(38, 5)),
)


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file and the program that reads it."""

    name: str
    data: bytes
    program: str


def bad_file(seed: int, number: int) -> BadFile:
    draw, suffix = random.Random(seed * 10**9 + number), SUFFIXES[number % len(SUFFIXES)]
    kind = draw.choice(list(PROGRAMS))
    return BadFile(f"bad{suffix}", _content(suffix, kind, draw), kind)


def _rows(kind: str, draw: random.Random) -> list[dict[str, Any]]:
    rows = []
    for n in range(draw.randint(1, 12)):
        time = f"2024-01-01T{n:02}:30:00" if kind == "stamped" else n
        rows.append({"k": draw.choice("ab"), "x": n, "y": draw.random(), "up": draw.random() < 0.5, "t": time})
    for _ in range(draw.randint(0, 3)):
        row = draw.choice(rows)
        row[draw.choice(list(row))] = draw.choice((*_ODD, None, 2**70, -1.5, [1], {"a": None}))
    return rows


def _content(suffix: str, kind: str, draw: random.Random) -> bytes:
    rows = _rows(kind, draw)
    if suffix == ".parquet":
        return _damaged(_parquet(rows, draw), draw, share=0.5)
    if suffix.startswith(".csv"):
        names = list(rows[0])
        lines = [",".join(names), *(",".join("" if row[n] is None else str(row[n]) for n in names) for row in rows)]
        text = draw.choice(("\n", "\n", "\r\n", "\r")).join(lines) + draw.choice(("\n", "", "\n\n"))
    else:
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"
        if suffix == ".json" and draw.random() < 0.3:
            text = json.dumps(rows)
    data = text.encode(draw.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")), errors="replace")
    data = _damaged(data, draw, share=0.6)
    return _damaged(gzip.compress(data, mtime=0), draw, share=0.3) if suffix.endswith(".gz") else data


def _parquet(rows: list[dict[str, Any]], draw: random.Random) -> bytes:
    columns = {name: pa.array([str(row[name]) for row in rows][:5] + ["1"] * (5 - len(rows[:5]))) for name in rows[0]}
    plain = {"x": pa.array(range(5)), "y": pa.array([0.5] * 5), "t": pa.array(range(5)).cast(pa.timestamp("s"))}
    columns |= {name: one for name, one in plain.items() if draw.random() < 0.7}
    columns[draw.choice(list(columns))] = draw.choice(_TYPES)(draw)
    if draw.random() < 0.1:
        del columns[draw.choice(list(columns))]
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _damaged(data: bytes, draw: random.Random, *, share: float) -> bytes:
    if draw.random() > share or not data:
        return data
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(changed) or 1)
        match draw.randrange(5):
            case 0 if changed:
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                del changed[at : at + draw.randint(1, 20)]
            case 2:
                changed[at:at] = draw.choice(_ODD).encode()
            case 3:
                changed[at:at] = changed[at : at + draw.randint(1, 40)]
            case _:
                changed[at : at + 1] = bytes([draw.randrange(256)])
    return bytes(changed)


@cache
def program_of(kind: str) -> inkling.Program:
    return inkling.parse(PROGRAMS[kind] + EVENTS.format(WINDOWS[kind]))


def outcome(bad: BadFile, folder: Path, run: Run) -> bool | Finding:
    """Whether all rows are accounted for; False if a message says why not, or what else happened."""
    path = folder / bad.name
    path.write_bytes(bad.data)
    example = f"{bad.program} {bad.data!r:.2000}"
    try:
        n_read, n_known = run(program_of(bad.program), path)
    except Exception as problem:
        if isinstance(problem, InternalError) or any(one.code == "INK0901" for one in diagnostics_of(problem)):
            return finding_about(problem, f"file {bad.name}", f"{problem!s:.300} {example}")
        return False
    if n_read != n_known:
        return Finding(f"file {bad.name}", "rows", f"{n_read} rows in, {n_known} used, rejected or late", example)
    return True


def run_locally(program: inkling.Program, path: Path) -> tuple[int, int]:
    results = program.run_local({"S": path})
    for event in ("one", "rise"):
        results[event].to_pylist()
    return results.input_rows["S"], len(results["one"]) + len(results.rejects)


def run_pushed(program: inkling.Program, path: Path) -> tuple[int, int]:
    rows, stream = read_table(path, what="S"), program.open()
    found = [stream.push(rows.slice(at, 3)) for at in range(0, len(rows), 3)]
    found.append(stream.finish())
    again = [len(one["one"]) + len(one.rejects) + len(one.late) for one in found]
    for one in found:
        one["rise"].to_pylist()
    return len(rows), sum(again)


def attack(
    seed: int, numbers: range, folder: Path, runs: Mapping[str, Run], begin: Callable[[int], object] = int
) -> tuple[Counter[str], list[Finding]]:
    """Run bad files by each of the runs; returns how many were tried and how many ran, and the findings."""
    counts, found = Counter[str](), list[Finding]()
    for number in numbers:
        begin(number)
        bad = bad_file(seed, number)
        for name, run in runs.items():
            counts[f"files {name}"] += 1
            match outcome(bad, folder, run):
                case Finding() as finding:
                    found.append(replace(finding, case=f"{name} {seed} {number}"))
                case True:
                    counts[f"files {name} that ran"] += 1
    return counts, found


LOCAL_RUNS: Mapping[str, Run] = {"local": run_locally, "pushed": run_pushed}
