"""Numbers of SimpMatch's definition, each found in four ways that share little: all worlds counted by the definition
of quantified relations, the tree of worlds as it is and pruned, and the forward pass over cells. All in fractions.

A list has the times at which segments open and close in turn; `_` is a lost one. The same lists go through programs in
`test_simpmatch_losses.py` and `test_simpmatch_segments_ink.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest
from tests.kit.lost_pairs import chances_by_definition, flat
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.interleavings import interleavings, n_qualifying, patterns
from tests.reference.lost.exact.line import line_of
from tests.reference.lost.exact.question import BASIC, Question, sharing
from tests.reference.lost.forward import chance, counts
from tests.reference.lost.letters import parse_question
from tests.reference.lost.order import n_worlds
from tests.reference.lost.tree import walk

O1 = flat("0 2 4 6"), flat("1 _ _ 10")
O9 = flat("0 3 _ 9"), flat("1 _ 7 8")
O10 = flat("0 _ _ 6 8 11"), flat("1 3 _ _ _ 12")


def check(a: Flat, b: Flat, expected: Mapping[str, str | int], *, worlds: int | None = None) -> None:
    """Questions are about A and B; all ways to answer them agree."""
    for text, value in expected.items():
        asking = parse_question(text)
        left, right = (a, b) if asking.left == "A" else (b, a)
        wanted = Fraction(value)
        assert chance(left, right, asking.question) == wanted, text
        assert chances_by_definition(line_of(left), line_of(right), [asking.question]) == [wanted], text
        assert walk(left, right, asking.question).chance == wanted, text
        whole = walk(left, right, asking.question, reject=False, accept=False)
        assert whole.chance == wanted, text
        if worlds is not None:
            assert whole.n_worlds == worlds
    if worlds is not None:
        assert n_worlds([a, b]) == worlds


def shares(k: int, left: str = "A", right: str = "B") -> str:
    return f"EXISTS({k}) {left} intersects EXISTS {right}"


def single(probabilities: Mapping[str, str | int]) -> dict[str, str | int]:
    return {f"EXISTS A {name} EXISTS B": value for name, value in probabilities.items()}


def fractions(*values: str | int) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in values)


def test_O1_two_lost_between_recorded_ones() -> None:
    check(*O1, {shares(1): 1, shares(2): "19/27", shares(2, "B", "A"): "25/81"}, worlds=10)
    assert counts(*O1, sharing(1)) == fractions(0, "8/27", "19/27")


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
    relations = dict.fromkeys((name.lower() for name in BASIC), 0) | {
        "precedes": "80/81",
        "overlaps": "23/27",
        "contains": "17/81",
        "during": "25/81",
        "overlapped_by": "20/81",
        "preceded_by": "5/9",
    }
    check(*O1, expected | single(relations))


ORDERS = {
    1: {0: 2, 1: 4},
    2: {0: 6, 1: 32, 2: 32},
    3: {0: 20, 1: 180, 2: 408, 3: 316},
    4: {0: 70, 1: 896, 2: 3360, 3: 5184, 4: 3360},
}


@pytest.mark.parametrize("n_segments", ORDERS)
def test_O4_interleavings_by_how_many_segments_share_time(n_segments: int) -> None:
    orders = interleavings(n_segments, n_segments)
    assert Counter(n_qualifying(order, sharing(1)) for order in orders) == ORDERS[n_segments]


def test_O4_patterns_that_would_have_to_be_listed() -> None:
    assert [len(patterns(2, 2, sharing(k))) for k in (0, 1, 2, 3)] == [70, 64, 32, 0]


@pytest.mark.parametrize(
    ("n_segments", "expected"),
    [
        (1, fractions("1/3", "2/3")),
        (2, fractions("3/35", "16/35", "16/35")),
        (3, fractions("5/231", "15/77", "34/77", "79/231")),
        (4, fractions("7/1287", "448/6435", "112/429", "288/715", "112/429")),
        (5, tuple(Fraction(n, 46189) for n in (63, 1050, 5640, 13590, 16580, 9266))),
    ],
)
def test_O5_everything_is_lost_in_one_window(n_segments: int, expected: tuple[Fraction, ...]) -> None:
    lost = flat("_ " * 2 * n_segments, lo=0, hi=1)
    assert counts(lost, lost, sharing(1)) == expected
    if n_segments in ORDERS:
        total = sum(ORDERS[n_segments].values())
        assert expected == tuple(Fraction(n, total) for n in ORDERS[n_segments].values())


def test_O5_each_order_of_two_lost_segments_is_equally_likely() -> None:
    lost = flat("_ _", lo=0, hi=1)
    names = ("precedes", "overlaps", "contains", "during", "overlapped_by", "preceded_by")
    check(lost, lost, single(dict.fromkeys(names, "1/6")), worlds=6)


def test_O7_a_lost_segment_around_a_recorded_one() -> None:
    expected = {
        "precedes": "4/25", "overlaps": "4/25", "contains": "8/25", "during": "1/25", "overlapped_by": "4/25",
        "preceded_by": "4/25",
    }  # fmt: skip
    check(flat("_ _", lo=0, hi=10), flat("4 6"), single(expected))


def test_O8_head_and_tail() -> None:
    expected = {
        "precedes": "1/6", "overlaps": "1/6", "contains": "1/3", "during": "1/6", "overlapped_by": "1/6",
        "preceded_by": 0,
    }  # fmt: skip
    check(flat("2 _", hi=10), flat("_ 6", lo=0), single(expected))
    thirds = dict.fromkeys(("contains", "overlapped_by", "preceded_by"), "1/3")
    check(flat("_ 5", lo=2), flat("3 4"), single(thirds))


def test_O9_windows_that_overlap_in_part() -> None:
    expected = {
        shares(1): 1,
        shares(2): "5/6",
        shares(2, "B", "A"): "5/6",
        "ALL A intersects ALL B": 0,
        "EXISTS A intersects EXISTS(2) B": "2/9",
        "EXISTS A precedes ALL B": 0,
    }
    check(*O9, expected, worlds=7)


def test_O10_three_segments() -> None:
    check(*O10, {shares(1): "2176/2187", shares(2): "46835/52488", shares(3): "21829/52488"}, worlds=186)
    assert counts(*O10, sharing(1)) == fractions("11/2187", "5389/52488", "12503/26244", "21829/52488")


def test_O11_containment() -> None:
    check(flat("0 _ _ 10"), flat("1 2 8 9"), {"ALL B during EXISTS A": "19/50"}, worlds=15)
    check(flat("0 _ _ 10"), flat("1 _ 8 9"), {"ALL B during EXISTS A": "11/60"}, worlds=15)


def test_O12_recorded_ties() -> None:
    expected = {
        "EXISTS A meets EXISTS B": 1,
        "EXISTS A met_by EXISTS B": 1,
        "EXISTS A {precedes, preceded_by} EXISTS B": 0,
    }
    check(flat("0 4 6 8"), flat("4 6"), expected, worlds=1)
    assert counts(flat("0 4 6 8"), flat("4 6"), sharing(1)) == fractions(0, 0, 1)
    touching = {"EXISTS A intersects EXISTS B": 1, "EXISTS A precedes EXISTS B": 0}
    check(flat("0 2"), flat("2 4"), touching, worlds=1)


def test_O13_ties_beside_lost_events() -> None:
    first = {"meets": 1, "finishes": "1/3", "finished_by": "2/3", "overlapped_by": "1/3", "equals": 0}
    check(flat("0 4 _ 8"), flat("4 _ _ 8"), {**single(first), shares(2): 1}, worlds=3)
    second = {"starts": 1, "overlaps": "1/3", "contains": "1/3"}
    check(flat("0 _ 3 5"), flat("1 _ 3 6"), single(second), worlds=3)
    assert counts(flat("0 _ 3 5"), flat("1 _ 3 6"), sharing(1)) == fractions(0, "1/3", "2/3")


def test_O14_quantities_without_loss() -> None:
    expected = {
        "EXISTS(3) A intersects EXISTS B": 1,
        "EXISTS A intersects EXISTS(2) B": 0,
        "ALL A intersects EXISTS B": 1,
        "ALL A intersects ALL B": 0,
        "EXISTS(2) A precedes EXISTS B": 1,
        "EXISTS(3) A precedes EXISTS B": 0,
        "EXISTS A overlaps EXISTS B": 1,
        "EXISTS(2) A overlaps EXISTS B": 0,
        **{f"{x} A {{during, contains}} {y} B": 0 for x in ("ALL", "EXISTS") for y in ("ALL", "EXISTS")},
    }
    check(flat("0 2 4 6 8 10"), flat("1 5 7 9"), expected, worlds=1)


def test_O15_sharing_is_not_symmetric() -> None:
    """The second and the third also show that relations of whole keys are not those of single segments."""
    expected = {shares(2): 0, shares(2, "B", "A"): 1, "EXISTS A intersects EXISTS(2) B": 1}
    check(flat("0 10"), flat("1 2 4 5"), expected)


def test_O16_labels() -> None:
    a, b = flat("_ _ _ _", lo=0, hi=12, labels=("x", "y")), flat("2 4 6 10", labels=("x", "y"))
    expected = {
        "EXISTS A intersects EXISTS B ON SAME label": "1189/1296",
        "EXISTS(2) A intersects EXISTS B ON SAME label": "181/324",
        "EXISTS A intersects EXISTS B": "425/432",
    }
    check(a, b, expected, worlds=70)


def test_O17_the_end_was_lost_before_a_timeout() -> None:
    check(O1[0], flat("1 _ _ _", hi=12), {shares(2): "980/1331"}, worlds=20)


def test_O26_long_runs() -> None:
    left, right = flat("0 " + "_ " * 8 + "10"), flat("4 " + "_ " * 8 + "16")
    expected = fractions(
        "61105183/4468750000", "146560387/1117187500", "31177169/85937500", "103169763/279296875",
        "527615937/4468750000", "1366146/279296875",
    )  # fmt: skip
    found = counts(left, right, sharing(1))
    assert found == expected
    assert sum(found) == 1


@pytest.mark.parametrize(
    ("question", "of_nothing", "about_nothing"),
    [
        ("ALL A precedes EXISTS B", 1, 0),
        ("EXISTS A precedes ALL B", 0, 1),
        ("EXISTS(0) A precedes EXISTS B", 1, 1),
        ("ALL A precedes EXISTS(0) B", 1, 1),
        ("EXISTS(3) A precedes EXISTS(0) B", 0, 0),
        ("EXISTS A precedes EXISTS(3) B", 0, 0),
    ],
)
def test_a_key_without_segments_and_numbers_beyond_them(question: str, of_nothing: int, about_nothing: int) -> None:
    check(flat(""), flat("4 _", hi=6), {question: of_nothing})
    check(flat("1 _ 4 5"), flat(""), {question: about_nothing})


def test_O22_arrivals_that_become_more_frequent() -> None:
    """The intensity grows with time, so lost points are spread evenly over its square."""
    assert chance(*O1, sharing(2), along=lambda time: time**2) == Fraction(2627, 3267)
    assert 1 - Fraction(2 * 15 * 64, 99**2) == Fraction(2627, 3267)


def test_O21_erlang_gaps() -> None:
    """One lost point between 0 and 1 comes before 1/3 as often as two or three of three points do."""
    lost, third = flat("0 _ 1 2", shape=2), flat("1/3 3")
    after_a_third = chance(lost, third, Question(1, ("OVERLAPS",), 1))
    assert 1 - after_a_third == Fraction(7, 27)
    assert chance(flat("0 _ 1 2"), third, Question(1, ("OVERLAPS",), 1)) == Fraction(2, 3)
    left, right = O1
    erlang = Flat(right.times, shape=2)
    assert chance(left, erlang, sharing(2)) == Fraction(4481, 6561)
    assert walk(left, erlang, sharing(2)).chance == Fraction(4481, 6561)
    assert chances_by_definition(line_of(left), line_of(erlang), [sharing(2)]) == [Fraction(4481, 6561)]
