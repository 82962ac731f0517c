"""What results depend on, down to rows of streams."""

from __future__ import annotations

import pytest

import inkling
from inkling.why.explanation import Derivation, Fact

PROGRAM = """
STREAM Temp(id STRING, v INT, t BIGINT) ID id TIME t;
TABLE room(id STRING, name STRING) FROM 'room.csv';
EVENT m(v) AS PATTERN Temp t WHERE v = t.v PER INTERVAL;
EVENT m(v) AS PATTERN SEQ(m p, Temp t) WHERE t.v > p.v AND v = t.v PER INTERVAL;
EVENT seen(x.v AS v, n) AS PATTERN SEQ(m x[v > 6], Temp b) WHERE room(b.id, n) WITHIN 4 TICKS;
"""
ROWS = {"Temp": [{"id": f"t{time}", "v": v, "t": time} for time, v in enumerate([5, 3, 7, 1], start=1)]}
ROOMS = {"room": [{"id": "t4", "name": "hall"}]}


def outline(tree: Derivation) -> object:
    """Sources with their ids, and what is inside them by variable."""
    if tree.is_row:
        return f"{tree.source} {tree.ids[0]}"
    return tree.source, [(name, outline(part)) for name, part in tree.parts]


def test_recursion_is_a_tree_by_depth() -> None:
    why = inkling.parse(PROGRAM).why("m", ROWS, ROOMS)
    (number,) = why.results_with(["t1", "t3"])
    tree = why.tree(number)
    assert (tree.values, tree.start, tree.end) == ({"v": 7}, 1, 3)
    assert outline(tree) == ("m", [("p", ("m", [("t", "Temp t1")])), ("t", "Temp t3")])


def test_facts_are_named() -> None:
    why = inkling.parse(PROGRAM).why("seen", ROWS, ROOMS)
    (number,) = why.results_with(["t2"])
    tree = why.tree(number)
    assert tree.values == {"v": 7, "n": "hall"}
    assert [(fact.table, fact.values) for fact in tree.facts] == [("room", {"id": "t4", "name": "hall"})]
    assert [row.ids[0] for row in tree.rows()] == ["t2", "t3", "t4"]


def test_long_lists_are_retraced_at_once() -> None:
    program = inkling.parse(
        """STREAM V(id STRING, t BIGINT) ID id TIME t ORDER BY t;
           EVENT run AS PATTERN SEQ STRICT(V v{60,});"""
    )
    rows = [{"id": f"v{time}", "t": time} for time in range(60)]
    (part,) = {name for name, _ in program.why("run", {"V": rows}).tree().parts}
    assert part == "v"


def test_leaving_out_and_next_do_not_hinder() -> None:
    program = inkling.parse(
        """STREAM A(id STRING, x INT, t BIGINT) ID id TIME t;
           EVENT e AS PATTERN SEQ NEXT(A a[x = 1], NOT A n[x = 3], A b[x = 2]) CONSUME RESTART PER END;"""
    )
    rows = [{"id": f"a{time}", "x": x, "t": time} for time, x in enumerate([1, 4, 2, 2])]
    assert outline(program.why("e", {"A": rows}).tree()) == ("e", [("a", "A a0"), ("b", "A a2")])


def test_times_are_those_of_the_clock() -> None:
    program = inkling.parse("STREAM A(id STRING) ID id TIME t; EVENT e AS PATTERN A a;")
    tree = program.why("e", {"A": [{"id": "a", "t": "2024-05-01T10:00:00Z"}]}).tree()
    assert str(tree.start) == "2024-05-01 10:00:00+00:00"


ENTAILED = """PREFIX : <http://e/>
SELECT ?road FROM <roads.ttl> ENTAILMENT RDFS
WHERE { ?road :slow ?cause } SEQ { ?road a :BadRoad } AND { ?cause a :Weather };"""
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SCHEMA = [
    ("slowInSnow", RDFS + "subPropertyOf", "slow"),
    ("hole", RDFS + "domain", "Holey"),
    ("Holey", RDFS + "subClassOf", "BadRoad"),
    ("storm", TYPE, "Snow"),
    ("Snow", RDFS + "subClassOf", "Weather"),
]
TRIPLES = [("A8", "slowInSnow", "storm", 1, 0.5), ("A8", "hole", "h1", 2, 0.5)]


def iri(name: str) -> str:
    return f"<{name}>" if ":" in name else f"<http://e/{name}>"


def reasons(tree: Derivation) -> dict[str, object]:
    """The rules and background triples behind each fact that a tree looked up."""

    def short(value: object) -> str:
        return str(value).strip("<>").replace("http://e/", "").split("#")[-1]

    def below(fact: Fact) -> object:
        if fact.note is None:
            return " ".join(map(short, fact.values.values()))
        return fact.note.split(":")[0], *map(below, fact.parts)

    found = {" ".join(map(short, fact.values.values())): below(fact) for fact in tree.facts}
    for _, part in tree.parts:
        found |= reasons(part)
    return found


@pytest.mark.parametrize("is_uncertain", [False, True])
def test_triples_that_follow_say_by_which_rule_of_rdfs(is_uncertain: bool) -> None:
    declared = "STREAM triple(s TERM, p TERM, o TERM) TIME t PROBABILITY prob;\n" if is_uncertain else ""
    program = inkling.parse(declared + ENTAILED, name="q.epsparql")
    rows = [
        {"s": iri(s), "p": iri(p), "o": iri(o), "t": t} | ({"prob": prob} if is_uncertain else {})
        for s, p, o, t, prob in TRIPLES
    ]
    background = {"background": [{"s": iri(s), "p": iri(p), "o": iri(o)} for s, p, o in SCHEMA]}
    tree = program.why("query1", {"triple": rows}, background).tree()
    assert [row.ids[0] for row in tree.rows()] == [1, 2]
    assert reasons(tree) == {
        "slowInSnow slow": ("rdfs7", "slowInSnow subPropertyOf slow"),
        "hole BadRoad": ("rdfs9", ("rdfs2", "hole domain Holey"), ("rdfs9", "Holey subClassOf BadRoad")),
        "storm type Weather": ("rdfs9", "storm type Snow", "Snow subClassOf Weather"),
    }
