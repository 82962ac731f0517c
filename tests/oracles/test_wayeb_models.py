"""Models learned from small streams have the counts, contexts and probabilities that were worked out by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.wayeb_models import T1, automaton, by_state, counted, exact, letters, spelled, tree, word
from tests.oracles.wayeb_numbers import DEMO
from tests.reference.markov import meaning
from tests.reference.markov.suffix_automata import suffix_automaton, unfolded, with_missing_children

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import tree_contexts
from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.full_order import every_context, full_contexts
from inkling.forecasting.models.model import log_block, weighted_tree
from inkling.forecasting.models.prediction_tree import CounterTree, PredictionTree, Thresholds, learn_tree

F = Fraction
ZERO = F(0)
SMALL = "aaabaabaaa"
CLOSE = 1e-12


def learned(text: str, alphabet: str, order: int, thresholds: Thresholds) -> PredictionTree:
    return learn_tree(CounterTree.of(counted(text, alphabet, order)), order, thresholds)


def defined(text: str, alphabet: str, order: int, alpha: Fraction = ZERO) -> dict[tuple[int, ...], tuple[F, ...]]:
    milli = F(1, 1000)
    return meaning.threshold_tree(
        [letters(text, alphabet).tolist()],
        len(alphabet),
        order,
        context=milli,
        symbol=(1 + alpha) * milli,
        ratio_limit=F(105, 100),
        floor=milli,
    )


def assert_equal(learned_tree: PredictionTree, exact_tree: dict[tuple[int, ...], tuple[F, ...]]) -> None:
    assert set(learned_tree.words()) == set(exact_tree)
    for node, law in zip(learned_tree.words(), learned_tree.gamma, strict=True):
        np.testing.assert_allclose(law, [float(share) for share in exact_tree[node]], rtol=0, atol=CLOSE)


def test_O14_counts_of_words() -> None:
    deep = {"": 10, "a": 8, "b": 2, "aa": 5, "ab": 2, "ba": 2, "aaa": 2, "aab": 2, "aba": 2, "baa": 2}
    full = {label: n for label, n in deep.items() if len(label) <= 2}
    fixed = full | {"": 9, "a": 7}
    for order, kept, counts in ((2, False, deep), (1, False, full), (1, True, fixed)):
        expected = {word(label): n for label, n in counts.items()}
        assert counted(SMALL, "ab", order).occurrences(fixed=kept) == expected
        assert meaning.occurrences([word(SMALL)], order + 1, fixed=kept) == expected


def test_O14_a_deeper_count_contains_the_shallower() -> None:
    deep, shallow = counted(SMALL, "ab", 2).shallower(1), counted(SMALL, "ab", 1)
    assert deep.to_arrow().equals(shallow.to_arrow())


def test_O15_stored_laws_and_ratios() -> None:
    counts = meaning.occurrences([word(SMALL)], 3)
    tree_counts = CounterTree.of(counted(SMALL, "ab", 2))
    laws = {
        "": (F(4, 5), F(1, 5)),
        "a": (F(5, 7), F(2, 7)),
        "b": (F(1), F(0)),
        "aa": (F(1, 2), F(1, 2)),
        "ba": (F(1), F(0)),
        "ab": (F(1), F(0)),
    }
    for label, law in laws.items():
        assert meaning.shares(counts, word(label), 2) == law
        follow = tree_counts.followers(len(label), np.array([int("0" + label.replace("a", "0").replace("b", "1"), 2)]))
        np.testing.assert_allclose(follow[0] / follow.sum(), [float(share) for share in law], atol=CLOSE)
    for label, ratios in {"a": (F(5, 8), F(1, 4)), "aa": (F(2, 5), F(2, 5))}.items():
        assert tuple(meaning.ratio(counts, word(label), symbol) for symbol in (0, 1)) == ratios
        np.testing.assert_allclose(
            tree_counts.ratios(len(label), np.array([0]))[0], [float(ratio) for ratio in ratios], atol=CLOSE
        )


ABRACADABRA = {
    "": {"A": F(2493, 5500), "B": F(2001, 11000), "R": F(2001, 11000), "C": F(503, 5500), "D": F(503, 5500)},
    "A": {"B": F(997, 2000), "C": F(999, 4000), "D": F(999, 4000)},
    "B": {"R": F(249, 250)},
    "C": {"A": F(249, 250)},
    "D": {"A": F(249, 250)},
    "R": {"A": F(249, 250)},
    "CA": {"D": F(249, 250)},
    "DA": {"B": F(249, 250)},
    "RA": {"C": F(249, 250)},
}


def test_O16_tree_of_abracadabra() -> None:
    alphabet = "ABCDR"
    expected = {
        word(label, alphabet): tuple(law.get(letter, F(1, 1000)) for letter in alphabet)
        for label, law in ABRACADABRA.items()
    }
    assert defined("ABRACADABRA", alphabet, 12, alpha=F(1, 100)) == expected
    assert_equal(learned("ABRACADABRA", alphabet, 12, Thresholds.of(alpha=0.01)), expected)


@pytest.mark.parametrize(("order", "nodes"), [(1, {"", "a", "b"}), (2, {"", "a", "b", "aa", "ba"})])
def test_O17_trees_of_two_orders(order: int, nodes: set[str]) -> None:
    tree_ = defined(SMALL, "ab", order)
    assert spelled(list(tree_), "ab") == nodes
    assert tree_[()][0] == F(3997, 5000)
    assert tree_[word("a")][0] == F(4997, 7000)
    assert tree_[word("b")][0] == F(999, 1000)
    if order == 2:
        assert tree_[word("ba")][0] == F(999, 1000)
        assert tree_[word("aa")] == (F(1, 2), F(1, 2))
    assert_equal(learned(SMALL, "ab", order, Thresholds.of()), tree_)


def test_O18_lookups_in_the_example_tree() -> None:
    example = tree(T1)
    for history, share in (("bbaa", F(3, 4)), ("aba", F(1, 10)), ("aab", F(1, 2)), ("a", F(7, 10)), ("", F(3, 5))):
        assert meaning.tree_law(exact(T1))(0, word(history))[0] == share
        assert example.law(word(history))[0] == pytest.approx(float(share), abs=CLOSE)
        contexts = tree_contexts(example)
        assert contexts.law(0, contexts.after(word(history)))[0] == pytest.approx(float(share), abs=CLOSE)
    assert T1["ba"][0] / T1["a"][0] == F(1, 7) < 1 / F(105, 100)


@pytest.mark.parametrize(
    ("steps", "restart", "sizes"), [(["a", "c", "c"], False, [4, 5, 10, 27, 81]), (["a", "bc"], True, [3, 5, 9, 27])]
)
def test_O19_states_with_full_contexts(steps: list[str], restart: bool, sizes: list[int]) -> None:
    delta, final = automaton(steps, "abc", restart=restart)
    for order, size in enumerate(sizes):
        contexts = every_context(3, order)
        chain = MarkovChain.of(delta, final, contexts)
        assert int((contexts.length[chain.context] == order).sum()) == size


def test_O25_counts_by_state() -> None:
    delta, _ = automaton(["A", "BC"], "ABC", restart=True)
    found = by_state(counted(DEMO, "ABC", 0, delta), 3)
    assert {state: row.tolist() for state, row in found.items()} == {0: [17, 13, 17], 1: [13, 10, 10], 2: [4, 7, 9]}


def test_O26_full_order_two() -> None:
    delta, _ = automaton(["A", "BC"], "ABC", restart=True)
    contexts = full_contexts(counted(DEMO, "ABC", 2, delta), 3)
    law = meaning.full_order_law([letters(DEMO, "ABC").tolist()], delta.tolist(), 2)
    begins = {"BB": F(1, 4), "BC": F(5, 11), "CB": F(1, 4), "CC": F(2, 5)}
    completes = {"AA": F(9, 13), "BA": F(1, 2), "CA": F(8, 13)}
    for label, share in begins.items():
        assert law(0, word(label, "ABC"))[0] == share
        assert contexts.law(0, contexts.words().index(word(label, "ABC")))[0] == pytest.approx(float(share), abs=CLOSE)
    for label, share in completes.items():
        assert sum(law(1, word(label, "ABC"))[1:]) == share
        row = contexts.law(1, contexts.words().index(word(label, "ABC")))
        assert row[1:].sum() == pytest.approx(float(share), abs=CLOSE)


def test_O27_trees_of_the_demo() -> None:
    alphabet = "ABCx"
    one, two = (defined(DEMO, alphabet, order) for order in (1, 2))
    assert len(one) == 4
    assert one[word("A", alphabet)] == (F(4327, 11000), F(3331, 11000), F(3331, 11000), F(1, 1000))
    assert len(two) == 12
    assert word("CA", alphabet) not in two
    for order, expected in ((1, one), (2, two)):
        assert_equal(learned(DEMO, alphabet, order, Thresholds.of()), expected)


BLOCKS = {
    (1, 0): F(1, 2),
    (2, 0): F(3, 8),
    (1, 1): F(1, 8),
    (2, 1): F(1, 16),
    (3, 1): F(5, 128),
    (8, 2): F(429, 262144),
}


def test_O30_block_probabilities() -> None:
    for counts, chance in BLOCKS.items():
        assert meaning.block(counts) == chance
        assert math.exp(log_block(np.array(counts, np.float64))) == pytest.approx(float(chance), rel=CLOSE)


def test_weighted_predictions_are_quotients_of_weighted_probabilities() -> None:
    stream, order = word("abbabaabbbabab"), 2
    mixture = weighted_tree(CounterTree.of(counted("abbabaabbbabab", "ab", order)), order)
    whole = meaning.weighted([stream], 2, order)
    for symbol in (0, 1):
        share = meaning.weighted([(*stream, symbol)], 2, order) / whole
        assert mixture.law(stream)[symbol] == pytest.approx(float(share), abs=CLOSE)


def test_weighted_prediction_after_a_context_that_was_never_seen() -> None:
    stream = word("aabaabaab")
    mixture = weighted_tree(CounterTree.of(counted("aabaabaab", "ab", 2)), 2)
    unseen = meaning.weighted([stream, word("bba")], 2, 2) / meaning.weighted([stream, word("bb")], 2, 2)
    # of "bb" itself nothing was learned from the stream; what its key said before is added by hand
    own = weighted_tree(CounterTree.of(_two("aabaabaab", "bb")), 2).law(word("bb"))[0]
    assert own == pytest.approx(float(unseen), abs=CLOSE)
    assert word("bb") not in mixture.words()


def _two(first: str, second: str) -> WordCounts:
    symbols = letters(first + second, "ab")
    segments = np.array([0, len(first), len(symbols)])
    return WordCounts.of(symbols, segments, np.zeros((1, 2), np.int32), 2, Histories.new(2))


def test_suffix_automaton_gives_words_the_same_probability() -> None:
    tall = tree({**T1, "bb": T1["ba"], "abb": T1["aa"], "bbb": T1["b"]})
    automaton_contexts, exact_contexts = suffix_automaton(tall), tree_contexts(tall)
    assert len(unfolded(tall)) > len(tall)
    for future in itertools.product((0, 1), repeat=7):
        chances = []
        for contexts in (automaton_contexts, exact_contexts):
            here, chance = 0, 1.0
            for symbol in future:
                chance *= contexts.law(0, here)[symbol]
                here = int(contexts.next[here, symbol])
            chances.append(chance)
        law = meaning.tree_law({w: tuple(map(F, g)) for w, g in zip(tall.words(), tall.gamma.tolist(), strict=True)})
        expected = math.prod(float(law(0, future[:at])[symbol]) for at, symbol in enumerate(future))
        np.testing.assert_allclose(chances, expected, rtol=CLOSE)


def test_suffix_automaton_determines_a_leaf() -> None:
    tall = unfolded(tree({**T1, "bb": T1["ba"], "abb": T1["aa"], "bbb": T1["b"]}))
    nodes, inner = tall.words(), tall.inner()
    leaves = {node for node, flag in zip(nodes, inner, strict=True) if not flag}
    for leaf, symbol in itertools.product(leaves, (0, 1)):
        longer = (*leaf, symbol)
        assert sum(longer[cut:] in leaves for cut in range(len(longer) + 1)) == 1


def test_missing_children_predict_what_their_parents_do() -> None:
    completed = with_missing_children(learned(SMALL, "ab", 2, Thresholds.of()))
    assert spelled(completed.words(), "ab") == {"", "a", "b", "aa", "ba"}
    short = with_missing_children(tree({"": T1[""], "a": T1["a"], "ba": T1["ba"]}))
    assert spelled(short.words(), "ab") == {"", "a", "b", "aa", "ba"}
    assert short.law(word("aa")).tolist() == short.law(word("a")).tolist() == [0.7, 0.3]
    assert short.law(word("b")).tolist() == [0.6, 0.4]


def test_thresholds_of_an_approximation() -> None:
    # error 0.48, order 1, two symbols, one state: ε2 = 0.01, γmin = 0.005, ε0 = 0.24 / log2(200)
    got = Thresholds.approximating(0.48, order=1, n_symbols=2, most_states=1)
    rare = 0.24 / math.log2(200)
    assert got.floor == pytest.approx(0.005)
    assert got.symbol == pytest.approx(1.01 * 0.005)
    assert got.ratio == pytest.approx(1.03)
    assert got.context == pytest.approx(max(0.0, (1 - 0.01 / (8 * rare * 0.005)) * rare))
