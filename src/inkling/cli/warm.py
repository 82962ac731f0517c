"""Compiles the kernels once per installation; run as ``python -m inkling.cli.warm``."""

from __future__ import annotations

import time

from inkling.query import parse

PROGRAM = """
STREAM A(id INT, k STRING, x INT, y DOUBLE, t INT) ID id KEY k TIME t ORDER BY id;
STREAM B(id INT, k STRING, x INT, t INT) ID id KEY k TIME t;
EVENT regular AS PATTERN SEQ STRICT(A[x = 1], A[x = 2]+, A[x = 3]) PARTITION BY k PER END;
EVENT restarted AS PATTERN A[x > 0]{2,} PARTITION BY k CONSUME RESTART PER END;
EVENT joined AS PATTERN SEQ NEXT(A a, NOT B[x = a.x], B b+ , A c[y > a.y]) WITHIN 5 TICKS PARTITION BY k;
EVENT counted AS PATTERN SEQ STRICT(B a, B b[x >= a.x]) WITHIN 4 EVENTS PARTITION BY k CONSUME RESTART PER INTERVAL;
"""
PUSHED = """
STREAM A(id INT, x INT, t INT) ID id KEY x TIME t ORDER BY id;
EVENT regular AS PATTERN SEQ NEXT(A, A) PARTITION BY x PER END;
EVENT joined AS PATTERN SEQ NEXT(A a, A b[id > a.id]) WITHIN 5 TICKS PARTITION BY x;
"""


def warm() -> float:
    """Runs a little of everything; returns the seconds it took, most of them compiling the first time."""
    started = time.monotonic()
    rows = [{"id": n, "k": "p", "x": n % 4, "y": float(n % 5), "t": n // 2} for n in range(24)]
    parse(PROGRAM).run_local({"A": rows, "B": rows})
    stream = parse(PUSHED).open()
    for row in rows:
        stream.push_event("A", row)
    stream.finish()
    return time.monotonic() - started


if __name__ == "__main__":
    print(f"kernels are ready after {warm():.0f} s")
