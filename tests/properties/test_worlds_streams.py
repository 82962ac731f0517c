"""Random programs over uncertain streams, pushed piece by piece: what the same worlds give when all rows are there.

On a stream every probability is sampled in a fixed number of worlds. These are the worlds of a run over files that
counts nothing out and looks once, so that both must agree in every column.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from tests.kit.arrival import arrivals, with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.episodes import one_after_the_other, that_fit_together
from tests.kit.programs import Options
from tests.kit.uncertain import UncertainCase, Uncertainties, random_uncertain_cases
from tests.kit.universe import MORE_ABOUT_LOSSES, Kind, Uncertain

import inkling
from inkling.evaluators.sampling import Sampling
from inkling.local_stream import Found, LocalStream
from inkling.model.uncertainty import LostEvents
from inkling.query import Program

pytestmark = pytest.mark.long

SEEDS = range(8)
PROGRAMS_PER_SEED = 18
ARRIVALS_PER_PROGRAM = 4
EPISODES = 3
LEAST_COMPARED = 0.88
LATENESS = (0, 2, 5)
SAMPLING = Sampling(epsilon=0.15, delta=0.1, seed=3, exact_up_to=0, budget=1)

Push = dict[str, pa.Table]
Table = list[dict[str, object]]


@dataclass(slots=True)
class Heard:
    """Everything that a stream said."""

    results: dict[str, Table] = field(default_factory=dict)
    late: Table = field(default_factory=list)
    rejects: Table = field(default_factory=list)
    n_early: int = 0  # results before the end

    def keep(self, found: Found) -> None:
        for name, table in found.tables.items():
            self.results.setdefault(name, []).extend(table.to_pylist())
        self.late += found.late.to_pylist()
        self.rejects += found.rejects.to_pylist()


def _pushes(rng: random.Random, case: UncertainCase, lateness: int) -> list[Push]:
    given = arrow_streams(case.plan, case.rows)
    n_pieces = rng.choice((1, 2, 3, 4, 6))
    pieces = arrivals(rng, case.plan, given, n_pieces, lateness=lateness, in_step=rng.random() < 0.7)
    pushes: list[Push] = []
    for number in range(n_pieces):
        together = {name: parts[number] for name, parts in pieces.items() if len(parts[number]) or rng.random() < 0.2}
        pushes += [together] if rng.random() < 0.8 else [{name: part} for name, part in together.items()]
    return pushes


def _heard(rng: random.Random, program: Program, case: UncertainCase, pushes: list[Push]) -> Heard:
    """All pushes one after the other; now and then the state goes through a snapshot, or a stream falls silent."""
    tables = arrow_tables(case.plan, case.tables)
    stream = program.open(tables, unbounded=True, sampling=SAMPLING)
    heard = Heard()
    for number, push in enumerate(pushes):
        if rng.random() < 0.2:
            stream = LocalStream.restore(program, stream.snapshot(), tables, sampling=SAMPLING)
        heard.keep(stream.push(push))
        silent = {one.schema.name for one in case.plan.streams} - {name for later in pushes[number:] for name in later}
        if silent and rng.random() < 0.3:
            heard.keep(stream.idle(*silent))
    heard.n_early = sum(map(len, heard.results.values()))
    heard.keep(stream.finish())
    return heard


def _as_arrived(case: UncertainCase, pushes: Iterable[Push]) -> dict[str, pa.Table]:
    """All rows in the order in which they came, which gives rows without ids their numbers."""
    rows = {name: [nothing] for name, nothing in arrow_streams(case.plan, {}).items()}
    for push in pushes:
        for name, part in push.items():
            rows[name].append(part)
    return {name: pa.concat_tables(parts) for name, parts in rows.items()}


def _without(given: Mapping[str, pa.Table], late: Table) -> dict[str, pa.Table]:
    gone = {(row["stream"], row["id"]) for row in late}
    return {
        name: rows.filter(pa.array([(name, one) not in gone for one in rows["id"].to_pylist()], pa.bool_()))
        for name, rows in given.items()
    }


def _differences(expected: Mapping[str, pa.Table], results: Mapping[str, Table]) -> list[str]:
    lines = []
    for name, table in expected.items():
        wanted, found = (sorted(map(_line, rows)) for rows in (table.to_pylist(), results[name]))
        if wanted != found:
            lines += [f"{name}: {len(wanted)} expected, {len(found)} found"]
            lines += [f"  - {line}" for line in wanted if line not in found]
            lines += [f"  + {line}" for line in found if line not in wanted]
    return lines


def _line(row: Mapping[str, object]) -> str:
    return repr(sorted(row.items()))


def _told(case: UncertainCase, pushes: Iterable[Push], wrong: Iterable[str]) -> str:
    readable = ({name: part.to_pylist() for name, part in push.items()} for push in pushes)
    return "\n".join([str(case), *map(str, readable), *wrong])


def _cases(rng: random.Random, n: int, **uncertainties: tuple[Uncertain, ...] | Options) -> Iterator[UncertainCase]:
    for _ in range(n):
        options = Uncertainties(most_worlds=(300,), lengths=rng.random() < 0.4, **uncertainties)  # type: ignore[arg-type]
        yield one_after_the_other(rng, that_fit_together(random_uncertain_cases(rng, EPISODES, options)))


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_one_run(seed: int) -> None:
    rng = random.Random(seed)
    n_compared, n_early = _compared(rng, _cases(rng, PROGRAMS_PER_SEED))
    assert n_compared >= LEAST_COMPARED * PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM
    assert n_early > PROGRAMS_PER_SEED


LOSSES = (*MORE_ABOUT_LOSSES, *MORE_ABOUT_LOSSES, Uncertain.NOTHING, Uncertain.VALUE)
POINTS = Options((Kind.POINTS, Kind.ORDERED), bad_rows=False)
"""Lost events are points."""


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(one, marks=pytest.mark.long) for one in (2, 3))])
def test_pushes_eq_one_run_where_more_is_known_of_losses(seed: int) -> None:
    rng = random.Random(seed)
    n_compared, n_early = _compared(rng, _cases(rng, PROGRAMS_PER_SEED, uncertain=LOSSES, options=POINTS))
    assert n_compared >= LEAST_COMPARED * PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM
    assert n_early > 5


def _compared(rng: random.Random, cases: Iterable[UncertainCase]) -> tuple[int, int]:
    """How many arrivals were compared with one run, and how many results came before the end."""
    n_compared = n_early = 0
    for case in cases:
        lateness = rng.choice(LATENESS)
        program = inkling.parse(with_lateness(case.text, lateness))
        tables = arrow_tables(case.plan, case.tables)
        has_ids = all(stream.schema.id is not None for stream in case.plan.streams)
        whole: Mapping[str, pa.Table] | None = None
        for _ in range(ARRIVALS_PER_PROGRAM):
            pushes = _pushes(rng, case, lateness)
            heard = _heard(rng, program, case, pushes)
            assert not heard.rejects, heard.rejects
            assert all(_loses(case, row["stream"]) for row in heard.late), heard.late
            given = _as_arrived(case, pushes)
            if heard.late and (not has_ids or _roles(given) != _roles(_without(given, heard.late))):
                continue
            expected = whole
            if whole is None or heard.late or not has_ids:
                expected = program.run_local(_without(given, heard.late), tables, sampling=SAMPLING).tables
                whole = None if heard.late else expected
            assert expected is not None
            wrong = _differences(expected, heard.results)
            assert not wrong, _told(case, pushes, wrong)
            n_compared += 1
            n_early += heard.n_early
    return n_compared, n_early


def _roles(given: Mapping[str, pa.Table]) -> set[tuple[str, bool, object]]:
    """What numbered events are called; a late row teaches nothing else."""
    return {
        (name, row["n"] % 2 == 1, row["s"])
        for name, rows in given.items()
        for row in rows.to_pylist()
        if "total" in row
    }


def _loses(case: UncertainCase, stream: object) -> bool:
    """Whether a key that is new may tell of events that were lost long ago."""
    uncertainty = next(one.schema.uncertainty for one in case.plan.streams if one.schema.name == stream)
    return isinstance(uncertainty, LostEvents) and uncertainty.bounds is not None


def test_the_number_of_cases_is_what_it_says() -> None:
    assert LEAST_COMPARED * len(SEEDS) * PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM >= 500


WITHOUT_CHAINS = tuple(one for one in Uncertain if one is not Uncertain.CHAIN and one not in MORE_ABOUT_LOSSES)
"""A chain that lacks a row is rejected where all of it can be seen, and continues with nothing where it cannot."""


@pytest.mark.parametrize("seed", range(4))
def test_late_rows_are_as_if_they_had_never_come(seed: int) -> None:
    rng = random.Random(seed)
    n_late = 0
    for case in _cases(rng, 16, uncertain=WITHOUT_CHAINS):
        if any(stream.schema.id is None for stream in case.plan.streams):
            continue
        program = inkling.parse(with_lateness(case.text, 2))
        pushes = _pushes(rng, case, lateness=12)
        heard = _heard(rng, program, case, pushes)
        n_late += len(heard.late)
        told = [(row["stream"], row["id"]) for row in heard.late]
        assert len(told) == len(set(told))
        given = _without(_as_arrived(case, pushes), heard.late)
        expected = program.run_local(given, arrow_tables(case.plan, case.tables), sampling=SAMPLING)
        assert _ids(heard.rejects) == _ids(expected.rejects.to_pylist()), _told(case, pushes, map(str, heard.rejects))
        if _roles(given) == _roles(_as_arrived(case, pushes)):
            wrong = _differences(expected.tables, heard.results)
            assert not wrong, _told(case, pushes, [str(told), *wrong])
    assert n_late, "no row came late"


def _ids(rejects: Table) -> list[tuple[str, str]]:
    return sorted((str(row["stream"]), str(row["id"])) for row in rejects)
