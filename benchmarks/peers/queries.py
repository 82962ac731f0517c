"""The same questions as queries of data frames: what somebody would write by hand for each pattern."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from benchmarks.peers.workloads import Workload

WITHIN_MS, DEADLINE_MS = 60_000, 10_000


def by_polars(table: pa.Table, workload: Workload) -> int:
    rows = pl.from_arrow(table)
    assert isinstance(rows, pl.DataFrame)
    kind, level, code = pl.col("kind"), pl.col("level"), pl.col("code")
    lazy = rows.lazy()
    match workload.key.split("-"):
        case ["sequence", *_]:
            return _next(lazy, (kind == 0) & (level > 0.5), (kind == 1) & (code >= 500), kind == 2)
        case ["absence"]:
            a, b = lazy.filter(kind == 0), lazy.filter(kind == 1).select("device", b="t")
            after = a.join_asof(b, left_on="t", right_on="b", by="device", strategy="forward", check_sortedness=False)
            late = pl.col("b").is_null() | (pl.col("b") - pl.col("t") > DEADLINE_MS)
            return after.filter(late).select("device", "t", "id").collect().height
        case ["repetition"]:
            placed = lazy.sort("device", "id").with_columns(place=pl.int_range(pl.len()), until=level.cum_sum())
            borders = placed.filter(kind < 2).with_columns(
                pl.col("kind", "place", "until").shift(1).over("device").name.prefix("last_")
            )
            found = borders.filter(
                (kind == 1) & (pl.col("last_kind") == 0) & (pl.col("place") - pl.col("last_place") > 1)
            )
            total = pl.col("until") - level - pl.col("last_until")
            return found.select("device", "t", total.alias("total")).collect().height
        case ["patterns", n]:
            return sum(
                _next(
                    lazy,
                    (kind == 0) & (code >= 10 * number) & (code < 10 * number + 10),
                    (kind == 1) & (level > number / 200),
                    kind == 2,
                )
                for number in range(int(n))
            )
    raise AssertionError(workload.key)


def _next(rows: pl.LazyFrame, first: pl.Expr, second: pl.Expr, third: pl.Expr) -> int:
    """As-of joins; the rows are in the order of time, as these want them."""
    after = {"by": "device", "strategy": "forward", "allow_exact_matches": False, "check_sortedness": False}
    a = rows.filter(first).select("device", a="t", a_id="id")
    b = rows.filter(second).select("device", b="t", b_id="id")
    c = rows.filter(third).select("device", c="t", c_id="id")
    b = b.join_asof(c, left_on="b", right_on="c", **after)
    matches = a.join_asof(b, left_on="a", right_on="b", **after)
    return matches.filter(pl.col("c") - pl.col("a") <= WITHIN_MS).collect().height


def by_duckdb(table: pa.Table, workload: Workload) -> int:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("readings", table)

        def n_rows(query: str) -> int:
            return connection.sql(query).to_arrow_table().num_rows

        match workload.key.split("-"):
            case ["sequence", *_]:
                return n_rows(_joins("kind = 0 AND level > 0.5", "kind = 1 AND code >= 500", "kind = 2"))
            case ["absence"]:
                return n_rows(
                    "SELECT a.device, a.t, a.id FROM (FROM readings WHERE kind = 0) a ASOF LEFT JOIN"
                    " (FROM readings WHERE kind = 1) b ON a.device = b.device AND a.t < b.t"
                    f" WHERE b.t IS NULL OR b.t - a.t > {DEADLINE_MS}"
                )
            case ["repetition"]:
                return n_rows(
                    "WITH placed AS (SELECT *, row_number() OVER w AS place, sum(level) OVER w AS until FROM readings"
                    " WINDOW w AS (PARTITION BY device ORDER BY id)), borders AS (SELECT *,"
                    " lag(kind) OVER w AS last_kind, lag(place) OVER w AS last_place, lag(until) OVER w AS last_until"
                    " FROM placed WHERE kind < 2 WINDOW w AS (PARTITION BY device ORDER BY id))"
                    " SELECT device, t, until - level - last_until FROM borders"
                    " WHERE kind = 1 AND last_kind = 0 AND place - last_place > 1"
                )
            case ["patterns", n]:
                return sum(
                    n_rows(
                        _joins(
                            f"kind = 0 AND code >= {10 * number} AND code < {10 * number + 10}",
                            f"kind = 1 AND level > {number / 200}",
                            "kind = 2",
                        )
                    )
                    for number in range(int(n))
                )
    raise AssertionError(workload.key)


def _joins(first: str, second: str, third: str) -> str:
    return (
        f"WITH a AS (FROM readings WHERE {first}), b AS (FROM readings WHERE {second}),"
        f" c AS (FROM readings WHERE {third}),"
        " bc AS (SELECT b.device, b.t AS b, b.id AS b_id, c.t AS c, c.id AS c_id FROM b"
        " ASOF JOIN c ON b.device = c.device AND b.t < c.t)"
        " SELECT a.device, a.t, a.id, b_id, c_id, c FROM a ASOF JOIN bc ON a.device = bc.device AND a.t < bc.b"
        f" WHERE c - a.t <= {WITHIN_MS}"
    )
