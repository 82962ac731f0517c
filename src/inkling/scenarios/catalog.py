"""The scenarios by name, and their streams in chunks."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib import import_module
from typing import Protocol

import pyarrow as pa

from inkling.examples import NAMES
from inkling.scenarios.scenario import Scenario, in_chunks

CHUNK_ROWS = 131_072


class MakeScenario(Protocol):
    def __call__(self, *, events: int, keys: int | None, seed: int, start: datetime | int | None) -> Scenario: ...


class _Scenarios(Mapping[str, MakeScenario]):
    """Scenarios by name, loaded when looked up.

    Example `supply_chain` has the class `SupplyChain` in the module `scenario` of its folder.
    """

    def __getitem__(self, name: str) -> MakeScenario:
        if name not in NAMES:
            raise KeyError(name)
        module = import_module(f"inkling.examples.{name}.scenario")
        make: MakeScenario = getattr(module, "".join(word.capitalize() for word in name.split("_")))
        return make

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


SCENARIOS: Mapping[str, MakeScenario] = _Scenarios()


def scenario(
    name: str, *, events: int, keys: int | None = None, seed: int = 0, start: datetime | int | None = None
) -> Scenario:
    """A scenario with `events` rows in its main stream; nothing is generated yet."""
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

    The rows depend on `events`, `keys`, `seed` and `start`, not on `chunk_rows`; with fixed `keys`, more events only
    add rows. Memory is bounded by the size of a chunk and the number of keys.

    >>> chunk = next(generate("fleet", events=10, keys=2, seed=1))
    >>> sorted(chunk), chunk["Vehicle"].num_rows
    (['Alarm', 'Service', 'Vehicle'], 10)
    """
    if chunk_rows < 1:
        raise ValueError(f"expected at least one row per chunk, found {chunk_rows=}")
    return in_chunks(scenario(name, events=events, keys=keys, seed=seed, start=start), chunk_rows)
