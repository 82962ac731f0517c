"""What models, waiting times and forecasts are, in fractions: written to be read, and to test the rest against."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, assert_never

from inkling.forecasting.models.forecasts import Argmax, Around, Fixed, Kind, PointForecast, Shortest, Within

Word: TypeAlias = tuple[int, ...]
Shares: TypeAlias = tuple[Fraction, ...]
Tree: TypeAlias = Mapping[Word, Shares]
Law: TypeAlias = Callable[[int, Word], Sequence[Fraction]]
"""Probabilities of the next symbol, given the automaton's state and the symbols of the key so far."""

Interval: TypeAlias = tuple[int, int, Fraction]


def pieces(stream: Sequence[int]) -> Iterator[Word]:
    """The parts of one key's symbols between resets."""
    piece: list[int] = []
    for symbol in (*stream, -1):
        if symbol < 0:
            yield tuple(piece)
            piece = []
        else:
            piece.append(symbol)


def occurrences(streams: Sequence[Sequence[int]], longest: int, *, fixed: bool = False) -> Counter[Word]:
    """How often each word of at most so many symbols occurs.

    With ``fixed`` only ends of words of full length are counted.
    """
    found: Counter[Word] = Counter()
    for stream in streams:
        for piece in pieces(stream):
            for end in range(1, len(piece) + 1):
                if fixed and end < longest:
                    continue
                for length in range(min(longest, end) + 1):
                    found[piece[end - length : end]] += 1
    return found


def shares(counts: Mapping[Word, int], context: Word, n_symbols: int) -> Shares:
    """The law of the next symbol as it is stored in a tree: the counts of followers, normalized."""
    follow = [counts.get((*context, symbol), 0) for symbol in range(n_symbols)]
    return tuple(Fraction(one, sum(follow)) for one in follow)


def ratio(counts: Mapping[Word, int], context: Word, symbol: int) -> Fraction:
    """The share of the occurrences of a context that a symbol follows, which decides whether a tree grows."""
    return Fraction(counts.get((*context, symbol), 0), counts[context])


def threshold_tree(
    streams: Sequence[Sequence[int]],
    n_symbols: int,
    order: int,
    *,
    context: Fraction,
    symbol: Fraction,
    ratio_limit: Fraction,
    floor: Fraction,
) -> dict[Word, Shares]:
    """Contexts that change the law of the next symbol enough, with their suffixes."""
    counts = occurrences(streams, order + 1)
    totals = {length: sum(n for word, n in counts.items() if len(word) == length) for length in range(order + 1)}
    nodes: set[Word] = {()}
    frontier: list[Word] = [()]
    while frontier:
        shorter = frontier.pop()
        if len(shorter) == order:
            continue
        for older in range(n_symbols):
            word = (older, *shorter)
            if not counts.get(word) or Fraction(counts[word], totals[len(word)]) < context:
                continue
            frontier.append(word)
            for one in range(n_symbols):
                after, before = ratio(counts, word, one), ratio(counts, shorter, one)
                if after >= symbol and before and not 1 / ratio_limit < after / before < ratio_limit:
                    nodes |= {word[cut:] for cut in range(len(word) + 1)}
    keep = 1 - n_symbols * floor
    return {word: tuple(share * keep + floor for share in shares(counts, word, n_symbols)) for word in nodes}


def tree_law(tree: Tree) -> Law:
    """The law of the longest suffix of the history that is in the tree."""

    def law(_state: int, history: Word) -> Shares:
        return next(tree[history[cut:]] for cut in range(len(history) + 1) if history[cut:] in tree)

    return law


def full_order_law(streams: Sequence[Sequence[int]], delta: Sequence[Sequence[int]], order: int) -> Law:
    """Shares of the next symbol by the automaton's state and the last symbols; none where nothing was seen."""
    n_symbols = len(delta[0])
    seen: Counter[tuple[int, Word, int]] = Counter()
    for stream in streams:
        for piece in pieces(stream):
            state = 0
            for at, symbol in enumerate(piece):
                seen[state, piece[max(0, at - order) : at], symbol] += 1
                state = delta[state][symbol]

    def law(state: int, history: Word) -> Shares:
        follow = [seen[state, history[max(0, len(history) - order) :], symbol] for symbol in range(n_symbols)]
        return tuple(Fraction(one, max(sum(follow), 1)) for one in follow)

    return law


def waiting_by_paths(
    delta: Sequence[Sequence[int]], final: Sequence[bool], law: Law, state: int, history: Word, horizon: int
) -> list[Fraction]:
    """P(W = 1), …, P(W = horizon): the words that may follow, each with its probability, up to the first detection."""
    times = [Fraction(0)] * horizon
    for length in range(1, horizon + 1):
        for future in itertools.product(range(len(delta[0])), repeat=length):
            here, chance = state, Fraction(1)
            for at, symbol in enumerate(future):
                chance *= law(here, history + future[:at])[symbol]
                here = delta[here][symbol]
                if not chance or (final[here] and at < length - 1):
                    chance = Fraction(0)
                    break
            if final[here]:
                times[length - 1] += chance
    return times


def waiting_by_merging(
    target: Sequence[Sequence[int]], weight: Sequence[Sequence[Fraction]], final: Sequence[bool], horizon: int
) -> list[list[Fraction]]:
    """[state, n - 1]: the same for all states of a chain at once: f(1) = NF·1, f(n + 1) = N f(n)."""
    now = [
        sum((w for to, w in zip(row, weights, strict=True) if final[to]), Fraction(0))
        for row, weights in zip(target, weight, strict=True)
    ]
    times = [[one] for one in now]
    for _ in range(horizon - 1):
        now = [
            sum((w * now[to] for to, w in zip(row, weights, strict=True) if not final[to]), Fraction(0))
            for row, weights in zip(target, weight, strict=True)
        ]
        for known, one in zip(times, now, strict=True):
            known.append(one)
    return times


def forecast(
    kind: Kind, times: Sequence[Fraction], confidence: Fraction, *, spread: int | None = None, center: int = 0
) -> Interval | None:
    """First and last event and the probability between them, by trying all intervals; None if none is good enough."""
    horizon = len(times)
    until = [Fraction(0), *itertools.accumulate(times)]
    everything = [
        (first, last, until[last] - until[first - 1])
        for first in range(1, horizon + 1)
        for last in range(first, horizon + 1)
    ]
    peak = 1 + max(range(horizon), key=lambda at: (times[at], -at))
    match kind:
        case Within(events):
            chosen = [one for one in everything if one[:2] == (1, events)]
        case Around(events):
            half = events // 2
            chosen = [one for one in everything if one[:2] == (max(1, center - half), min(horizon, center + half))]
        case PointForecast():
            chosen = [one for one in everything if one[:2] == (peak, peak)]
        case Shortest():
            enough = [one for one in everything if one[2] >= confidence]
            chosen = sorted(enough, key=lambda one: (one[1] - one[0], -one[2], one[0]))[:1]
        case Argmax():
            grown = [(max(1, peak - by), min(horizon, peak + by)) for by in range(horizon)]
            widened = [one for ends in grown for one in everything if one[:2] == ends]
            chosen = [one for one in widened if one[2] >= confidence][:1]
        case Fixed(between):
            fitting = [one for one in everything if one[1] - one[0] == between]
            chosen = sorted(fitting, key=lambda one: (-one[2], one[0]))[:1]
        case _:
            assert_never(kind)
    if isinstance(kind, PointForecast | Shortest | Argmax) and spread is not None:
        chosen = [one for one in chosen if one[1] - one[0] <= spread]
    return next((one for one in chosen if one[2] >= confidence and one[2] > 0), None)


def expected(times: Sequence[Fraction], first: int, last: int) -> Fraction:
    """The mean number of events, given that the detection comes in the interval."""
    inside = range(first, last + 1)
    return sum((n * times[n - 1] for n in inside), Fraction(0)) / sum((times[n - 1] for n in inside), Fraction(0))


def block(counts: Sequence[int], prior: Fraction = Fraction(1, 2)) -> Fraction:
    """The probability of a sequence with these counts, each symbol predicted from those before it."""
    chance, seen = Fraction(1), 0
    for count in counts:
        for already in range(count):
            chance *= (already + prior) / (seen + len(counts) * prior)
            seen += 1
    return chance


def weighted(streams: Sequence[Sequence[int]], n_symbols: int, order: int, context: Word = ()) -> Fraction:
    """The probability that context-tree weighting gives to what followed a context.

    Half of it says that no older symbol matters, half that it does; the beginning of a key is one more
    thing that may stand before a context.
    """
    counts, begun = [0] * n_symbols, [0] * n_symbols
    for stream in streams:
        for piece in pieces(stream):
            for at, symbol in enumerate(piece):
                if piece[max(0, at - len(context)) : at] == context:
                    counts[symbol] += 1
                    begun[symbol] += at == len(context)
    if len(context) == order:
        return block(counts)
    apart = block(begun)
    for older in range(n_symbols):
        apart *= weighted(streams, n_symbols, order, (older, *context))
    return block(counts) / 2 + apart / 2
