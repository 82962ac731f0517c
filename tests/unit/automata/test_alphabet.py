"""Minterms, and the cells through which rows find them."""

import random

import numpy as np
import pytest

from inkling.automata.guards import Alphabet, Guard
from inkling.automata.limits import TooManySymbols
from inkling.automata.run.cells import cell_groups
from inkling.automata.run.rows import AutomatonRows, RowError
from inkling.kernels.automaton.cells import PackedCells, SearchedCells


def holds(*bits: int) -> Guard:
    return Guard(bits=frozenset(bits))


def n_minterms(alphabet: Alphabet) -> int:
    """Symbols without the one that resets."""
    return alphabet.n_symbols - 1


def test_O6_free_predicates() -> None:
    assert n_minterms(Alphabet.of([holds(0), holds(1)], 1)) == 4


def test_O6_exclusive_predicates() -> None:
    assert n_minterms(Alphabet.of([holds(0), holds(1)], 1, exclusive=[frozenset({0, 1})])) == 3
    three = [holds(0), holds(1), holds(2)]
    assert n_minterms(Alphabet.of(three, 1, exclusive=[frozenset({0, 1, 2})])) == 4


def test_O6_port_workload() -> None:
    reset, inside, outside, *rings = range(8)
    exclusive = [frozenset({reset, inside, *rings}), frozenset({reset, outside}), frozenset({inside, outside})]
    assert n_minterms(Alphabet.of([holds(bit) for bit in range(8)], 1, exclusive=exclusive)) == 14


def test_streams_are_exclusive() -> None:
    types = [Guard(frozenset({stream})) for stream in range(3)]
    assert n_minterms(Alphabet.of(types, 3)) == 3
    assert n_minterms(Alphabet.of(types, 4)) == 4


def test_predicates_of_other_streams_do_not_multiply() -> None:
    guards = [Guard(frozenset({stream}), frozenset({2 * stream + i})) for stream in range(8) for i in range(2)]
    # each stream distinguishes four kinds; "none holds" is the same for all of them
    assert n_minterms(Alphabet.of(guards, 8)) == 8 * 3 + 1


def test_too_many_symbols() -> None:
    with pytest.raises(TooManySymbols):
        Alphabet.of([holds(bit) for bit in range(40)], 1)


def random_guards(rnd: random.Random, n_guards: int, n_bits: int) -> list[Guard]:
    streams = [None, frozenset({0}), frozenset({1}), frozenset({0, 2})]
    return [
        Guard(rnd.choice(streams), frozenset(rnd.sample(range(n_bits), rnd.randint(0, min(4, n_bits)))))
        for _ in range(n_guards)
    ]


@pytest.mark.parametrize(("n_bits", "kind"), [(6, PackedCells), (64, SearchedCells)])
def test_each_row_has_the_symbol_on_which_its_guards_hold(n_bits: int, kind: type) -> None:
    rnd = random.Random(7)
    kinds: set[type] = set()
    for _ in range(8):
        alphabets = [Alphabet.of(random_guards(rnd, 8, n_bits), 3) for _ in range(3)]
        groups = cell_groups(alphabets)
        stream = np.array([rnd.randint(-1, 2) for _ in range(200)], dtype=np.int16)
        bits = np.array([rnd.getrandbits(64) | rnd.getrandbits(64) for _ in range(200)], dtype=np.uint64)
        cells = AutomatonRows.of(np.zeros(200), stream, bits).cells(groups)
        kinds |= {type(group.cells) for group in groups}
        for group, row_cells in zip(groups, cells, strict=True):
            for pattern, symbols in zip(group.patterns, group.symbols, strict=True):
                alphabet = alphabets[pattern]
                for row, cell in enumerate(row_cells):
                    symbol = int(symbols[cell])
                    if stream[row] == -1:
                        assert symbol == 0
                        continue
                    held = {i for i, g in enumerate(alphabet.guards) if g.admits(int(stream[row]), int(bits[row]))}
                    assert symbol > 0
                    assert held == {i for i in range(len(alphabet.guards)) if alphabet.truths[symbol] >> i & 1}
    assert kind in kinds


def test_every_event_has_exactly_one_minterm() -> None:
    rnd = random.Random(3)
    for _ in range(50):
        alphabet = Alphabet.of(random_guards(rnd, 5, 6), 3)
        assert len(set(alphabet.truths[1:])) == n_minterms(alphabet)
        reached = {alphabet.symbol(stream, bits) for stream in range(3) for bits in range(64)}
        assert reached == set(range(1, alphabet.n_symbols))


def test_patterns_with_few_predicates_share_a_group() -> None:
    alphabets = [Alphabet.of([holds(bit), holds(bit + 1)], 1) for bit in range(9)]
    assert [group.patterns for group in cell_groups(alphabets)] == [tuple(range(9))]


@pytest.mark.parametrize("spread", [1, 3])
def test_a_broken_promise_is_rejected(spread: int) -> None:
    guards = [holds(spread * bit) for bit in range(20)]
    alphabet = Alphabet.of(guards, 1, exclusive=[frozenset(range(0, 20 * spread, spread))])
    groups = cell_groups([alphabet])
    fine = [1 << spread * bit for bit in range(20)]
    AutomatonRows.of([0] * 20, [0] * 20, np.array(fine, dtype=np.uint64)).cells(groups)
    with pytest.raises(RowError, match="row 1: predicates hold that cannot hold together, bits=0x"):
        AutomatonRows.of([0, 0], [0, 0], np.array([1, 1 | 1 << spread], dtype=np.uint64)).cells(groups)


def test_a_packed_group_rejects_too() -> None:
    groups = cell_groups([Alphabet.of([holds(0), holds(1)], 1, exclusive=[frozenset({0, 1})])])
    with pytest.raises(RowError, match="row 2"):
        AutomatonRows.of([0] * 3, [0] * 3, np.array([1, 2, 3], dtype=np.uint64)).cells(groups)


def test_an_unknown_stream_is_rejected() -> None:
    groups = cell_groups([Alphabet.of([holds(0)], 2)])
    for stream in (2, -2):
        with pytest.raises(RowError, match=f"row 1: stream {stream} is not one of 0 to 1"):
            AutomatonRows.of([0, 0], [1, stream], [0, 0]).cells(groups)


def test_rows_must_be_sorted_and_even() -> None:
    with pytest.raises(ValueError, match="sorted by key"):
        AutomatonRows.of([1, 0], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="key 2, stream 1, bits 2"):
        AutomatonRows.of([0, 0], [0], [0, 0])
