"""Events over numbered streams that are added to a running program: exactly what the definition says of the rows that
come after they began, of which events lost before the first row of a key count only where BOUNDS lie after that."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest
from tests.kit.arrival import permitted_order, with_lateness
from tests.kit.probable_oracle import summed_over, with_names
from tests.kit.rows import Rows
from tests.kit.seeds import at_length
from tests.kit.streams import Row
from tests.properties.replacing import replaced_at

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.meaning.worlds import joint_worlds
from inkling.physical.streams import streams_of_event
from inkling.query import Program

CASES_PER_SEED = 12
LATENESS, LONG = 2, 18
EPSILON = 0.05
SAMPLING = Sampling(epsilon=EPSILON, delta=1e-6, seed=7)

COLUMNS = "STREAM Jam(id STRING, k STRING, t BIGINT, n BIGINT, c BIGINT, lo BIGINT, hi BIGINT, what STRING)"
KINDS = {
    "bounds": "SEGMENTS COUNT c BOUNDS lo TO hi",
    "Erlang": "GAPS ERLANG 2 SEGMENTS COUNT c BOUNDS lo TO hi",
    "marks": "SEGMENTS ROLE what",
    "timeout": "SEGMENTS TIMEOUT 12 TICKS",
}
SURE = "STREAM Sure(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;\n"
OLD = "EVENT old(a.k AS k) AS PATTERN SEQ(Jam a, Sure s) WITHIN 6 TICKS PER VALUES;\n"
RELATIONS = ("PRECEDES", "INTERSECTS", "CONTAINS", "OVERLAPS", "STARTS_BEFORE", "ENDS_AFTER")
AMOUNTS = ("SOME", "SOME", "ALL", "AT LEAST 2")
SEQUENCES = (
    "EVENT w1(a.k AS k, a.n AS n, s.id AS s) AS PATTERN SEQ(Jam a, Sure s) PER VALUES;\n",
    "EVENT w2(a.k AS k, b.k AS other) AS PATTERN SEQ(Jam a[n % 2 = 1], Sure s, Jam b[n % 2 = 0]) PER VALUES;\n",
    "EVENT w3(s.id AS s) AS PATTERN SEQ(Sure s, NOT Jam a, Sure r) PER VALUES;\n",
    "EVENT w5(x.k AS one, y.k AS other) AS PATTERN ALL Jam x PRECEDES SOME Jam y HAVING x.k <> y.k SAMPLED;\n",
    "EVENT w4(a.k AS k) AS PATTERN SEQ NEXT(Jam a, Jam b[n = a.n + 1]) WHERE a.k = b.k PER VALUES;\n",
)


@dataclass(frozen=True)
class Case:
    """A program, the one that replaces it, and rows in the order in which they come."""

    old: Program
    new: Program
    arrivals: list[tuple[str, Row]]
    cut: int

    def __str__(self) -> str:
        rows = [f"{name}: {row}" for name, row in self.arrivals]
        return "\n".join([self.new.text, *rows[: self.cut], "--- replaced ---", *rows[self.cut :]])


def case(rng: random.Random, kind: str) -> Case:
    jammed = jams(rng, kind)
    begun_by = {row["k"] for row in jammed if row["n"] == 1}
    lateness = LATENESS if begun_by == {*"abc"} else LONG  # until what was lost before the first row of a key is known
    streams = with_lateness(f"{COLUMNS} ID id KEY k TIME t NUMBERED BY n {KINDS[kind]};\n{SURE}", lateness)
    relations = [
        f"EVENT r{number}(x.k AS one, y.k AS other) AS PATTERN {rng.choice(AMOUNTS)} Jam x {rng.choice(RELATIONS)} "
        f"{rng.choice(AMOUNTS)} Jam y HAVING x.k <> y.k;\n"
        for number in range(4)
    ]
    new = streams + OLD + "".join(relations) + "".join(rng.sample(SEQUENCES, 2))
    rows = [("Jam", row) for row in jammed]
    rows += [("Sure", {"id": f"s{t}", "k": "a", "t": t}) for t in sorted(rng.sample(range(24), 4))]
    order = permitted_order(rng, [int(str(row["t"])) for _, row in rows], LATENESS)
    arrivals = [rows[place] for place in order]
    cut = rng.randint(len(rows) // 6, len(rows) // 2)
    return Case(inkling.parse(streams + OLD), inkling.parse(new), arrivals, cut)


def jams(rng: random.Random, kind: str) -> list[Row]:
    """The rows of three keys, of which a few events were lost; one of them may have begun late."""
    budget, found = [2 if kind == "Erlang" else 4], []
    for key in "abc":
        begin, total = rng.choice((0, 0, 10)), 2 * rng.choice((1, 2, 3))
        times = sorted(rng.sample(range(begin + 2, begin + 14), total))
        lo, hi = times[0] - rng.choice((1, 2)), times[-1] + rng.choice((1, 2))
        for n, t in enumerate(times, start=1):
            at_an_end = n == 1 or (n == total and kind == "timeout")
            if budget[0] and not (at_an_end and kind in ("marks", "timeout")) and rng.random() < 0.5:
                budget[0] -= 1
                continue
            what = "open" if n % 2 else "close"
            is_first = not any(row["k"] == key for row in found)
            since = lo if is_first or rng.random() < 0.7 else None
            found.append({"id": f"{key}{n}", "k": key, "t": t, "n": n, "c": total, "lo": since, "hi": hi, "what": what})
        if kind == "marks":
            mark = {"k": key, "c": None, "lo": None, "hi": None, "what": "mark"}
            found.append({**mark, "id": f"m{key}", "n": total, "t": hi})
            if rng.random() < 0.5:
                found.append({**mark, "id": f"l{key}", "n": total, "t": hi + rng.choice((1, 3))})
    return found


def found_in(rng: random.Random, one: Case) -> dict[str, dict[tuple[object, ...], float]]:
    """The probabilities of the results of new events by their values."""
    found, changed = replaced_at(rng, one.old, one.new, one.arrivals, one.cut, SAMPLING)
    heads = {event.name: [output.name for output in event.head] for event in one.new.plan.events}
    return {
        name: {tuple(row[column] for column in heads[name]): row["probability"] for row in found[name]}  # type: ignore[misc]
        for name in changed.started
    }


def border(one: Case, name: str) -> int | None:
    """The latest time of the streams of an event before it began; None before the first row."""
    event = one.new.plan.event(name)
    assert event is not None
    read = streams_of_event(event, one.new.plan)
    return max((int(str(row["t"])) for stream, row in one.arrivals[: one.cut] if stream in read), default=None)


def keys_across(one: Case) -> int:
    """How many keys have a first row after the replacement that is not the first of its numbers."""
    first: dict[object, int] = {}
    for _, row in sorted(one.arrivals[one.cut :], key=lambda arrival: int(str(arrival[1]["t"]))):
        if "n" in row:
            first.setdefault(row["k"], int(str(row["n"])))
    return sum(number > 1 for number in first.values())


def expected(one: Case, border: int | None) -> dict[str, dict[tuple[object, ...], Fraction]]:
    plan = one.new.plan
    rows: Rows = {stream.schema.name: [] for stream in plan.streams}
    for name, row in one.arrivals:
        if border is None or int(str(row["t"])) > border:
            rows[name].append(row)
    schemas = [stream.schema for stream in plan.streams]
    worlds = joint_worlds(with_names(plan, rows), schemas, begun=border)
    return {
        name: {result.values: result.probability for result in results}
        for name, results in summed_over(worlds, plan).items()
    }


def differences(rng: random.Random, one: Case, seen: Counter[str]) -> Iterator[str]:
    found = found_in(rng, one)
    borders = {name: border(one, name) for name in found}
    wanted = {border: expected(one, border) for border in {*borders.values()}}
    seen["keys across the border"] += keys_across(one)
    for name, mine in found.items():
        since, tolerance = borders[name], 1e-9 if name.startswith("r") else 2 * EPSILON
        seen[name[0]] += 1
        right_ones = wanted[since][name]
        for values in mine.keys() | right_ones.keys():
            chance, right = mine.get(values, 0.0), float(right_ones.get(values, 0))
            seen["uncertain"] += 0 < right < 1
            if abs(chance - right) > tolerance:
                yield f"{name}{values} since {since}: {chance}, expected {right}"


def check(kind: str, seed: int) -> None:
    rng, seen = random.Random(f"{kind} {seed}"), Counter[str]()
    for _ in range(CASES_PER_SEED):
        one = case(rng, kind)
        wrong = list(differences(rng, one, seen))
        assert not wrong, "\n".join([str(one), *wrong])
    assert seen["r"] > CASES_PER_SEED, seen
    assert seen["w"] > CASES_PER_SEED, seen
    assert seen["uncertain"], seen
    assert seen["keys across the border"] > CASES_PER_SEED // 2, seen


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_new_events_eq_definition(kind: str) -> None:
    check(kind, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", at_length(range(1, 9)))
@pytest.mark.parametrize("kind", KINDS)
def test_new_events_eq_definition_at_length(kind: str, seed: int) -> None:
    check(kind, seed)
