"""Lists of points: what they are made of, and why some are not lists of segments."""

from __future__ import annotations

import pytest
from tests.kit.lost_pairs import flat
from tests.reference.lost.exact.certain import answer, n_qualifying
from tests.reference.lost.exact.flat import Flat, fault_of, of_segments, segments_of
from tests.reference.lost.exact.line import line_of
from tests.reference.lost.exact.question import Question, sharing
from tests.reference.lost.forward import counts
from tests.reference.lost.tree import walk

from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS

FAULTS = [
    (flat("0 2 4"), "odd_count"),
    (flat("0 4 2 6"), "not_increasing"),
    (flat("0 2 2 6"), "not_increasing"),
    (flat("0 2 4 4"), "zero_length_segment"),
    (flat("0 _ _ 0"), "zero_window_with_losses"),
    (flat("4 _ _ 3"), "not_increasing"),
    (flat("_ 5", lo=5), "zero_window_with_losses"),
    (flat("_ 5"), "missing_bound"),
    (flat("5 _", lo=0), "missing_bound"),
    (flat("_ _", lo=0), "missing_bound"),
    (flat("_ _", rate=1.0), "missing_bound"),
]


@pytest.mark.parametrize(("faulty", "reason"), FAULTS)
def test_reasons(faulty: Flat, reason: str) -> None:
    assert fault_of(faulty) == reason
    for ask in (counts, walk):
        with pytest.raises(ValueError, match=f"^{reason}$"):
            ask(flat("0 1"), faulty, sharing(1))
        with pytest.raises(ValueError, match=f"^{reason}$"):
            ask(faulty, flat("0 1"), sharing(1))


@pytest.mark.parametrize("sound", [flat(""), flat("0 2"), flat("_ 5", lo=0), flat("_ 5", rate=1.0), flat("5 _", hi=6)])
def test_no_reason(sound: Flat) -> None:
    assert fault_of(sound) is None


def test_a_rate_has_no_fractions() -> None:
    with pytest.raises(ValueError, match="missing_bound"):
        counts(flat("5 _", rate=1.0), flat("0 1"), sharing(1))
    with pytest.raises(ValueError, match="missing_bound"):
        walk(flat("5 _", rate=1.0), flat("0 1"), sharing(1))


@pytest.mark.parametrize("text", ["", "0 2", "0 _ _ 6", "0 2 _ _ 5 _"])
def test_segments_and_points_are_the_same(text: str) -> None:
    assert of_segments(segments_of(flat(text))) == flat(text)


def test_labels_are_those_of_segments() -> None:
    with pytest.raises(ValueError, match="1 labels of 2 segments"):
        flat("0 1 2 3", labels=("x",))


def test_bounds_are_points_where_they_matter() -> None:
    assert [point.turn for point in line_of(flat("1 2", lo=0, hi=9)).points] == [OPENS, CLOSES]
    assert [point.turn for point in line_of(flat("_ _", lo=0, hi=9)).points] == [NEITHER, OPENS, CLOSES, NEITHER]


@pytest.mark.parametrize(
    ("given", "n_hidden"),
    [
        (flat("0 _ _ 9", shape=3), 6),
        (flat("0 1 _ 9", shape=3), 4),
        (flat("0 1 2 3", shape=3), 0),
        (flat("_ _", lo=0, hi=9, shape=2), 3),
        (flat("0 _", rate=1.0, shape=3), 2),
        (flat("_ 0", rate=1.0, shape=3), 2),
    ],
)
def test_erlang_gaps_hide_points(given: Flat, n_hidden: int) -> None:
    """A run of m between recorded points or bounds has m + 1 gaps, a tail or head of a rate has m."""
    hidden = [point for point in line_of(given).points if point.turn == NEITHER and point.time is None]
    assert len(hidden) == n_hidden


def test_certain_answers_of_segments_that_touch() -> None:
    """A is [0, 4] and [4, 8]: both touch [4, 5], and one meets it."""
    a, b = flat("0 4 4 8"), flat("4 5")
    assert n_qualifying(a, b, sharing(1)) == 2
    assert answer(a, b, Question(1, ("MEETS",), None))
    assert not answer(a, b, Question(2, ("MEETS",), None))
    with pytest.raises(ValueError, match="lost"):
        n_qualifying(flat("0 _"), b, sharing(1))
