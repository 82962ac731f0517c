"""What is measured on Structured Streaming."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import SparkSession

from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streaming import bare, pace, per_key
from benchmarks.streaming.arrivals import EVENT, FITS, Arrivals
from benchmarks.streaming.pace import Pace
from inkling.query import Program
from inkling.spark.streaming.sinks.outputs import BatchTally

LEAST_RATE = 500_000.0
LEAST_TIMES_PER_KEY = 50.0
LEAST_BESIDE = 0.9
MOST_FOR_DEVICES, MOST_FOR_SMALL, MOST_FOR_STATE = 2.0, 3.0, 2.0
STATELESS = "the files read, nothing done"
PROGRAMS: dict[str, Callable[[Arrivals], Program]] = {"automaton": Arrivals.automaton, "windowed": Arrivals.windowed}


@dataclass
class Streaming:
    """Benchmarks that share what was measured before them."""

    spark: SparkSession
    sizes: Sizes
    _is_warm: bool = False
    _many_devices: dict[str, Pace] = field(default_factory=dict)

    def _warm_up(self) -> None:
        """Java compiles what runs often; without this, the first to run would look slow."""
        if self._is_warm:
            return
        self._is_warm = True
        data = self._large(self.sizes.few_devices)
        folder = data.folder(self.sizes.folder)
        n = min(self.sizes.stream_batches, 6)
        pace.stateless(self.spark, folder, n, 0)
        for program in PROGRAMS.values():
            pace.streamed(self.spark, program(data), folder, n, 0)

    def large(self) -> Iterator[Row]:
        """Large micro-batches, few and many devices."""
        self._warm_up()
        few: dict[str, Pace] = {}
        for devices in (self.sizes.few_devices, self.sizes.many_devices, self.sizes.most_devices):
            data = self._large(devices)
            floor = self._stateless(data)
            for name in PROGRAMS:
                own, tallies = self._streamed(name, data)
                few.setdefault(name, own)
                yield self._row(name, data, own, tallies, floor, few[name])
                if devices == self.sizes.many_devices:
                    self._many_devices[name] = own
                    yield self._state(name, data, own, tallies[-1])

    def small(self) -> Iterator[Row]:
        """Micro-batches so small that what they cost is what every one costs."""
        n, warm_up = self.sizes.small_batches, self.sizes.small_batches // 3
        data = Arrivals((self.sizes.small_batch,) * n, self.sizes.many_devices, self.sizes.seed)
        folder = data.folder(self.sizes.folder)
        floor = pace.stateless(self.spark, folder, n, warm_up)
        for name, program in PROGRAMS.items():
            own, tallies = pace.streamed(self.spark, program(data), folder, n, warm_up)
            self._require_matches(name, data, program(data), tallies)
            yield Row(
                f"{name}, micro-batches of {quantity(self.sizes.small_batch)}",
                str(data),
                own.seconds,
                own.cpu_seconds,
                self.sizes.small_batch,
                _matches(tallies),
                (Baseline(STATELESS, floor.seconds, floor.cpu_seconds),),
                (Goal("× stateless", own.seconds / floor.seconds, most=MOST_FOR_SMALL),),
            )

    def against_state_per_key(self) -> Iterator[Row]:
        """A window through Spark's own interface for state, at two sizes of micro-batches."""
        few, many = self.sizes.per_key_batch, self.sizes.stream_batch
        data = Arrivals((few, few, few, many), self.sizes.many_devices, self.sizes.seed)
        folder, n = data.folder(self.sizes.folder), 4
        self._warm_up()
        arriving = pace.arriving(self.spark, folder)
        plain, found = pace.collected(self.spark, per_key.found(arriving, data.window_us), n, 1)
        filtered, again = pace.collected(self.spark, per_key.found(arriving.where(FITS), data.window_us), n, 1)
        own, tallies = pace.streamed(self.spark, data.windowed(), folder, n, 1, finish=True)
        local = data.windowed().run_local({"Reading": folder}).tables[EVENT]
        expected = sorted(map(tuple, local["lineage"].to_pylist()))
        counted = sum(tally.matches[EVENT] for tally in tallies)
        if not expected == sorted(found) == sorted(again) or counted != len(expected):
            raise AssertionError(f"expected {len(expected)} matches, found {len(found)}, {len(again)}, {counted}")
        sustained = self._many_devices.get("windowed", own)
        times = {
            f"state per key, {quantity(few)} at once": median(plain.all_seconds[1:3]) * many / few,
            f"state per key, {quantity(many)} at once": plain.all_seconds[3],
            f"state per key, only readings that fit, {quantity(many)} at once": filtered.all_seconds[3],
        }
        yield Row(
            f"windowed, {quantity(self.sizes.many_devices)} devices, against state per key",
            str(data),
            sustained.seconds,
            sustained.cpu_seconds,
            many,
            f"{quantity(len(expected))} matches",
            tuple(Baseline(name, seconds, 0.0) for name, seconds in times.items()),
            tuple(
                Goal(f"× {name}", seconds / sustained.seconds, least=LEAST_TIMES_PER_KEY)
                for name, seconds in list(times.items())[:2]
            ),
        )

    def beside_an_uncertain_stream(self) -> Iterator[Row]:
        """Five certain events keep their pace when an uncertain stream and its event stand beside them."""
        self._warm_up()
        data = self._large(self.sizes.few_devices)
        folder, n = data.folder(self.sizes.folder), len(data.per_file)
        warm_up = self.sizes.stream_warm_up
        guesses = {"Guess": data.guesses(self.sizes.folder)}
        alone, before = pace.streamed(self.spark, data.five(beside=False), folder, n, warm_up)
        own, tallies = pace.streamed(self.spark, data.five(beside=True), folder, n, warm_up, others=guesses)
        names = [f"found{number}" for number in range(5)]
        counts = [sum(tally.matches[name] for tally in some for name in names) for some in (before, tallies)]
        if counts[0] != counts[1]:
            raise AssertionError(f"expected {counts[0]} matches beside an uncertain stream, found {counts[1]}")
        yield Row(
            f"five events beside an uncertain stream, {quantity(data.devices)} devices",
            str(data),
            own.seconds,
            own.cpu_seconds,
            data.per_file[0],
            f"{quantity(counts[1])} matches",
            (Baseline("alone", alone.seconds, alone.cpu_seconds),),
            (Goal("× alone", alone.seconds / own.seconds, least=LEAST_BESIDE),),
        )

    def _large(self, devices: int) -> Arrivals:
        return Arrivals((self.sizes.stream_batch,) * self.sizes.stream_batches, devices, self.sizes.seed)

    def _stateless(self, data: Arrivals) -> Pace:
        n = len(data.per_file)
        return pace.stateless(self.spark, data.folder(self.sizes.folder), n, self.sizes.stream_warm_up)

    def _streamed(self, name: str, data: Arrivals) -> tuple[Pace, list[BatchTally]]:
        n, program = len(data.per_file), PROGRAMS[name](data)
        folder = data.folder(self.sizes.folder)
        own, tallies = pace.streamed(self.spark, program, folder, n, self.sizes.stream_warm_up)
        self._require_matches(name, data, program, tallies)
        return own, tallies

    def _require_matches(self, name: str, data: Arrivals, program: Program, tallies: list[BatchTally]) -> None:
        """What was found is what the local runner finds up to the same moment."""
        table = program.run_local({"Reading": data.folder(self.sizes.folder)}).tables[EVENT]
        until = tallies[-1].watermark
        assert until is not None
        expected = int((table["detected_at"].cast(pa.int64()).to_numpy() <= until).sum())
        found = sum(tally.matches[EVENT] for tally in tallies)
        if found != expected:
            raise AssertionError(f"{name}, {data}: expected {expected} matches, found {found}")

    def _row(self, name: str, data: Arrivals, own: Pace, tallies: list[BatchTally], floor: Pace, few: Pace) -> Row:
        size = data.per_file[0]
        baselines = [Baseline(STATELESS, floor.seconds, floor.cpu_seconds)]
        goals: list[Goal] = []
        if data.devices <= self.sizes.many_devices:
            goals.append(Goal("events/s", size / own.seconds, least=LEAST_RATE))
        else:
            times = own.seconds / few.seconds
            fewer = f"{quantity(self.sizes.few_devices)} devices"
            baselines.insert(0, Baseline(fewer, few.seconds, few.cpu_seconds))
            goals.append(Goal(f"× {fewer}", times, most=MOST_FOR_DEVICES))
        return Row(
            f"{name}, {quantity(data.devices)} devices, micro-batches of {quantity(size)}",
            str(data),
            own.seconds,
            own.cpu_seconds,
            size,
            _matches(tallies),
            tuple(baselines),
            tuple(goals),
        )

    def _state(self, name: str, data: Arrivals, own: Pace, last: BatchTally) -> Row:
        rows = pa.parquet.read_table(data.folder(self.sizes.folder))
        kept = bare.open_matches(rows) if name == "automaton" else bare.in_window(rows, data.window_us)
        what = "open matches" if name == "automaton" else "events in the window"
        per_key = last.state_bytes / data.devices
        return Row(
            f"{name}, {quantity(data.devices)} devices, state",
            str(data),
            own.seconds,
            own.cpu_seconds,
            None,
            f"{per_key:.1f} bytes per key for {quantity(kept.n)} {what}; {kept.n_bytes / data.devices:.1f} bare",
            goals=(Goal("× bare arrays", last.state_bytes / kept.n_bytes, most=MOST_FOR_STATE),),
        )


def _matches(tallies: Iterable[BatchTally]) -> str:
    return f"{quantity(sum(tally.matches[EVENT] for tally in tallies))} matches"
