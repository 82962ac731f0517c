"""Companies in chains of supply, with a quote of their shares every hour, items on their way, and the air above.

In an hour the share of a company rests or rises, and the company may ship items. Pairs of events that are close in
time are counted as they occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.chain import Script, SymbolChain
from ..generators.numbering import Numbering, prefixed
from ..generators.players import Played, Players
from ..generators.randomness import Booleans, Integers
from ..generators.readings import MINUTE_US, TIMESTAMP, start_us

ASTRAY = -1
"""Where an item goes that leaves the chain: to a company that its last one does not supply."""


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of a company; companies `hops` steps down the chain get the item that it is shipping."""

    rises: bool = False
    hops: int | None = None
    plane: bool = False
    turbulence: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


REST, RISE = Hour(), Hour(rises=True)
_SHIPPING = (Hour(hops=0), REST, Hour(hops=1), REST, Hour(hops=2), Hour(rises=True, hops=3))
_ASTRAY = (Hour(hops=0), Hour(hops=1), Hour(hops=ASTRAY))

SCRIPTS = (
    Script(
        "rest",
        (REST,) * 3,
        {"rest": 0.3, "rising": 0.3, "shipping": 0.15, "astray": 0.1, "plane": 0.1, "turbulence": 0.1},
        linger=0.6,
    ),
    Script("rising", (RISE, RISE), {"rest": 1.0}),
    Script("shipping", _SHIPPING, {"rest": 1.0}),
    Script("astray", _ASTRAY, {"rest": 1.0}),
    Script("plane", (Hour(plane=True),), {"rest": 1.0}),
    Script("turbulence", (Hour(turbulence=True),), {"rest": 1.0}),
)

EPISODES = {"delivery": "shipping"}
"""The script that causes each event of the example program."""


def company_chain() -> SymbolChain[Hour]:
    return SymbolChain(SCRIPTS, start={"rest": 1.0})


@dataclass(frozen=True, slots=True)
class Happenings:
    """Times and companies of events, in the order of time."""

    t: Integers
    who: Integers

    def since(self, t: int) -> Happenings:
        first = int(np.searchsorted(self.t, t))
        return Happenings(self.t[first:], self.who[first:])

    def followed_by(self, later: Happenings) -> Happenings:
        return Happenings(np.concatenate([self.t, later.t]), np.concatenate([self.who, later.who]))


NOTHING = Happenings(np.empty(0, np.int64), np.empty(0, np.int64))


class ClosePairs:
    """Pairs of an earlier and a later event, at most `within` apart, for which `belong` is true."""

    def __init__(self, within: int, belong: Callable[[Integers, Integers], Booleans], *, together: bool) -> None:
        self._within, self._belong = within, belong
        self._side: Literal["left", "right"] = "right" if together else "left"  # whether two at one time are a pair
        self._earlier = NOTHING
        self.count = 0

    def add(self, earlier: Happenings, later: Happenings) -> None:
        """Add later events; each of them is paired with all earlier ones."""
        known = self._earlier.followed_by(earlier)
        first = np.searchsorted(known.t, later.t - self._within, side="left")
        last = np.searchsorted(known.t, later.t, side=self._side)
        for back in range(1, int((last - first).max(initial=0)) + 1):
            has = last - back >= first
            self.count += int(np.count_nonzero(self._belong(known.who[last[has] - back], later.who[has])))
        latest = max((int(some.t[-1]) for some in (known, later) if some.t.size), default=0)
        self._earlier = known.since(latest - self._within)


HOUR_US = 60 * MINUTE_US
COMPANIES_PER_CHAIN = 12
PLACES = 6

STREAMS = {
    "Quote": pa.schema([("id", pa.int64()), ("company", pa.string()), ("t", TIMESTAMP), ("change", pa.float64())]),
    "Shipment": pa.schema([("id", pa.string()), ("item", pa.string()), ("t", TIMESTAMP), ("company", pa.string())]),
    "Turbulence": pa.schema([("id", pa.string()), ("place", pa.int64()), ("t", TIMESTAMP)]),
    "Plane": pa.schema([("id", pa.string()), ("place", pa.int64()), ("t", TIMESTAMP)]),
}


class SupplyChain:
    """Chains of twelve companies, each of which follows `company_chain`."""

    main: str = "Quote"
    streams: Mapping[str, pa.Schema] = STREAMS

    def __init__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> None:
        self.seed = seed
        self.keys = keys or max(COMPANIES_PER_CHAIN, min(480, events // 500))
        self._chain = company_chain()
        self._players = Players(
            "supply_chain",
            self._chain,
            events=events,
            keys=self.keys,
            seed=seed,
            start=start_us(start, datetime(2011, 5, 2)),
            period=HOUR_US,
        )
        self._out = Numbering(STREAMS)
        self._names = prefixed("company", np.arange(self.keys), width=3)
        self._n_items = np.zeros(self.keys, np.int64)
        self._trends = ClosePairs(2 * HOUR_US, _is_supplied, together=False)
        self._planes_first = ClosePairs(5 * HOUR_US, _leads_to, together=False)
        self._turbulence_first = ClosePairs(5 * HOUR_US, lambda cat, plane: _leads_to(plane, cat), together=True)

    def tables(self) -> dict[str, pa.Table]:
        suppliers = np.flatnonzero(self._customer(np.arange(self.keys), 1) >= 0)
        places = np.arange(PLACES - 1)
        return {
            "supplies": pa.table(
                {
                    "supplier": self._names.take(pa.array(suppliers)),
                    "customer": self._names.take(pa.array(suppliers + 1)),
                }
            ),
            "linked": pa.table({"place": places, "next": places + 1}),
        }

    def _customer(self, company: Integers, hops: int) -> Integers:
        """The company so many steps down the chain; -1 beyond its end."""
        place = company % COMPANIES_PER_CHAIN + hops
        customer: Integers = np.where((place < COMPANIES_PER_CHAIN) & (company + hops < self.keys), company + hops, -1)
        return customer

    def truth(self) -> Truth:
        rises = self._chain.column(lambda step: step.rises, np.bool_)
        matches = {
            "rise": int(self._players.visits[rises].sum()),
            "trend": self._trends.count,
            "delivery": self._deliveries(),
            "jet_stream_warning": self._planes_first.count + self._turbulence_first.count,
        }
        episodes = self._players.completed(EPISODES)
        return Truth("supply_chain", self.seed, self.keys, dict(self._out.rows), episodes, matches)

    def _deliveries(self) -> int:
        """An item that was shipped for the n-th time has come to its company from n others, itself included."""
        companies = np.arange(self.keys)
        count = 0
        for step, visits in zip(self._chain.steps, self._players.visits, strict=True):
            if step.hops == ASTRAY:
                count += int(visits.sum())
            elif step.hops is not None:
                count += (1 + step.hops) * int(visits[self._customer(companies, step.hops) >= 0].sum())
        return count

    def blocks(self) -> Iterator[Streams]:
        rises = self._chain.column(lambda step: step.rises, np.bool_)
        flies = self._chain.column(lambda step: step.plane, np.bool_)
        shakes = self._chain.column(lambda step: step.turbulence, np.bool_)
        for played in self._players.play():
            is_up = rises[played.state]
            quotes = {
                "company": self._names.take(pa.array(played.key)),
                "t": played.t,
                "change": np.where(is_up, 0.5, 0.0) + np.where(is_up, 4.0, -2.0) * played.unit(self.keys),
            }
            rise = Happenings(played.t[is_up], played.key[is_up])
            self._trends.add(rise, rise)
            plane, turbulence = (_in_the_air(played, seen[played.state]) for seen in (flies, shakes))
            self._planes_first.add(plane, turbulence)
            self._turbulence_first.add(turbulence, plane)
            yield {
                "Quote": self._out.batch("Quote", quotes),
                "Shipment": self._shipments(played),
                "Turbulence": self._out.batch("Turbulence", {"place": turbulence.who, "t": turbulence.t}),
                "Plane": self._out.batch("Plane", {"place": plane.who, "t": plane.t}),
            }

    def _shipments(self, played: Played) -> pa.RecordBatch:
        """Items are numbered by company; one that leaves the chain goes back to where it came from."""
        hops = self._chain.column(lambda step: -2 if step.hops is None else step.hops, np.int64)[played.state]
        number = self._n_items[played.key] + _count_by_key(played.key, hops == 0)
        self._n_items += np.bincount(played.key[hops == 0], minlength=self.keys)
        company = np.where(hops == ASTRAY, played.key, -1)
        for n in range(4):
            company = np.where(hops == n, self._customer(played.key, n), company)
        rows = np.flatnonzero((hops >= ASTRAY) & (company >= 0))
        names = prefixed("item", played.key[rows], width=3)
        item = pa.compute.binary_join_element_wise(names, prefixed("", number[rows], width=4), "-")
        columns = {"item": item, "t": played.t[rows], "company": self._names.take(pa.array(company[rows]))}
        return self._out.batch("Shipment", columns)


def _in_the_air(played: Played, is_seen: Booleans) -> Happenings:
    """Only every fourth company is under a jet stream, which is watched place after place."""
    rows = np.flatnonzero(is_seen & (played.key % 4 == 0))
    return Happenings(played.t[rows], (played.t[rows] // HOUR_US) % PLACES)


def _count_by_key(key: Integers, is_counted: Booleans) -> Integers:
    """How many rows of the same key are counted up to each row."""
    order = np.argsort(key, kind="stable")
    running = np.cumsum(is_counted[order])
    first = np.searchsorted(key[order], key[order])
    counts = np.empty(key.size, np.int64)
    counts[order] = running - (running - is_counted[order])[first]
    return counts


def _is_supplied(supplier: Integers, customer: Integers) -> Booleans:
    chained: Booleans = supplier // COMPANIES_PER_CHAIN == customer // COMPANIES_PER_CHAIN
    return chained & (supplier < customer)


def _leads_to(place: Integers, other: Integers) -> Booleans:
    return place < other
