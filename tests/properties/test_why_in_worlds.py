"""Random programs over uncertain streams: what `why` says of worlds is what the definition says, in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.chains import chain_cases
from tests.kit.context import declared_tables
from tests.kit.lost_programs import lost_case
from tests.kit.oracle import bound, probable_oracle
from tests.kit.probable_oracle import NAME, BaseEvent, ProbableResult, base_event, summed_over, with_names
from tests.kit.queries import random_query
from tests.kit.regular_queries import random_regular
from tests.kit.uncertain import uncertain_cases

from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.details.examine import result_key
from inkling.evaluators.worlds.details.influence import UncertainEvent
from inkling.evaluators.worlds.details.outcomes import EventOutcome
from inkling.logical import plan as p
from inkling.logical.rewrites.in_worlds import uncertain_events
from inkling.logical.rewrites.rules import rewrite
from inkling.meaning.streams import RawRow, plain
from inkling.meaning.worlds import joint_worlds
from inkling.model.schema import certain
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program
from inkling.program_files import ProgramFiles
from inkling.why.uncertain import UncertainWhy

pytestmark = pytest.mark.long

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A program that runs, with its inputs."""

    plan: p.ProgramPlan
    rows: Mapping[str, Sequence[RawRow]]
    tables: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)
    files: ProgramFiles = field(default_factory=ProgramFiles)

    @property
    def physical(self) -> PhysicalPlan:
        return plan_program(rewrite(self.plan).plan)

    def why(self, event: str) -> UncertainWhy:
        streams, tables = arrow_streams(self.plan, self.rows), arrow_tables(self.plan, self.tables)
        return UncertainWhy(self, event, streams, tables, Sampling())


def any_program(seed: int) -> Iterator[Asked]:
    for case in uncertain_cases(seed, 15):
        yield Asked(case.plan, case.rows, case.tables)


def chains(seed: int) -> Iterator[Asked]:
    for case in chain_cases(seed, 8, 12):
        yield from (Asked(case.plan, rows) for rows in case.keys)


def regular_queries(seed: int) -> Iterator[Asked]:
    rng = Random(seed)
    for _ in range(15):
        case = random_regular(rng, keys=1)
        yield Asked(bound(case.text), {"S": case.rows})


def queries(seed: int) -> Iterator[Asked]:
    rng = Random(seed)
    for _ in range(15):
        case = random_query(rng, worlds=24)
        yield Asked(bound(case.text), case.rows)


def relations(seed: int) -> Iterator[Asked]:
    rng = Random(seed)
    for _ in range(12):
        case = lost_case(rng, n_events=3)
        yield Asked(case.plan, case.rows)


FAMILIES = [(any_program, 0), (any_program, 1), (chains, 3), (regular_queries, 4), (queries, 5)]
FAMILIES += [(relations, 6)]


@dataclass(frozen=True, slots=True)
class Possible:
    """One world of the definition: its probability, its rows, and the results that it has, by event."""

    probability: Fraction
    rows: Mapping[str, Sequence[RawRow]]
    results: Mapping[str, frozenset[Key]]


def worlds_of(case: Asked) -> list[Possible]:
    """All worlds of a case, by the definition."""
    named = with_names(case.plan, case.rows)
    schemas = [stream.schema for stream in case.plan.streams]
    found = []
    for probability, rows in joint_worlds(named, schemas, declared_tables(case.plan, case.tables)):
        here = summed_over([(Fraction(1), rows)], case.plan, case.tables)
        keys = {event.name: frozenset(key_of(event, one) for one in here[event.name]) for event in case.plan.events}
        found.append(Possible(probability, rows, keys))
    return found


def key_of(event: p.EventPlan, one: ProbableResult) -> Key:
    """What distinguishes a result, besides the partition; alternatives of an event are the same one."""
    head = tuple(plain(value) for value in one.values)
    match event.per:
        case p.Per.MATCH:
            assert one.events is not None
            return (*head, *one.events)
        case p.Per.INTERVAL:
            return (*head, one.start, one.end)
        case p.Per.END:
            return (*head, one.end)
        case p.Per.VALUES:
            return head


def names_of(case: Asked) -> dict[object, BaseEvent]:
    """Events by their ids, without those that several streams use."""
    found: dict[object, set[BaseEvent]] = {}
    named = with_names(case.plan, case.rows)
    for stream in case.plan.streams:
        for number, row in enumerate(named[stream.schema.name], start=1):
            found.setdefault(plain(row[NAME]), set()).add(base_event(stream.schema, row, number))
    return {name: next(iter(events)) for name, events in found.items() if len(events) == 1}


def key_in_table(
    event: p.EventPlan, row: Mapping[str, object], names: Mapping[object, BaseEvent], known: Counter[Key]
) -> Key | None:
    """The same of a result in public columns; None if several results may be meant, since lost events have no ids."""
    key = result_key(event, row)
    if event.per is not p.Per.MATCH:
        return key if known[key] == 1 else None
    ids = key[len(event.head) :]
    if any(one is not None and one not in names for one in ids):
        return None
    wanted = (*key[: len(event.head)], *(None if one is None else names[one] for one in ids))
    possible = [one for one in known if len(one) == len(wanted) and all(map(_may_be, wanted, one))]
    return possible[0] if len(possible) == 1 and known[possible[0]] == 1 else None


def _may_be(shown: object, meant: object) -> bool:
    return shown == meant or (shown is None and isinstance(meant, tuple) and meant[2] == "number")


def holds(plan: p.ProgramPlan, world: Possible, event: UncertainEvent, outcome: EventOutcome) -> bool:
    """Whether an event has an outcome in a world of the definition."""
    stream = plan.stream(event.stream)
    assert stream is not None
    schema = certain(stream.schema)
    mine = [row for row in world.rows[event.stream] if is_event(row, event)]
    if not isinstance(stream.schema.uncertainty, ImpreciseTime) and event.id is not None:
        mine = [row for row in mine if plain(row[schema.start]) == event.low]
    if not mine:
        return not outcome.happens
    (row,) = mine
    time = row[schema.start]
    assert isinstance(time, int | Fraction)
    values = all(plain(row.get(name)) == value for name, value in outcome.values)
    return outcome.happens and values and outcome.low <= time <= outcome.high


def is_event(row: RawRow, event: UncertainEvent) -> bool:
    if event.id is None:
        return NAME not in row and all(row.get(name) == value for name, value in event.lost)
    return NAME in row and str(row[NAME]) in str(event.id).split(" | ")


def total(worlds: Iterable[Possible]) -> Fraction:
    return sum((one.probability for one in worlds), start=Fraction(0))


@pytest.mark.parametrize(("family", "seed"), FAMILIES)
def test_worlds_of_results_are_those_of_the_definition(family: Callable[[int], Iterator[Asked]], seed: int) -> None:
    n_results = n_dependences = n_scenarios = 0
    for case in family(seed):
        worlds = worlds_of(case)
        expected = probable_oracle(case.plan, case.rows, case.tables)
        uncertain = uncertain_events(case.plan)
        names = names_of(case)
        for event in case.plan.events:
            if event.name not in uncertain:
                continue
            why = case.why(event.name)
            known = Counter(key_of(event, one) for one in expected[event.name])
            chances = {key_of(event, one): one.probability for one in expected[event.name]}
            rows = why.possible.to_pylist()
            assert len(rows) == len(expected[event.name]), f"{case}\n{event.name}"
            for number, row in enumerate(rows, start=1):
                key = key_in_table(event, row, names, known)
                if key is None:
                    continue
                assert row["probability"] == pytest.approx(float(chances[key])), f"{case}\n{event.name} {key}"
                found = why.worlds(number)
                if found.looked is None:
                    continue
                n_results += 1
                assert not found.looked.is_sample
                has = [one for one in worlds if key in one.results[event.name]]
                lacks = [one for one in worlds if key not in one.results[event.name]]
                said = f"{case}\n{event.name} {key} {found}"
                for depends in found.dependences:
                    assert sum(one.probability for one in depends.given) == pytest.approx(1), said
                    for one in depends.given:
                        n_dependences += 1
                        there = [w for w in worlds if holds(case.plan, w, depends.event, one.outcome)]
                        both = [w for w in has if holds(case.plan, w, depends.event, one.outcome)]
                        assert one.probability == pytest.approx(float(total(there))), said
                        assert one.result == pytest.approx(float(total(both) / total(there)), abs=1e-9), said
                scenarios = [(one.scenario, has) for one in found.having] + [(one, lacks) for one in found.lacking]
                for scenario, among in scenarios:
                    n_scenarios += 1
                    there = [w for w in among if all(holds(case.plan, w, *one) for one in scenario.outcomes)]
                    assert scenario.probability == pytest.approx(float(total(there))), said
                assert bool(found.lacking) == bool(lacks) or chances[key] == 1, said
                for one in found.having:
                    assert [row.ids[0] for row in one.tree.rows()] == list(one.tree.ids), said
                    if event.per is p.Per.MATCH:
                        assert [names.get(id) for id in one.tree.ids] == [names.get(id) for id in row["lineage"]], said
    assert min(n_results, n_dependences, n_scenarios) > 5


@pytest.mark.parametrize(("family", "seed"), FAMILIES)
def test_progress_is_that_of_the_most_probable_world(family: Callable[[int], Iterator[Asked]], seed: int) -> None:
    n_checked = 0
    for case in family(seed):
        worlds = worlds_of(case)
        for event in case.plan.events:
            if event.name not in uncertain_events(case.plan):
                continue
            why = case.why(event.name)
            if why.most_probable_world.is_drawn:
                continue
            largest = max(one.probability for one in worlds)
            best = [one for one in worlds if one.probability == largest]
            numbers = {len(one.results[event.name]) for one in best}
            assert why.progress.n_results in numbers, f"{case}\n{event.name} {why.progress}"
            n_checked += 1
    assert n_checked > 5
