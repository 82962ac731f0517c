"""The compiled pass over cells, against the one in fractions and against numbers that were worked out elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.kit.lost_lines import overlapping_line, random_line
from tests.kit.lost_pairs import Pair, flat, lists_of_lines, lists_of_pairs, random_pairs, random_question
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import Along, Line
from tests.reference.lost.exact.question import Question, asked_of, sharing
from tests.reference.lost.forward import counts_of_lines
from tests.reference.lost.letters import parse_question

from inkling.evaluators.relation.forward import Limits, RelationProbabilities, chances

pytestmark = pytest.mark.slow

CLOSE = 1e-9


def ask(left: Flat, right: Flat, question: Question, most: int, *, along: Along | None = None) -> np.ndarray:
    one, other = lists_of_pairs([(left, right)], along=along)
    first = np.zeros(1, np.int64)
    found = chances(one, other, first, first, asked_of(question, most), Limits())
    assert not found.error.any()
    return found.at_least[0]


def check(a: Flat, b: Flat, expected: Mapping[str, str | int]) -> None:
    """Questions are about A and B."""
    for text, value in expected.items():
        asking = parse_question(text)
        left, right = (a, b) if asking.left == "A" else (b, a)
        found = ask(left, right, asking.question, asking.question.left or 0)
        assert found[-1] == pytest.approx(float(Fraction(value)), abs=1e-14), text


def distribution(left: Flat, right: Flat) -> np.ndarray:
    """Of the number of segments that share, from one pass for all of them."""
    at_least = ask(left, right, sharing(1), left.n_segments)
    return at_least - np.append(at_least[1:], 0.0)


def is_close(found: np.ndarray, *values: str) -> bool:
    return bool(np.allclose(found, [float(Fraction(value)) for value in values], rtol=0, atol=1e-14))


def single(probabilities: Mapping[str, str | int]) -> dict[str, str | int]:
    return {f"EXISTS A {name} EXISTS B": value for name, value in probabilities.items()}


def shares(k: int, left: str = "A", right: str = "B") -> str:
    return f"EXISTS({k}) {left} intersects EXISTS {right}"


O1 = flat("0 2 4 6"), flat("1 _ _ 10")


def test_O1_two_lost_between_recorded_ones() -> None:
    check(*O1, {shares(1): 1, shares(2): "19/27", shares(2, "B", "A"): "25/81"})
    assert is_close(distribution(*O1), "0", "8/27", "19/27")


def test_O2_further_questions_about_the_same_data() -> None:
    expected = {
        "EXISTS A intersects EXISTS(2) B": "5/81",
        "ALL A intersects EXISTS B": "19/27",
        "ALL A intersects ALL B": 0,
        "EXISTS(2) A precedes EXISTS B": "56/81",
        "EXISTS(2) A overlaps EXISTS B": "4/27",
        "ALL B during EXISTS A": 0,
        "EXISTS B during EXISTS A": "17/81",
        "ALL B intersects EXISTS A": "25/81",
    }
    relations = {"precedes": "80/81", "overlaps": "23/27", "contains": "17/81", "during": "25/81"}
    relations |= {"overlapped_by": "20/81", "preceded_by": "5/9", "meets": 0, "starts": 0, "equals": 0, "finishes": 0}
    check(*O1, expected | single(relations))


@pytest.mark.parametrize(
    ("n", "counted"), [(1, (2, 4)), (2, (6, 32, 32)), (3, (20, 180, 408, 316)), (4, (70, 896, 3360, 5184, 3360))]
)
def test_O5_everything_lost_in_one_window(n: int, counted: tuple[int, ...]) -> None:
    all_lost = flat(" ".join("_" * 2 * n), lo=0, hi=1)
    assert is_close(distribution(all_lost, all_lost), *(f"{one}/{sum(counted)}" for one in counted))


def test_O7_one_event_around_a_recorded_one() -> None:
    expected = {"precedes": "4/25", "overlaps": "4/25", "contains": "8/25", "during": "1/25", "overlapped_by": "4/25"}
    check(flat("_ _", lo=0, hi=10), flat("4 6"), single(expected | {"preceded_by": "4/25"}))


def test_O8_tail_and_head() -> None:
    expected = {"precedes": "1/6", "overlaps": "1/6", "contains": "1/3", "during": "1/6", "overlapped_by": "1/6"}
    check(flat("2 _", hi=10), flat("_ 6", lo=0), single(expected | {"preceded_by": 0}))
    thirds = dict.fromkeys(("contains", "overlapped_by", "preceded_by"), "1/3")
    check(flat("_ 5", lo=2), flat("3 4"), single(thirds))


def test_O9_windows_that_overlap_in_part() -> None:
    expected = {shares(1): 1, shares(2): "5/6", shares(2, "B", "A"): "5/6", "ALL A intersects ALL B": 0}
    expected |= {"EXISTS A intersects EXISTS(2) B": "2/9", "EXISTS A precedes ALL B": 0}
    check(flat("0 3 _ 9"), flat("1 _ 7 8"), expected)


def test_O10_three_segments() -> None:
    found = distribution(flat("0 _ _ 6 8 11"), flat("1 3 _ _ _ 12"))
    assert is_close(found, "11/2187", "5389/52488", "12503/26244", "21829/52488")


def test_O11_containment() -> None:
    check(flat("0 _ _ 10"), flat("1 2 8 9"), {"ALL B during EXISTS A": "19/50"})
    check(flat("0 _ _ 10"), flat("1 _ 8 9"), {"ALL B during EXISTS A": "11/60"})


def test_O12_recorded_ties() -> None:
    check(flat("0 4 6 8"), flat("4 6"), single({"meets": 1, "met_by": 1, "precedes": 0, "preceded_by": 0}))
    assert distribution(flat("0 4 6 8"), flat("4 6")).tolist() == [0, 0, 1]
    check(flat("0 2"), flat("2 4"), single({"intersects": 1, "precedes": 0}))


def test_O13_ties_next_to_what_was_lost() -> None:
    left, right = flat("0 4 _ 8"), flat("4 _ _ 8")
    expected = {"meets": 1, "finishes": "1/3", "finished_by": "2/3", "overlapped_by": "1/3", "equals": 0}
    check(left, right, single(expected) | {shares(2): 1})
    left, right = flat("0 _ 3 5"), flat("1 _ 3 6")
    assert is_close(distribution(left, right), "0", "1/3", "2/3")
    check(left, right, single({"starts": 1, "overlaps": "1/3", "contains": "1/3"}))


def test_O16_labels() -> None:
    left, right = flat("_ _ _ _", lo=0, hi=12, labels=("p", "q")), flat("2 4 6 10", labels=("p", "q"))
    same = "ON SAME stop"
    expected = {
        f"EXISTS A intersects EXISTS B {same}": "1189/1296",
        f"EXISTS(2) A intersects EXISTS B {same}": "181/324",
    }
    check(left, right, expected | {"EXISTS A intersects EXISTS B": "425/432"})


def test_O17_closed_by_a_timeout() -> None:
    check(flat("0 2 4 6"), flat("1 _ _ _", hi=12), {shares(2): "980/1331"})


def test_O21_erlang_gaps() -> None:
    check(flat("0 2 4 6"), flat("1 _ _ 10", shape=2), {shares(2): "4481/6561"})


def test_O22_known_intensity() -> None:
    found = ask(*O1, sharing(2), 2, along=lambda time: time * time)
    assert found[2] == pytest.approx(2627 / 3267, abs=1e-14)


def test_O26_long_runs() -> None:
    found = distribution(flat(f"0 {'_ ' * 8} 10"), flat(f"4 {'_ ' * 8} 16"))
    values = "61105183/4468750000 146560387/1117187500 31177169/85937500 103169763/279296875 527615937/4468750000"
    assert is_close(found, *values.split(), "1366146/279296875")


def expected_at_least(left: Line, right: Line, question: Question, most: int) -> list[float]:
    found = counts_of_lines(left, right, question)
    if question.left is None:
        return [float(found[len(left.spans)])]
    return [float(sum(found[k:], Fraction(0))) for k in range(most + 1)]


def asked_about(
    lines: Sequence[tuple[Line, Line]], question: Question, most: int, *, crossed: bool = False
) -> RelationProbabilities:
    left, right = lists_of_lines([one for one, _ in lines], [other for _, other in lines])
    if crossed:
        right = right._replace(simple=np.zeros(len(lines), bool))
    every = np.arange(len(lines))
    return chances(left, right, every, every, asked_of(question, most), Limits())


@pytest.mark.parametrize("seed", range(4))
def test_random_keys(seed: int) -> None:
    random = Random(seed)
    n_uncertain = 0
    for _ in range(150):
        question, most = random_question(random), random.choice((0, 1, 2, 5))
        lines = [(random_line(random, most_lost=5), random_line(random, most_lost=5)) for _ in range(4)]
        found = asked_about(lines, question, most)
        assert not found.error.any()
        for place, (left, right) in enumerate(lines):
            wanted = expected_at_least(left, right, question, most)
            assert np.abs(found.at_least[place] - wanted).max() < CLOSE, (question, left, right)
            n_uncertain += any(0 < one < 1 for one in wanted)
    assert n_uncertain > 100


def test_right_segments_that_overlap() -> None:
    random = Random(7)
    for _ in range(150):
        question, most = random_question(random), random.choice((0, 1, 2, 5))
        lines = [(random_line(random, most_lost=4), overlapping_line(random)) for _ in range(4)]
        found = asked_about(lines, question, most, crossed=True)
        assert not found.error.any()
        for place, (left, right) in enumerate(lines):
            wanted = expected_at_least(left, right, question, most)
            assert np.abs(found.at_least[place] - wanted).max() < CLOSE, (question, left, right)


def test_one_pass_tells_all_numbers() -> None:
    for pair in random_pairs(3, 100):
        together = ask(pair.left, pair.right, sharing(1), 3)
        apart = [ask(pair.left, pair.right, sharing(k), k)[k] for k in range(4)]
        assert np.allclose(together, apart, rtol=0, atol=1e-14), str(pair)


def test_keys_of_one_call_do_not_touch_each_other() -> None:
    pairs = [(pair.left, pair.right) for pair in random_pairs(11, 200)]
    left, right = lists_of_pairs(pairs)
    random = np.random.default_rng(0)
    ones, others = (random.integers(0, len(pairs), 500) for _ in range(2))
    asked = asked_of(sharing(1), 3)
    found = chances(left, right, ones, others, asked, Limits()).at_least
    for one, other, at_least in zip(ones[:100], others[:100], found[:100], strict=True):
        assert (ask(pairs[one][0], pairs[other][1], sharing(1), 3) == at_least).all()


@pytest.mark.parametrize("shift", [0, 1_700_000_000_000_000])
def test_large_times_change_nothing(shift: int) -> None:
    pairs = list(random_pairs(5, 50))
    asked, every = asked_of(sharing(1), 3), np.arange(50)
    left, right = lists_of_pairs([(pair.left, pair.right) for pair in pairs])
    near = chances(left, right, every, every, asked, Limits()).at_least
    moved = [one._replace(time=np.where(one.lost, 0, one.time * 1_000_000 + shift)) for one in (left, right)]
    far = chances(*moved, every, every, asked, Limits()).at_least
    assert np.abs(near - far).max() < 1e-12


def test_what_was_lost_outside_of_everything_needs_a_rate() -> None:
    left, right = lists_of_lines([Line((), ())], [Line((), ())])
    nowhere = left._replace(
        begins=np.array([0, 2]),
        time=np.zeros(2, np.int64),
        lost=np.array([True, False]),
        turn=np.array([0, 0], np.int8),
    )
    first = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="no rate is given"):
        chances(nowhere, right, first, first, asked_of(sharing(1), 1), Limits())


def test_arrays_may_be_read_only() -> None:
    left, right = lists_of_pairs([O1])
    for one in (*left, *right):
        one.flags.writeable = False
    first = np.zeros(1, np.int64)
    found = chances(left, right, first, first, asked_of(sharing(1), 2), Limits())
    assert found.at_least[0] == pytest.approx([1, 1, 19 / 27])


def test_keys_without_segments() -> None:
    empty, some = Pair(flat(""), flat("")).left, flat("0 _ _ 3")
    assert ask(empty, some, sharing(1), 2).tolist() == [1, 0, 0]
    assert ask(some, empty, sharing(1), 2).tolist() == [1, 0, 0]
    check(empty, some, {"ALL A intersects EXISTS B": 1, "EXISTS(0) A during ALL B": 1})
    check(some, empty, {"ALL A intersects ALL B": 1, "ALL A intersects EXISTS B": 0})
