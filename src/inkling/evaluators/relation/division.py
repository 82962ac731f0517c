"""How relations are divided among workers: by the columns in which compared keys agree, large groups in shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from inkling.analysis.relation import RelationOperand, SegmentRelation
from inkling.evaluators.division import ByPairs, Carried, EvaluatorPart, EventMatches, Finish, Piece, Share
from inkling.evaluators.gaps.rows import RolesOf
from inkling.evaluators.protocol import Rows
from inkling.evaluators.relation.event import RelationEvent, RelationMatches, RelationOperands
from inkling.evaluators.relation.operands import OperandKeys
from inkling.evaluators.relation.program import RelationProgram, emitted
from inkling.evaluators.relation.results import matches_of, not_exact
from inkling.logical import expr as e
from inkling.logical.plan import Demand, StreamPlan
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.uncertainty import LostEvents, Uncertainty
from inkling.results import ROUNDING, Matches, rejected

IDS_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class RelationPart(EvaluatorPart):
    """Relations that read the same streams and are divided by the same columns."""

    program: RelationProgram

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches]:
        share = piece if isinstance(piece, Share) else Share()
        for name, evaluator in self.program.evaluators.items():
            for matches in self._matches(evaluator, evaluator.operands(rows), share):
                yield EventMatches(name, matches)

    def _matches(self, evaluator: RelationEvent, operands: RelationOperands, share: Share) -> Iterator[Matches]:
        """Matches of a share; only the sampled ones where EXACT is violated, so that the driver can report them."""
        keys, name = operands.left, evaluator.event.name
        columns = tuple(column.name for column in evaluator.relation.left.declared.key)
        chosen = shared_keys(share, np.diff(keys.lists.begins), keys.hashes(columns))
        for ones, others in evaluator.pairs(operands, chosen):
            found = evaluator.found(operands, ones, others)
            sampled = rejected(evaluator.event, found.error, ROUNDING)
            found = found.where(sampled) if sampled.any() else emitted(evaluator, operands, ones, others, found)
            for some in _portions(found, keys):
                yield matches_of(evaluator, operands, some, self.ids[name])


def shared_keys(share: Share, n_points: Ints, names: Hashes) -> Ints:
    """The left keys of a share, dealt out by number of points, so that shares take about the same time.

    The deal depends on the hashes of keys, not on the order of rows.
    """
    if share.count == 1:
        return np.arange(len(names))
    order = np.lexsort((names, -n_points))
    turn, place = np.divmod(np.arange(len(order)), share.count)
    taken = np.where(turn % 2 == 0, place, share.count - 1 - place)
    return np.sort(order[taken == share.number])


def _portions(found: RelationMatches, keys: OperandKeys) -> Iterator[RelationMatches]:
    """The matches in portions of at most about IDS_AT_ONCE ids: the lineage has all events of the left key."""
    place = np.cumsum(np.diff(keys.lists.begins)[found.ones]) // IDS_AT_ONCE
    for number in np.unique(place):
        yield found.where(place == number)


_Columns = tuple[tuple[str, tuple[str, ...]], ...]


def relation_parts(program: RelationProgram) -> list[EvaluatorPart]:
    """The parts of a program; raises `InputError` where a table of rates is invalid."""
    nothing = {one.schema.name: Carried.of(one).nothing for one in program.part.streams}
    for evaluator in program.evaluators.values():
        evaluator.operands(nothing)
    found: dict[_Columns, list[str]] = {}
    for event in program.part.events:
        found.setdefault(_columns(program.evaluators[event.name]), []).append(event.name)
    return [_part(program, names, ByPairs(dict(columns))) for columns, names in found.items()]


def _columns(evaluator: RelationEvent) -> _Columns:
    left, right = (operand.stream for operand in evaluator.relation.operands)
    pairs = dict.fromkeys(zip(*evaluator.joined_by, strict=True))
    if left == right:
        # every key is a left and a right one, so both must be divided by the same columns
        return ((left, tuple(one for one, other in pairs if one == other)),)
    return tuple(sorted([(left, tuple(one for one, _ in pairs)), (right, tuple(other for _, other in pairs))]))


def _part(program: RelationProgram, names: Sequence[str], division: ByPairs) -> RelationPart:
    """The part of some relations, with only the streams and tables that these read."""
    events = tuple(one for one in program.part.events if one.name in names)
    streams = tuple(one for one in program.part.streams if one.schema.name in division.columns)
    relations = {name: program.relations[name] for name in names}
    uncertainties = [one.schema.uncertainty for one in streams if isinstance(one.schema.uncertainty, LostEvents)]
    asked = {
        name for uncertainty in uncertainties for name in (uncertainty.intensity, uncertainty.known) if name is not None
    }
    exact = [one.name for one in events if one.demand is Demand.EXACT]
    return RelationPart(
        events=events,
        ids={name: program.id_types[name] for name in names},
        carried=tuple(_carried(one, list(relations.values())) for one in streams),
        division=division,
        finishes=dict.fromkeys(exact, Finish(not_exact=not_exact)),
        program=replace(
            program,
            part=replace(program.part, streams=streams, events=events),
            relations=relations,
            tables={name: program.tables[name] for name in asked},
        ),
    )


def _carried(stream: StreamPlan, relations: Sequence[SegmentRelation]) -> Carried:
    uncertainty, asked = stream.schema.uncertainty, set(_asked(stream, relations))
    has_roles = isinstance(uncertainty, LostEvents) and uncertainty.role in asked
    needed = {*asked, *_paired(stream, relations), *_of_uncertainty(uncertainty)}
    return Carried.of(stream, needed, summary=RolesOf.stated(stream.schema) if has_roles else None)


def _sides(
    stream: StreamPlan, relations: Sequence[SegmentRelation]
) -> Iterator[tuple[RelationOperand, SegmentRelation]]:
    for relation in relations:
        yield from ((operand, relation) for operand in relation.operands if operand.stream == stream.schema.name)


def _asked(stream: StreamPlan, relations: Sequence[SegmentRelation]) -> Iterator[str]:
    """Columns that conditions on segments and ON SAME read."""
    for operand, relation in _sides(stream, relations):
        yield from [] if relation.same is None else [relation.same]
        for condition in (*operand.declared.leaf.conditions, *operand.opens, *operand.closes):
            yield from (part.column for part in e.walk(condition) if isinstance(part, e.ColumnOf | e.KeyColumn))


def _paired(stream: StreamPlan, relations: Sequence[SegmentRelation]) -> Iterator[str]:
    """Columns that show which events open and close segments."""
    for operand, _ in _sides(stream, relations):
        pairing = operand.declared.pairing
        if pairing is not None:
            yield from (one.name for one in (pairing.role, pairing.number) if one is not None)


def _of_uncertainty(uncertainty: Uncertainty | None) -> Iterator[str]:
    """Columns that describe lost events: number, role, count, bounds and rate."""
    if isinstance(uncertainty, LostEvents):
        columns = (
            uncertainty.number,
            uncertainty.role,
            uncertainty.count,
            *(uncertainty.bounds or ()),
            uncertainty.rate,
        )
        yield from (name for name in columns if isinstance(name, str))
