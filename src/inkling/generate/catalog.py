"""The scenarios by name, and the stream of chunks each one makes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

import pyarrow as pa

from inkling.generate.alarms import Alarms
from inkling.generate.approach import Approach
from inkling.generate.blizzard import Blizzard
from inkling.generate.building import Building
from inkling.generate.buses import Buses
from inkling.generate.cluster import Cluster
from inkling.generate.fleet import Fleet
from inkling.generate.flower import Flower
from inkling.generate.funnel import Funnel
from inkling.generate.heat import Heat
from inkling.generate.mixed import Mixed
from inkling.generate.motorway import Motorway
from inkling.generate.port import Port
from inkling.generate.scenario import Scenario, in_chunks
from inkling.generate.stocks import Stocks
from inkling.generate.supply_chain import SupplyChain
from inkling.generate.trades import Trades
from inkling.generate.traffic import Traffic
from inkling.generate.tsunami import Tsunami

CHUNK_ROWS = 131_072


class MakeScenario(Protocol):
    def __call__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> Scenario: ...


SCENARIOS: dict[str, MakeScenario] = {
    "fleet": Fleet,
    "port": Port,
    "cluster": Cluster,
    "building": Building,
    "mixed": Mixed,
    "traffic": Traffic,
    "alarms": Alarms,
    "heat": Heat,
    "stocks": Stocks,
    "supply_chain": SupplyChain,
    "trades": Trades,
    "flower": Flower,
    "blizzard": Blizzard,
    "tsunami": Tsunami,
    "approach": Approach,
    "funnel": Funnel,
    "motorway": Motorway,
    "buses": Buses,
}


def scenario(
    name: str,
    *,
    events: int,
    keys: int | None = None,
    seed: int = 0,
    start: datetime | int | None = None,
) -> Scenario:
    """A scenario ready to be drawn, of `events` rows in its dense stream."""
    if name not in SCENARIOS:
        raise ValueError(f"unknown scenario {name!r}, expected one of {', '.join(SCENARIOS)}")
    if events < 1:
        raise ValueError(f"expected at least one event, found {events=}")
    if keys is not None and keys < 1:
        raise ValueError(f"expected at least one key, found {keys=}")
    if seed < 0:
        raise ValueError(f"expected a seed of zero or more, found {seed=}")
    return SCENARIOS[name](events=events, keys=keys, seed=seed, start=start)


def generate(
    name: str,
    *,
    events: int,
    keys: int | None = None,
    seed: int = 0,
    start: datetime | int | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Iterator[dict[str, pa.RecordBatch]]:
    """The streams of a scenario, in the order of time, chunk by chunk.

    The rows depend on `events`, `keys`, `seed` and `start`, not on `chunk_rows`; and with `keys` given, more
    events only add rows. Memory is bounded by the chunk and the number of keys.

    >>> chunk = next(generate("fleet", events=10, keys=2, seed=1))
    >>> sorted(chunk), chunk["Vehicle"].num_rows
    (['Alarm', 'Service', 'Vehicle'], 10)
    """
    if chunk_rows < 1:
        raise ValueError(f"expected at least one row per chunk, found {chunk_rows=}")
    return in_chunks(scenario(name, events=events, keys=keys, seed=seed, start=start), chunk_rows)
