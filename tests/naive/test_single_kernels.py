"""Kernels that few programs reach: called alone on random arrays, compiled and as plain Python.

Where a few lines of NumPy or sets say what a kernel computes, both must also equal those.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.kit.kernel_calls import Calls, name_of

from inkling.evaluators.query.packed import NEARLY
from inkling.kernels.columns import keys, numbered_rows, repeats
from inkling.kernels.columns.lists import without_parts
from inkling.kernels.forecast import durations
from inkling.kernels.joins import join, segments
from inkling.kernels.query import packed_rows, sampled_worlds
from inkling.kernels.worlds import regular
from inkling.kernels.worlds.draws import uniforms

Array = NDArray[Any]
Both = Callable[..., Any]
"""Calls a kernel, given first, in both ways with the other arguments; they must agree."""


def check_slots(rng: np.random.Generator, both: Both) -> None:
    """Every known key is found again under its number, and no other."""
    for n in (0, 1, 2, 5, 16, 60):
        size = max(2, 1 << (2 * n - 1).bit_length())
        pool = np.full(size // 2, -7)
        pool[:n] = rng.choice(np.append(rng.integers(-(2**63), 2**63 - 1, 60), np.arange(-30, 30)), n, replace=False)
        slots = np.zeros(size, np.int64)
        both(keys.fill_slots, slots, pool, n)
        assert np.sort(slots[slots > 0]).tolist() == [*range(1, n + 1)]
        wanted = rng.permutation(n)
        local, numbers = np.empty(n, np.int64), np.empty(n, np.int64)
        found = keys.number_keys(slots, pool, n, pool[wanted], np.zeros(size // 2, np.int64), 1, local, numbers)
        assert found == (n, n)
        assert numbers.tolist() == wanted.tolist()


def check_repeats(rng: np.random.Generator, both: Both) -> None:
    """A column rises if sorting changes nothing; rows share a hash if it occurs more than once."""
    for n in (0, 1, 2, 7, 40, 3 * repeats.BUCKET):
        values = rng.integers(0, max(2, n), n)
        for column in (values, np.sort(values), np.unique(values)):
            rises = 0 if (np.sort(column) != column).any() else 1 + (len(np.unique(column)) == len(column))
            assert both(repeats.rises, column) == rises
        ordered = np.sort(values)
        times = np.unique(values, return_inverse=True, return_counts=True)
        assert (both(repeats.beside_equal, ordered) == (times[2][np.unique(ordered, return_inverse=True)[1]] > 1)).all()
        spread = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # over all buckets
        for hashes in (spread, values.astype(np.uint64)):
            assert (both(repeats.share_hash, hashes) == (times[2][times[1]] > 1)).all()


class Rules(NamedTuple):
    """What a stream says of its rows with numbers: the arguments of `judged` after the rows."""

    has_role: bool
    timeout: int
    fixed: bool
    most: int
    border: int
    begun: int


def random_rules(rng: np.random.Generator) -> Rules:
    never = numbered_rows.NOT_GIVEN
    return Rules(
        has_role=bool(rng.integers(2)),
        timeout=int(rng.choice([-1, -1, -1, 6])),
        fixed=bool(rng.integers(2)),
        most=int(rng.choice([1, 100])),
        border=int(rng.choice([never, 2])),
        begun=int(rng.choice([never, 1])),
    )


def random_rows(rng: np.random.Generator, rules: Rules, n: int, first: int) -> numbered_rows.NumberedColumns:
    """Fresh rows from a time on, whose numbers grow about half as fast as the time."""

    def given(share: float, values: list[int], otherwise: int) -> Array:
        return np.where(rng.random(n) < share, rng.choice(values, n), otherwise)

    time = rng.integers(first, first + 10, n)
    never = numbered_rows.NOT_GIVEN
    rate = np.where(rng.random(n) < 0.2, rng.choice([0.5, 0.5, 0.5, 2.0, 0.0, np.inf], n), np.nan)
    return numbered_rows.NumberedColumns(
        rng.integers(0, 4, n).astype(np.uint64),
        np.zeros(n, bool),
        np.maximum(1, time // 2 + rng.integers(-1, 2, n)),
        time,
        rng.random(n) < 0.7,
        given(0.5, [*range(1, 7), 4], 0) if rules.has_role else np.zeros(n, np.int64),
        given(0.7, [0, 1], -1) if rules.has_role else np.full(n, -1),
        given(0.2, [3, 4, 6, 6, 6, 6], never),
        given(0.2, [0, 0, 0, 0, 1, 4], never),
        given(0.2, [first + 3, first + 6, 20, 20], never),
        np.full(n, np.nan) if rules.fixed else rate,
    )


def in_order(*parts: numbered_rows.NumberedColumns) -> numbered_rows.NumberedColumns:
    rows = numbered_rows.NumberedColumns(*map(np.concatenate, zip(*parts, strict=True)))
    order = np.lexsort((~rows.is_event, rows.number, rows.time, rows.key))
    return numbered_rows.NumberedColumns(*(column[order] for column in rows))


def check_numbered_rows(rng: np.random.Generator, both: Both) -> None:
    """Rows without a fault are consistent; every fault occurs."""
    faults = set()
    for _ in range(300):
        rules = random_rules(rng)
        known = in_order(random_rows(rng, rules, 20, 0))
        for fresh in (None, random_rows(rng, rules, 20, 10)):
            rows = known if fresh is None else in_order(known, fresh)
            fault, before = both(numbered_rows.judged, rows, *rules)
            fine = fault == numbered_rows.FINE
            assert fine[rows.is_known].all()
            assert before.tolist() == [*last_fine(rows.key.tolist(), fine.tolist())]
            known = numbered_rows.NumberedColumns(*(column[fine] for column in rows))._replace(is_known=fine[fine])
            for key in range(4):
                require_consistent(*(column[known.key == key] for column in known[2:]), rules)
            faults |= set(fault.tolist())
    assert faults == set(range(26))


def last_fine(key: list[int], fine: list[bool]) -> Iterator[int]:
    for i in range(len(key)):
        yield max((j for j in range(i) if fine[j] and key[j] == key[i]), default=-1)


def require_consistent(
    number: Array,
    time: Array,
    is_event: Array,
    word: Array,
    role: Array,
    total: Array,
    since: Array,
    until: Array,
    rate: Array,
    rules: Rules,
) -> None:
    """Accepted rows of one key agree with each other."""
    lost = np.diff(number) - is_event[1:]
    assert ((lost >= 0) & (lost <= rules.most)).all()
    assert ((lost == 0) | (np.diff(time) > 0)).all()
    assert rules.timeout < 0 or (np.diff(time) <= rules.timeout).all()
    totals, sinces, untils = (set(one[one != numbered_rows.NOT_GIVEN].tolist()) for one in (total, since, until))
    rates = set(rate[~np.isnan(rate)].tolist())
    assert max(map(len, (totals, sinces, untils, rates))) <= 1
    assert all(number.max() <= one and not (rules.has_role and one % 2) for one in totals)
    assert (since <= time).all()
    assert all(time.max() <= one for one in untils)
    assert all(0 < one < np.inf for one in rates)
    opens = is_event & np.isin(word, (numbered_rows.START, numbered_rows.RESUME, numbered_rows.OPEN))
    closes = is_event & np.isin(word, (numbered_rows.SUSPEND, numbered_rows.END, numbered_rows.CLOSE))
    assert (number[opens] % 2 == 1).all()
    assert (number[closes] % 2 == 0).all()


def check_durations(rng: np.random.Generator, both: Both) -> None:
    """The probabilities solve a linear equation for each time."""
    for case in range(40):
        n, n_symbols, n_times = (int(rng.integers(1, most)) for most in (6, 4, 7))
        target = rng.integers(0, n, (n, n_symbols))
        weight = rng.random((n, n_symbols)) * (rng.random((n, n_symbols)) < 0.8)
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-3)
        final = rng.random(n) < 0.4
        gap = rng.random((n_symbols, n_times)) * (rng.random((n_symbols, n_times)) < 0.8)
        gap[:, 0] *= 0 if case % 2 else 0.5
        gap /= np.maximum(gap.sum(axis=1, keepdims=True), 0.5) * 1.2
        for up in (True, False):
            found = both(durations.detected_within, target, weight, final, gap, up)
            np.testing.assert_allclose(found, solved(target, weight, final, gap), rtol=0, atol=1e-9)


def solved(target: Array, weight: Array, final: Array, gap: Array) -> Array:
    n = len(target)
    moves = np.zeros((gap.shape[1], n, n))  # [time, from, to]
    for (i, symbol), to in np.ndenumerate(target):
        moves[:, i, to] += weight[i, symbol] * gap[symbol]
    reached: list[Array] = []
    for time in range(len(moves)):
        known = sum((moves[taken] @ np.where(final, 1.0, reached[time - taken]) for taken in range(1, time + 1)), 0.0)
        known += moves[0] @ final
        reached.append(np.linalg.solve(np.eye(n) - moves[0] * ~final, known))
    return reached[-1]


class Groups(NamedTuple):
    """Alternatives of groups; the rows of group g are those at rows[offsets[g]:offsets[g + 1]]."""

    rows: Array
    offsets: Array
    given: Array
    value: Array
    written: Array


def random_groups(rng: np.random.Generator, most: int) -> Groups:
    sizes = rng.integers(1, most, int(rng.integers(1, 6)))
    n = int(sizes.sum())
    shares = [0.0, 0.25, 0.5, 0.5 - 1e-10, 0.5 + 1e-10, 0.5 + 2e-9, 1 / 3, 2 / 3, 1.0, 1.5, -0.5, np.nan]
    likely = np.array([4, 8, 8, 6, 2, 2, 4, 4, 4, 1, 1, 1]) / 45
    given, value = (rng.integers(0, int(rng.choice([1, 3, most])), n).astype(np.uint64) for _ in range(2))
    return Groups(rng.permutation(n), np.append(0, np.cumsum(sizes)), given, value, rng.choice(shares, n, p=likely))


def check_settled(rng: np.random.Generator, both: Both) -> None:
    """Groups of few rows and of many, which are sorted in another way."""
    seen = set()
    for most in [*range(2, 12)] * 8 + [120] * 4:
        groups = random_groups(rng, most)
        rows, offsets, given, value, written = groups
        chance, suspect = np.full(len(rows), np.nan), np.zeros(len(offsets) - 1, bool)
        expected = [settled(groups, g) for g in range(len(offsets) - 1)]
        both(packed_rows.settled, rows, offsets, given, value, written, NEARLY, chance, suspect)
        assert rows.tolist() == [row for order, _, _ in expected for row in order]
        np.testing.assert_allclose(chance, [one for _, shares, _ in expected for one in shares], rtol=1e-12)
        assert suspect.tolist() == [is_suspect for _, _, is_suspect in expected]
        seen |= set(suspect.tolist())
    assert seen == {True, False}


def settled(groups: Groups, g: int) -> tuple[list[int], list[float], bool]:
    """Rows in order, their chances, and whether the group is suspect."""
    rows, offsets, given, value, written = groups
    order = sorted(rows[offsets[g] : offsets[g + 1]].tolist(), key=lambda row: (given[row], value[row]))
    named = [(given[row], value[row]) for row in order]
    clipped = np.clip(np.nan_to_num(written), 0.0, 1.0)
    totals = {one: sum(clipped[row] for row in order if given[row] == one) for one, _ in named}
    chances = [clipped[row] / (totals[given[row]] if totals[given[row]] >= 1 - NEARLY else 1.0) for row in order]
    is_suspect = len(set(named)) < len(named) or max(totals.values()) > 1 + NEARLY / 2
    return order, chances, is_suspect or any(written[row] != clipped[row] for row in order)


def check_unfollowed(rng: np.random.Generator, both: Both) -> None:
    flagged = []
    for _ in range(60):
        rows, offsets, given, value, written = random_groups(rng, int(rng.choice([3, 6, 9])))
        n_groups = len(offsets) - 1
        chance, nothing = np.empty(len(rows)), np.zeros(n_groups, bool)
        packed_rows.settled(rows, offsets, given, value, written, NEARLY, chance, nothing.copy())
        given, value = given[rows], value[rows]
        inner = np.flatnonzero(rng.random(n_groups - 1) < 0.3) + 1
        streams = np.concatenate([[0], inner, [n_groups]])
        suspect = nothing.copy()
        both(packed_rows.unfollowed, streams, offsets, given, value, chance, NEARLY, suspect)
        groups = [slice(*offsets[g : g + 2]) for g in range(n_groups)]
        for g, here in enumerate(groups):
            possible = {0}
            if g not in streams:
                before = groups[g - 1]
                masses = {one: chance[before][given[before] == one].sum() for one in given[before]}
                possible = set(value[before][chance[before] > 0])
                possible |= {0} if min(masses.values()) < 1 - NEARLY else set()
            assert suspect[g] == (given[here].any() and not possible <= set(given[here]))
        flagged += suspect.tolist()
    assert 0.1 < np.mean(flagged) < 0.9


def cumulated(rng: np.random.Generator, n: int) -> Array:
    """Shares of n alternatives; in half of all cases no event is possible, too."""
    weights = rng.random(n) * (rng.random(n) < 0.8)
    shares = np.cumsum(weights) / max(weights.sum(), 0.5) * rng.choice([1.0, 0.6])
    return np.asarray(shares)


def check_drawn(rng: np.random.Generator, both: Both) -> None:
    for n_worlds in (1, 5, 64, 100):
        for n in (1, 2, 4):
            parts = [cumulated(rng, int(rng.integers(1, 5))) for _ in range(n)]
            given = rng.permutation(6)[:n].astype(np.uint64)
            before = rng.integers(0, 6, n_worlds).astype(np.uint64)
            offsets = np.append(0, np.cumsum([len(one) for one in parts]))
            seed, token = rng.integers(0, 2**64, 2, np.uint64)
            found = both(sampled_worlds.drawn, seed, token, given, offsets, np.concatenate(parts), before)
            draws = uniforms(seed, np.array([token]), 0, n_worlds)[0]
            places = {one: k for k, one in enumerate(given.tolist())}
            for world, one in enumerate(before.tolist()):
                if one not in places:
                    assert found[world] == -1
                    continue
                k = places[one]
                chosen = np.searchsorted(parts[k], draws[world], side="right")
                assert found[world] == offsets[k] + min(chosen, len(parts[k]) - 1)


def packed(worlds: Array) -> Array:
    """Bits of worlds, [..., world], in words."""
    n = worlds.shape[-1]
    words = np.zeros((*worlds.shape[:-1], -(-n // 64)), np.uint64)
    for world in range(n):
        words[..., world // 64] |= worlds[..., world].astype(np.uint64) << np.uint64(world % 64)
    return words


def check_marked(rng: np.random.Generator, both: Both) -> None:
    for n_worlds in (1, 63, 64, 65, 130):
        event = rng.integers(-1, 3, 5)
        outcome = rng.integers(-1, 5, n_worlds)
        already = rng.random((3, n_worlds)) < 0.2
        masks = packed(already)
        both(sampled_worlds.marked, outcome, event, masks)
        chosen = np.where(outcome >= 0, event[outcome], -1)
        assert masks.tolist() == packed(already | (chosen == np.arange(3)[:, None])).tolist()


def check_stepped(rng: np.random.Generator, both: Both) -> None:
    """Worlds one by one: which entries live in it, and since when."""
    never = int(sampled_worlds.NEVER)
    for n_worlds in (1, 7, 64, 70) * 4:
        n, n_events, time = int(rng.integers(1, 5)), int(rng.integers(1, 4)), 9
        live, event = rng.random((n, n_worlds)) < 0.5, rng.random((n_events, n_worlds)) < 0.5
        starts = np.where(live, rng.integers(0, 9, live.shape), never)
        takes, makes, ends = (rng.integers(0, 9, (int(rng.integers(0, 5)), width)) for width in (2, 3, 2))
        for one in (takes, makes, ends):
            one[:, 0] %= n_events
        takes[:, 1], makes[:, 2] = takes[:, 1] % n, makes[:, 2] % n
        makes[:, 1], ends[:, 1] = makes[:, 1] % (n + 1) - 1, ends[:, 1] % (n + 1) - 1
        every = packed(np.ones(n_worlds, bool))
        arguments = (packed(live), starts, time, every, packed(event), takes, makes, ends)
        new, new_starts, done, done_starts = both(sampled_worlds.stepped, *arguments)
        now = np.vstack([starts, np.full(n_worlds, time)])  # -1 is the last: a match can start everywhere
        expected, ended = starts.copy(), np.full(n_worlds, never)
        for one, entry in takes:
            expected[entry][event[one]] = never
        for one, source, made in makes:
            expected[made] = np.minimum(expected[made], np.where(event[one], now[source], never))
        for one, source in ends:
            ended = np.minimum(ended, np.where(event[one], now[source], never))
        assert new_starts.tolist() == expected.tolist()
        assert new.tolist() == packed(expected < never).tolist()
        assert done_starts.tolist() == ended.tolist()
        assert done.tolist() == packed(ended < never).tolist()


def check_weights(rng: np.random.Generator, both: Both) -> None:
    for n_worlds in (1, 63, 64, 65, 200):
        for share in (0.0, 0.1, 0.9, 1.0):
            worlds, weights = rng.random(n_worlds) < share, rng.random(n_worlds)
            found = both(sampled_worlds.weight_of, packed(worlds), weights)
            assert found == pytest.approx(weights[worlds].sum())


def check_draws_of_symbols(rng: np.random.Generator, both: Both) -> None:
    """Symbols of chosen rows are drawn symbols, and single rows are rows of all."""
    for first in (0, 3, 1000):
        for n in (1, 2, 6):
            parts = [cumulated(rng, int(rng.integers(1, 6))) for _ in range(n)]
            shares, offsets = np.concatenate(parts), np.append(0, np.cumsum([len(one) for one in parts]))
            symbol = rng.integers(-1, 4, len(shares)).astype(np.int8)
            seed, tokens = np.uint64(rng.integers(2**40)), rng.integers(0, 2**64, n, np.uint64)
            draws = uniforms(seed, tokens, first, 20)
            places = np.array(
                [np.searchsorted(part, some, side="right") for part, some in zip(parts, draws, strict=True)]
            )
            sizes = np.diff(offsets)[:, None]
            chosen = np.where(places < sizes, offsets[:-1, None] + places, -1)
            expected = [[symbol[row] if row >= 0 else -1 for row in some] for some in chosen.tolist()]
            drawn = both(regular.draw_symbols, seed, tokens, offsets, shares, symbol, first, 20)
            assert drawn.dtype == np.int8
            assert drawn.tolist() == expected
            assert both(regular.symbols_of, chosen, symbol).tolist() == expected
            groups, worlds = rng.integers(0, n, 15), rng.integers(0, 20, 15)
            rows = both(regular.chosen_at, seed, tokens, offsets, shares, groups, worlds + first)
            assert rows.tolist() == chosen[groups, worlds].tolist()


class Automaton(NamedTuple):
    """Edges moves[s]:moves[s + 1] belong to symbol s; state 0 is in every moment the start of a match."""

    moves: Array
    source: Array
    target: Array
    marked: Array
    final: Array


def random_automaton(rng: np.random.Generator) -> Automaton:
    n_states = int(rng.integers(2, 5))
    sizes = rng.integers(0, 5, int(rng.integers(1, 4)))
    n = int(sizes.sum())
    source, target = rng.integers(0, n_states, n), rng.integers(1, n_states, n)
    final = np.append(False, rng.random(n_states - 1) < 0.5)
    return Automaton(np.append(0, np.cumsum(sizes)), source, target, rng.random(n) < 0.6, final)


def check_detections(rng: np.random.Generator, both: Both) -> None:
    """All runs in each world, without choosing the earliest among them; worlds come in two parts."""
    total = 0
    for _ in range(60):
        automaton, restart = random_automaton(rng), bool(rng.integers(2))
        lengths = rng.integers(1, 6, int(rng.integers(1, 4)))
        borders, n = np.append(0, np.cumsum(lengths)), int(lengths.sum())
        symbols = rng.integers(-1, len(automaton.moves) - 1, (n, 8)).astype(np.int8)
        n_hits, first_world, earliest = np.zeros(n, np.int64), np.full(n, regular.NEVER), np.full(n, regular.NEVER)
        for first in (0, 3):
            some = np.ascontiguousarray(symbols[:, :3] if first == 0 else symbols[:, 3:])
            arguments = (borders, some, *automaton, restart, first, n_hits, first_world, earliest)
            both(regular.count_detections, *arguments)
        found = [
            (int(begin) + end, world, int(begin) + start)
            for begin, length in zip(borders, lengths, strict=False)
            for world in range(8)
            for end, start in ends_and_starts(automaton, symbols[begin : begin + length, world].tolist(), restart)
        ]
        for group in range(n):
            here = [(world, start) for end, world, start in found if end == group]
            assert n_hits[group] == len(here)
            assert first_world[group] == min((world for world, _ in here), default=regular.NEVER)
            assert earliest[group] == min((start for _, start in here), default=regular.NEVER)
        total += len(found)
    assert total > 100


def ends_and_starts(automaton: Automaton, word: list[int], restart: bool) -> Iterator[tuple[int, int]]:
    """Ends of matches in one world, each with its earliest start; -1 is no event."""
    moves, source, target, marked, final = automaton
    runs: set[tuple[int, int | None]] = set()  # state and start
    for here, symbol in enumerate(word):
        if symbol < 0:
            continue
        edges = range(moves[symbol], moves[symbol + 1])
        runs = {
            (int(target[i]), here if start is None and marked[i] else start)
            for i in edges
            for state, start in {*runs, (0, None)}
            if state == source[i]
        }
        starts = [start for state, start in runs if final[state] and start is not None]
        if starts:
            yield here, min(starts)
            runs = set() if restart else runs


def check_parts_of_lists(rng: np.random.Generator, both: Both) -> None:
    """A list remains if no list of its group has all its items and more."""
    for n in (1, 2, 5, 40):
        lists = [
            (int(rng.integers(3)), frozenset(rng.choice(6, rng.integers(6), replace=False).tolist())) for _ in range(n)
        ]
        lists.sort(key=lambda one: (one[0], -len(one[1])))
        offsets = np.cumsum([0, *(len(items) for _, items in lists)])
        flat = np.array([item for _, items in lists for item in sorted(items)], np.int64)
        kept = both(without_parts, np.array([group for group, _ in lists]), offsets, flat)
        longest = [not any(group == other and items < more for other, more in lists) for group, items in lists]
        assert kept.tolist() == longest


def check_lower_bound(rng: np.random.Generator, both: Both) -> None:
    for n in (0, 1, 2, 7, 40):
        values = np.sort(rng.integers(0, 20, n))
        lo, hi = sorted(int(place) for place in rng.integers(0, n + 1, 2))
        for value in range(-1, 22):
            assert both(segments.first_from, values, value, lo, hi) == lo + np.searchsorted(values[lo:hi], value)


def check_earliest_ends(rng: np.random.Generator, both: Both) -> None:
    for n in (0, 1, 5, 60):
        origin, end, place = rng.integers(0, 6, n), rng.integers(0, 8, n), rng.integers(0, 4, n)
        ends, places = both(join.earliest_end_of, origin, 8, end, place)
        for one in range(8):
            of_it = [(e, p) for o, e, p in zip(origin, end, place, strict=True) if o == one]
            assert (ends[one], places[one]) == min(of_it, default=(join.FAR, join.FAR))


CHECKS: dict[str, Callable[[np.random.Generator, Both], None]] = {
    name_of(kernel): check
    for kernel, check in (
        (keys.fill_slots, check_slots),
        (repeats.rises, check_repeats),
        (repeats.beside_equal, check_repeats),
        (repeats.share_hash, check_repeats),
        (numbered_rows.judged, check_numbered_rows),
        (durations.detected_within, check_durations),
        (join.earliest_end_of, check_earliest_ends),
        (segments.first_from, check_lower_bound),
        (without_parts, check_parts_of_lists),
        (packed_rows.settled, check_settled),
        (packed_rows.unfollowed, check_unfollowed),
        (sampled_worlds.drawn, check_drawn),
        (sampled_worlds.marked, check_marked),
        (sampled_worlds.stepped, check_stepped),
        (sampled_worlds.weight_of, check_weights),
        (regular.draw_symbols, check_draws_of_symbols),
        (regular.symbols_of, check_draws_of_symbols),
        (regular.chosen_at, check_draws_of_symbols),
        (regular.count_detections, check_detections),
    )
}
"""By the name of each kernel that is called here."""


@pytest.mark.parametrize("name", CHECKS)
def test_kernels_say_the_same_in_both_ways(name: str) -> None:
    calls = Calls()

    def both(kernel: Any, *arguments: Any) -> Any:
        calls.repeated.clear()
        return calls.repeating(kernel)(*arguments)

    CHECKS[name](np.random.default_rng(7), both)
    assert name in calls.reached
