"""Relations on endless streams: TIMEOUT ends keys, and keys that cannot be related any more are forgotten."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.probable_oracle import probable_oracle
from tests.kit.seeds import at_length
from tests.streaming.in_process import InProcess, job_of

import inkling
from inkling.evaluators.relation.evaluator import RelationState
from inkling.local_stream import LocalStream
from inkling.query import Program

SEEDS = range(2)
LONG_SEEDS = at_length(range(2, 40))
CASES_PER_SEED = 8
TIMEOUT = 8
INTERSECTING = (
    "INTERSECTS",
    "INTERSECTS",
    "INTERSECTS",
    "DURING",
    "CONTAINS",
    "OVERLAPS",
    "MEETS",
    "{OVERLAPPED_BY, STARTS, EQUALS}",
)

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Journeys:
    """A program over keys that begin one after the other, and its rows in the order of their times."""

    text: str
    rows: list[tuple[str, Row]]
    lost: list[tuple[str, Row]]

    def losing_at_most(self, n: int) -> Journeys:
        """The same with fewer lost events."""
        found = sorted([*self.rows, *self.lost[n:]], key=lambda one: int(str(one[1]["t"])))
        return Journeys(self.text, found, self.lost[:n])

    @property
    def by_stream(self) -> dict[str, list[Row]]:
        return {name: [row for stream, row in self.rows if stream == name] for name in ("Bus", "Tram")}


def journeys(rng: random.Random, n_keys: int) -> Journeys:
    limits = rng.choice(("", " COUNT total BOUNDS since TO until", " ROLE what COUNT total"))
    least = rng.choice(("SOME", "SOME", "AT LEAST 2", "AT LEAST many FROM 1 TO 3", *(() if limits else ("ALL",))))
    within = rng.choice((("Bus", "Bus"), ("Bus", "Tram"), ("Tram", "Bus")))
    same, right = rng.choice((("", "SOME"), ("", "AT LEAST 2"), (" ON SAME stop", "SOME")))
    by = rng.choice(("", " PARTITION BY line"))
    early = rng.choice(("", "", " CONFIDENCE > 0.4 EARLY"))
    having = rng.choice(("", " HAVING x.k < y.k"))
    head = "x.line AS a, x.k AS one, y.line AS b, y.k AS other" + (", many" if "many" in least else "")
    columns = (
        "id STRING, line STRING, k BIGINT, stop STRING, n BIGINT, t BIGINT, what STRING, total BIGINT, since BIGINT"
    )
    streams = (
        f"STREAM {name}({columns}, until BIGINT) ID id KEY line, k TIME t NUMBERED BY n SEGMENTS{limits}"
        f" TIMEOUT {TIMEOUT} TICKS;"
        for name in ("Bus", "Tram")
    )
    pattern = f"{least} {within[0]} x {rng.choice(INTERSECTING)} {right} {within[1]} y{same}{having}{by}{early}"
    text = "\n".join([*streams, f"EVENT e({head}) AS PATTERN {pattern};"])
    found: list[tuple[str, Row]] = []
    losses: list[tuple[str, Row]] = []
    for k in range(n_keys):
        name = rng.choice(("Bus", "Tram"))
        key: Row = {"line": rng.choice("ab"), "k": k}
        times = _times(rng, 5 * k)
        known: Row = {"total": len(times), "since": times[0] - rng.choice((1, 3)), "until": times[-1] + 2}
        for n, t in enumerate(times, start=1):
            what = "open" if n % 2 else "close"
            about: Row = {"id": f"{k}/{n}", "stop": rng.choice("uv"), "n": n, "t": t, "what": what, **known}
            has_begun = any(row["k"] == k for _, row in found)  # else the next row may come too late
            is_lost = rng.random() < 0.3 and (has_begun or ("BOUNDS" in limits and t - times[0] <= 3))
            (losses if is_lost else found).append((name, {**key, **about}))
    return Journeys(text, found, losses).losing_at_most(len(losses))


def _times(rng: random.Random, first: int) -> list[int]:
    """Two, four or six times, so close that one lost event is no silence beyond TIMEOUT."""
    gaps = [rng.randrange(4), *(rng.randrange(1, 4) for _ in range(rng.choice((1, 3, 5))))]
    return [first + sum(gaps[: place + 1]) for place in range(len(gaps))]


def pushed(rng: random.Random, program: Program, given: Journeys) -> tuple[list[Row], list[int], list[str]]:
    """All results, the number of rows that relations keep after each push, and the ids of rejected rows."""
    live, said, sizes, rejected = program.open(), [], [], []
    place = 0
    while place < len(given.rows):
        step = rng.randrange(1, 6)
        push: dict[str, list[Row]] = {}
        for name, row in given.rows[place : place + step]:
            push.setdefault(name, []).append(row)
        found = live.push(push)
        said += found.tables["e"].to_pylist() if "e" in found.tables else []
        rejected += found.rejects["id"].to_pylist()
        assert not len(found.late), given.text
        sizes.append(n_kept(live))
        place += step
        if rng.random() < 0.2:
            live = LocalStream.restore(program, live.snapshot())
    last = live.finish()
    return said + last.tables["e"].to_pylist(), sizes, rejected + last.rejects["id"].to_pylist()


def n_kept(live: LocalStream) -> int:
    (cohorts,) = live._state.operators
    return sum(_n_kept(state) for cohort in cohorts for state in cohort.evaluators.values())


def _n_kept(state: RelationState) -> int:
    return sum(map(len, state.rows.values())) + sum(len(one.results) for one in state.settled.values())


def in_buckets(seed: int, program: Program, given: Journeys) -> list[Row]:
    """The results of a streaming query."""
    query, found = InProcess(job_of(program.physical, n_buckets=3), seed), []
    for place in range(0, len(given.rows), 7):
        push: dict[str, list[Row]] = {"Bus": [], "Tram": []}
        for name, row in given.rows[place : place + 7]:
            push[name].append(row)
        found += query.push(arrow_streams(program.plan, push)).get("e", [])
    return found + query.finish().get("e", [])


def lines(rows: list[Row]) -> list[str]:
    return sorted(repr(sorted((name, _rounded(value)) for name, value in row.items())) for row in rows)


def _rounded(value: object) -> object:
    return round(value, 10) if isinstance(value, float) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_and_buckets_eq_one_run(seed: int) -> None:
    rng = random.Random(f"lost lifetimes {seed}")
    n_results = 0
    for _ in range(CASES_PER_SEED):
        given = journeys(rng, 40)
        program = inkling.parse(given.text)
        expected = program.run_local(given.by_stream)
        want = expected.tables["e"].to_pylist()
        said, sizes, rejected = pushed(rng, program, given)
        read = program.plan.events[0].sources  # rows of other streams are not compared with each other
        wrong = [row["id"] for row in expected.rejects.to_pylist() if row["stream"] in read]
        assert sorted(rejected) == sorted(wrong), given.text
        assert lines(said) == lines(want), given.text
        assert lines(in_buckets(seed, program, given)) == lines(want), given.text
        assert max(sizes[len(sizes) // 2 :]) <= 20 + 3 * max(sizes[: len(sizes) // 2]), given.text
        n_results += len(want)
    assert n_results > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_pushes_and_buckets_eq_one_run_at_length(seed: int) -> None:
    test_pushes_and_buckets_eq_one_run(seed)


DAY, N_DAYS = 40, 12


@pytest.mark.parametrize(("key", "most"), [("sector, day", 2 * DAY), ("sector", N_DAYS * DAY)])
def test_keys_that_end_every_day_are_forgotten(key: str, most: int) -> None:
    """Two sectors with an event every other tick: as keys, they never fall silent; their days do."""
    text = f"""
    STREAM S(sector STRING, day BIGINT, n BIGINT, t BIGINT) KEY {key} TIME t NUMBERED BY n SEGMENTS TIMEOUT 8 TICKS;
    EVENT e(x.sector AS one, y.sector AS other{", x.day AS day, y.day AS same" if "day" in key else ""}) AS
      PATTERN SOME S x INTERSECTS SOME S y HAVING x.sector < y.sector{" AND x.day = y.day" if "day" in key else ""};
    """
    live, n_results, sizes = inkling.parse(text).open(), 0, []
    for time in range(0, N_DAYS * DAY, 2):
        day, number = divmod(time, DAY) if "day" in key else (0, time)
        row: Row = {"day": day, "n": number // 2 + 1, "t": time}
        found = live.push({"S": [{"sector": sector, **row} for sector in "ab"]})
        n_results += len(found.tables["e"]) if "e" in found.tables else 0
        sizes.append(n_kept(live))
    n_results += len(live.finish().tables["e"])
    assert n_results == (N_DAYS if "day" in key else 1)
    assert most - DAY < max(sizes) <= most


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_definition(seed: int) -> None:
    rng = random.Random(f"lost lifetimes defined {seed}")
    for _ in range(CASES_PER_SEED):
        given = journeys(rng, 3).losing_at_most(4)
        program = inkling.parse(given.text.replace(" CONFIDENCE > 0.4 EARLY", ""))
        wrong = program.run_local(given.by_stream).rejects["id"].to_pylist()
        rows = {name: [row for row in some if row["id"] not in wrong] for name, some in given.by_stream.items()}
        want = {one.values: float(one.probability) for one in probable_oracle(program.plan, rows)["e"]}
        said, _, _ = pushed(rng, program, given)
        names = [output.name for output in program.plan.events[0].head]
        found = {tuple(row[name] for name in names): row["probability"] for row in said}
        assert found == pytest.approx({one: prob for one, prob in want.items() if prob > 0}, abs=1e-10), given


BUSES = inkling.parse("""
    STREAM Bus(id STRING, k STRING, n BIGINT, t BIGINT, since BIGINT, until BIGINT) ID id KEY k TIME t
      NUMBERED BY n SEGMENTS BOUNDS since TO until TIMEOUT 10 TICKS;
    EVENT met(x.k AS one, y.k AS other) AS PATTERN SOME Bus x INTERSECTS SOME Bus y HAVING x.k < y.k;
""")


def bus(k: str, n: int, t: int, since: int) -> Row:
    return {"id": f"{k}{n}", "k": k, "n": n, "t": t, "since": since, "until": None}


@pytest.mark.parametrize(("since", "is_late"), [(24, True), (25, False)])
def test_a_key_is_late_if_its_first_events_may_be_older_than_the_timeout(since: int, is_late: bool) -> None:
    """All is known up to 35, and keys that ended before 25 are forgotten: a lost event of `c` can be as old as that."""
    live = BUSES.open()
    live.push({"Bus": [bus("a", 1, 19, 2), bus("a", 2, 23, 2), bus("b", 1, 35, 30)]})
    live.push({"Bus": [bus("c", 2, 36, since)]})
    found = live.finish()
    assert found.late["stream"].to_pylist() == ["Bus"] * is_late
    results = [(row["one"], row["other"]) for row in found["met"].to_pylist()]
    assert results == ([] if is_late else [("b", "c")])
