"""Shares with one price a day, companies that are taken over, and the clients who follow them.

A price rests, climbs, jumps and dips. Interval relations between rises of two symbols are counted pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import Numbering, prefixed
from ..generators.players import Players
from ..generators.randomness import BlockRandom, Integers
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us


@dataclass(frozen=True, slots=True)
class Day:
    """The price of one day as a share of the symbol's usual price, and whether the company is taken over."""

    price: float = 1.0
    taken_over: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


def _up(price: float, *, taken_over: bool = False, **ends: int) -> Day:
    return Day(price, taken_over, {"rise": 1, **ends})


REST = Day()
_DIP = (
    _up(1.1),
    Day(1.05),
    Day(0.95),
    _up(1.04, tick_shape_from_before=1),  # above the usual price of the day before the peak
    _up(1.15, tick_shape=2),  # above the peak, and above the day after it
)

# A price rests more than 15 days between episodes and does not move at all, so that it has no shape by chance.
SCRIPTS = (
    Script(
        "rest",
        (REST,) * 17,
        {"climb": 0.3, "rally": 0.2, "takeover": 0.15, "old_takeover": 0.15, "dip": 0.2},
        linger=0.6,
    ),
    Script("climb", (_up(1.01), _up(1.02), Day(1.015), _up(1.03, tick_shape=1)), {"rest": 1.0}),
    Script("rally", (_up(1.2), _up(1.4), _up(1.7, jump=1)), {"rest": 1.0}),
    Script("takeover", (_up(1.2), _up(1.4, taken_over=True), _up(1.7)), {"rest": 1.0}),
    Script("old_takeover", (Day(taken_over=True), _up(1.2), _up(1.4), _up(1.7, jump=1)), {"rest": 1.0}),
    Script("dip", _DIP, {"rest": 1.0}),
)

EPISODES = {"jump": "rally", "tick_shape": "dip"}
"""The script that causes each event of the example program."""


def stock_chain() -> SymbolChain[Day]:
    return SymbolChain(SCRIPTS, start={"rest": 1.0})


class RisePairs:
    """Rises of two symbols, each from one price to the next; those too old for a pair are forgotten."""

    def __init__(self, period: int, within: int) -> None:
        self._period, self._within = period, within
        self._ends: list[Integers] = [np.empty(0, np.int64), np.empty(0, np.int64)]
        self.counts = {"both_rise": 0, "rise_together": 0, "rises_alone": 0}

    def add(self, first: Integers, second: Integers) -> None:
        """Take up later rises, by their end."""
        before = self._pairs(*self._ends)
        self._ends = [np.concatenate(both) for both in zip(self._ends, (first, second), strict=True)]
        after = self._pairs(*self._ends)
        for event in self.counts:
            self.counts[event] += after[event] - before[event]
        latest = max((int(ends[-1]) for ends in self._ends if ends.size), default=0)
        self._ends = [ends[ends > latest - self._within - 2 * self._period] for ends in self._ends]

    def _pairs(self, first: Integers, second: Integers) -> dict[str, int]:
        later, earlier = np.maximum.outer(first, second), np.minimum.outer(first, second)
        lengths = later - earlier + self._period
        overlaps = later - self._period < earlier
        return {
            "both_rise": int(np.count_nonzero(lengths <= self._within)),
            "rise_together": int(np.count_nonzero(overlaps)),
            "rises_alone": sum(self._alone(int(end), first, second) for end in first),
        }

    def _alone(self, end: int, first: Integers, second: Integers) -> int:
        """Later rises of the first symbol that no whole rise of the second one parts from the one with this end."""
        follow = first[(first - self._period > end) & (first - end + self._period <= self._within)]
        between = second[second - self._period > end]
        if between.size:
            follow = follow[follow - self._period <= between[0]]
        return int(follow.size)


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
    """Symbols with a usual price each, which moves according to `stock_chain`."""

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
            yield {"Tick": self._out.batch("Tick", ticks), "Acquisition": self._out.batch("Acquisition", acquired)}
