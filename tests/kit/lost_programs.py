"""Random programs that ask for relations between segments with lost ends, and rows small enough to list all worlds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from tests.kit.oracle import bound

from inkling.logical import plan as p

RELATIONS = (
    "PRECEDES", "MEETS", "OVERLAPS", "FINISHED_BY", "CONTAINS", "STARTS", "EQUALS", "STARTED_BY", "DURING",
    "FINISHES", "OVERLAPPED_BY", "MET_BY", "PRECEDED_BY", "INTERSECTS", "STARTS_BEFORE", "ENDS_AFTER",
)  # fmt: skip

Row = dict[str, object]

LOSING = "STREAM S(k STRING, g STRING, t BIGINT, n BIGINT, stop STRING) KEY g, k TIME t NUMBERED BY n"
OTHERS = {
    "paired": "STREAM T(k STRING, g STRING, t BIGINT, stop STRING) KEY g, k TIME t SEGMENTS;",
    "lasting": "STREAM T(k STRING, g STRING, s BIGINT, e BIGINT, stop STRING) KEY g, k TIME FROM s TO e;",
}


@dataclass(frozen=True, slots=True)
class LostCase:
    """A program and its rows."""

    text: str
    plan: p.ProgramPlan
    rows: dict[str, list[Row]]

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"{name}: {row}" for name, rows in self.rows.items() for row in rows)])


SITUATIONS = {
    "numbers": "EVENT seg(g, k) AS PATTERN SEQ STRICT(S a[n % 2 = 1], S b[n % 2 = 0]) PARTITION BY g, k;",
    "roles": "EVENT seg(g, k) AS PATTERN SEQ STRICT(S a[what = 'open'], S b[what = 'close']) PARTITION BY g, k;",
}


def lost_case(
    rng: Random, n_events: int = 6, *, marks: bool = True, most_lost: int = 4, situations: bool = False
) -> LostCase:
    """Some relations over one stream with lost events and maybe another one, or over events that are its segments."""
    other = rng.choice((None, None, "paired", "lasting"))
    by_marks = marks and rng.random() < 0.5
    shape = rng.choice((1, 1, 1, 2))
    erlang = f" GAPS ERLANG {shape}" if shape > 1 else ""
    limits = " ROLE what" if by_marks else " COUNT c BOUNDS lo TO hi"
    columns = LOSING.replace("stop STRING)", "stop STRING, what STRING)") if by_marks else LOSING
    streams = [f"{columns}{erlang} SEGMENTS{limits};", *([OTHERS[other]] if other else [])]
    events = [_relation(rng, number, other is not None) for number in range(n_events)]
    if situations:
        events = [_between_situations(event) for event in events]
        streams.append(SITUATIONS[rng.choice(("numbers", "roles")) if by_marks else "numbers"])
    text = "\n".join([*streams, *events])
    groups = ["p", "q"] if rng.random() < 0.3 else ["p"]
    n_keys = 1 if other else 2
    n_keys += rng.random() < 0.3
    budget = [most_lost if shape == 1 else 2]
    rows: dict[str, list[Row]] = {"S": []}
    for group in groups:
        for key in range(n_keys):
            rows["S"] += _losing(rng, f"k{key}", group, budget, by_marks=by_marks)
    if other:
        rows["T"] = [row for group in groups for row in _recorded(rng, other, group)]
    return LostCase(text, bound(text), rows)


def _relation(rng: Random, number: int, has_other: bool) -> str:
    left, right = rng.choice([("S", "S"), ("S", "T"), ("T", "S")] if has_other else [("S", "S")])
    relation = rng.choice(RELATIONS)
    if rng.random() < 0.2:
        relation = f"{{{', '.join(rng.sample(RELATIONS, 2))}}}"
    several = rng.random() < 0.2
    least = "AT LEAST many FROM 1 TO 3" if several else _quantity(rng)
    same = " ON SAME stop" if rng.random() < 0.3 else ""
    where = f" WHERE {rng.choice('xy')}.stop = 'u'" if rng.random() < 0.2 else ""
    having = rng.choice(("", "", " HAVING x.k < y.k", " HAVING x.g = y.g", " HAVING x.g = y.g AND x.k <> y.k"))
    by = " PARTITION BY g" if rng.random() < 0.2 else ""
    confidence = rng.choice(("", "", "", " CONFIDENCE > 0.3", " CONFIDENCE >= 0.5"))
    head = "x.g AS xg, x.k AS xk, y.g AS yg, y.k AS yk" + (", many" if several else "")
    pattern = f"{least} {left} x {relation} {_quantity(rng)} {right} y{same}{where}{having}"
    return f"EVENT e{number}({head}) AS PATTERN {pattern}{by}{confidence};"


def _between_situations(event: str) -> str:
    """The same relation, of which all that situations do not have is left out."""
    plain = re.sub(r" ON SAME stop| WHERE [xy]\.stop = 'u'", "", event)
    return plain.replace(" S x ", " seg x ").replace(" S y", " seg y")


def _quantity(rng: Random) -> str:
    return rng.choice(("ALL", "SOME", "SOME", "AT LEAST 1", "AT LEAST 2", "AT LEAST 0"))


def _losing(rng: Random, key: str, group: str, budget: list[int], *, by_marks: bool) -> list[Row]:
    """The rows of one key of which some were lost, at most as many as the budget says."""
    total = 2 * rng.choice((1, 1, 2, 2, 3))
    times = sorted(rng.sample(range(2, 14), total))
    share = rng.choice((0.0, 0.3, 0.6))
    kept = []
    for number, time in enumerate(times, start=1):
        if budget[0] > 0 and rng.random() < share:
            budget[0] -= 1
        else:
            kept.append((number, time))
    lo, hi = times[0] - rng.choice((1, 2)), times[-1] + rng.choice((1, 2))
    same = {"k": key, "g": group}
    rows: list[Row] = [{**same, "t": t, "n": n, "stop": rng.choice(("u", "v", None))} for n, t in kept]
    if not by_marks:
        if not kept:
            budget[0] += total
            return []
        return [{**row, "c": total, "lo": lo, "hi": hi} for row in rows]
    rows = [{**row, "what": rng.choice(("open", None)) if int(str(row["n"])) % 2 else "close"} for row in rows]
    marks = [(0, lo), (total, hi)]
    for before, after in zip([(0, lo), *kept], [*kept, (total + 1, hi)], strict=True):
        lost = list(range(before[0] + 1, after[0]))
        if len(lost) > 1 and after[1] - before[1] > 2 and rng.random() < 0.5:
            marks.append((rng.choice(lost[:-1]), rng.randrange(before[1] + 1, after[1])))
    return rows + [{**same, "t": t, "n": n, "stop": None, "what": "mark"} for n, t in marks]


def _recorded(rng: Random, kind: str, group: str) -> list[Row]:
    same = {"k": "z", "g": group}
    if kind == "paired":
        times = sorted(rng.sample(range(14), 2 * rng.choice((1, 2))))
        return [{**same, "t": t, "stop": rng.choice(("u", "v", None))} for t in times]
    pairs = [sorted(rng.choices(range(14), k=2)) for _ in range(rng.choice((1, 2, 3)))]
    return [{**same, "s": s, "e": e, "stop": rng.choice(("u", "v"))} for s, e in pairs]
