"""Shares with one price a day, companies that are taken over, and the clients who follow them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.generate.arrays import Integers
from inkling.generate.numbering import Numbering, prefixed
from inkling.generate.players import Players
from inkling.generate.randomness import BlockRandom
from inkling.generate.readings import MINUTE_US, TIMESTAMP, start_us
from inkling.generate.rise_pairs import RisePairs
from inkling.generate.scenario import Streams, Truth
from inkling.generate.stock_scripts import EPISODES, stock_chain

DAY_US = 24 * 60 * MINUTE_US
RATES = {"EUR": 0.73039, "CNY": 6.38296, "CHF": 0.89208}
EXCHANGES = ("NYSE", "NASDAQ")
BUYERS = 5
SYMBOLS_PER_CLIENT = 3
HIGH_DAYS = 4
PAIRED_DAYS = 20

STREAMS = {
    "Tick": pa.schema(
        [
            ("id", pa.int64()),
            ("symbol", pa.string()),
            ("t", TIMESTAMP),
            ("exchange", pa.string()),
            ("usd", pa.float64()),
            ("volume", pa.int64()),
        ]
    ),
    "Acquisition": pa.schema([("id", pa.string()), ("symbol", pa.string()), ("t", TIMESTAMP), ("buyer", pa.string())]),
}


class Stocks:
    """Symbols with a usual price each; `stock_scripts` says how it moves."""

    main: str = "Tick"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.seed = seed
        self.keys = keys or max(4, min(500, events // 500))
        self._chain = stock_chain()
        self._players = Players(
            "stocks",
            self._chain,
            events=events,
            keys=self.keys,
            seed=seed,
            start=start_us(start, datetime(2010, 1, 4)),
            period=DAY_US,
        )
        self._pairs = RisePairs(DAY_US, PAIRED_DAYS * DAY_US)
        self._out = Numbering(STREAMS)
        self._names = prefixed("S", np.arange(self.keys), width=3)
        self._usual_usd = 20.0 + BlockRandom(seed, "stocks prices", 0).bits((self.keys,)).astype(np.int64) % 180
        self._followed = [(client, symbol) for client, symbol in self._follows() if symbol < self.keys]

    def _follows(self) -> Iterator[tuple[int, int]]:
        for client in range(1 + self.keys // 2):
            for nth in range(SYMBOLS_PER_CLIENT):
                yield client, 2 * client + nth

    def tables(self) -> dict[str, pa.Table]:
        clients, symbols = np.array(self._followed).T
        return {
            "clients": pa.table(
                {
                    "client": prefixed("client", clients, width=3),
                    "symbol": self._names.take(pa.array(symbols)),
                    "money": 1_000.0 + 250.0 * ((7 * clients + symbols) % 20),
                }
            ),
            "rates": pa.table({"currency": list(RATES), "per_dollar": list(RATES.values())}),
        }

    def truth(self) -> Truth:
        n_ticks = self._players.visits.sum(axis=0)
        n_followers = np.bincount([symbol for _, symbol in self._followed], minlength=self.keys)
        n_rises = self._rises_by_key()
        matches = self._players.ended() | {
            "price": len(RATES) * int(n_ticks.sum()),
            "offer": int((n_ticks * n_followers).sum()),
            "moving_average": int(n_ticks.sum()),
            "high": sum(int(np.maximum(n_ticks - days, 0).sum()) for days in range(HIGH_DAYS + 1)),
            "first_rises": int(n_rises[0]),
            "second_rises": int(n_rises[1:2].sum()),
            "either_rises": int(n_rises[:2].sum()),
            **self._pairs.counts,
        }
        episodes = self._players.completed(EPISODES)
        return Truth("stocks", self.seed, self.keys, dict(self._out.rows), episodes, matches)

    def _rises_by_key(self) -> Integers:
        rises = self._chain.column(lambda step: "rise" in step.ends, np.bool_)
        by_key: Integers = self._players.visits[rises].sum(axis=0)
        return by_key

    def blocks(self) -> Iterator[Streams]:
        share = self._chain.column(lambda step: step.price, np.float64)
        is_taken_over = self._chain.column(lambda step: step.taken_over, np.bool_)
        rises = self._chain.column(lambda step: "rise" in step.ends, np.bool_)
        for played in self._players.play():
            symbol = self._names.take(pa.array(played.key))
            ticks = {
                "symbol": symbol,
                "t": played.t,
                "exchange": pa.array(EXCHANGES).take(pa.array(played.key % len(EXCHANGES))),
                "usd": np.rint(100.0 * self._usual_usd[played.key] * share[played.state]) / 100.0,
                "volume": 100 * (1 + (played.unit(self.keys) * 50).astype(np.int64)),
            }
            taken = np.flatnonzero(is_taken_over[played.state])
            buyer = prefixed("buyer", (played.unit(self.keys)[taken] * BUYERS).astype(np.int64))
            acquired = {"symbol": symbol.take(pa.array(taken)), "t": played.t[taken], "buyer": buyer}
            self._pairs.add(*(played.t[rises[played.state] & (played.key == key)] for key in (0, 1)))
            yield {
                "Tick": self._out.batch("Tick", ticks),
                "Acquisition": self._out.batch("Acquisition", acquired),
            }
