"""Shares that are offered, bought and paid; orders that are cancelled, and payments that are reported late or wrong.

An offer leads to nothing, to a trade, or to a trade that is reported late, cancelled or booked wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import Column, Numbering, prefixed
from ..generators.players import SECOND_US, Played, Players
from ..generators.randomness import BlockRandom, Booleans, Floats, Integers
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us


@dataclass(frozen=True, slots=True)
class Offer:
    """An offer, and the reaction of a client."""

    is_bought: bool = False
    is_big: bool = False
    is_late: bool = False  # the bank reports the payment minutes later
    is_cancelled: bool = False  # the client cancels the order
    is_misbooked: bool = False  # the bank reports a payment that is ten times too large, and withdraws the report
    ends: Mapping[str, int] = field(default_factory=dict)


SCRIPTS = (
    Script(
        "rest", (Offer(),), {"rest": 0.2, "small": 0.3, "big": 0.2, "late": 0.1, "cancelled": 0.1, "misbooked": 0.1}
    ),
    Script("small", (Offer(is_bought=True, ends={"buy": 1}),), {"rest": 1.0}),
    Script("big", (Offer(is_bought=True, is_big=True, ends={"buy": 1, "big_trade": 1}),), {"rest": 1.0}),
    Script("late", (Offer(is_bought=True, is_big=True, is_late=True, ends={"buy": 1, "big_trade": 1}),), {"rest": 1.0}),
    Script("cancelled", (Offer(is_bought=True, is_big=True, is_cancelled=True),), {"rest": 1.0}),
    Script("misbooked", (Offer(is_bought=True, is_big=True, is_misbooked=True, ends={"buy": 1}),), {"rest": 1.0}),
)

EPISODES = {"buy": "small", "big_trade": "big"}
"""The script that causes each event of the example program."""


def offer_chain() -> SymbolChain[Offer]:
    return SymbolChain(SCRIPTS, start={"rest": 1.0})


OFFER_EVERY_US = 10 * MINUTE_US
CLIENTS_PER_SYMBOL = 3
BIG, SMALL = 20_000.0, 2_000.0

_ABOUT = [("t", TIMESTAMP), ("at", TIMESTAMP), ("op", pa.string())]
STREAMS = {
    "Offer": pa.schema(
        [("id", pa.string()), ("symbol", pa.string()), ("price", pa.float64()), ("shares", pa.int64()), *_ABOUT]
    ),
    "Purchase": pa.schema(
        [("id", pa.string()), ("symbol", pa.string()), ("client", pa.string()), ("shares", pa.int64()), *_ABOUT]
    ),
    "Balance": pa.schema(
        [("id", pa.string()), ("client", pa.string()), ("before", pa.float64()), ("after", pa.float64()), *_ABOUT]
    ),
}
"""`at` is the time of the event, `t` the time of the report."""


class Trades:
    """Symbols with an offer every ten minutes, which follow `offer_chain`."""

    main: str = "Offer"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.seed = seed
        self.keys = keys or max(3, min(200, events // 200))
        self._chain = offer_chain()
        self._players = Players(
            "trades",
            self._chain,
            events=events,
            keys=self.keys,
            seed=seed,
            start=start_us(start, datetime(2012, 3, 1)),
            period=OFFER_EVERY_US,
        )
        self._price = 10.0 + 80.0 * BlockRandom(seed, "prices of trades", 0).unit((self.keys,))
        self._symbols = prefixed("S", np.arange(self.keys), width=3)
        self._out = Numbering(STREAMS)
        self._untold = {name: schema.empty_table() for name, schema in STREAMS.items()}

    def tables(self) -> dict[str, pa.Table]:
        return {}

    def truth(self) -> Truth:
        episodes = self._players.completed(EPISODES)
        return Truth("trades", self.seed, self.keys, dict(self._out.rows), episodes, self._players.ended())

    def blocks(self) -> Iterator[Streams]:
        n_offers = 0
        for played in self._players.play():
            numbers = n_offers + np.arange(played.key.size)
            n_offers += played.key.size
            for name, rows in self._happenings(played, numbers).items():
                self._untold[name] = pa.concat_tables([self._untold[name], *rows])
            yield self._told(int(played.t[-1]))
        if any(rows.num_rows for rows in self._untold.values()):
            yield self._told(None)

    def _told(self, until: int | None) -> Streams:
        """Rows reported by a time, in the order of reports; later rows are kept for later."""
        told = {}
        for name, rows in self._untold.items():
            ordered = rows.sort_by([("t", "ascending"), ("id", "ascending")])
            times = ordered["t"].cast(pa.int64()).to_numpy()
            n = ordered.num_rows if until is None else int(np.searchsorted(times, until, side="right"))
            first = ordered.slice(0, n)
            told[name] = self._out.batch(name, {one: first[one].combine_chunks() for one in first.column_names})
            self._untold[name] = ordered.slice(n)
        return told

    def _happenings(self, played: Played, numbers: Integers) -> dict[str, list[pa.Table]]:
        is_bought, is_big, is_late, is_cancelled, is_misbooked = (
            self._marks(name, played) for name in ("is_bought", "is_big", "is_late", "is_cancelled", "is_misbooked")
        )
        price = self._price[played.key] * (0.95 + 0.1 * played.unit(self.keys))
        paid = np.where(is_big, BIG, SMALL) * (0.75 + 0.5 * played.unit(self.keys))
        shares = np.maximum(1, paid // price).astype(np.int64)
        symbol = self._symbols.take(pa.array(played.key))
        client_number = played.key * CLIENTS_PER_SYMBOL + numbers % CLIENTS_PER_SYMBOL
        client = prefixed("client", client_number, width=4)
        seconds = (60.0 * played.unit(self.keys)).astype(np.int64)
        bought_at = played.t + (60 + seconds) * SECOND_US
        paid_at = bought_at + (61 + seconds) * SECOND_US
        told_later = (played.unit(self.keys) * 240).astype(np.int64) * SECOND_US
        paid_told = paid_at + np.where(is_late, 4 * MINUTE_US + told_later, SECOND_US)
        taken_back = paid_at + 15 * MINUTE_US + told_later
        before = np.round(100_000.0 + paid, 2)

        def purchases(chosen: Booleans, t: Integers, op: str) -> pa.Table:
            columns = {"symbol": symbol, "client": client, "shares": shares, "t": t, "at": bought_at}
            return _rows("Purchase", "P", numbers, columns, chosen, op)

        def balances(chosen: Booleans, t: Integers, op: str, cost: Floats, prefix: str = "B") -> pa.Table:
            after = np.round(before - cost, 2)
            columns = {"client": client, "before": before, "after": after, "t": t, "at": paid_at}
            return _rows("Balance", prefix, numbers, columns, chosen, op)

        cost = shares * price
        offers = {"symbol": symbol, "price": np.round(price, 2), "shares": 2 * shares, "t": played.t, "at": played.t}
        return {
            "Offer": [_rows("Offer", "O", numbers, offers, np.ones(numbers.size, bool), "+")],
            "Purchase": [purchases(is_bought, bought_at, "+"), purchases(is_cancelled, taken_back, "-")],
            "Balance": [
                balances(is_bought, paid_told, "+", cost),
                balances(is_misbooked, taken_back, "-", cost),
                balances(is_misbooked, paid_told, "+", cost / 10, "R"),
            ],
        }

    def _marks(self, what: str, played: Played) -> Booleans:
        marks: Booleans = self._chain.column(lambda step: getattr(step, what), np.bool_)[played.state]
        return marks


def _rows(
    stream: str, prefix: str, numbers: Integers, columns: Mapping[str, Column], chosen: Booleans, op: str
) -> pa.Table:
    """Some rows of a stream, named by the number of their offer."""
    schema = STREAMS[stream]
    named = {"id": prefixed(prefix, numbers), **columns, "op": pa.repeat(op, numbers.size)}
    table = pa.table({field.name: pa.array(named[field.name]).cast(field.type) for field in schema}, schema=schema)
    return table.filter(pa.array(chosen))
