"""`p OPTIONAL q` and events in WHERE: which pairs count, and what remains without one, on all runners and in worlds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.conformance.case import Case as Conforming
from tests.conformance.case import with_ids
from tests.conformance.runners import LocalBatch, Pushed
from tests.conformance.test_conformance import check
from tests.kit.oracle import oracle
from tests.kit.programs import Case
from tests.properties.lettered import ALL_OF_THEM, check_in_worlds, check_local, check_pushed, lettered_case

from inkling.logical.patterns.allen import ENDED_BY, relation_holds
from inkling.model.time import Instant

RELATIONS = ("", *sorted(ENDED_BY), "{EQUALS, PRECEDED_BY}", "{CONTAINS, FINISHED_BY}")

LEFTS = ("A a", "A a", "A a[x > 0]", "(SEQ(A a, C c))", "(A a OR C c)", "(A a AND C c)", "(A a OPTIONAL C c)")
RIGHTS = (
    "B b",
    "B b",
    "B b[x = a.x]",
    "(SEQ(B b, D d))",
    "(B b OR D d)",
    "(B b OPTIONAL D d)",
    "(SEQ(B b, NOT D, B d))",
)


def random_join(rng: random.Random) -> str:
    left, right, relation = rng.choice(LEFTS), rng.choice(RIGHTS), rng.choice(RELATIONS)
    operator = f"OPTIONAL {relation}".strip()
    join = f"{left} {operator} {right}"
    where = rng.choice(("", " WHERE b.x >= a.x", " WHERE a.x IS NOT NULL AND b.k = a.k"))
    outside = [f"SEQ(E e, ({join}{where}))", f"SEQ(({join}{where}), E e)", f"({join}{where}) AND E e"]
    outside += [f"SEQ(A z, NOT ({join.replace('A a', 'E a')}), C y)"] if "C c" not in join and not where else []
    pattern = rng.choice([join + where] * 6 + [f"({join}{where} WITHIN 4 TICKS) OPTIONAL E e", *outside])
    window = rng.choice((" WITHIN 3 TICKS", " WITHIN 6 TICKS", " WITHIN 9 POINTS", " WITHIN 5 EVENTS", ""))
    having = rng.choice(("", "", " HAVING b.x IS NULL OR b.x < 2")) if "NOT (" not in pattern else ""
    return f"{pattern}{window}{having}"


FACTS = (
    "B(_, a.k)",
    "B(_, a.k, a.x)",
    "B(_, _, v) AND v >= a.x",
    "NOT B(_, a.k)",
    "NOT B(_, _, a.x)",
    "NOT B(_, w, w)",
    "B(_, a.k, v) AND NOT D(_, _, v)",
    "NOT D(_, _, v) AND B(_, a.k, v) AND B(_, _, v)",
    "pair(a.k, v)",
    "NOT pair(_, a.x)",
    "B(_, v, v)",
)
PAIR = "EVENT pair(b.k AS k, d.x AS x) AS PATTERN SEQ(B b, D d) WITHIN 6 TICKS;"


def random_facts(rng: random.Random) -> list[str]:
    left, fact = rng.choice((*LEFTS[:4], "(A a AND C c)", "SEQ(A a, NOT C, E e)")), rng.choice(FACTS)
    where = f"{left} WHERE {fact}"
    outside = [f"SEQ(E z, ({where}))", f"SEQ(({where}), D z)", f"({where}) AND E z", f"({where}) OPTIONAL E z"]
    outside += [f"({where} WITHIN 4 TICKS)", f"({left} WITHIN 4 TICKS) WHERE {fact}"]
    outside += [f"SEQ(A z, NOT ({where.replace('A a', 'E a')}), C y)"] if "C " not in left and "E e" not in left else []
    pattern = rng.choice([where] * 3 + outside) if "NOT C" not in left else where
    window = rng.choice((" WITHIN 3 TICKS", " WITHIN 6 TICKS", " WITHIN 9 POINTS", " WITHIN 5 EVENTS", ""))
    value = "v" if "v" in fact and "NOT (" not in pattern else "1"
    head = f"({value} AS v)" if "v)" not in fact or value == "v" else ""
    per = rng.choice(("", "", " PER INTERVAL", " PER END", " PARTITION BY k"))
    if "NOT C" in left and "TICKS" not in window:
        window = " WITHIN 6 TICKS"
    return [PAIR, f"EVENT fact{head} AS PATTERN {pattern}{window}{per} {ALL_OF_THEM};"]


def facts_case(rng: random.Random, *, lasting: bool = False) -> Case:
    return lettered_case(rng, random_facts(rng), "AAABBBCCDDE", lasting=lasting)


def random_case(rng: random.Random, *, lasting: bool = False) -> Case:
    per = rng.choice(("", "", " PER INTERVAL", " PER END", " PARTITION BY k"))
    text = random_join(rng)
    head = "(b.x AS x)" if "NOT (" not in text else ""
    return lettered_case(
        rng, [f"EVENT joined{head} AS PATTERN {text}{per} {ALL_OF_THEM};"], "AAABBBCCDDE", lasting=lasting
    )


@pytest.mark.parametrize("seed", range(2))
def test_the_definition_is_an_outer_join(seed: int) -> None:
    rng = random.Random(seed)
    n_with = n_without = 0
    for _ in range(30):
        relation, limit = rng.choice(RELATIONS), rng.randint(1, 9)
        text = f"EVENT e AS PATTERN A a OPTIONAL {relation} B b[x >= a.x] WITHIN {limit} TICKS;"
        case = lettered_case(rng, [text], "AAABBB", lasting=rng.random() < 0.5)
        found = {one.lineage for one in oracle(case.plan, case.rows)["e"]}
        expected = set(_joined(case, relation, limit))
        assert found == expected, str(case)
        n_with += sum(len(one) == 2 for one in expected)
        n_without += sum(len(one) == 1 for one in expected)
    assert n_with > 25
    assert n_without > 25


def _joined(case: Case, relation: str, limit: int) -> Iterator[tuple[object, ...]]:
    names = relation.strip("{}").split(", ") if relation else []
    for a in case.rows["A"]:
        start, end = _ends(a)
        if end - start > limit:
            continue
        partners = []
        for b in case.rows["B"]:
            ends = _ends(b)
            instants = [Instant(one, 0) for one in (start, end, *ends)]
            related = not names or any(relation_holds(name, *instants) for name in names)
            fits = ends[1] <= end and end - min(start, ends[0]) <= limit
            comparable = a["x"] is not None and b["x"] is not None
            if related and fits and comparable and b["x"] >= a["x"]:
                partners.append((a["id"], b["id"]))
        yield from partners or [(a["id"],)]


@pytest.mark.parametrize("seed", range(2))
def test_the_definition_of_facts(seed: int) -> None:
    rng = random.Random(seed)
    n_with = n_without = 0
    for _ in range(30):
        limit = rng.randint(1, 9)
        texts = [
            f"EVENT e AS PATTERN (A a WITHIN 2 TICKS) WHERE {word}B(_, a.k, a.x) WITHIN {limit} TICKS;"
            for word in ("", "NOT ")
        ]
        texts[1] = texts[1].replace("EVENT e", "EVENT none")
        case = lettered_case(rng, texts, "AAABBB", lasting=rng.random() < 0.5)
        found = oracle(case.plan, case.rows)
        expected = set(_with_facts(case, limit))
        alone = {(a["id"],) for a in case.rows["A"] if _lasts(a) <= min(2, limit)} - {one[:1] for one in expected}
        assert {one.lineage for one in found["e"]} == expected, str(case)
        assert {one.lineage for one in found["none"]} == alone, str(case)
        times = {a["id"]: _ends(a) for a in case.rows["A"]}
        assert all((one.start, one.end) == times[one.lineage[0]] for one in found["e"])
        n_with, n_without = n_with + len(expected), n_without + len(alone)
    assert n_with > 25
    assert n_without > 25


def _with_facts(case: Case, limit: int) -> Iterator[tuple[object, ...]]:
    for a in case.rows["A"]:
        start, end = _ends(a)
        for b in case.rows["B"]:
            fits = end - start <= 2 and _ends(b)[1] <= end and end - min(start, _ends(b)[0]) <= limit
            if fits and a["x"] is not None and (a["k"], a["x"]) == (b["k"], b["x"]):
                yield (a["id"], b["id"])


def _lasts(row: dict[str, object]) -> int:
    start, end = _ends(row)
    return end - start


def _ends(row: dict[str, object]) -> tuple[int, int]:
    return (row["t"], row["t"]) if "t" in row else (row["since"], row["until"])


def test_facts_of_a_recursion() -> None:
    """Each step goes from the key of an A to that of an earlier result, and each result is on the interval of its A."""
    reach = (
        "EVENT reach(b.k AS k, b.x AS x) AS PATTERN B b PER INTERVAL;",
        "EVENT reach(a.x AS k, v AS x) AS PATTERN A a WHERE reach(a.k, v) WITHIN 9 TICKS PER INTERVAL;",
        "EVENT first AS PATTERN A a WHERE NOT reach(a.k, _);",
    )
    rng = random.Random(3)
    n_found = 0
    for number in range(10):
        case = lettered_case(rng, reach, "AAAABB", lasting=number % 2 == 0)
        n_found += len(case.expected()["reach"]) - len(case.rows["B"])
        check_local(case)
        check_pushed(rng, case)
    assert n_found > 20


SEGMENTS = (
    "STREAM Duty(id STRING, who STRING, t INT, until INT) ID id KEY who TIME FROM t TO until;",
    "STREAM Duty(who STRING, t INT, n INT) KEY who TIME t NUMBERED BY n SEGMENTS;",
)
ASKING = """
STREAM Call(id STRING, who STRING, t INT) ID id TIME t;
EVENT shared(x.who AS one, y.who AS other) AS PATTERN SOME Duty x INTERSECTS SOME Duty y;
EVENT met(v AS v) AS PATTERN Call c WHERE shared(c.who, v);
EVENT alone AS PATTERN Call c WHERE NOT shared(c.who, _);
"""


@pytest.mark.parametrize("segments", SEGMENTS, ids=["certain", "lost"])
def test_facts_that_are_relations_between_segments(segments: str) -> None:
    rng = random.Random(4)
    n_met = n_alone = 0
    for _ in range(6):
        duties: list[dict[str, object]] = []
        for who in "abc":
            times = sorted(rng.sample(range(9), 4))
            if "NUMBERED" in segments:
                lost = rng.randrange(1, 4)
                duties += [{"who": who, "t": t, "n": n + 1} for n, t in enumerate(times) if n != lost or lost == 3]
            else:
                duties += [{"id": f"{who}{t}", "who": who, "t": t, "until": u} for t, u in (times[:2], times[2:])]
        calls: list[dict[str, object]] = [
            {"id": f"c{t}", "who": rng.choice("abc"), "t": t} for t in rng.sample(range(5, 14), 3)
        ]
        case = with_ids(Conforming("asking", "", segments + ASKING, ({"Duty": duties, "Call": calls},), {}))
        n_met, n_alone = n_met + len(case.expected["met"]), n_alone + len(case.expected["alone"])
        wrong = [line for runner in (LocalBatch(), Pushed(1)) for line in check(runner, case)]
        assert not wrong, "\n".join(wrong)
    assert min(n_met, n_alone) > 1


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    for number in range(40):
        check_local(random_case(rng, lasting=number % 3 == 0))
        if number % 2:
            check_local(facts_case(rng, lasting=number % 3 == 0))


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for number in range(20):
        check_pushed(rng, random_case(rng))
        if number % 2:
            check_pushed(rng, facts_case(rng))


@pytest.mark.parametrize("kind", ["probable", "imprecise"])
def test_worlds_eq_definition(kind: str) -> None:
    rng = random.Random(8)
    assert sum(check_in_worlds(rng, random_case(rng), kind) for _ in range(25)) > 3
    assert sum(check_in_worlds(rng, facts_case(rng), kind) for _ in range(12)) > 1


def test_a_missing_key_is_not_the_key_of_the_left_side() -> None:
    """Results without B are one result for events that read them, whatever key their A has."""
    rng = random.Random(2)
    events = [
        "EVENT joined(b.k AS k, a.x AS x) AS PATTERN A a OPTIONAL B b[k = a.k] WITHIN 2 TICKS;",
        "EVENT again(j.k AS k) AS PATTERN joined j OPTIONAL C c[k = j.k] WITHIN 3 TICKS PER INTERVAL;",
    ]
    for _ in range(5):
        check_local(lettered_case(rng, events, "AAAAAABBC"))


def random_recursion(rng: random.Random) -> Case:
    """A recursive event whose optional part reads earlier results of the recursion."""
    relation = rng.choice(("", "EQUALS", "PRECEDED_BY", "{EQUALS, FINISHED_BY}"))
    left = rng.choice(("(SEQ(r p, A a))", "A a", "(SEQ(r p, B c, A a))"))
    right = rng.choice(("(SEQ(r q, B b))", "(SEQ(r q, B d, A b))", "(SEQ(B d, r q, A b))"))
    where = rng.choice(("", " WHERE q.x >= a.x", " WHERE b.k = a.k"))
    having = rng.choice((" HAVING b.x IS NULL", " HAVING b.x IS NULL OR b.x < 2", ""))
    limit = rng.choice((3, 5))
    texts = [
        "EVENT r(c.x AS x) AS PATTERN C c PER INTERVAL;",
        f"EVENT r(a.x) AS PATTERN {left} OPTIONAL {relation} {right}{where}{having} WITHIN {limit} TICKS PER INTERVAL;",
    ]
    return lettered_case(rng, texts, "AAABBBCC", lasting=rng.random() < 0.3)


@pytest.mark.parametrize("seed", range(2))
def test_recursion_over_earlier_optional_parts_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(15):
        case = random_recursion(rng)
        check_local(case)
        check_pushed(rng, case)
