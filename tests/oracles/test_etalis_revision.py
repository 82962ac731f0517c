"""Late and withdrawn events of the ETALIS thesis: what is told, and what is taken back, with every row that comes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from tests.kit.oracle import bound, oracle

from inkling import parse

Row = dict[str, object]
Told = tuple[object, ...]
"""`+` or `-`, the event, the values of its head, its start and its end."""

AT_ONCE = "TIME t LATENESS 100 TICKS SPECULATIVE OP op FOR 100 TICKS"
LETTERS = "\n".join(f"STREAM {name}(id STRING, t INT, op STRING) ID id {AT_ONCE};" for name in "ABC")
SEQUENCE = f"{LETTERS} EVENT x AS PATTERN SEQ(A a, B b);"
UNLESS_C = f"{LETTERS} EVENT x AS PATTERN NOT C BETWEEN A AND B;"
HIDDEN = {"event", "start", "end", "detected_at", "probability", "method", "error", "op", "lineage"}

STOCKS = f"""
STREAM Stock(id INT, s STRING, p DOUBLE, t INT, op STRING) ID id {AT_ONCE};
EVENT ce1 AS PATTERN SEQ(Stock a[s = 'G'], Stock b[s = 'G' AND p > 1.2 * a.p]);
EVENT ce2 AS PATTERN SEQ(Stock a[s = 'M'], Stock b[s = 'M' AND p > 1.2 * a.p]);
EVENT ce3 AS PATTERN SEQ(ce1, ce2);
"""
TRADES = f"""
STREAM Available(id INT, stock STRING, n INT, most INT, t INT, op STRING) ID id {AT_ONCE};
STREAM Checked(id INT, customer STRING, stock STRING, n INT, price INT, t INT, op STRING) ID id {AT_ONCE};
STREAM Balance(id INT, customer STRING, had INT, has INT, t INT, op STRING) ID id {AT_ONCE};
EVENT bought(c.customer AS customer, c.stock AS stock, b.had - b.has AS paid) AS
  PATTERN SEQ(Available a, Checked c[stock = a.stock AND n = a.n], Balance b[customer = c.customer]);
EVENT big_trade(b.customer AS customer, b.stock AS stock, b.paid AS paid) AS PATTERN bought b[paid > 10000];
"""


def told(program: str, pushes: Iterable[tuple[str, Row]]) -> list[list[Told]]:
    """What each row of a stream leads to; the last list is what the end of all streams does."""
    stream = parse(program).open(unbounded=True)
    found = []
    for name, row in pushes:
        found.append(_listed(stream.push({name: [{"op": "+", **row}]}).tables))
    found.append(_listed(stream.finish().tables))
    return found


def _listed(tables: dict[str, object]) -> list[Told]:
    rows = [row for table in tables.values() for row in table.to_pylist()]  # type: ignore[attr-defined]
    return [
        (row["op"], row["event"], *(row[name] for name in row if name not in HIDDEN), row["start"], row["end"])
        for row in rows
    ]


def word(text: str) -> list[tuple[str, Row]]:
    """`a1 b3 -a1`: an event of A at 1, one of B at 3, and the first withdrawn."""
    found: list[tuple[str, Row]] = []
    for one in text.split():
        name = one.lstrip("-")
        gone = one[0] == "-"
        row: Row = {"id": name, "t": None if gone else int(name[1:]), "op": "-" if gone else "+"}
        found.append((name[0].upper(), row))
    return found


def spans(program: str, text: str) -> list[list[Told]]:
    """The same for events without columns, without their names."""
    return [[(op, start, end) for op, _, start, end in step] for step in told(program, word(text))]


SEQUENCES = {
    "R01": (SEQUENCE, "a1 -a1 b3", [[], [], [], []]),
    "R02": (SEQUENCE, "a1 b3 -a1", [[], [("+", 1, 3)], [("-", 1, 3)], []]),
    "R03": (SEQUENCE, "a1 b3 -b3 b5", [[], [("+", 1, 3)], [("-", 1, 3)], [("+", 1, 5)], []]),
    "R04": (UNLESS_C, "a1 c2 b4 -c2", [[], [], [], [("+", 1, 4)], []]),
    "R08": (
        f"{LETTERS} EVENT x AS PATTERN A AND B;",
        "a1 a2 b3 -a1",
        [[], [], [("+", 1, 3), ("+", 2, 3)], [("-", 1, 3)], []],
    ),
    "X01": (SEQUENCE, "b2 a1", [[], [("+", 1, 2)], []]),
    "X05": (UNLESS_C, "a1 b5 c3", [[], [("+", 1, 5)], [("-", 1, 5)], []]),
}


@pytest.mark.parametrize("case", SEQUENCES)
def test_R01_R02_R03_R04_R08_X01_X05_row_by_row(case: str) -> None:
    program, rows, expected = SEQUENCES[case]
    assert [sorted(step) for step in spans(program, rows)] == expected


def test_R05_a_chain_of_derived_events_goes_with_its_first() -> None:
    links = "".join(f"EVENT e{n} AS PATTERN e{n - 1};" for n in range(3, 6))
    program = f"STREAM E(id STRING, t INT, op STRING) ID id {AT_ONCE}; EVENT e2 AS PATTERN E; {links}"
    first, second, end = told(program, word("e1 -e1"))
    assert ("+", "e5", 1, 1) in first
    assert ("-", "e5", 1, 1) in second
    assert Counter(one[1:] for one in first) == Counter(one[1:] for one in second)
    assert len(first) == 4
    assert end == []


TRADE: list[tuple[str, Row]] = [
    ("Available", {"id": 1, "stock": "ibm", "n": 10, "most": 20000, "t": 1}),
    ("Checked", {"id": 2, "customer": "c7", "stock": "ibm", "n": 10, "price": 15000, "t": 2}),
    ("Balance", {"id": 3, "customer": "c7", "had": 20000, "has": 5000, "t": 3}),
]
BOTH = [("bought", "c7", "ibm", 15000, 1, 3), ("big_trade", "c7", "ibm", 15000, 1, 3)]


def test_R06_a_big_trade_is_withdrawn_with_the_balance_it_depends_on() -> None:
    _, _, third, fourth, end = told(TRADES, [*TRADE, ("Balance", _withdrawn(TRADE[2][1]))])
    assert [one for one in third if one[1] == "big_trade"] == [("+", *BOTH[1])]
    assert [one for one in fourth if one[1] == "big_trade"] == [("-", *BOTH[1])]
    assert end == []


def test_R07_all_that_rests_on_a_check_is_withdrawn_with_it() -> None:
    _, _, third, fourth, end = told(TRADES, [*TRADE, ("Checked", _withdrawn(TRADE[1][1]))])
    assert sorted(third) == sorted(("+", *one) for one in BOTH)
    assert sorted(fourth) == sorted(("-", *one) for one in BOTH)
    assert end == []


def _withdrawn(row: Row) -> Row:
    return {**dict.fromkeys(row), "id": row["id"], "op": "-"}


@pytest.mark.parametrize("seed", range(3))
def test_X02_any_order_gives_each_result_of_the_sorted_stream_once(seed: int) -> None:
    rng = random.Random(seed)
    program = parse(SEQUENCE)
    for _ in range(100):
        rows = word(" ".join(f"{rng.choice('ab')}{time}" for time in range(1, rng.randint(3, 7))))
        streams = {name: [row for one, row in rows if one == name] for name in "ABC"}
        wanted = sorted(("+", one.start, one.end) for one in oracle(bound(SEQUENCE), streams)["x"])
        rng.shuffle(rows)
        stream = program.open(unbounded=True)
        found = [one for name, row in rows for one in _listed(stream.push({name: [row]}).tables)]
        assert sorted((op, start, end) for op, _, start, end in found) == wanted
        assert _listed(stream.finish().tables) == []


PRICES: Sequence[tuple[str, float, int]] = (("G", 125.0, 4), ("G", 100.0, 2), ("M", 100.0, 8), ("M", 125.0, 6))


def test_X03_prices_that_come_late_stand_where_they_belong() -> None:
    rows = [("Stock", {"id": n, "s": s, "p": p, "t": t}) for n, (s, p, t) in enumerate(PRICES)]
    assert told(STOCKS, rows) == [[], [("+", "ce1", 2, 4)], [], [], []]


def test_X04_by_the_order_of_arrival_the_wrong_one_rises() -> None:
    """What the mechanism is for: times that say when rows came instead of when they happened."""
    rows = [("Stock", {"id": n, "s": s, "p": p, "t": n}) for n, (s, p, _) in enumerate(PRICES, start=1)]
    assert told(STOCKS, rows) == [[], [], [], [("+", "ce2", 3, 4)], []]


def test_D9_a_result_with_two_derivations_goes_with_the_second() -> None:
    program = f"{LETTERS} EVENT y AS PATTERN A OR B PER INTERVAL; EVENT x AS PATTERN y PER INTERVAL;"
    rows = word("a1 b1 -a1 -b1")
    standing: Counter[Told] = Counter()
    seen = []
    for step in told(program, rows):
        standing.update(one[1:] for one in step if one[0] == "+")
        standing.subtract(one[1:] for one in step if one[0] == "-")
        seen.append(standing["x", 1, 1])
    assert seen == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("length", [200])
def test_W11_a_chain_is_withdrawn_with_its_first_event(length: int) -> None:
    program = f"""STREAM E(id STRING, t INT, op STRING) ID id {AT_ONCE};
        EVENT e(1 AS n) AS PATTERN E PER INTERVAL;
        EVENT e(c.n + 1 AS n) AS PATTERN e c[n < {length}] PER INTERVAL;
    """
    first, second, end = told(program, word("e1 -e1"))
    assert sorted(first) == sorted(("+", "e", n, 1, 1) for n in range(1, length + 1))
    assert sorted(second) == sorted(("-", "e", n, 1, 1) for n in range(1, length + 1))
    assert end == []
