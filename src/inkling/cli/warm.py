"""Compiles the kernels once per installation; run as ``python -m inkling.cli.warm``."""

from __future__ import annotations

import time

from inkling.evaluators.sampling import Sampling
from inkling.query import parse

PROGRAM = """
STREAM A(id INT, k STRING, x INT, y DOUBLE, t INT) ID id KEY k TIME t ORDER BY id;
STREAM B(id INT, k STRING, x INT, t INT) ID id KEY k TIME t;
EVENT regular AS PATTERN SEQ STRICT(A[x = 1], A[x = 2]+, A[x = 3]) PARTITION BY k PER END;
EVENT restarted AS PATTERN A[x > 0]{2,} PARTITION BY k CONSUME RESTART PER END;
EVENT used AS PATTERN SEQ(B a, NOT A n[x = a.x], B b[x = a.x], B c[x > a.x]) PARTITION BY k CONSUME RECENT;
EVENT joined AS PATTERN SEQ NEXT(A a, NOT B[x = a.x], B b+ , A c[y > a.y]) WITHIN 5 TICKS PARTITION BY k;
EVENT counted AS PATTERN SEQ STRICT(B a, B b[x >= a.x]) WITHIN 4 EVENTS PARTITION BY k CONSUME RESTART PER INTERVAL;
"""
PUSHED = """
STREAM A(id INT, x INT, t INT) ID id KEY x TIME t ORDER BY id;
EVENT regular AS PATTERN SEQ NEXT(A, A) PARTITION BY x PER END;
EVENT joined AS PATTERN SEQ NEXT(A a, A b[id > a.id]) WITHIN 5 TICKS PARTITION BY x;
"""
UNCERTAIN = """
STREAM At(k STRING, x INT, t INT) KEY k TIME t PROBABILITY p;
STREAM Was(k STRING, x INT, t INT, before INT) KEY k TIME t PROBABILITY p GIVEN before;
STREAM C(id INT, k STRING, x INT, lo INT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM D(k STRING, n INT, t INT) KEY k TIME t NUMBERED BY n;
EVENT regular AS PATTERN SEQ NEXT(At[x = 1], At[x = 2]) PARTITION BY k PER END;
EVENT followed AS PATTERN SEQ NEXT(Was[x = 1], Was[x = 2]) PARTITION BY k PER END;
EVENT joined AS PATTERN SEQ(At a, C c[x = a.x], D d) PARTITION BY k;
"""

LOST = """
STREAM E(k STRING, n INT, t INT) KEY k TIME t NUMBERED BY n SEGMENTS;
EVENT share(x.k AS one, y.k AS other) AS PATTERN SOME E x INTERSECTS SOME E y CONFIDENCE > 0.5 EARLY;
EVENT inside(x.k AS one, y.k AS other) AS PATTERN ALL E x DURING AT LEAST 2 E y;
"""


def warm() -> float:
    """Run a program of each kind; returns the seconds it took, nearly all of them compiling on the first call."""
    started = time.monotonic()
    rows = [{"id": n, "k": "p", "x": n % 4, "y": float(n % 5), "t": n // 2} for n in range(24)]
    parse(PROGRAM).run_local({"A": rows, "B": rows})
    _warm_worlds(Sampling(epsilon=0.4, delta=0.4, exact_up_to=0), Sampling(epsilon=0.4, delta=0.4))
    parse(LOST).run_local({"E": [{"k": k, "n": n, "t": 5 * n + (k == "q")} for k in "pq" for n in (1, 2, 4)]})
    stream = parse(PUSHED).open()
    for row in rows:
        stream.push_event("A", row)
    stream.finish()
    return time.monotonic() - started


def _warm_worlds(*settings: Sampling) -> None:
    values = [{"k": "p", "x": n % 3, "t": n // 3, "p": 0.3, "before": None} for n in range(6)]
    rows = {
        "At": values,
        "Was": [{**row, "before": None if row["t"] == 0 else x} for row in values for x in range(3 if row["t"] else 1)],
        "C": [{"id": n, "k": "p", "x": n % 3, "lo": n, "hi": n + 1} for n in range(2)],
        "D": [{"k": "p", "n": n, "t": 3 * n} for n in (1, 3)],
    }
    for sampling in settings:
        parse(UNCERTAIN).run_local(rows, sampling=sampling)


if __name__ == "__main__":
    print(f"kernels are ready after {warm():.0f} s")
