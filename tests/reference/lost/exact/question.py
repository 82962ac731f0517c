"""What can be asked about the segments of two keys."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.evaluators.relation.points import ALL, RelationQuery
from inkling.evaluators.segments.relations import truth_table

BASIC = (
    "PRECEDES", "MEETS", "OVERLAPS", "FINISHED_BY", "CONTAINS", "STARTS", "EQUALS", "STARTED_BY", "DURING",
    "FINISHES", "OVERLAPPED_BY", "MET_BY", "PRECEDED_BY",
)  # fmt: skip
"""Of these, exactly one holds between any two segments that last."""

COMPOSITES = {
    "STARTS_BEFORE": ("PRECEDES", "MEETS", "OVERLAPS", "CONTAINS", "FINISHED_BY"),
    "ENDS_AFTER": ("PRECEDED_BY", "MET_BY", "OVERLAPPED_BY", "CONTAINS", "STARTED_BY"),
    "INTERSECTS": tuple(name for name in BASIC if name not in ("PRECEDES", "PRECEDED_BY")),
}

INVERSE = {
    "PRECEDES": "PRECEDED_BY",
    "MEETS": "MET_BY",
    "OVERLAPS": "OVERLAPPED_BY",
    "FINISHED_BY": "FINISHES",
    "CONTAINS": "DURING",
    "STARTS": "STARTED_BY",
    "EQUALS": "EQUALS",
}
INVERSE |= {inverse: name for name, inverse in INVERSE.items()}


@dataclass(frozen=True, slots=True)
class Question:
    """Whether enough left segments qualify, each by being related to enough right ones; None is every one.

    With `same`, only segments with one label are compared.
    """

    left: int | None
    relations: tuple[str, ...]
    right: int | None
    same: str | None = None

    @property
    def basic(self) -> frozenset[str]:
        """Its relations, each of the 13 on its own."""
        return frozenset(basic for name in self.relations for basic in COMPOSITES.get(name, (name,)))

    def holds(self, n_qualifying: int, n_left: int) -> bool:
        return is_enough(n_qualifying, self.left, n_left)

    def qualifies(self, n_related: int, n_comparable: int) -> bool:
        return is_enough(n_related, self.right, n_comparable)


def is_enough(count: int, least: int | None, total: int) -> bool:
    return count == total if least is None else count >= least


def sharing(count: int | None) -> Question:
    """Whether so many left segments touch some right one."""
    return Question(count, ("INTERSECTS",), 1)


def asked_of(question: Question, most: int) -> RelationQuery:
    """The same for kernels, which tell all numbers of qualifying segments up to `most`."""
    right = ALL if question.right is None else question.right
    return RelationQuery(truth_table(question.relations), right, question.same is not None, most, question.left is None)
