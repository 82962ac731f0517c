"""Occurrences of a pattern for many contexts at once, like a LATERAL join: the definition, set at a time.

Each method mirrors one case of `meaning.occurrences`; the difference is that successors are looked up in an index and
that bounds on time are pushed down to the leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.gather import Gather
from inkling.evaluators.network import where
from inkling.evaluators.network.bytecode import compile_conditions
from inkling.evaluators.network.partials import (
    AFTER_ALL,
    BEFORE_ALL,
    NOWHERE,
    Arena,
    MatchContexts,
    Occurrences,
    Partials,
    RegisterLayout,
    SlotRegister,
    StartBy,
    append,
    at_most,
    begin,
    closed,
    open_gap,
    stack,
    strictly_before,
)
from inkling.evaluators.network.rounds import RepetitionRounds, expand, is_among, repeated_eagerly
from inkling.evaluators.network.session import Common, LeafLookup, Session, ranges_of
from inkling.evaluators.network.slices import pairs_in_slices
from inkling.evaluators.network.store import Store
from inkling.evaluators.stage.closing import closing_slots
from inkling.evaluators.stage.rows.batches import has_bits
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.kernels.joins import join
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import Edge, Expr
from inkling.logical.plan import can_be_empty
from inkling.model.batch import Ints
from inkling.model.time import Duration
from inkling.physical.plan import EventStep

FAR = np.int64(2**62)


@dataclass(slots=True)
class JoinEvaluation:
    """The evaluation of one event over one batch."""

    session: Session
    step: EventStep
    context: ExpressionContext
    layout: RegisterLayout
    leaves: LeafLookup
    common: Common
    arena: Arena

    @classmethod
    def of(cls, session: Session, step: EventStep, context: ExpressionContext) -> JoinEvaluation:
        layout, common = session.group.prepared(step).layout, session.common(step)
        session.store.facts = context.tables
        leaves = LeafLookup(session, step, layout, context.unit)
        return cls(session, step, context, layout, leaves, common, common.arena)

    @property
    def store(self) -> Store:
        return self.session.store

    @property
    def unit(self) -> Callable[[Duration], int]:
        return self.context.unit

    def gather(self, found: Occurrences) -> Gather:
        """Resolves references of expressions against matches, or partial matches."""
        own = [(place, name) for place, name in enumerate(self.layout.moments) if self.layout.is_span(name[0])]
        moments = {name: found.moments[:, place] for place, name in own}
        return Gather(self.store.batch, *self.arena.unroll(found.tail), moments)

    def passes(self, found: Occurrences, conditions: tuple[Expr, ...]) -> np.ndarray:
        """Which matches pass all conditions of a HAVING."""
        passed, resolve = np.ones(len(found), bool), self.gather(found)
        for condition in conditions:
            passed &= truth_of(condition, resolve, len(found), self.context)
        return passed

    def roots(self) -> MatchContexts:
        """One context per key, with nothing bound; no event of a match starts after the last that may complete one."""
        if self.common.numbers and self.session.roots is not None:
            return self.session.roots
        n = self.store.n_keys
        far = np.full(n, FAR)
        until = far if self.common.numbers else self._last_ends()
        roots = MatchContexts(
            np.arange(n),
            np.full(n, -1),
            np.full((n, len(self.layout.registers)), -1),
            np.full((n, len(self.layout.moments)), NOWHERE),
            -far,
            np.full(n, BEFORE_ALL),
            until,
            far,
            np.full(n, AFTER_ALL),
        )
        if self.common.numbers:
            self.session.roots = roots
        return roots

    def _last_ends(self) -> Ints:
        """Per key, the latest end of an event that may be the last of a match; without it, rounds end nowhere."""
        pattern, store = self.step.event.pattern, self.store
        repeats = any(isinstance(part, p.Repetition) and part.high is None for part in p.parts_of(pattern))
        slots = closing_slots(pattern) if repeats else None
        if slots is None:
            return np.full(store.n_keys, FAR)
        last = np.full(store.n_keys, -FAR)
        for slot in slots:
            rows = self.leaves.rows(slot)
            np.maximum.at(last, store.batch.key[rows], store.batch.end[rows])
        return last

    def occurrences(
        self, pattern: p.Pattern, contexts: MatchContexts, policy: p.Policy = p.Policy.ANY, window: int | None = None
    ) -> Occurrences:
        """All occurrences of a pattern in each context; longer ones than `window` may be left out."""
        return self.common.whole(
            pattern, contexts, window, lambda: self._occurrences(pattern, contexts, policy, window)
        )

    def _occurrences(
        self, pattern: p.Pattern, contexts: MatchContexts, policy: p.Policy, window: int | None
    ) -> Occurrences:
        match pattern:
            case p.Leaf():
                return self._leaf(pattern, contexts, following=False)
            case p.Sequence():
                return self._sequence(pattern, contexts, window)
            case p.Repetition():
                return self._sequence(p.Sequence(policy, (pattern,)), contexts, window)
            case p.Disjunction(items=items):
                return stack([self.occurrences(item, contexts, policy, window) for item in items])
            case p.Conjunction():
                return self._conjunction(pattern, contexts, window)
            case p.Parallel(items=items):
                return self._related(pattern, items, contexts, window, ("PAR",))
            case p.Related(left=left, relations=relations, right=right):
                return self._related(pattern, (left, right), contexts, window, relations)
            case p.Except():
                return self._except(pattern, contexts, window)
            case p.LeftJoin():
                return self._left_join(pattern, contexts, window)
            case p.TimePoint(since_zero=since_zero):
                return where.moment(self.unit(since_zero), contexts)
            case p.Narrowed():
                return self._narrowed(pattern, contexts, policy, window)
            case p.OtherRun(pattern=inner):
                return self._other_runs(inner, contexts)
            case p.Quantified():
                raise AssertionError("relations between segments are no work for joins")
            case p.Sliding():
                raise AssertionError("windows are no work for joins")

    def _narrowed(
        self, pattern: p.Narrowed, contexts: MatchContexts, policy: p.Policy, window: int | None
    ) -> Occurrences:
        inner = self.leaves.window_of(pattern.within, window)
        found = self.occurrences(pattern.pattern, contexts, policy, inner)
        if pattern.slot is not None:
            moments = found.moments.copy()
            moments[:, self.layout.moment(pattern.slot, Edge.START)] = found.start
            moments[:, self.layout.moment(pattern.slot, Edge.END)] = found.end
            found = replace(found, moments=moments)
        found = found.where(self.leaves.lasts_at_most(found, contexts.key[found.origin], pattern.within))
        return found.where(self.passes(found, pattern.having)) if pattern.having else found

    def _conjunction(self, pattern: p.Conjunction, contexts: MatchContexts, window: int | None) -> Occurrences:
        """All items, in any order; one that may be empty may be missing, but not all of them."""
        items = pattern.items
        n_placed, partials = self.common.first_parts(pattern, len(items), contexts, window, begin(contexts, 0))
        for place, item in enumerate(items[n_placed:], n_placed):
            found = self.occurrences(item, where.anywhere(partials, contexts, window), window=window)
            longer = append(partials, found)
            without = self._may_lack(item, partials)
            partials = longer if without is None else stack([partials.where(without), longer])
            self.common.keep(pattern, place + 1, contexts, window, partials)
        return where.starting_early(closed(partials.where(partials.placed), None), contexts)

    def _may_lack(self, part: p.Part, partials: Partials) -> np.ndarray | None:
        """Which partial matches may skip the part; None if none may."""
        if not can_be_empty(part):
            return None
        lacking = self._is_nothing(part, partials)
        return lacking if lacking.any() else None

    def _is_nothing(self, part: p.Part, partials: Partials) -> np.ndarray:
        """Per partial match, whether the part may be empty."""
        match part:
            case p.Repetition(low=low, pattern=inner):
                return np.ones(len(partials), bool) if low == 0 else self._is_nothing(inner, partials)
            case p.Sequence(parts=items) | p.Conjunction(items=items):
                return np.logical_and.reduce([self._is_nothing(item, partials) for item in items])
            case p.Disjunction(items=items):
                return np.logical_or.reduce([self._is_nothing(item, partials) for item in items])
            case p.Narrowed(pattern=inner, having=having):
                nothing = self._is_nothing(inner, partials)
                return nothing & self.passes(partials, having) if having else nothing
            case p.OtherRun(pattern=inner):
                return ~self._is_nothing(inner, partials)
            case _:
                return np.zeros(len(partials), bool)

    def _related(
        self,
        pattern: p.Pattern,
        items: tuple[p.Pattern, ...],
        contexts: MatchContexts,
        window: int | None,
        relations: tuple[str, ...],
    ) -> Occurrences:
        """All items, each in one of the relations to the hull of those before it."""
        n_placed, partials = self.common.first_parts(pattern, len(items), contexts, window, begin(contexts, 0))
        for place, item in enumerate(items[n_placed:], n_placed):
            lookup = where.anywhere(partials, contexts, window)
            if place:
                lookup = where.related_candidates(relations, partials, lookup)
            found = self.occurrences(item, lookup, window=window)
            if place:
                found = found.where(where.related(relations, partials.take(found.origin), found))
            partials = append(partials, found)
            self.common.keep(pattern, place + 1, contexts, window, partials)
        return where.starting_early(closed(partials, None), contexts)

    def _except(self, pattern: p.Except, contexts: MatchContexts, window: int | None) -> Occurrences:
        """Occurrences that no occurrence of the other pattern, given what they bind, equals in start and end."""
        found = self.occurrences(pattern.pattern, contexts, window=window)
        if not len(found):
            return found
        others = self.occurrences(pattern.other, where.on_same_interval(found, contexts), window=window)
        origin = others.origin
        equal = (others.start == found.start[origin]) & (others.end == found.end[origin])
        if pattern.in_order:
            equal &= others.start_place == found.start_place[origin]
            equal &= others.end_place == found.end_place[origin]
        kept = np.ones(len(found), bool)
        kept[origin[equal]] = False
        return found.where(kept)

    def _left_join(self, pattern: p.LeftJoin, contexts: MatchContexts, window: int | None) -> Occurrences:
        """All left occurrences with each right one that counts, and those without any; of facts, only one of both.

        Which right ones count does not depend on where the whole may lie.
        """
        found = self.occurrences(pattern.left, where.start_anywhere(contexts), window=window)
        lefts = append(begin(contexts, 0), found)
        longest: int | None = None
        for limit in pattern.limits:
            longest = self.leaves.window_of(limit, longest)
        lookup = where.ended_by(lefts, contexts, longest)
        if pattern.relations:
            lookup = where.related_candidates(pattern.relations, lefts, lookup)
        rights = self.occurrences(pattern.right, lookup, window=longest)
        left = lefts.take(rights.origin)
        counts = rights.end <= left.end
        if pattern.relations:
            counts &= where.related(pattern.relations, left, rights)
        both = append(lefts, rights)
        for limit in pattern.limits:
            counts &= self.leaves.lasts_at_most(both, contexts.key[both.origin], limit)
        alone = np.ones(len(lefts), bool)
        alone[rights.origin[counts]] = False
        if pattern.kind is p.JoinKind.FACT:
            ends = {"start": left.start, "start_place": left.start_place, "end": left.end, "end_place": left.end_place}
            results = replace(both, **ends).where(counts)
        elif pattern.kind is p.JoinKind.NO_FACT:
            results = lefts.where(alone)
        else:
            results = stack([both.where(counts), lefts.where(alone)])
        joined = closed(results, None)
        return where.starting_early(where.starting_late(joined, contexts), contexts)

    def _other_runs(self, pattern: p.Pattern, contexts: MatchContexts) -> Occurrences:
        """Runs of consecutive events of the scope that do not match the pattern; they have no lineage."""
        scope = self.leaves.scope
        opens, opens_end = ranges_of(contexts, contexts.key, scope)
        _, closes_end = ranges_of(where.start_anywhere(contexts), contexts.key, scope)
        origin, opening = expand(opens, opens_end)
        run, closing = expand(opening, closes_end[origin])
        origin, opening = origin[run], opening[run]
        words = self.occurrences(pattern, contexts)
        is_word = is_among(
            (origin, scope.start[opening], scope.start_place[opening], scope.end[closing], scope.end_place[closing]),
            (words.origin, words.start, words.start_place, words.end, words.end_place),
        )
        origin, opening, closing = origin[~is_word], opening[~is_word], closing[~is_word]
        return Occurrences(
            origin,
            contexts.tail[origin],
            contexts.registers[origin],
            contexts.moments[origin],
            scope.start[opening],
            scope.start_place[opening],
            scope.end[closing],
            scope.end_place[closing],
            scope.end[closing],
        )

    def _sequence(self, sequence: p.Sequence, contexts: MatchContexts, window: int | None) -> Occurrences:
        absences = [part.pattern for part in sequence.parts if isinstance(part, p.Absent)]
        n_placed, partials = self.common.first_parts(
            sequence, len(sequence.parts), contexts, window, begin(contexts, len(absences))
        )
        placed = sequence.parts[:n_placed]
        n_opened = sum(isinstance(part, p.Absent) for part in placed)
        beginning = next((part for part in placed if isinstance(part, p.StreamStart)), None)
        start_by: StartBy | None = None  # set by an eager repetition, for the part after it
        for place, part in enumerate(sequence.parts[n_placed:], n_placed):
            match part:
                case p.StreamStart():
                    beginning = part
                case p.Absent():
                    since_beginning = beginning is not None and beginning.back is None
                    partials = open_gap(partials, n_opened, since_beginning=since_beginning)
                    n_opened += 1
                case p.Deadline(after=after):
                    reached = append(partials, where.deadline(partials, self.unit(after)))
                    partials = replace(reached, start=partials.start, start_place=partials.start_place)
                case p.Repetition(eager=True):
                    rest = sequence.parts[place + 1 :]
                    partials, start_by = self._repeat_eagerly(part, rest, partials, contexts, window, start_by)
                case p.Repetition():
                    partials = self._repeat(part, partials, contexts, sequence.policy, window, start_by)
                    start_by = None
                case _:
                    longer = self._extended(part, partials, contexts, sequence.policy, window, start_by)
                    start_by = None
                    without = self._may_lack(part, partials)
                    partials = longer if without is None else stack([partials.where(without), longer])
            self.common.keep(sequence, place + 1, contexts, window, partials)
            if not len(partials):
                return closed(partials, None)
        partials = partials.where(partials.placed)
        limit = None if sequence.within is None else self.leaves.length(sequence.within)
        back = limit if beginning is None or beginning.back is None else self.unit(beginning.back)
        for number, absent in enumerate(absences):
            violated = self._violated(absent, number, partials, contexts, limit, back)
            partials = partials.where(~violated)
        return closed(partials, limit)

    def _repeat(
        self,
        part: p.Repetition,
        partials: Partials,
        contexts: MatchContexts,
        policy: p.Policy,
        window: int | None,
        start_by: StartBy | None,
    ) -> Partials:
        rounds = RepetitionRounds.of(part.pattern, self.layout)
        lacking = self._may_lack(part.pattern, partials)
        if lacking is not None and part.low > 0:
            optional = replace(part, low=0)
            some = self._repeat(optional, partials.where(lacking), contexts, policy, window, None)
            if lacking.all():
                return some
            return stack([some, self._repeat(part, partials.where(~lacking), contexts, policy, window, None)])
        reached = [partials] if part.low == 0 else []
        count = 0
        while len(partials) and (part.high is None or count < part.high):
            fresh = rounds.begun(partials)
            partials = self._extended(part.pattern, fresh, contexts, policy, window, None if count else start_by)
            count += 1
            if count >= part.low:
                reached.append(rounds.over(partials))
        return stack(reached) if reached else partials.take(np.empty(0, np.int64))

    def _repeat_eagerly(
        self,
        part: p.Repetition,
        rest: tuple[p.Part, ...],
        partials: Partials,
        contexts: MatchContexts,
        window: int | None,
        start_by: StartBy | None,
    ) -> tuple[Partials, StartBy]:
        """The first round extends partial matches as usual; then one more round competes with the part that follows."""
        after = next((one for one in rest if not isinstance(one, p.Absent)), None)
        assert not isinstance(after, p.Deadline | p.StreamStart), "an eager repetition is followed by a pattern"

        def following(pattern: p.Pattern, partials: Partials, start_by: StartBy | None) -> Occurrences:
            return self._following(pattern, partials, contexts, p.Policy.NEXT, window, start_by)

        fresh = RepetitionRounds.of(part.pattern, self.layout).begun(partials)
        once = self._extended(part.pattern, fresh, contexts, p.Policy.NEXT, window, start_by)
        return repeated_eagerly(part, after, once, self.layout, following, partial(self._appended, part.pattern))

    def _extended(
        self,
        pattern: p.Pattern,
        partials: Partials,
        contexts: MatchContexts,
        policy: p.Policy,
        window: int | None,
        start_by: StartBy | None = None,
    ) -> Partials:
        """Partial matches extended by each occurrence of a pattern that the policy allows to follow."""
        placed = partials.placed
        if placed.all():
            chosen = self._following(pattern, partials, contexts, policy, window, start_by)
            return self._appended(pattern, partials, chosen)
        starting = partials.where(~placed)
        chosen = self.occurrences(pattern, where.at_start(starting, contexts), policy, window)
        first = self._appended(pattern, starting, chosen)
        if not placed.any():
            return first
        others = partials.where(placed)
        chosen = self._following(pattern, others, contexts, policy, window, None)
        return stack([first, self._appended(pattern, others, chosen)])

    def _appended(self, pattern: p.Pattern, partials: Partials, chosen: Occurrences) -> Partials:
        """Partial matches with the chosen occurrences appended, without those that fail a CHECK."""
        check = self.step.leaf(pattern.slot).check if isinstance(pattern, p.Leaf) else None
        if check is None or not len(chosen):
            return append(partials, chosen)
        rows = self.arena.rows(chosen.tail)
        kept = np.flatnonzero(has_bits(check.bits, self.store.batch.bits[rows]))
        if check.across:
            before = chosen.origin[kept]
            code = compile_conditions(check.across, check.slot, self.store, self.layout, self.unit)
            each = np.arange(len(kept))
            passing, _ = join.pair_all(
                each,
                each + 1,
                rows[kept],
                partials.registers[before],
                partials.moments[before],
                code.instructions,
                code.constants,
                self.store.numbers,
            )
            self.store.raise_failures()
            kept = kept[passing]
        return append(partials, chosen.take(kept))

    def _following(
        self,
        pattern: p.Pattern,
        partials: Partials,
        contexts: MatchContexts,
        policy: p.Policy,
        window: int | None,
        start_by: StartBy | None,
    ) -> Occurrences:
        lookup = where.after_last(partials, contexts, window)
        if start_by is not None:
            lookup = where.starting_by(lookup, start_by)
        if policy is p.Policy.STRICT:
            lookup = self._only_adjacent(lookup)
        if isinstance(pattern, p.Leaf):
            return self._leaf(pattern, lookup, following=policy is p.Policy.NEXT)
        found = self.occurrences(pattern, lookup, policy, window)
        if policy is p.Policy.NEXT and len(found):
            bound, place = join.earliest_end_of(found.origin, len(lookup), found.end, found.end_place)
            fits = at_most(found.start, found.start_place, bound[found.origin], place[found.origin])
            found = found.where(fits)
        return found

    def _only_adjacent(self, lookup: MatchContexts) -> MatchContexts:
        """STRICT: the next part starts before any following event of the scope has ended."""
        scope = self.leaves.scope
        least, least_place = self.leaves.ends_from
        first, _ = join.ranges(
            lookup.key,
            lookup.after,
            lookup.after_place,
            np.full(len(lookup), FAR),
            np.full(len(lookup), AFTER_ALL),
            scope.offsets,
            scope.start,
            scope.start_place,
        )
        exists = first < scope.offsets[lookup.key + 1]
        position = np.where(exists, first, 0)
        bound = np.where(exists, least[position] if len(least) else FAR, FAR)
        place = np.where(exists, least_place[position] if len(least) else AFTER_ALL, AFTER_ALL)
        return where.starting_by(lookup, StartBy(bound, place))

    def _violated(
        self,
        absent: p.Pattern,
        number: int,
        partials: Partials,
        contexts: MatchContexts,
        limit: int | None,
        back: int | None,
    ) -> np.ndarray:
        """Whether the absent pattern occurs in its gap, given all bindings of the match.

        A gap that is open at its end lasts until `limit` after the start, one open at its start since `back` before
        the end.
        """
        left, left_place, right, right_place = (partials.gaps[:, number, k] for k in range(4))
        from_start = -FAR if back is None else partials.end - back - 1
        open_left, open_right = left == NOWHERE, right == NOWHERE
        until_end = FAR if limit is None else partials.start + limit + 1
        before = np.where(open_right, until_end, right)
        before_place = np.where(open_right, BEFORE_ALL, right_place)
        since = np.where(open_left, from_start, left), np.where(open_left, AFTER_ALL, left_place)
        lookup = where.bound_between(partials, contexts, *since, before)
        if isinstance(absent, p.Leaf):
            index, group, code = self.leaves.index(absent, lookup)
            first, last = ranges_of(lookup, group, index)
            occurs = join.any_in_range(
                first,
                last,
                index.end,
                index.end_place,
                before,
                before_place,
                index.rows,
                lookup.registers,
                lookup.moments,
                code.instructions,
                code.constants,
                self.store.numbers,
            )
            self.store.raise_failures()
            return occurs
        found = self.occurrences(absent, lookup)
        inside = strictly_before(found.end, found.end_place, before[found.origin], before_place[found.origin])
        violated = np.zeros(len(partials), bool)
        violated[found.origin[inside]] = True
        return violated

    def _leaf(self, leaf: p.Leaf, contexts: MatchContexts, *, following: bool) -> Occurrences:
        index, group, code = self.leaves.index(leaf, contexts)
        first, last = ranges_of(contexts, group, index)
        moments = self._with_aggregates(contexts, code.so_far)
        conditions = (code.instructions, code.constants, self.store.numbers)

        def find(some: slice) -> tuple[Ints, Ints]:
            of_some = (contexts.registers[some], moments[some], *conditions)
            if following:
                ends = (index.start, index.start_place, index.end, index.end_place)
                return join.pair_next(first[some], last[some], index.rows, *ends, *of_some)
            return join.pair_all(first[some], last[some], index.rows, *of_some)

        all_pass = not (following or len(code.instructions))
        left, right = pairs_in_slices(
            self.step.event.name, first, last, len(index.rows), self._bytes_per_partial, find, all_pass=all_pass
        )
        self.store.raise_failures()
        rows = index.rows[right]
        return Occurrences(
            left,
            self.arena.append(rows, leaf.slot, contexts.tail[left]),
            self._remembered(contexts.registers[left], leaf.slot, rows),
            contexts.moments[left],
            index.start[right],
            index.start_place[right],
            index.end[right],
            index.end_place[right],
            np.maximum(self.store.batch.known[rows], index.end[right]),
        )

    @property
    def _bytes_per_partial(self) -> int:
        """The memory of a partial match: its pair, its entry in the arena, its columns, and a copy of these."""
        n_columns = 12 + len(self.layout.registers) + len(self.layout.moments)
        return 8 * (2 + 3 + 2 * n_columns)

    def _with_aggregates(self, contexts: MatchContexts, asked: tuple[e.Aggregate, ...]) -> Ints:
        """The moments of contexts, and behind them the bits of aggregates over the events that are bound so far."""
        if not asked:
            return contexts.moments
        bound = Gather(self.store.batch, *self.arena.unroll(contexts.tail))
        doubles = [pc.fill_null(bound(one).cast(pa.float64(), safe=False), float("nan")).to_numpy() for one in asked]
        bits = [np.ascontiguousarray(one).view(np.int64) for one in doubles]
        return np.column_stack([contexts.moments, *bits])

    def _remembered(self, registers: Ints, slot: int, rows: Ints) -> Ints:
        for number, (owner, kept) in enumerate(self.layout.registers):
            if owner == slot:
                column = registers[:, number]
                first = kept in (SlotRegister.FIRST, SlotRegister.HERE_FIRST)
                registers[:, number] = np.where(first & (column >= 0), column, rows)
        return registers
