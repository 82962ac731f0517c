"""How much is measured: enough to judge by, or just enough to see that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sizes:
    """Events and devices of every suite, and how often each call is repeated."""

    kernel_events: int = 10_000_000
    kernel_devices: int = 1_000
    events: int = 20_000_000
    fewer_events: int = 2_000_000
    devices: int = 10_000
    few_devices: int = 1_000
    many_devices: int = 100_000
    patterns: int = 2
    more_patterns: int = 20
    most_patterns: int = 100
    most_devices: int = 1_000_000
    stream_batch: int = 500_000
    stream_batches: int = 10
    stream_warm_up: int = 3
    per_key_batch: int = 50_000
    small_batch: int = 2_000
    small_batches: int = 30
    push_events: int = 1_000_000
    push_singles: int = 20_000
    chained_edges: tuple[int, ...] = (125, 250, 500, 1_000)
    recursive_events: int = 5_000
    demo_events: int = 200_000  # none leaves the demonstration out: compiling all kernels takes a while
    world_events: int = 20_000
    world_epsilon: float = 0.03
    imprecise_events: int = 1_000_000
    imprecise_matches: int = 400_000
    imprecise_few: int = 1_000  # for engines in plain Python
    parts: int = 1_000
    chained_events: int = 100
    triples: int = 500_000
    spark_triples: int = 5_000_000
    sparql_triples: int = 10_000  # for engines that look at all pairs
    classes: int = 10_000
    plants: int = 40_080
    repeats: int = 3
    seed: int = 0
    folder: Path = Path("out") / "bench"


FULL = Sizes()
QUICK = Sizes(
    kernel_events=500_000,
    events=200_000,
    fewer_events=20_000,
    devices=500,
    few_devices=50,
    many_devices=5_000,
    more_patterns=4,
    most_patterns=10,
    most_devices=20_000,
    stream_batch=5_000,
    stream_batches=4,
    stream_warm_up=1,
    per_key_batch=500,
    small_batch=200,
    small_batches=4,
    push_events=40_000,
    push_singles=500,
    chained_edges=(25, 50),
    recursive_events=200,
    demo_events=0,
    world_events=2_000,
    world_epsilon=0.2,
    imprecise_events=20_000,
    imprecise_matches=5_000,
    imprecise_few=200,
    parts=100,
    chained_events=20,
    triples=5_000,
    spark_triples=10_000,
    sparql_triples=1_000,
    classes=200,
    plants=500,
    repeats=1,
)
