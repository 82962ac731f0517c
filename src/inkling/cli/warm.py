"""Compiles the kernels once per installation; run as ``python -m inkling.cli.warm``.

Small programs call nearly all kernels; those of forecasts and of `inkling.infer` compile at their first use.
"""

import time
from concurrent.futures import ProcessPoolExecutor

from inkling.evaluators.sampling import Sampling
from inkling.query import parse

CERTAIN = """
STREAM A(id INT, k STRING, x INT, y DOUBLE, t INT) ID id KEY k TIME t ORDER BY id;
STREAM B(id INT, k STRING, x INT, t INT) ID id KEY k TIME t;
EVENT regular AS PATTERN SEQ STRICT(A[x = 1], A[x = 2]+, A[x = 3]) PARTITION BY k PER END;
EVENT restarted AS PATTERN A[x > 0]{2,} PARTITION BY k CONSUME RESTART PER END;
EVENT used AS PATTERN SEQ(B a, NOT A n[x = a.x], B b[x = a.x], B c[x > a.x]) PARTITION BY k CONSUME RECENT;
EVENT joined AS PATTERN SEQ NEXT(A a, NOT B[x = a.x], B b+ , A c[y > a.y]) WITHIN 5 TICKS PARTITION BY k;
EVENT longest AS PATTERN SEQ NEXT(A a, B b+ MAXIMAL, A c) WITHIN 5 TICKS PARTITION BY k;
EVENT counted AS PATTERN SEQ STRICT(B a, B b[x >= a.x]) WITHIN 4 EVENTS PARTITION BY k CONSUME RESTART PER INTERVAL;
EVENT reached(a.x AS x, k) AS PATTERN B a PARTITION BY k PER INTERVAL;
EVENT reached(b.x AS x, k) AS PATTERN SEQ(reached a, B b[x > a.x]) PARTITION BY k PER INTERVAL;
"""
WINDOWS = """
STREAM A(id INT, k STRING, x INT, y DOUBLE, t INT) ID id KEY k TIME t ORDER BY id;
EVENT newest(a, b, c, d, e, f, g, h) AS PATTERN WINDOW A w LAST 3 EVENTS PARTITION BY k WHERE a = SUM(w.y)
  AND b = AVG(w.x) AND c = MIN(w.x) AND d = MAX(w.y) AND e = STDDEV(w.y) AND f = MEDIAN(w.x) AND g = COUNT(w.x)
  AND h = SUM(w.x);
EVENT lately(a, b, c, d, e, f) AS PATTERN WINDOW A w LAST 3 TICKS PARTITION BY k WHERE a = SUM(w.y)
  AND b = AVG(w.y) AND c = MIN(w.y) AND d = MAX(w.x) AND e = STDDEV(w.x) AND f = MEDIAN(w.y) ON CHANGE;
EVENT since(s) AS PATTERN SEQ(A b[x = 1], WINDOW A w LAST 9 TICKS SINCE b) PARTITION BY k WHERE s = SUM(w.x);
"""
PUSHED = """
STREAM A(id INT, x INT, t INT) ID id KEY x TIME t ORDER BY id;
EVENT regular AS PATTERN SEQ NEXT(A, A) PARTITION BY x PER END;
EVENT joined AS PATTERN SEQ NEXT(A a, A b[id > a.id]) WITHIN 5 TICKS PARTITION BY x;
"""
CHAINS = """
STREAM A(id STRING, k STRING, v INT, lo INT, hi INT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM B(id STRING, k STRING, v INT, lo INT, hi INT) ID id KEY k TIME BETWEEN lo AND hi WEIGHTS w;
STREAM C(id STRING, k STRING, v INT, t INT) ID id KEY k TIME t;
EVENT any(k) AS PATTERN SEQ(A a, B b, C c[v <> a.v]) WITHIN 9 POINTS PARTITION BY k;
EVENT likely(a.v AS v) AS PATTERN SEQ(A a, B b) WITHIN 9 POINTS PARTITION BY k CONFIDENCE >= 0.4;
EVENT next AS PATTERN SEQ NEXT(A a, C c, B b) WITHIN 12 POINTS PARTITION BY k RETURN c.v AS v;
EVENT strict AS PATTERN SEQ STRICT(A a, B b) WITHIN 6 POINTS PARTITION BY k OVER (A, B);
EVENT between AS PATTERN SEQ(A a, NOT C, B b) WITHIN 9 POINTS PARTITION BY k EXACT;
EVENT around AS PATTERN SEQ(NOT C, A a, NOT B) WITHIN 4 POINTS PARTITION BY k;
EVENT rising AS PATTERN SEQ NEXT(A a, B b[v >= LAST(b).v]+, C c) WITHIN 12 POINTS PARTITION BY k;
EVENT eager AS PATTERN SEQ NEXT(A a, B b+ EAGER, C c) WITHIN 12 POINTS PARTITION BY k;
EVENT ordered AS PATTERN SEQ((A a AND B b WITHIN 4 POINTS), C c) WITHIN 9 POINTS PARTITION BY k;
"""
QUERIES = """
STREAM R(t INT, k INT, v INT) KEY k TIME t PROBABILITY p;
STREAM S(t INT, k INT, v INT) KEY k TIME t PROBABILITY p GIVEN g;
STREAM T(t INT, k INT, v INT) KEY k TIME t PROBABILITY p;
EVENT regular AS PATTERN SEQ NEXT(S[v = 1], R[v = 2]) PARTITION BY k PER END;
EVENT safe AS PATTERN SEQ NEXT(R a, S b[k = a.k], T c) PER END;
EVENT checked AS PATTERN SEQ NEXT(R a, S b[k = a.k], T c+ CHECK (c.v = 1)) PER END;
EVENT values AS PATTERN SEQ NEXT(R a, R b[k = a.k], T c[k = 1]) PER VALUES;
EVENT covered AS PATTERN SEQ NEXT(R a, R b[k = a.k], R c) PER END;
EVENT markov AS PATTERN SEQ NEXT(S a, S b[k = a.k], T c) PER VALUES;
EVENT shared AS PATTERN SEQ NEXT(R a, S b[k = a.k], S c) PER END;
EVENT twice AS PATTERN SEQ NEXT(R a, R b[k = a.k], T c, S d) PER END;
EVENT sets AS PATTERN SEQ NEXT(R a, S b[v = a.v], T c[v = a.v]) PER END;
EVENT growing AS PATTERN SEQ NEXT(R a, R b[v = a.v], T c[v > b.v]) PER VALUES;
"""
WORLDS = """
STREAM At(k STRING, x INT, t INT) KEY k TIME t PROBABILITY p;
STREAM Was(k STRING, x INT, t INT, before INT) KEY k TIME t PROBABILITY p GIVEN before;
STREAM C(id INT, k STRING, x INT, lo INT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM D(k STRING, n INT, t INT) KEY k TIME t NUMBERED BY n;
EVENT regular AS PATTERN SEQ NEXT(At[x = 1], At[x = 2]) PARTITION BY k PER END;
EVENT followed AS PATTERN SEQ NEXT(Was[x = 1], Was[x = 2]) PARTITION BY k PER END;
EVENT joined AS PATTERN SEQ(At a, C c[x = a.x], D d) PARTITION BY k;
"""
RELATIONS = """
STREAM E(k STRING, n INT, t INT) KEY k TIME t NUMBERED BY n SEGMENTS;
STREAM W(k STRING, s INT, e INT) KEY k TIME FROM s TO e;
EVENT share(x.k AS one, y.k AS other) AS PATTERN SOME E x INTERSECTS SOME E y CONFIDENCE > 0.5 EARLY;
EVENT inside(x.k AS one, y.k AS other) AS PATTERN ALL E x DURING AT LEAST 2 E y;
EVENT during(x.k AS one, y.k AS other, m) AS PATTERN AT LEAST m FROM 1 TO 2 W x DURING SOME E y;
EVENT within(x.k AS one, y.k AS other) AS PATTERN ALL W x DURING SOME E y;
EVENT known(x.k AS one, y.k AS other) AS PATTERN AT LEAST 2 W x DURING SOME W y;
EVENT meet(x.k AS one, y.k AS other) AS PATTERN ALL W x INTERSECTS SOME W y;
"""

ENUMERATED, SAMPLED = Sampling(epsilon=0.4, delta=0.4), Sampling(epsilon=0.4, delta=0.4, exact_up_to=0)


def certain() -> None:
    rows = [{"id": n, "k": "p", "x": n % 4, "y": n / 5, "t": n // 2} for n in range(24)]
    parse(CERTAIN).run_local({"A": rows, "B": rows})
    parse(WINDOWS).run_local({"A": rows})
    stream = parse(PUSHED).open()
    for row in rows:
        stream.push_event("A", row)
    stream.finish()


def relations() -> None:
    ends = [{"k": k, "n": n, "t": 5 * n + (k == "q")} for k in "pq" for n in (1, 2, 4)]
    spans = [{"k": k, "s": n, "e": n + 3} for k in "pq" for n in range(1, 4)]
    parse(RELATIONS).run_local({"E": ends, "W": spans}, sampling=ENUMERATED)


def chains() -> None:
    rows = [{"id": str(n), "k": "p", "v": n % 2, "lo": 3 * n, "hi": 3 * n + 2, "t": 3 * n + 2} for n in range(4)]
    weighted = [{**row, "w": [1.0, 2.0, 1.0] if row["v"] else None} for row in rows]
    parse(CHAINS).run_local({"A": rows, "B": weighted, "C": rows}, sampling=ENUMERATED)


def queries() -> None:
    rows = [{"t": t, "k": k, "v": v, "p": 0.4} for t in range(1, 5) for k in (1, 2) for v in (1, 2)]
    given = [{**row, "g": g} for row in rows for g in ((1, 2) if row["t"] != 1 else (None,))]
    for sampling in (ENUMERATED, SAMPLED):
        parse(QUERIES).run_local({"R": rows, "S": given, "T": rows}, sampling=sampling)


def worlds() -> None:
    values = [{"k": "p", "x": n % 3, "t": n // 3, "p": 0.3, "before": None} for n in range(6)]
    rows = {
        "At": values,
        "Was": [{**row, "before": None if row["t"] == 0 else x} for row in values for x in range(3 if row["t"] else 1)],
        "C": [{"id": n, "k": "p", "x": n % 3, "lo": n, "hi": n + 1} for n in range(2)],
        "D": [{"k": "p", "n": n, "t": 3 * n} for n in (1, 3)],
    }
    for sampling in (SAMPLED, ENUMERATED):
        parse(WORLDS).run_local(rows, sampling=sampling)


PROGRAMS = (certain, relations, worlds, chains, queries)


def warm() -> None:
    """Run a program of each kind; the first call compiles, which takes a minute or two."""
    for run in PROGRAMS:
        run()


if __name__ == "__main__":
    started = time.monotonic()
    with ProcessPoolExecutor(2) as pool:
        for done in [pool.submit(run) for run in PROGRAMS]:
            done.result()
    print(f"kernels are ready after {time.monotonic() - started:.0f} s")
