"""What `explain` says of queries over probable streams: class, plan, engine, state, and what makes them hard."""

from __future__ import annotations

import pytest

import inkling

STREAMS = """
    STREAM R(k BIGINT, v BIGINT, t BIGINT) KEY k TIME t PROBABILITY p;
    STREAM S(k BIGINT, v BIGINT, t BIGINT) KEY k TIME t PROBABILITY p;
    STREAM M(k BIGINT, v BIGINT, t BIGINT) KEY k TIME t PROBABILITY p GIVEN g;
    STREAM G(v BIGINT, t BIGINT) TIME t PROBABILITY p;
"""
SAID = {
    "SEQ NEXT(R a[k = 1], S b[k = 2]) PER END": (
        "class      regular: ",
        "plan       CHAIN(R ; S)",
        "chains of automaton states, exact",
        "the probability of each automaton state",
    ),
    "SEQ NEXT(R a, S b[k = a.k]) PER END": ("class      extended regular: ", "plan       PROJECT a.k OF CHAIN(R ; S)"),
    "SEQ NEXT(R a, S b+) PARTITION BY k PER END": (
        "class      extended regular: ",
        "plan       for each a.k: CHAIN(R ; S+)",
    ),
    "SEQ NEXT(R a, S b[k = a.k], G c) PER END": (
        "class      safe: ",
        "plan       (PROJECT a.k OF CHAIN(R ; S)) THEN G",
        "a safe plan, exact",
        "the probability of each start of a match that still contributes",
    ),
    "SEQ NEXT(R a, R b[k = a.k], R c) PER END": ("class      safe with overlap: ", "COVERED BY R"),
    "SEQ NEXT(R a, S b[k = a.k], R c) PER END": ("class      safe with overlap: ", "GROUPED WITH R"),
    "SEQ NEXT(R a, G b, S c[k = a.k]) PER END": (
        "class      unsafe: a.k is shared, but part 2 (G) does not use it",
        "hard       JOIN_VAR: ",
        "nothing, so unbounded streams are rejected",
    ),
    "SEQ NEXT(G a, S b[k = LAST(b).k]+) PER END": ("hard       KLEENE_VAR: ",),
    "SEQ NEXT(R a, S b[v > a.v]) PER END": ("hard       NONLOCAL: ",),
    "SEQ NEXT((SEQ NEXT(R a, S b[k = a.k], M c[k = 1]) HAVING c.v = 1), G d) PER END": (
        "class      safe by definition, but not by INNER_REJECT: ",
    ),
    "SEQ NEXT(M a, M b) PER END": (
        "class      regular: ",
        "sets of partial matches, exact while there are few",
        "hard       part 1 reads several values of `k` of M, whose events depend on the past; PARTITION BY the KEY",
    ),
    "SEQ STRICT(R a, R b) PARTITION BY k PER END": ("class      regular: ",),
    "SEQ NEXT(R a, S b) WITHIN 5 TICKS PARTITION BY k PER END": ("no query   WITHIN depends on when a match began",),
    "SEQ NEXT(R a, S b) PARTITION BY k": ("no query   PER MATCH needs whole matches", "in possible worlds"),
}


@pytest.mark.parametrize("asked", SAID)
def test_what_is_said(asked: str) -> None:
    verdicts = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {asked};").explain("verdicts")
    assert [said for said in SAID[asked] if said not in verdicts] == [], verdicts
