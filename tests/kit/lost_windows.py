"""Random sliding windows over events that may be lost, with rows small enough to list all worlds."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

Row = dict[str, object]

STREAMS = """
STREAM G(id STRING, g STRING, k STRING, v BIGINT, n BIGINT, t BIGINT) ID id KEY g, k TIME t NUMBERED BY n;
STREAM H(id STRING, g STRING, v BIGINT, t BIGINT) ID id TIME t;
"""
VALUES = (
    "COUNT(w)", "COUNT(w.v)", "SUM(w.v)", "SUM(w.n)", "MAX(w.n)", "MIN(w.v)", "AVG(w.v)", "FIRST(w).n", "LAST(w).n",
    "LAST(w).k",
)  # fmt: skip
CONDITIONS = ("", "", "[n > 1]", "[v > 1]", "[k = 'a' OR n = 2]", "[v IS NULL]")


@dataclass(frozen=True, slots=True)
class LostWindows:
    """A program and its rows."""

    text: str
    rows: dict[str, list[Row]]


def lost_windows(rng: Random, last: tuple[str, ...] = ("1 EVENTS", "2 EVENTS", "3 EVENTS")) -> LostWindows:
    """Some windows, of these lengths, over keys whose events lie among each other."""
    events = "\n".join(_window(rng, number, rng.choice(last)) for number in range(5))
    rows: list[Row] = []
    n_lost = 0
    for g, k in (("p", "a"), ("p", "b"), ("q", "a")):
        times = sorted(rng.sample(range(14), rng.choice((2, 3, 4))))
        for n, t in enumerate(times, start=1):
            if n_lost < 4 and 1 < n < len(times):
                n_lost += 1
            else:
                rows.append({"id": f"{g}{k}{n}", "g": g, "k": k, "v": rng.choice((1, 2, 3, None)), "n": n, "t": t})
    others = [{"id": f"h{t}", "g": rng.choice("pq"), "v": t, "t": t} for t in rng.sample(range(14), 2)]
    return LostWindows(STREAMS + events, {"G": rows, "H": others})


def _window(rng: Random, number: int, last: str) -> str:
    window = f"WINDOW G w{rng.choice(CONDITIONS)} LAST {last}"
    if rng.random() < 0.3:
        window = f"SEQ({rng.choice('GH')} a, {window} SINCE a)"
    having = rng.choice(("", "", " HAVING COUNT(w) > 1", " HAVING LAST(w).n = 2"))
    by = rng.choice(("", "", " PARTITION BY g"))
    shown = [f"{value} AS c{place}" for place, value in enumerate(rng.sample(VALUES, rng.choice((1, 2))))]
    head = ", ".join([*(["g"] if by else []), *shown])
    change = rng.choice(("", "", " ON CHANGE"))
    return f"EVENT e{number}({head}) AS PATTERN {window}{having}{by} PER MATCH{change};"
