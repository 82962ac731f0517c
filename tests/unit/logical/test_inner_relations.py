"""Relations between segments inside patterns mean the same as relations that are events of their own."""

from __future__ import annotations

import pytest
from tests.kit.oracle import bound

STREAMS = """
STREAM S(k STRING, site STRING, n INT, b INT, e INT) KEY k TIME FROM b TO e;
STREAM T(site STRING, k STRING, b INT, e INT) KEY site, k TIME FROM b TO e;
STREAM A(k STRING, t INT) TIME t;
TABLE near(a STRING, b STRING) FROM 'near.csv';
RULE reached(x, y) IF near(x, y);
EVENT other(a.k) AS PATTERN A a WHERE reached(a.k, 'x');
"""
WRITTEN_OUT = [
    pytest.param(
        "EVENT q(x.k, y.site) AS PATTERN SEQ(A a, (ALL S x DURING SOME T y)) WHERE a.k = x.k AND y.k <> a.k;",
        """
        EVENT q_relation(x.k AS x_k, y.site AS y_site, y.k AS y_k) AS PATTERN ALL S x DURING SOME T y HIDDEN;
        EVENT q(x.x_k AS k, x.y_site AS site) AS PATTERN SEQ(A a, q_relation x) WHERE a.k = x.x_k AND x.y_k <> a.k;
        """,
        id="columns of keys",
    ),
    pytest.param(
        """
        EVENT q(x.k AS x, z.k AS z) AS PATTERN (SOME S x MEETS SOME S y) AND (AT LEAST 2 S y STARTS SOME S z)
        HAVING x.k < z.k;
        """,
        """
        EVENT q_relation(x.k AS x_k, y.k AS y_k) AS PATTERN SOME S x MEETS SOME S y HIDDEN;
        EVENT q_relation_2(y.k AS y_k, z.k AS z_k) AS PATTERN AT LEAST 2 S y STARTS SOME S z HIDDEN;
        EVENT q(x.x_k AS x, z.z_k AS z) AS PATTERN q_relation x AND q_relation_2 z
        WHERE x.y_k = z.y_k HAVING x.x_k < z.z_k;
        """,
        id="a name in two relations is one key",
    ),
    pytest.param(
        """
        EVENT q(START(r) AS since) AS
        PATTERN SEQ((SOME S x MEETS SOME S y ON SAME site WHERE x.n > y.n WITHIN 9 TICKS HAVING x.k < y.k) r, A a);
        """,
        """
        EVENT q_relation(x.k AS x_k, y.k AS y_k) AS
        PATTERN SOME S x MEETS SOME S y ON SAME site WHERE x.n > y.n WITHIN 9 TICKS HAVING x.k < y.k HIDDEN;
        EVENT q(START(r) AS since) AS PATTERN SEQ(q_relation r, A a);
        """,
        id="clauses in the parentheses are those of the relation",
    ),
    pytest.param(
        "EVENT q(site, x.k AS x) AS PATTERN SEQ((SOME T x MEETS SOME T y), T a) PARTITION BY site;",
        """
        EVENT q_relation(site, x.k AS x_k, y.k AS y_k) AS PATTERN SOME T x MEETS SOME T y PARTITION BY site HIDDEN;
        EVENT q(site, x.x_k AS x) AS PATTERN SEQ(q_relation x, T a) PARTITION BY site;
        """,
        id="keys of one partition",
    ),
    pytest.param(
        """
        EVENT d(k) AS PATTERN SEQ(A a, A b) PARTITION BY k;
        EVENT q AS PATTERN SEQ(NOT (ALL d MEETS SOME d), A c) WITHIN 9 TICKS;
        """,
        """
        EVENT d(k) AS PATTERN SEQ(A a, A b) PARTITION BY k;
        EVENT q_relation(d.k AS d_k, d_2.k AS d_2_k) AS PATTERN ALL d d MEETS SOME d d_2 HIDDEN;
        EVENT q AS PATTERN SEQ(NOT q_relation d, A c) WITHIN 9 TICKS;
        """,
        id="segments that are events, without names",
    ),
    pytest.param(
        "EVENT q(x.k) AS PATTERN A a OR (SOME S x MEETS SOME S y);",
        """
        EVENT q_relation(x.k AS x_k, y.k AS y_k) AS PATTERN SOME S x MEETS SOME S y HIDDEN;
        EVENT q(x.x_k AS k) AS PATTERN A a OR q_relation x;
        """,
        id="a relation in one branch",
    ),
]


@pytest.mark.parametrize(("inside", "apart"), WRITTEN_OUT)
def test_it_is_an_event_of_its_own(inside: str, apart: str) -> None:
    assert bound(STREAMS + inside) == bound(STREAMS + apart)
