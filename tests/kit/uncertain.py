"""Random programs over uncertain streams, with data small enough to go through all of its worlds.

>>> case = next(uncertain_cases(seed=7, n_programs=1))
>>> any(stream.schema.uncertainty for stream in case.plan.streams)
True
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod

from tests.kit.context import declared_tables
from tests.kit.coverage import program_features
from tests.kit.oracle import ProbableResult, bound, probable_oracle
from tests.kit.programs import MOST_TRIES, Case, Options, declared_streams, random_program
from tests.kit.streams import random_tables
from tests.kit.uncertain_rows import lost_tables, uncertain_rows
from tests.kit.universe import MORE_ABOUT_LOSSES, Declared, Kind, Uncertain

from inkling.analysis.uncertainty import uncertainty_of
from inkling.analysis.worlds import needs_lengths, reach_of
from inkling.errors import InklingError
from inkling.logical import plan as p
from inkling.meaning.worlds import RowsByStream, joint_worlds, worlds
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, TimeUnit
from inkling.model.uncertainty import LostEvents
from inkling.query import Program, parse

GOOD_ROWS = Options((Kind.POINTS, Kind.POINTS, *Kind), bad_rows=False)
USUAL = tuple(one for one in Uncertain if one is not Uncertain.READING and one not in MORE_ABOUT_LOSSES)
OFTEN = (Uncertain.READING, Uncertain.LOST, Uncertain.LOST, Uncertain.LOST_SEGMENTS)
"""What fits fewer streams and programs than the rest."""
ROWS_TRIED = 20
FAR = 40
"""Farther than any window is long."""


@dataclass(frozen=True, slots=True)
class Uncertainties:
    """What random uncertain programs may contain."""

    options: Options = GOOD_ROWS
    uncertain: tuple[Uncertain, ...] = (*USUAL, *OFTEN)
    most_worlds: tuple[int, ...] = (8, 8, 16, 16, 32, 32, 300)  # one of these
    lengths: bool = False  # whether to ask for how long it is between events some of which may be lost
    accept: Callable[[p.ProgramPlan], bool] = lambda plan: True
    write: Callable[[random.Random, Sequence[Declared], Options], str] = random_program


ANY_UNCERTAINTY = Uncertainties()


@dataclass(frozen=True, slots=True)
class UncertainCase(Case):
    """A program with data of which at least one stream is uncertain."""

    program: Program
    n_worlds: int

    def probable(self) -> dict[str, tuple[ProbableResult, ...]]:
        """The results by the definition, with their probabilities."""
        return probable_oracle(self.plan, self.rows, self.tables)


def uncertain_cases(
    seed: int, n_programs: int, n_datasets: int = 1, uncertainties: Uncertainties = ANY_UNCERTAINTY
) -> Iterator[UncertainCase]:
    """Some programs, each with some datasets: the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(n_programs):
        yield from random_uncertain_cases(rng, n_datasets, uncertainties)


def random_uncertain_cases(
    rng: random.Random, n: int, uncertainties: Uncertainties = ANY_UNCERTAINTY
) -> list[UncertainCase]:
    """A program over streams of which at least one is uncertain, with data that has few worlds."""
    for _ in range(MOST_TRIES):
        streams = _made_uncertain(rng, declared_streams(rng, uncertainties.options), uncertainties)
        text = uncertainties.write(rng, streams, uncertainties.options)
        try:
            plan = bound(text)
        except InklingError:
            continue
        if (
            _is_wanted(plan, uncertainties)
            and len(cases := list(_cases(rng, streams, text, plan, n, uncertainties))) == n
        ):
            return cases
    raise ValueError("no uncertain program found")


def is_countable(plan: p.ProgramPlan) -> bool:
    """Whether results can be distinguished in all worlds.

    None may have its end at the unknown time of a lost event, nor may conditions read the id of one, which has none.
    None may be distinguished by the events behind a derived event that stands for several matches: which one speaks
    for it is left open where they are simultaneous. For the same reason no window may hold derived events.
    """
    losing = {one.schema.name for one in plan.streams if isinstance(one.schema.uncertainty, LostEvents)}
    chosen = {event.name for event in plan.events if event.per is not p.Per.MATCH}
    for event in plan.events:
        if event.per is p.Per.MATCH and chosen & set(event.sources):
            return False
        if isinstance(event.pattern, p.Sliding) and any(one.name in event.sources for one in plan.events):
            return False
        if losing & set(event.sources):
            losing.add(event.name)
            if event.per in (p.Per.END, p.Per.INTERVAL):
                return False
    return not losing or "ID" not in program_features(plan)


def _is_wanted(plan: p.ProgramPlan, uncertainties: Uncertainties) -> bool:
    return (
        any(uncertainty_of(event, plan).conclusion for event in plan.events)
        and is_countable(plan)
        and needs_lengths(plan).conclusion is uncertainties.lengths
        and not program_features(plan) & uncertainties.options.without
        and uncertainties.accept(plan)
    )


def _cases(
    rng: random.Random,
    streams: Sequence[Declared],
    text: str,
    plan: p.ProgramPlan,
    n: int,
    uncertainties: Uncertainties,
) -> Iterator[UncertainCase]:
    program = parse(text)
    reach = reach_of(plan, TimeUnit(Clock.TICKS)) or FAR
    for _ in range(n):
        limit = rng.choice(uncertainties.most_worlds)
        for _ in range(ROWS_TRIED):
            far = rng.choice((0, 0, rng.randint(max(0, reach - 4), reach + 1), FAR))
            rows = uncertain_rows(rng, streams, far)
            known = declared_tables(plan, lost_tables())
            found = _n_worlds(rows, [one.schema for one in plan.streams], known, limit)
            if 1 < found <= limit:
                yield UncertainCase(text, plan, rows, {**random_tables(rng), **known}, program, found)
                break


def _n_worlds(rows: RowsByStream, schemas: Sequence[StreamSchema], tables: RowsByStream, most: int) -> int:
    """How many worlds there are; any number above `most` stands for all of them."""
    sure = [one for one in schemas if not isinstance(one.uncertainty, LostEvents)]
    without_losses = prod(sum(1 for _ in islice(worlds(rows[one.name], one), most + 1)) for one in sure)
    if without_losses > most or len(sure) == len(schemas):
        return without_losses
    return sum(1 for _ in islice(joint_worlds(rows, schemas, tables), most + 1))


def _made_uncertain(rng: random.Random, streams: Sequence[Declared], uncertainties: Uncertainties) -> list[Declared]:
    """The streams with something uncertain about at least one of them."""
    chosen = [_uncertain(rng, stream, uncertainties) for stream in streams]
    if len(streams) > 1 and rng.random() < 0.4:
        chosen[0] = streams[0]
    if all(one.uncertain is Uncertain.NOTHING for one in chosen):
        return _made_uncertain(rng, streams, uncertainties)
    return chosen


def _uncertain(rng: random.Random, stream: Declared, uncertainties: Uncertainties) -> Declared:
    possible = [one for one in uncertainties.uncertain if one.fits(stream.kind)]
    uncertain = rng.choice(possible) if possible else Uncertain.NOTHING
    order_by = "n" if uncertain.is_loss and stream.kind is Kind.ORDERED else stream.order_by
    needs_id = uncertain in (Uncertain.VALUE, Uncertain.CHAIN)
    return replace(stream, uncertain=uncertain, order_by=order_by, with_id=stream.with_id or needs_id)
