"""Groundings of a query: which streams belong to which values of its variables (Lahar, section 3.2).

A grounding is the query with constants in place of some variables. If the query is independent on these variables,
every stream belongs to one grounding, and groundings are independent of each other. A grounding is named by a hash of
its values, which is the same in every process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query, QueryVariable
from inkling.evaluators.query.probable_events import NULL_KEY, ProbableEvents, constant_keys, equality_codes
from inkling.evaluators.stage.rows.keys import is_among
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes, combined


@dataclass(frozen=True, slots=True)
class Groundings:
    """For each stream its grounding, and which subgoals read the stream."""

    grounding: Hashes
    reads: Mask  # [subgoal, stream]

    @property
    def masks(self) -> Ints:
        """For each stream, the bits of predicate masks of the subgoals that read it."""
        masks = np.zeros(self.reads.shape[1], np.int64)
        for subgoal, read in enumerate(self.reads):
            masks |= np.where(read, 3 << (2 * subgoal), 0)
        return masks


class StateByGrounding:
    """A state that has one part per grounding: what splitting and merging by key need."""

    __slots__ = ()
    groundings: Mapping[int, Any]

    @property
    def known(self) -> Hashes:
        """The groundings of the state, in no order."""
        return np.fromiter(self.groundings, np.uint64, len(self.groundings))

    def only(self, groundings: Hashes) -> Self:
        """The state of some groundings, given in ascending order."""
        chosen = is_among(self.known, groundings)
        parts = zip(self.groundings.items(), chosen, strict=True)
        return type(self)({name: one for (name, one), is_chosen in parts if is_chosen})  # type: ignore[call-arg]

    def merged(self, other: Self) -> Self:
        """The state of the groundings of two states that have none in common."""
        return type(self)({**self.groundings, **other.groundings})  # type: ignore[call-arg]


def groundings_of(query: Query, variables: Sequence[str], events: ProbableEvents, n_subgoals: int) -> Groundings:
    """The groundings by variables on which the first subgoals are independent."""
    n = events.n_streams
    reads = np.zeros((n_subgoals, n), bool)
    codes = [np.zeros(n, np.uint64) for _ in variables]
    for number in range(n_subgoals):
        source = query.subgoals[number].source
        reads[number] = events.source == events.sources.index(source)
        for column, constant in constant_keys(query, number):
            reads[number] &= events.keys[source, column] == constant
    for code, name in zip(codes, variables, strict=True):
        variable = query.variable(name)
        for source in events.sources:
            subgoals = [number for number in range(n_subgoals) if query.subgoals[number].source == source]
            if not subgoals:
                continue
            mine = events.source == events.sources.index(source)
            code[mine] = events.keys[source, _common_column(query, variable, subgoals)][mine]
            for number in subgoals:
                for column in query.key_columns(variable, number):
                    reads[number] &= ~mine | (events.keys[source, column] == code)
        if len(variable.places) > 1:  # a null equals nothing, so subgoals cannot agree on it
            reads &= code != NULL_KEY
    return Groundings(grounding_names(codes, n), reads)


def grounding_names(codes: Sequence[Hashes], n: int) -> Hashes:
    """One name per combination of values; 0 for the one grounding of a query without variables."""
    return combined(np.zeros(n, np.uint64), *codes) if codes else np.zeros(n, np.uint64)


def grounding_of_rows(query: Query, variables: Sequence[str], source: str, rows: pa.Table) -> Hashes:
    """The grounding of each row of a stream, by variables on which all subgoals are independent."""
    columns = [holding_column(query, one, source) for one in variables]
    return grounding_names([equality_codes(rows[column].combine_chunks()) for column in columns], len(rows))


def holding_column(query: Query, variable: str, source: str) -> str:
    """The KEY column of a stream that has the value of a variable on which all subgoals are independent."""
    subgoals = [number for number, subgoal in enumerate(query.subgoals) if subgoal.source == source]
    return _common_column(query, query.variable(variable), subgoals)


def _common_column(query: Query, variable: QueryVariable, subgoals: Sequence[int]) -> str:
    return min(set.intersection(*(query.key_columns(variable, number) for number in subgoals)))
