"""Recognizes events whose results are exactly the segments of a numbered stream.

Sequence numbers are consecutive in every world, times increase with them, and an event with an odd number opens the
segment that the next event closes. So an event derives the segments if it pairs each odd number with the next number.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import Bindings, ExpressionContext, holds
from inkling.model.event import Value
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents

_PLAIN = e.Literal | e.Compare | e.InList | e.IsNull | e.AllOf | e.AnyOf | e.Not
_FUNCTIONS = ("lower", "upper")


@dataclass(frozen=True, slots=True)
class DerivedSegments:
    """An event whose results are the segments of a stream; keys without segments have no results.

    `key` maps columns of its head to KEY columns of the stream; `opening` and `closing` map other columns to columns of
    the event that opens or closes a segment. If it `asks_for_roles`, the roles in the data decide: see `fits`.
    """

    stream: str
    key: Mapping[str, str]
    opening: Mapping[str, str]
    closing: Mapping[str, str]
    sequence: p.Sequence
    number: str
    role: str | None

    @property
    def asks_for_roles(self) -> bool:
        reads = (
            part for leaf in p.leaves(self.sequence) for condition in leaf.conditions for part in e.walk(condition)
        )
        return any(isinstance(part, e.ColumnOf) and part.column == self.role for part in reads)

    def fits(self, events: Iterable[tuple[Value, int]]) -> bool:
        """Whether the event derives the segments of a stream whose events have these roles and numbers."""
        opening, closing = p.leaves(self.sequence)
        seen = {(role, number % 2) for role, number in events}
        opens = {one: self._admits(opening, *one) for one in seen}
        closes = {one: self._admits(closing, *one) for one in seen}
        odd, even = ([one for one in seen if one[1] == parity] for parity in (1, 0))
        if not all(opens[one] for one in odd) or not all(closes[one] for one in even):
            return False
        only_odd_open = not any(opens[one] for one in even)
        only_even_close = not any(closes[one] for one in odd)
        return only_odd_open or (only_even_close and self.sequence.policy is p.Policy.STRICT)

    def _admits(self, leaf: p.Leaf, role: Value, parity: int) -> bool:
        def filled(expr: e.Expr) -> e.Expr:
            match expr:
                case e.Arithmetic(operator="%"):
                    return e.Literal(parity, Type.INTEGER)
                case e.ColumnOf(type=kind):
                    return e.Literal(role, kind)
                case _:
                    return e.rebuilt(expr, filled)

        context = ExpressionContext({}, _no_length)
        return all(holds(filled(condition), Bindings(), context) for condition in leaf.conditions)


def derived_segments_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[DerivedSegments | None]:
    """The segments that an event derives; None with the reason if it may derive something else."""
    pattern = event.pattern
    if not isinstance(pattern, p.Sequence) or len(pattern.parts) != 2:
        return Verdict(None, "it is not a sequence of two events")
    opening, closing = pattern.parts
    if not isinstance(opening, p.Leaf) or not isinstance(closing, p.Leaf) or opening.sources != closing.sources:
        return Verdict(None, "it is not a sequence of two events of one stream")
    stream = program.stream(opening.sources[0]) if len(opening.sources) == 1 else None
    uncertainty = None if stream is None else stream.schema.uncertainty
    if stream is None or not isinstance(uncertainty, LostEvents):
        return Verdict(None, "its events are not numbered")
    why = next(_obstacles(event, pattern, stream, uncertainty), None)
    if why is not None:
        return Verdict(None, why)
    found = DerivedSegments(
        stream.schema.name,
        _key(event, opening, closing),
        _columns(event, opening),
        _columns(event, closing),
        pattern,
        uncertainty.number,
        uncertainty.role,
    )
    if set(found.key.values()) != set(stream.schema.key):
        return Verdict(None, f"its head does not show the KEY of {stream.schema.name}")
    if found.asks_for_roles:
        return Verdict(found, "it pairs each opening event with the next closing event, if the data has these roles")
    if not found.fits((None, number) for number in (1, 2)):
        return Verdict(None, "it does not pair exactly the odd numbers with the numbers after them")
    return Verdict(found, "it pairs exactly the odd numbers with the numbers after them")


def _obstacles(event: p.EventPlan, pattern: p.Sequence, stream: p.StreamPlan, uncertainty: LostEvents) -> Iterator[str]:
    schema = stream.schema
    if pattern.policy is p.Policy.ANY:
        yield "an event may be paired with any later one"
    if event.scope != (schema.name,):
        yield "other events can lie in between"
    if {column.name for column in event.partition} != set(schema.key):
        yield f"it is not PARTITION BY the KEY of {schema.name}"
    if stream.reset_when is not None:
        yield f"{schema.name} has RESET WHEN"
    if event.within is not None or pattern.within is not None or event.keep is not None:
        yield "it limits how long a segment may last"
    if event.having:
        yield "HAVING filters segments"
    if event.restart or event.consumption is not None:
        yield "CONSUME makes results depend on each other"
    if event.per is p.Per.VALUES:
        yield "PER VALUES combines many segments into one result"
    if event.forecast is not None or event.timeouts_of is not None:
        yield "its results are forecasts or timeouts, not matches"
    for leaf in p.leaves(pattern):
        if leaf.atoms or leaf.checks:
            yield "it reads more than the number or role of an event"
        for condition in leaf.conditions:
            if not _reads_parity_or_role(condition, leaf.slot, uncertainty):
                yield "its conditions read more than whether an event opens or closes a segment"


def _reads_parity_or_role(expr: e.Expr, slot: int, uncertainty: LostEvents) -> bool:
    """Whether a condition reads only the parity of the sequence number and the role of its own event."""
    match expr:
        case e.Arithmetic(operator="%", left=e.ColumnOf(slot=own, column=column), right=e.Literal(value=2)):
            return own == slot and column == uncertainty.number
        case e.ColumnOf(slot=own, column=column):
            return own == slot and column == uncertainty.role and column != uncertainty.number
        case e.FunctionCall(name=name, args=args):
            return name in _FUNCTIONS and all(_reads_parity_or_role(arg, slot, uncertainty) for arg in args)
        case _:
            inside = e.children(expr)
            return isinstance(expr, _PLAIN) and all(_reads_parity_or_role(part, slot, uncertainty) for part in inside)


def _key(event: p.EventPlan, *leaves: p.Leaf) -> dict[str, str]:
    """Columns of the head that equal a partition column."""
    slots, partition = {leaf.slot for leaf in leaves}, {column.name for column in event.partition}
    found = {}
    for output in event.head:
        match output.expr:
            case e.KeyColumn(column=column):
                found[output.name] = column
            case e.ColumnOf(slot=slot, column=column) if slot in slots and column in partition:
                found[output.name] = column
            case _:
                pass
    return found


def _columns(event: p.EventPlan, leaf: p.Leaf) -> dict[str, str]:
    """Columns of the result that are columns of one of the two events."""
    partition = {column.name for column in event.partition}
    return {
        output.name: output.expr.column
        for output in (*event.head, *event.returns)
        if isinstance(output.expr, e.ColumnOf) and output.expr.slot == leaf.slot and output.expr.column not in partition
    }


def _no_length(span: Duration) -> int:
    raise AssertionError(f"{span} is no part of a condition on roles")
