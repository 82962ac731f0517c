"""Counts of words and of gaps: groups, sums, forgetting, limits."""

from __future__ import annotations

import numpy as np
import pytest

from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.gaps import GapCounts, quantized

ONE_STATE = np.zeros((1, 3), np.int32)


def counted(
    keys: list[list[int]], order: int, groups: tuple[str, ...] = ("",), of: list[int] | None = None
) -> WordCounts:
    return WordCounts.of(
        np.array([symbol for key in keys for symbol in key], np.int32),
        np.cumsum([0, *map(len, keys)]),
        ONE_STATE,
        order,
        Histories.new(len(keys)),
        group=groups,
        group_of_key=np.array(of or [0] * len(keys), np.int32),
    )


def test_contexts_do_not_cross_keys_or_resets() -> None:
    counts = counted([[0, 1], [2, -1, 1, 0]], 1)
    assert counts.occurrences() == {(): 5, (0,): 2, (1,): 2, (2,): 1, (0, 1): 1, (1, 0): 1}


def test_groups_are_counted_apart_and_add_up() -> None:
    keys = [[0, 1, 2], [2, 2], [1, 1, 0]]
    grouped = counted(keys, 2, ("cargo", "tanker"), [0, 1, 0])
    assert grouped.of_group("tanker").occurrences() == {(): 2, (2,): 2, (2, 2): 1}
    assert grouped.of_group("cargo").n_events == 6
    assert grouped.of_group("ferry").n_events == 0
    assert grouped.total().to_arrow().equals(counted(keys, 2).to_arrow())
    parts = [grouped.of_group(name) for name in ("tanker", "cargo")]
    assert WordCounts.merged(*parts).to_arrow().equals(grouped.to_arrow())


def test_forgetting_scales_every_count() -> None:
    old, new = counted([[0, 0, 1]], 1), counted([[0, 1]], 1)
    both = WordCounts.merged(old.scaled(0.5), new)
    assert both.occurrences() == {(): 3.5, (0,): 2.0, (1,): 1.5, (0, 0): 0.5, (0, 1): 1.5}


def test_sums_of_different_orders_have_the_smaller_one() -> None:
    keys = [[0, 1, 2, 0, 1, 0, 0]]
    both = WordCounts.merged(counted(keys, 3), counted(keys, 1))
    assert both.to_arrow().equals(counted(keys, 1).scaled(2.0).to_arrow())


def test_what_cannot_be_counted_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"words of 41 symbols out of 3, each in 1 ways, need 66 bits; there are 62"):
        counted([[0]], 40)
    with pytest.raises(ValueError, match="order 2 were not counted"):
        counted([[0]], 1).shallower(2)
    with pytest.raises(ValueError, match="different alphabets"):
        WordCounts.merged(WordCounts.empty(2, 1), WordCounts.empty(3, 1))


def test_many_words_make_the_table_grow() -> None:
    rng = np.random.default_rng(5)
    symbols = rng.integers(0, 3, 60_000).astype(np.int32)
    counts = WordCounts.of(symbols, np.array([0, len(symbols)]), ONE_STATE, 8, Histories.new(1))
    codes = np.convolve(symbols, 3 ** np.arange(9))[8 : len(symbols)]
    expected, often = np.unique(codes, return_counts=True)
    longest = counts.length == 9
    assert counts.code[longest].tolist() == expected.tolist()
    assert counts.count[longest].tolist() == often.tolist()


def test_gaps_keep_six_bits() -> None:
    gaps = np.array([0, 1, 62, 63, 64, 65, 127, 128, 3_600_000_000])
    low, high = quantized(gaps)
    assert ((low <= gaps) & (gaps <= high)).all()
    assert low[:4].tolist() == high[:4].tolist() == [0, 1, 62, 63]
    assert ((high - low + 1) * 32 <= np.maximum(gaps, 32)).all()
    again = quantized(low)
    assert [one.tolist() for one in again] == [low.tolist(), high.tolist()]


def test_gap_counts_add_up() -> None:
    symbols, gaps = np.array([0, 1, -1, 1, 0], np.int32), np.array([-1, 5, 5, 130, 5])
    counts = GapCounts.of(symbols, gaps)
    assert list(zip(counts.symbol, counts.gap_low, counts.gap_high, counts.count, strict=True)) == [
        (0, 5, 5, 1),
        (1, 5, 5, 1),
        (1, 128, 131, 1),
    ]
    halves = GapCounts.merged(GapCounts.of(symbols[:3], gaps[:3]), GapCounts.of(symbols[3:], gaps[3:]))
    assert halves.to_arrow().equals(counts.to_arrow())
    assert GapCounts.from_arrow(counts.to_arrow()).to_arrow().equals(counts.to_arrow())
