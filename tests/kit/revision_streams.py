"""Streams on which revision is tried, and rows as they arrive: some after their time, some withdrawn afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from inkling.examples.generators.randomness import BlockRandom, Booleans, Floats, Integers

OP = "op"


@dataclass(frozen=True, slots=True)
class Disorder:
    """What share of rows comes late, up to how much; and what share is withdrawn, up to how long after it came."""

    late: float = 0.0
    most_late: int = 0
    withdrawn: float = 0.0
    most_kept: int = 0


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Rows with an `op`, when each arrives, and the rows that stand in the end."""

    rows: pa.Table
    moments: Integers
    standing: pa.Table


def arrivals(rows: pa.Table, disorder: Disorder, seed: int, name: str = "") -> Arrivals:
    """Rows in the order of `t`, whole numbers, as they arrive; ids are distinguished by the column `id`.

    >>> rows = pa.table({"id": [1, 2, 3], "t": [10, 20, 30]})
    >>> arrivals(rows, Disorder(withdrawn=1.0, most_kept=5), seed=1).rows["op"].to_pylist()
    ['+', '-', '+', '-', '+', '-']
    """
    random = BlockRandom(seed, f"arrivals {name}", 1)
    n = rows.num_rows
    moments = rows["t"].to_numpy().astype(np.int64)
    moments = moments + _delays(random, n, disorder.late, disorder.most_late)
    is_withdrawn: Booleans = random.unit((n,)) < disorder.withdrawn
    gone = np.flatnonzero(is_withdrawn)
    ends = moments[gone] + 1 + (random.unit((gone.size,)) * max(0, disorder.most_kept - 1)).astype(np.int64)
    source = np.concatenate([np.arange(n), gone])
    moment = np.concatenate([moments, ends])
    order = np.argsort(moment, kind="stable")
    op = pa.array(np.where(order < n, "+", "-"))
    arrived = rows.take(pa.array(source[order])).append_column(OP, op).combine_chunks()
    return Arrivals(arrived, moment[order], rows.filter(pa.array(~is_withdrawn)))


def _delays(random: BlockRandom, n: int, share: float, most: int) -> Integers:
    """Of a share of rows a delay between one and `most`, of the others none."""
    is_late = random.unit((n,)) < share
    return np.where(is_late, 1 + (random.unit((n,)) * max(0, most - 1)).astype(np.int64), 0)


Streams = dict[str, pa.Table]


def pairs(events: int, seed: int, share_c: float = 0.0, per_id: int = 2) -> Streams:
    """Events of the types A, B and, to a share, C; an id has some of them, close together.

    One event per tick. Types take turns, so that most ids have an A before a B.
    """
    random = BlockRandom(seed, "pairs", 1)
    number = np.arange(events)
    group = number // per_id
    kind = np.where(random.unit((events,)) < share_c, 2, number % 2)
    return {
        name: pa.table({"id": number[chosen], "k": group[chosen], "t": number[chosen]})
        for place, name in enumerate("ABC")
        for chosen in [np.flatnonzero(kind == place)]
    }


def chain(links: int, others: int = 0, keys: int = 100_000) -> Streams:
    """A start on which everything rests, `links` ticks of the same key after it, and ticks of other keys."""
    first = {"id": [0], "k": [0], "t": [0]}
    number = np.arange(1, links + 1)
    other = np.arange(others)
    return {
        "Start": pa.table({name: np.array(values, np.int64) for name, values in first.items()}),
        "Tick": pa.table({"id": number, "k": np.zeros(links, np.int64), "t": number}),
        "Other": pa.table({"id": links + 1 + other, "k": 1 + other % keys, "t": links + 1 + other // 10}),
    }


def prices(events: int, seed: int, symbols: int = 1, step: float = 0.02) -> pa.Table:
    """One price per tick of one symbol after the other: each wanders by shares of itself, back to its usual level."""
    random = BlockRandom(seed, "prices", 1)
    number = np.arange(events)
    moves = random.signed((events,)) * step * np.sqrt(3.0)
    level = np.empty(events)
    for symbol in range(min(symbols, events)):
        level[symbol::symbols] = _wandering(moves[symbol::symbols])
    return pa.table({"id": number, "symbol": number % symbols, "t": number, "price": 100.0 * np.exp(level)})


def _wandering(moves: Floats) -> Floats:
    """Sums of moves, pulled back so that none runs away."""
    # a sum over the last moves only, which needs no loop
    reach = 64
    summed = np.concatenate([np.zeros(reach), np.cumsum(moves)])
    wandering: Floats = summed[reach:] - summed[:-reach]
    return wandering


def corrected_prices(rows: pa.Table, share: float, seed: int) -> pa.Table:
    """For a share of prices a second row with a new id, the same time and another price: what it should have been."""
    random = BlockRandom(seed, "corrected prices", 1)
    n = rows.num_rows
    chosen = np.flatnonzero(random.unit((n,)) < share)
    again = rows.take(pa.array(chosen))
    price = again["price"].to_numpy() * (1 + 0.05 * random.signed((chosen.size,)))
    again = again.set_column(0, "id", pa.array(n + np.arange(chosen.size)))
    return again.set_column(again.column_names.index("price"), "price", pa.array(price))


def rises_and_links(events: int, links: int, seed: int) -> Streams:
    """Shares that rise, one per tick, and links between companies as events among them."""
    random = BlockRandom(seed, "rises and links", 1)
    companies = max(2, links)
    number = np.arange(events)
    company = _drawn(random, events, companies)
    supplier = np.arange(links) % companies
    moments = np.arange(links) * max(1, events // (10 * links))
    return {
        "Rise": pa.table({"id": number, "company": company, "t": number}),
        "Link": pa.table(
            {
                "id": events + np.arange(links),
                "supplier": supplier,
                "customer": (supplier + 1) % companies,
                "t": moments,
            }
        ),
    }


def _drawn(random: BlockRandom, n: int, choices: int) -> Integers:
    fine = random.bits((n,)).astype(np.int64) << 16 | random.bits((n,)).astype(np.int64)
    drawn: Integers = fine * choices >> 32
    return drawn
