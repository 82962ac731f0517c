"""Whether a left segment qualifies, or is bound to, from its place among the ends of right segments."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.lost.exact.question import Question
from tests.reference.lost.exact.ranks import Ranks, n_related

from inkling.logical.patterns.allen import relation_holds
from inkling.model.time import Instant

Rank = tuple[int, int]
"""How many ends of right segments come before a moment, and how many before or at it."""


class Judging:
    def __init__(self, question: Question, labels: Sequence[object]) -> None:
        """`labels` are those of the right segments."""
        self._question, self._labels = question, labels
        self._n_ends = 2 * len(labels)
        self._verdicts: dict[tuple[object, Rank, int], frozenset[bool]] = {}

    def qualifies(self, label: object, start: Rank, end: Rank) -> bool:
        if self._question.same is None:
            n_right = len(self._labels)
            return self._question.qualifies(n_related(self._question.basic, Ranks(*start, *end), n_right), n_right)
        comparable = [place for place, other in enumerate(self._labels) if label is not None and other == label]
        related = [place for place in comparable if self._are_related(start, end, place)]
        return self._question.qualifies(len(related), len(comparable))

    def verdicts(self, label: object, start: Rank, come: int) -> frozenset[bool]:
        """How the segment that is open can turn out, after so many ends of right segments."""
        case = label, start, come
        if case not in self._verdicts:
            ends = [(rank, rank) for rank in range(come, self._n_ends + 1)]
            ties = [(rank, rank + 1) for rank in range(come, self._n_ends)]
            self._verdicts[case] = frozenset(self.qualifies(label, start, end) for end in (*ends, *ties))
        return self._verdicts[case]

    def _are_related(self, start: Rank, end: Rank, place: int) -> bool:
        ends = (_moment(start), _moment(end), _end_of_right(2 * place), _end_of_right(2 * place + 1))
        return any(relation_holds(name, *ends) for name in self._question.relations)


def _moment(rank: Rank) -> Instant:
    """Ends of right segments lie at even times here, and what is between them at odd ones."""
    before, through = rank
    return Instant(2 * before if before < through else 2 * before - 1)


def _end_of_right(place: int) -> Instant:
    return Instant(2 * place)
