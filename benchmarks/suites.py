"""The suites by name: what belongs together, and can run in one process without warming up or slowing down the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.results import Row
from benchmarks.sizes import Sizes
from benchmarks.streams import Readings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES = 2
STREAMING_NOTE = (
    "Times are those of a micro-batch: the median of one run after its first micro-batches, from the start of the "
    "trigger to the last commit. Results are counted and go nowhere; the matches were the same as those of the local "
    "runner on the same files. *Automaton* finds where three steps end (`PER END`), *windowed* every match of them "
    "(`PER MATCH`) inside a window as long as the time that a micro-batch covers. *State per key* is the same window "
    "in plain Python through Spark's `transformWithState`; its time for small micro-batches is scaled to the events "
    "of a large one. *Bare arrays* are what a loop written for this one pattern would have to keep: for the automaton, "
    "of each open match the key and a time and an id for each of its events, 8 bytes each; for the window, of each "
    "event inside it that fits a step, key, time, id and one byte for the step."
)

IMPRECISE_NOTE = (
    "Streams have one event per tick; a step of a pattern asks for values divisible by a number. *Within* is the "
    "window in ticks. The baselines are the published engines in plain Python, with the same exact confidences. They "
    "see the beginning of the stream only, and their times are scaled to all events; where intervals are long, the "
    "beginning has fewer matches per event than the rest, which is to their advantage. The point-based engine is left "
    "out where it would go through too many points. *Runs* are partial matches alive at once, *live* are events that "
    "an engine keeps."
)

PROBABLE_NOTE = (
    "Tags are in one of 20 rooms each second, with a chance for each: 20 tuples per tag and second, or 400 where rooms "
    "depend on the one before (*Markov*). Except for chains alone and safe plans, times are from a Parquet file to "
    "results, the mean of seven runs without the fastest and the slowest. Goals are judged by processor time. "
    "*Objects × s/s* is tags times seconds of data, by the time it took. A *part* is a subgoal of the query."
)

LOST_NOTE = (
    "Pairs of keys whose points come at exponential gaps; each point is lost with some probability, except the first "
    "and the last one of a key. Events are the points of both keys of every pair, lost or not; one call answers all "
    "pairs and all k. *Static* and *ignored* give no probabilities, and *discrete* other ones: it puts a lost point on "
    "one of so many times before or after the true one. The tree of worlds walks a part of the pairs, for one k, and "
    "its time is scaled to all of them."
)

LOST_SPARK_NOTE = (
    "200 sectors of a motorway, 62 of which were congested, and each pair of them for k up to 12: from messages in "
    "Parquet, without those that were lost, to results with a probability above 0.5. Events are the points of both "
    "keys of every pair, lost or not. Times include the planning of the job. One morning takes Spark less time than "
    "to start its tasks, and has no goal; many mornings are compared each for itself. The goal is judged by processor "
    "time, of all processes."
)

RECURSION_NOTE = (
    "Every result lists all events that it depends on, so the closure of n chained edges has about n² / 2 results and "
    "lists n³ / 6 edges. The loops in Python know one rule only, and list the events as well. Goals are judged by "
    "processor time. *One by one* are pushes of a dict: the medians of a tenth of the pushes, early and at the end. "
    "ETALIS, which the variable `ETALIS` must name, gives the ends of paths without the edges between them; for 500 "
    "edges, inkling lists 21 million."
)

PLANS_NOTE = "Every repetition explains a program that was not explained before. Goals are judged by processor time."

SEQUENCES_NOTE = (
    "Both read the same Parquet file, on one core, and give the matches with their ids; inkling also checks every row "
    "and looks for duplicates. Goals are judged by processor time."
)

REVISION_NOTE = (
    "One event per tick, pushed to a program in this process. Where revision is on, events can be withdrawn for so "
    "many ticks, and speculative streams are not waited for. Answers are what stands in the end, the same as that of "
    "the baseline. *W10* to *W15* are workloads of ETALIS. The goals on shares are judged by processor time, "
    "those in seconds by the clock."
)

KNOWLEDGE_NOTE = (
    "Queries over generated triples, with the background knowledge of the workloads of the ETALIS thesis. Times are "
    "those of one call from rows in memory to results, with the closure of the background, which a stream pays once. "
    "Engines of SPARQL have events as nodes with their times as literals; loading is not counted for them, and their "
    "answers were the same. *ETALIS* is the engine of the thesis on SWI-Prolog, if the variable `ETALIS` names the "
    "folder of its sources; it is asked for all matches (the policy *unrestricted*), and its answers were the same. "
    "Goals that are older than the limit of the pattern are dropped for it, twice in such a time, because it collects "
    "garbage by the clock of the machine. *Event-driven rules by hand* are the goals and checks that ETALIS makes of a "
    "pattern, without the rest of that engine. Figures *as printed* are those of the thesis, on other data and a "
    "machine of 2011. Goals are judged by processor time; on Spark, by that of all processes, shared by two cores. "
    "There, the shuffle moves the subject of each triple twice, as the key and as a value. Beside ETALIS, the closure "
    "of the classes is about half of the time on traffic, and SWI-Prolog finds equal goals by its own index."
)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Something to measure; it yields a row for each figure."""

    name: str
    run: Callable[[], Iterable[Row]]


@dataclass(frozen=True, slots=True)
class Suite:
    """`note` tells readers what the tables do not."""

    title: str
    benchmarks: Callable[[Sizes], Iterator[Benchmark]]
    note: str = ""


def _kernels(sizes: Sizes) -> Iterator[Benchmark]:
    # read by polars when it is loaded
    os.environ["POLARS_MAX_THREADS"] = "1"
    from benchmarks.kernels import automaton, network, sharing
    from benchmarks.meter import on_one_core

    data = Readings(sizes.kernel_events, sizes.kernel_devices, sizes.seed)
    for module in (automaton, network, sharing):
        yield Benchmark(module.NAME, lambda run=module.run: on_one_core(lambda: list(run(data, sizes.repeats))))


def _queries(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import against
    from benchmarks.queries import QUERIES

    for query in QUERIES:
        yield Benchmark(query.name, lambda query=query: [against.run(query, _spark(), sizes)])


def _growth(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import growth

    for name, run in growth.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: [run(_spark(), sizes)])


def _layouts(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import layouts

    for name, run in layouts.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: list(run(_spark(), sizes)))


def _memory(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import memory

    yield Benchmark(memory.NAME, lambda: memory.run(_spark(), sizes))


def _streaming(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks.streaming.benchmarks import Streaming

    streaming = Streaming(_spark(), sizes)
    yield Benchmark("large micro-batches", streaming.large)
    yield Benchmark("state per key", streaming.against_state_per_key)
    yield Benchmark("small micro-batches", streaming.small)
    yield Benchmark("beside an uncertain stream", streaming.beside_an_uncertain_stream)


def _push(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import push
    from benchmarks.meter import on_one_core

    for kind in push.PATTERNS:
        for devices in (sizes.few_devices, sizes.many_devices):
            name = f"push, {kind}, {devices} keys"
            yield Benchmark(
                name, lambda kind=kind, devices=devices: on_one_core(lambda: list(push.run(kind, devices, sizes)))
            )


def _worlds(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import worlds_local, worlds_spark
    from benchmarks.meter import on_one_core

    for name, run in worlds_local.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run(sizes))))
    for name in worlds_spark.QUERIES:
        yield Benchmark(name, lambda name=name: worlds_spark.run(name, sizes))


def _prompt(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import commands

    for name, run in commands.BENCHMARKS.items():
        if sizes.demo_events or run is not commands.second_demo:
            yield Benchmark(name, lambda run=run: [run(sizes)])


def _windows(sizes: Sizes) -> Iterator[Benchmark]:
    os.environ["POLARS_MAX_THREADS"] = "1"
    from benchmarks.kernels import windows
    from benchmarks.meter import on_one_core

    data = Readings(sizes.kernel_events, sizes.kernel_devices, sizes.seed)
    yield Benchmark(windows.NAME, lambda: on_one_core(lambda: list(windows.run(data, sizes.repeats))))


def _sequences(sizes: Sizes) -> Iterator[Benchmark]:
    os.environ["POLARS_MAX_THREADS"] = "1"
    from benchmarks import sequences
    from benchmarks.meter import on_one_core

    for share in sequences.SHARES:
        yield Benchmark(
            f"sequences, {share:.0%}", lambda share=share: on_one_core(lambda: list(sequences.run(share, sizes)))
        )


def _plans(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import plans
    from benchmarks.meter import on_one_core

    yield Benchmark("plans", lambda: on_one_core(lambda: list(plans.run(sizes))))


def _rules(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks.kernels import rules
    from benchmarks.meter import on_one_core

    def measured() -> list[Row]:
        return on_one_core(lambda: list(rules.run(sizes.kernel_events, sizes.repeats, sizes.seed)))

    yield Benchmark("rules", measured)


def _recursion(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import recursion
    from benchmarks.meter import on_one_core

    for name, run in recursion.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run(sizes))))


def _forecasts(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import forecasts
    from benchmarks.meter import on_one_core

    def measured() -> list[Row]:
        rows = forecasts.run(sizes.kernel_events, sizes.kernel_devices, sizes.repeats, sizes.seed)
        return on_one_core(lambda: list(rows))

    yield Benchmark(forecasts.NAME, measured)


def _imprecise(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import imprecise
    from benchmarks.meter import on_one_core

    for name, run in imprecise.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run(sizes))))


def _inference(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import infer
    from benchmarks.meter import on_one_core

    people = max(8, sizes.kernel_events // 10_000)
    yield Benchmark(infer.NAME, lambda: on_one_core(lambda: list(infer.run(people, sizes.repeats, sizes.seed))))


def _lost(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import lost_speed
    from benchmarks.kernels import lost
    from benchmarks.meter import on_one_core

    n_pairs, repeats, seed = max(40, sizes.world_events // 10), sizes.repeats, sizes.seed
    measures = {
        "lost events by loss, 10 segments": lambda: lost_speed.by_loss(n_pairs, repeats, seed, 10),
        "lost events by loss, 20 segments": lambda: lost_speed.by_loss(n_pairs, repeats, seed, 20),
        "lost events beside the tree": lambda: lost_speed.beside_the_tree(n_pairs, repeats, seed),
        "lost events beside discrete time": lambda: lost_speed.beside_discrete_time(n_pairs, repeats, seed),
        "lost events in one window": lambda: lost_speed.by_lost_events(repeats),
        "lost events in other windows": lost.by_lost_ends,
        "lost events by question": lambda: lost.by_question(n_pairs, repeats, seed),
    }
    for name, run in measures.items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run())))


def _lost_spark(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import lost_spark

    yield Benchmark(lost_spark.NAME, lambda: lost_spark.run(_spark(), sizes))


def _probable(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import probable
    from benchmarks.meter import on_one_core

    for name, run in probable.benchmarks(sizes).items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run())))


def _revision(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import revision
    from benchmarks.meter import on_one_core

    for name, run in revision.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run(sizes))))


def _knowledge(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks.knowledge import blizzards, delivery, plants, sequences, stocks, traffic
    from benchmarks.meter import on_one_core

    measures = {
        "sequences of triples": sequences.run,
        "stocks": stocks.run,
        "traffic": traffic.run,
        "closure of classes": traffic.once,
        "plants": plants.run,
        "goods delivery": delivery.run,
        "blizzards": blizzards.run,
    }
    for name, run in measures.items():
        yield Benchmark(name, lambda run=run: on_one_core(lambda: list(run(sizes))))
    yield Benchmark("triples on Spark", lambda: sequences.on_spark(_spark(), sizes))


SUITES = {
    "kernels": Suite("Evaluators alone, one core", _kernels),
    "sequences": Suite(
        "Sequences from a Parquet file to results in this process, one core", _sequences, SEQUENCES_NOTE
    ),
    "plans": Suite("Long programs, before any row is read, one core", _plans, PLANS_NOTE),
    "windows": Suite("Sliding windows, one core", _windows),
    "rules": Suite("Interval rules, one core", _rules),
    "recursion": Suite("Recursive events, one core", _recursion, RECURSION_NOTE),
    "knowledge": Suite("Triples and background knowledge, one core but for Spark", _knowledge, KNOWLEDGE_NOTE),
    "forecasts": Suite("Models and forecasts, one core", _forecasts),
    "queries": Suite("Spark, from Parquet to matches, two cores", _queries),
    "growth": Suite("Spark, when there is more of everything", _growth),
    "layouts": Suite("Spark, patterns of fleets and ports, by what tasks share out", _layouts),
    "memory": Suite("Memory of Python workers on Spark", _memory),
    "streaming": Suite("Structured Streaming, a file per micro-batch, two cores", _streaming, STREAMING_NOTE),
    "push": Suite("Rows pushed to a program in this process, one core", _push),
    "revision": Suite("Streams whose past changes, one core", _revision, REVISION_NOTE),
    "worlds": Suite("Uncertain streams in sampled worlds", _worlds),
    "imprecise": Suite("Imprecise times, exactly, one core", _imprecise, IMPRECISE_NOTE),
    "inference": Suite("Probable streams from readings, one core", _inference),
    "probable": Suite("Queries over probable streams, exactly, one core", _probable, PROBABLE_NOTE),
    "lost": Suite("Relations between segments with lost ends, one core", _lost, LOST_NOTE),
    "lost_spark": Suite("Relations between segments with lost ends on Spark, two cores", _lost_spark, LOST_SPARK_NOTE),
    "prompt": Suite("At the prompt", _prompt),
}


@cache
def _spark() -> SparkSession:
    from inkling.spark.session import spark_session

    return spark_session(master=f"local[{CORES}]", app_name="inkling benchmarks")
