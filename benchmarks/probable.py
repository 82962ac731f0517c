"""Queries over probable streams: exact answers beside sampled worlds and beside the likeliest values alone.

Times are the mean of seven runs without the fastest and the slowest; goals are judged by processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import safe_plans
from benchmarks.meter import LONG_S, Measured, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from inkling import Sampling, parse
from inkling.analysis.query.strategy import strategy_of
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.event import predicates_of
from inkling.evaluators.query.probable_events import probable_events_of
from inkling.io.normalize import START
from inkling.logical.evaluate import ExpressionContext
from inkling.query import Program

N_ROOMS = 20
SECONDS = 60
TAGS = 50
RUNS, LEFT_OUT = 7, 1
LEAST_TUPLES, LEAST_OVER_SAMPLING, MOST_OVER_MLE, MOST_GROWTH = 1e5, 100.0, 1.5, 1.5
LEAST_KERNEL, LEAST_KERNEL_MARKOV = 20e6, 10e6
ROOMS = [f"R{number:02}" for number in range(N_ROOMS)]
KINDS = pa.table({"room": ROOMS, "kind": ["coffee", *["hallway"] * 9, *["office"] * 10]})
TABLES = {"rooms": KINDS}


def program(pattern: str, uncertainty: str = "PROBABILITY p", demand: str = "") -> Program:
    previous = ", previous STRING" if "GIVEN" in uncertainty else ""
    return parse(
        f"STREAM At(person STRING, room STRING, t BIGINT{previous}) KEY person TIME t {uncertainty};"
        "TABLE rooms(room STRING, kind STRING) FROM 'rooms.csv';"
        f"EVENT q(person) AS PATTERN {pattern} PARTITION BY person PER END {demand};"
    )


def entering(n_parts: int) -> str:
    """Elsewhere for all parts but the last, which is in the coffee room."""
    parts = ", ".join(f"At a{number}" for number in range(n_parts))
    elsewhere = "".join(f"NOT rooms(a{number}.room, 'coffee') AND " for number in range(n_parts - 1))
    return f"SEQ NEXT({parts}) HAVING {elsewhere}rooms(a{n_parts - 1}.room, 'coffee')"


ONE_STREAM = "At a[person = 'P000' AND rooms(room, 'hallway')]"
MARKOV = "PROBABILITY p GIVEN previous"


def places(n_people: int, seconds: int, seed: int) -> pa.Table:
    """A distribution over rooms for each person and second."""
    chances = _distributions(seed, (n_people, seconds))
    person, second, room = np.indices(chances.shape).reshape(3, -1)
    return _columns(person, room, second, chances)


def moves(n_people: int, seconds: int, seed: int) -> pa.Table:
    """The same after each room; the first second of a person comes after none."""
    first = _distributions(seed, (n_people, 1))
    later = _distributions(seed + 1, (n_people, seconds - 1, N_ROOMS))
    person, second, room = np.indices(first.shape).reshape(3, -1)
    beginning = _columns(person, room, second, first).append_column("previous", pa.nulls(first.size, pa.string()))
    person, second, before, room = np.indices(later.shape).reshape(4, -1)
    previous = pa.array(ROOMS).take(pa.array(before))
    return pa.concat_tables([beginning, _columns(person, room, second + 1, later).append_column("previous", previous)])


def _distributions(seed: int, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    weights = np.random.default_rng(seed).random((*shape, N_ROOMS)) + 0.01
    chances: npt.NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return chances


def _columns(
    person: npt.NDArray[np.intp],
    room: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    chances: npt.NDArray[np.float64],
) -> pa.Table:
    names = pa.array([f"P{number:03}" for number in range(int(person.max()) + 1)])
    return pa.table(
        {
            "person": names.take(pa.array(person)),
            "room": pa.array(ROOMS).take(pa.array(room)),
            "t": second + 1,
            "p": chances.ravel(),
        }
    )


def trimmed(*calls: Callable[[], int]) -> list[Measured[int]]:
    """The mean of seven runs of each call, without the fastest and the slowest; they take turns. Long ones run once."""
    for call in calls[:1]:
        call()
    runs = [[measured(call)] for call in calls]
    for _ in range(RUNS - 1):
        for call, done in zip(calls, runs, strict=True):
            if done[0].seconds < LONG_S / RUNS:
                done.append(measured(call))
    return [
        Measured(done[0].answer, _mean([one.seconds for one in done]), _mean([one.cpu_seconds for one in done]))
        for done in runs
    ]


def _mean(numbers: list[float]) -> float:
    kept = sorted(numbers)[LEFT_OUT:-LEFT_OUT] if len(numbers) == RUNS else numbers
    return sum(kept) / len(kept)


@dataclass(frozen=True, slots=True)
class Probable:
    sizes: Sizes

    @property
    def folder(self) -> Path:
        folder = self.sizes.folder / "probable"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def stored(self, rows: pa.Table, name: str) -> Path:
        path = self.folder / f"{name}.parquet"
        pq.write_table(rows, path)
        return path

    def kernels(self) -> Iterator[Row]:
        n_people = max(20, self.sizes.kernel_events // 10_000)
        for n_parts in (1, 3, 5):
            rows = places(n_people, SECONDS, self.sizes.seed)
            yield self._kernel(f"independent, {n_parts} parts", entering(n_parts), "PROBABILITY p", rows, LEAST_KERNEL)
        for n_parts in (1, 3):
            rows = moves(max(5, n_people // 20), SECONDS, self.sizes.seed)
            yield self._kernel(f"Markov, {n_parts} parts", entering(n_parts), MARKOV, rows, LEAST_KERNEL_MARKOV)

    def _kernel(self, name: str, pattern: str, uncertainty: str, rows: pa.Table, least: float) -> Row:
        plan = program(pattern, uncertainty).plan
        one = strategy_of(plan.events[0], plan).conclusion
        assert one is not None
        schemas = {stream.schema.name: stream.schema for stream in plan.streams}
        tables = {"At": rows.append_column(START, rows["t"])}
        context = ExpressionContext({"rooms": KINDS.to_pylist()}, lambda span: 0)
        events = probable_events_of(one.query, schemas, tables)
        predicates = predicates_of(one.query, events, tables, context)
        chains = Regular.of(one.query, len(one.query.subgoals), one.variables, ever=False)
        (ours,) = trimmed(lambda: len(chains.advance(chains.start(), events, predicates)[1].chance))
        goal = Goal("tuples/s", len(rows) / ours.cpu_seconds, least=least)
        return _row(f"chains alone: {name}", rows, ours, (), (goal,))

    def objects(self) -> Iterator[Row]:
        for name, pattern in (("Q1: a place of one tag", ONE_STREAM), ("Q2: a sequence of every tag", entering(2))):
            for n_people in (1, 10, 100):
                rows = places(n_people, SECONDS, self.sizes.seed)
                path = self.stored(rows, f"objects-{n_people}")
                asked = program(pattern)
                (ours,) = trimmed(lambda asked=asked, path=path: _answers(asked, path))
                goals = (Goal("objects × s/s", n_people * SECONDS / ours.cpu_seconds, least=n_people),)
                if n_people == 100:
                    goals += (Goal("tuples/s", len(rows) / ours.cpu_seconds, least=LEAST_TUPLES),)
                yield _row(f"{name}, {n_people} tags", rows, ours, (), goals)

    def parts(self) -> Iterator[Row]:
        for uncertainty, most, made in (("PROBABILITY p", 5, places), (MARKOV, 3, moves)):
            rows = made(TAGS, SECONDS, self.sizes.seed)
            path = self.stored(rows, f"parts-{made.__name__}")
            for n_parts in range(1, most + 1):
                asked = program(entering(n_parts), uncertainty)
                (ours,) = trimmed(lambda asked=asked, path=path: _answers(asked, path))
                goals = (
                    Goal("× real time", SECONDS / ours.cpu_seconds, least=1.0),
                    Goal("tuples/s", len(rows) / ours.cpu_seconds, least=LEAST_TUPLES),
                )
                kind = "Markov" if "GIVEN" in uncertainty else "independent"
                yield _row(f"{kind}, {n_parts} parts, {TAGS} tags", rows, ours, (), goals)

    def likeliest(self) -> Iterator[Row]:
        """Beside keeping the most probable room of each second, and asking a certain stream."""
        rows = places(TAGS, 5 * SECONDS, self.sizes.seed)
        path = self.stored(rows, "likeliest")
        asked, certain = program(entering(2)), program(entering(2), "")

        def decided() -> int:
            read = pq.read_table(path)
            best = read.sort_by([("person", "ascending"), ("t", "ascending"), ("p", "descending")])
            person, second = (
                best["person"].combine_chunks().dictionary_encode().indices.to_numpy(),
                best["t"].to_numpy(),
            )
            is_first = np.concatenate([[True], (np.diff(person) != 0) | (np.diff(second) != 0)])
            kept = best.filter(pa.array(is_first)).drop_columns(["p"])
            return len(certain.run_local({"At": kept}, TABLES).tables["q"])

        decided()
        ours, theirs = trimmed(lambda: _answers(asked, path), decided)
        goal = Goal("times as long", ours.cpu_seconds / theirs.cpu_seconds, most=MOST_OVER_MLE)
        yield _row("beside the likeliest values (MLE)", rows, ours, (Baseline.of("likeliest values", theirs),), (goal,))

    def sampled(self) -> Iterator[Row]:
        """Beside worlds that are drawn until probabilities are known to 1 %."""
        rows = places(5, SECONDS, self.sizes.seed)
        path = self.stored(rows, "sampled")
        asked, drawn = program(entering(2)), program(entering(2), demand="SAMPLED")
        one_percent = Sampling(epsilon=0.01, delta=0.01, seed=1, exact_up_to=0, budget=1)

        def in_worlds() -> int:
            return len(drawn.run_local({"At": path}, TABLES, sampling=one_percent).tables["q"])

        ours, theirs = trimmed(lambda: _answers(asked, path), in_worlds)
        ratio = theirs.cpu_seconds / ours.cpu_seconds
        yield _row(
            "beside sampled worlds, ± 0.01",
            rows,
            ours,
            (Baseline.of("sampled worlds", theirs),),
            (Goal("times faster", ratio, least=LEAST_OVER_SAMPLING),),
        )

    def growth(self) -> Iterator[Row]:
        rows, times = [], []
        for n_people in (100, 1_000):
            made = places(n_people, SECONDS, self.sizes.seed)
            path = self.stored(made, f"growth-{n_people}")
            asked = program(entering(3))
            rows.append(made)
            times += trimmed(lambda asked=asked, path=path: _answers(asked, path))
        grown = times[1].cpu_seconds / times[0].cpu_seconds / (len(rows[1]) / len(rows[0]))
        goal = Goal("growth over proportion", grown, most=MOST_GROWTH)
        yield _row("ten times the tags, 3 parts", rows[1], times[1], (), (goal,))

    def safe(self) -> Iterator[Row]:
        lengths = (600, 2_000, 10_000) if self.sizes.kernel_events > 1_000_000 else (100, 300, 600)
        yield from safe_plans.run(lengths, self.sizes.repeats, self.sizes.seed)


def _answers(asked: Program, path: Path) -> int:
    return len(asked.run_local({"At": path}, TABLES).tables["q"])


def _row(name: str, rows: pa.Table, ours: Measured[int], others: tuple[Baseline, ...], goals: tuple[Goal, ...]) -> Row:
    people = len(rows["person"].unique())
    seconds = int(rows["t"].to_numpy().max())
    data = f"{quantity(people)} tags, {seconds} s, {quantity(len(rows))} tuples"
    return Row(name, data, ours.seconds, ours.cpu_seconds, len(rows), f"{quantity(ours.answer)} answers", others, goals)


def benchmarks(sizes: Sizes) -> dict[str, Callable[[], Iterator[Row]]]:
    one = Probable(sizes)
    return {
        "chains alone": one.kernels,
        "objects": one.objects,
        "parts of a query": one.parts,
        "likeliest values": one.likeliest,
        "sampled worlds": one.sampled,
        "growth of a query": one.growth,
        safe_plans.NAME: one.safe,
    }
