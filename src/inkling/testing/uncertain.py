"""Random programs over uncertain streams, small enough to go through all of their worlds.

>>> case = random_uncertain_case(random.Random(7))
>>> any(stream.schema.doubt for stream in case.plan.streams)
True
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from inkling.analysis.doubt import doubt_of
from inkling.analysis.worlds import needs_lengths
from inkling.errors import InklingError
from inkling.logical import plan as p
from inkling.model.uncertainty import LostEvents
from inkling.model.worlds import joint_worlds
from inkling.testing.coverage import program_features
from inkling.testing.doubtful_rows import doubtful_rows
from inkling.testing.oracle import ProbableResult, bound, probable_oracle
from inkling.testing.programs import MOST_TRIES, Case, Options, declared_streams, random_program
from inkling.testing.streams import random_tables
from inkling.testing.universe import Declared, Doubtful, Kind

ROWS_TRIED = 6


@dataclass(frozen=True, slots=True)
class Doubts:
    """What random uncertain programs may contain."""

    options: Options = Options(bad_rows=False)
    doubtful: tuple[Doubtful, ...] = tuple(Doubtful)
    most_worlds: tuple[int, ...] = (8, 16, 16, 32, 32, 64, 300)  # one of these
    lengths: bool = False  # whether to ask for how long it is between events some of which may be lost


ANY_DOUBT = Doubts()


@dataclass(frozen=True, slots=True)
class UncertainCase(Case):
    """A program with data of which at least one stream is in doubt."""

    n_worlds: int

    def probable(self) -> dict[str, tuple[ProbableResult, ...]]:
        """The results by the definition, with their probabilities."""
        return probable_oracle(self.plan, self.rows, self.tables)


def uncertain_cases(seed: int, n: int, doubts: Doubts = ANY_DOUBT) -> Iterator[UncertainCase]:
    """The same `n` cases for the same seed."""
    rng = random.Random(seed)
    for _ in range(n):
        yield random_uncertain_case(rng, doubts)


def random_uncertain_case(rng: random.Random, doubts: Doubts = ANY_DOUBT) -> UncertainCase:
    """A program that binds over streams of which at least one is in doubt, with few worlds."""
    for _ in range(MOST_TRIES):
        streams = _in_doubt(rng, declared_streams(rng, doubts.options), doubts)
        text = random_program(rng, streams, doubts.options)
        try:
            plan = bound(text)
        except InklingError:
            continue
        if not any(doubt_of(event, plan).conclusion for event in plan.events):
            continue
        if not is_countable(plan) or needs_lengths(plan).conclusion is not doubts.lengths:
            continue
        if program_features(plan) & doubts.options.without:
            continue
        limit = rng.choice(doubts.most_worlds)
        for _ in range(ROWS_TRIED):
            rows = doubtful_rows(rng, streams, spread=rng.random() < 0.4)
            found = sum(1 for _ in islice(joint_worlds(rows, (one.schema for one in plan.streams)), limit + 1))
            if 1 < found <= limit:
                return UncertainCase(text, plan, rows, random_tables(rng), found)
    raise ValueError("no uncertain program found")


def is_countable(plan: p.ProgramPlan) -> bool:
    """Whether results can be told apart in all worlds: none has its end at the unknown time of a lost event.

    Nor may conditions read the id of an event that was lost, which has none.
    """
    losing = {one.schema.name for one in plan.streams if isinstance(one.schema.doubt, LostEvents)}
    for event in plan.events:
        if losing & set(event.sources):
            losing.add(event.name)
            if event.per in (p.Per.END, p.Per.INTERVAL):
                return False
    return not losing or "ID" not in program_features(plan)


def _in_doubt(rng: random.Random, streams: Sequence[Declared], doubts: Doubts) -> list[Declared]:
    """The streams with something in doubt about at least one of them."""
    certain = rng.random() < 0.4
    chosen = [_doubtful(rng, stream, doubts) for stream in streams]
    if certain and len(streams) > 1:
        chosen[0] = streams[0]
    if all(one.doubtful is Doubtful.NOTHING for one in chosen):
        return _in_doubt(rng, streams, doubts)
    if any(one.order_by == "n" for one in chosen):  # places are numbers, then, in all streams
        return [replace(one, order_by="seq") if one.order_by == "id" else one for one in chosen]
    return chosen


def _doubtful(rng: random.Random, stream: Declared, doubts: Doubts) -> Declared:
    possible = [one for one in doubts.doubtful if one.fits(stream.kind)]
    doubtful = rng.choice(possible) if possible else Doubtful.NOTHING
    order_by = "n" if doubtful.is_loss and stream.kind is Kind.ORDERED else stream.order_by
    needs_id = doubtful in (Doubtful.VALUE, Doubtful.CHAIN)
    return replace(stream, doubtful=doubtful, order_by=order_by, with_id=stream.with_id or needs_id)
