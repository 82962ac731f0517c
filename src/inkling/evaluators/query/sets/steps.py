"""The possible outcomes of all streams of a grounding, time by time, with the subgoals that each can serve."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query, accepted, candidate
from inkling.evaluators.query.groundings import Groundings, groundings_of
from inkling.evaluators.query.probable_events import NO_EVENT, ProbableEvents
from inkling.evaluators.query.sets.successors import Role, Roles, SubgoalNeeds
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, combined
from inkling.model.uncertainty import TOLERANCE

Chance = float | Fraction


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """One outcome of a stream at a time: a row, or no event (`row` -1). Rows with equal effects are one outcome."""

    chance: Chance
    roles: Roles
    value: int
    row: int


@dataclass(frozen=True, slots=True)
class StreamMove:
    """One stream at one time: its outcomes by the value before; by 0 where they do not depend on it.

    `stream` is the name of a Markovian stream, None for others. `token` names stream and time, as seed of samples.
    """

    stream: int | None
    anew: bool
    outcomes: Mapping[int, tuple[StreamOutcome, ...]]
    token: int

    def after(self, value: int) -> tuple[StreamOutcome, ...]:
        return self.outcomes[0] if self.anew else self.outcomes.get(value, ONLY_NO_EVENT)


ONLY_NO_EVENT = (StreamOutcome(1, (), int(NO_EVENT), -1),)


@dataclass(frozen=True, slots=True)
class GroundingStep:
    """The moves of all streams of a grounding at one time."""

    grounding: int
    time: int
    moves: tuple[StreamMove, ...]


class GroundingSteps:
    """The steps of a block, ordered by grounding and time."""

    def __init__(self, query: Query, variables: Sequence[str], needs: Sequence[SubgoalNeeds], *, lumps: bool) -> None:
        self._query, self._variables, self._needs = query, variables, needs
        self._lumps = lumps  # whether outcomes with equal effects are one

    def of(self, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]) -> Iterator[GroundingStep]:
        groundings = groundings_of(self._query, self._variables, events, len(self._query.subgoals))
        roles = self._roles(events, predicates, tables, groundings)
        read = np.asarray(groundings.reads.any(axis=0))[events.stream] if events.n_groups else np.empty(0, bool)
        grounding, name = groundings.grounding[events.stream], events.name[events.stream]
        tokens = combined(name, events.time.view(np.uint64)) if events.n_groups else name
        order = np.lexsort((name, events.time, grounding))
        chosen = order[read[order]]
        listed = zip(grounding[chosen].tolist(), events.time[chosen].tolist(), chosen.tolist(), strict=True)
        for (number, time), some in groupby(listed, key=lambda one: one[:2]):
            moves = (self._move(events, group, roles, tokens) for _, _, group in some)
            yield GroundingStep(number, time, tuple(move for move in moves if move is not None))

    def _move(self, events: ProbableEvents, group: int, roles: Sequence[Roles], tokens: Hashes) -> StreamMove | None:
        begin, end = int(events.offsets[group]), int(events.offsets[group + 1])
        stream = int(events.stream[group])
        is_chain, anew = bool(events.markov[stream]), bool(events.anew[group])
        if self._lumps and not is_chain and not any(roles[begin:end]):
            return None  # no row has a role
        by_given: dict[int, list[int]] = {}
        for row, given in enumerate(events.given[begin:end].tolist(), start=begin):
            by_given.setdefault(given, []).append(row)
        for rows in by_given.values():
            rows.sort(key=events.value.__getitem__)  # so that samples do not depend on the order of rows
        outcomes = {given: self._outcomes(events, by_given[given], roles, is_chain) for given in sorted(by_given)}
        name = int(events.name[stream]) if is_chain else None
        return StreamMove(name, anew or not is_chain, outcomes, int(tokens[group]))

    def _outcomes(
        self, events: ProbableEvents, rows: Sequence[int], roles: Sequence[Roles], is_chain: bool
    ) -> tuple[StreamOutcome, ...]:
        found: dict[object, StreamOutcome] = {}
        rest: Chance = Fraction(1) if events.is_exact else 1.0
        for row in rows:
            chance = events.chance[row]
            if not chance > 0:
                continue
            rest -= chance
            value = int(events.value[row]) if is_chain else int(NO_EVENT)
            like = (roles[row], value) if self._lumps else row
            known = found.get(like)
            found[like] = StreamOutcome(chance + (known.chance if known else 0), roles[row], value, row)
        if rest > (0 if events.is_exact else float(TOLERANCE)):
            like = ((), int(NO_EVENT)) if self._lumps else -1
            known = found.get(like)
            found[like] = StreamOutcome(rest + (known.chance if known else 0), (), int(NO_EVENT), -1)
        return tuple(found.values()) or ONLY_NO_EVENT

    def _roles(
        self, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table], groundings: Groundings
    ) -> list[Roles]:
        """Per row, the subgoals of which it is a candidate."""
        found: list[list[Role]] = [[] for _ in range(len(predicates))]
        stream = events.stream[events.group]
        for number, (subgoal, needs) in enumerate(zip(self._query.subgoals, self._needs, strict=True)):
            mine = np.flatnonzero(groundings.reads[number][stream] & ((predicates & candidate(number)) != 0))
            good = ((predicates[mine] & accepted(number)) != 0).tolist()
            taken = tables[subgoal.source].select(list(needs.columns)).take(pa.array(events.row[mine]))
            columns = [taken[name].to_pylist() for name in needs.columns]
            contents = zip(*columns, strict=True) if columns else iter([()] * len(mine))
            at = {column: place for place, column in enumerate(needs.columns)}
            for row, is_good, values in zip(mine.tolist(), good, contents, strict=True):
                if all(values[at[one]] is not None and values[at[one]] == values[at[two]] for one, two in needs.same):
                    found[row].append(Role(number, is_good, values))
        return [tuple(roles) for roles in found]
