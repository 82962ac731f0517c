"""Places of a pattern, their columns, and what can be seen from where: order, NOT, repetitions and branches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Columns, Source
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.streams.columns import reject_op
from inkling.logical.expr import Expr
from inkling.model.types import Type
from inkling.source import Span


@dataclass(frozen=True, slots=True)
class InSequence:
    number: int
    policy: p.Policy


@dataclass(frozen=True, slots=True)
class InRepetition:
    number: int
    at_most_once: bool


@dataclass(frozen=True, slots=True)
class InAbsence:
    """Inside `NOT`, which is checked once its whole sequence is placed."""

    number: int
    sequence: int


@dataclass(frozen=True, slots=True)
class InComplement:
    number: int


@dataclass(frozen=True, slots=True)
class InException:
    """Behind `EXCEPT`, which sees what stands before it."""

    number: int


@dataclass(frozen=True, slots=True)
class InBranch:
    choice: int
    branch: int


Fence = InAbsence | InComplement | InException
Frame = InSequence | InRepetition | Fence | InBranch
Path = tuple[Frame, ...]
"""What encloses a place, from the outside in."""


@dataclass(slots=True, eq=False)
class BodyPlace:
    """A pattern with clauses of its own; `having` fills up while conditions are bound."""

    path: Path
    first: int  # its slots are first, …, last
    last: int = -1
    where: s.Expr | None = None
    checks: list[s.Expr] = field(default_factory=list)  # HAVING, and CHECK of its parts
    having: list[Expr] = field(default_factory=list)

    @property
    def standpoint(self) -> Standpoint:
        return Standpoint(self.path, self.last)


@dataclass(slots=True, eq=False)
class Place:
    """One slot: a leaf, or a named nested pattern (`inner`); conditions and look-ups gather here."""

    number: int
    name: s.Ident | None
    span: Span
    path: Path
    body: BodyPlace  # the nearest body around it
    sources: tuple[Source, ...] = ()  # as written; none for `_`
    fillers: tuple[Source, ...] = ()  # whose events can fill it
    columns: Columns = field(default_factory=dict)  # what all of its sources share
    is_broken: bool = False
    inner: BodyPlace | None = None
    condition: s.Expr | None = None
    check: s.Expr | None = None  # CHECK of a repetition of this event
    breaks: bool = False  # whether that is tested once the event is chosen; else it is one more condition
    conditions: list[Expr] = field(default_factory=list)
    checks: list[Expr] = field(default_factory=list)
    atoms: list[p.TableAtom] = field(default_factory=list)

    @property
    def standpoint(self) -> Standpoint:
        return Standpoint(self.path, self.number, self.number)

    @property
    def repetitions(self) -> tuple[InRepetition, ...]:
        return tuple(frame for frame in self.path if isinstance(frame, InRepetition))

    @property
    def fences(self) -> tuple[Fence, ...]:
        """What hides it from the outside."""
        return tuple(frame for frame in self.path if isinstance(frame, Fence))

    @property
    def id_type(self) -> Type | None:
        kinds = {source.id_type for source in self.fillers}
        return kinds.pop() if len(kinds) == 1 else None

    @property
    def title(self) -> str:
        """How the user would call it."""
        if self.name is not None:
            return self.name.text
        return " | ".join(source.name for source in self.sources) or "_"


def hidden_by(place: Place, at: Standpoint) -> str:
    fence = next(fence for fence in place.fences if fence not in at.path)
    match fence:
        case InAbsence():
            return "NOT"
        case InComplement():
            return "COMPLEMENT"
        case InException():
            return "EXCEPT"


class Obstacle(Enum):
    """Why a place cannot be read from somewhere."""

    HIDDEN = "inside NOT, EXCEPT or COMPLEMENT"
    LATER = "not filled yet"
    OTHER_BRANCH = "in another branch of OR"


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where an expression is evaluated: what encloses it, and how far the pattern is filled there."""

    path: Path
    reach: int
    own: int | None = None  # the leaf whose candidate is tested

    def obstacle(self, place: Place) -> Obstacle | None:
        if any(fence not in self.path for fence in place.fences):
            return Obstacle.HIDDEN
        if place.number > self.reach and not self._waits_for(place):
            return Obstacle.LATER
        chosen = {frame.choice: frame.branch for frame in self.path if isinstance(frame, InBranch)}
        for frame in place.path:
            if isinstance(frame, InBranch) and chosen.get(frame.choice, frame.branch) != frame.branch:
                return Obstacle.OTHER_BRANCH
        return None

    def outer_repetitions(self, place: Place) -> tuple[InRepetition, ...]:
        """The repetitions that enclose the place but not the standpoint."""
        return tuple(frame for frame in place.repetitions if frame not in self.path)

    def shares_repetition(self, place: Place) -> bool:
        return any(frame in self.path for frame in place.repetitions)

    def _waits_for(self, place: Place) -> bool:
        """Inside NOT, everything in the sequence around it is known."""
        around = {frame.number for frame in place.path if isinstance(frame, InSequence)}
        return any(
            frame.sequence in around and frame not in place.path for frame in self.path if isinstance(frame, InAbsence)
        )


@dataclass(frozen=True, slots=True)
class DraftBody(p.Narrowed):
    """A nested body whose conditions are not placed yet."""

    place: BodyPlace = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern with all of its places, before any condition is bound."""

    pattern: p.Pattern
    within: p.Window | None
    top: BodyPlace
    places: tuple[Place, ...]
    bodies: tuple[BodyPlace, ...]  # the top body first

    def named(self, name: str) -> Place | None:
        return next((place for place in self.places if place.name and place.name.text == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(place.name.text for place in self.places if place.name)


def fill(part: p.Pattern, places: tuple[Place, ...]) -> p.Pattern:
    """The pattern with every condition and look-up at its place."""
    match part:
        case p.Leaf(slot=slot, sources=sources):
            place = places[slot]
            return p.Leaf(slot, sources, tuple(place.conditions), tuple(place.atoms), tuple(place.checks))
        case DraftBody(pattern=inner, within=within, slot=slot, place=body):
            filled = fill(inner, places)
            # an empty frame around a repetition still keeps it one part of its sequence
            if within is None and not body.having and slot is None and not isinstance(inner, p.Repetition):
                return filled
            return p.Narrowed(filled, within, tuple(body.having), slot)
        case p.Narrowed():
            raise AssertionError("nested bodies are drafts until they are filled")
        case p.Sequence(policy=policy, parts=parts, within=within):
            return p.Sequence(policy, tuple(_fill_part(one, places) for one in parts), within)
        case p.Conjunction(items=items):
            return p.Conjunction(tuple(fill(item, places) for item in items))
        case p.Disjunction(items=items):
            return p.Disjunction(tuple(fill(item, places) for item in items))
        case p.Parallel(items=items):
            return p.Parallel(tuple(fill(item, places) for item in items))
        case p.Related(left=left, relations=relations, right=right):
            return p.Related(fill(left, places), relations, fill(right, places))
        case p.Except(pattern=inner, other=other):
            return p.Except(fill(inner, places), fill(other, places))
        case p.TimePoint():
            return part
        case p.Quantified(left=x, right=y):
            return replace(part, left=_fill_operand(x, places), right=_fill_operand(y, places))
        case p.Sliding(leaf=leaf, since=since):
            first = None if since is None else _fill_leaf(since, places)
            return replace(part, leaf=_fill_leaf(leaf, places), since=first)
        case p.Repetition(pattern=inner):
            return replace(part, pattern=fill(inner, places))
        case p.OtherRun(pattern=inner):
            return p.OtherRun(fill(inner, places))


def _fill_operand(operand: p.Operand, places: tuple[Place, ...]) -> p.Operand:
    return replace(operand, leaf=_fill_leaf(operand.leaf, places))


def _fill_leaf(leaf: p.Leaf, places: tuple[Place, ...]) -> p.Leaf:
    filled = fill(leaf, places)
    assert isinstance(filled, p.Leaf)
    return filled


def _fill_part(part: p.Part, places: tuple[Place, ...]) -> p.Part:
    match part:
        case p.Absent(pattern=inner):
            return p.Absent(fill(inner, places))
        case p.Deadline() | p.StreamStart():
            return part
        case _:
            return fill(part, places)


def typed_column(place: Place, column: s.Ident, diagnostics: Diagnostics) -> Type | None:
    """The type of a column of a place, or None after saying what is wrong with it."""
    if column.text in place.columns:
        return place.columns[column.text]
    if not place.is_broken:
        _report(place, column, diagnostics)
    return None


def _report(place: Place, column: s.Ident, diagnostics: Diagnostics) -> None:
    owner = next((source.name for source in place.sources if source.op == column.text), None)
    if owner is not None:
        reject_op(owner, column, diagnostics)
        return
    near = did_you_mean(column.text, place.columns)
    partly = [source.name for source in place.sources if column.text in source.columns]
    if not place.sources:
        diagnostics.wrong(
            "INK0204",
            f"`_` has no column `{column}`",
            column,
            notes=["`_` is any event of the scope, so it has only the columns that all streams share"],
            helps=near,
        )
    elif partly:
        lacking = [source.name for source in place.sources if source.name not in partly]
        if lacking:
            message = f"`{column}` is not a column of every event that `{place.title}` can be"
            note = f"there is none in {listed(lacking)}"
        else:
            message = f"`{column}` has different types in the streams of `{place.title}`"
            kinds = (f"{source.columns[column.text]} in `{source.name}`" for source in place.sources)
            note = f"it is {', '.join(kinds)}"
        diagnostics.wrong("INK0218", message, column, notes=[note])
    else:
        owner = " | ".join(source.name for source in place.sources)
        notes = [] if near or not place.columns else [f"it has {listed(place.columns)}"]
        diagnostics.wrong("INK0204", f"`{owner}` has no column `{column}`", column, notes=notes, helps=near)
