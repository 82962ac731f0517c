"""Drafts of a pattern while it is bound: slots, bodies, and which slots an expression can read at a given point.

A slot can be read if it is bound earlier, is not hidden by NOT, EXCEPT or COMPLEMENT, and stands in the same branch of
OR. The path of a slot lists what encloses it, from the outside in:

    SEQ(A a, NOT B b, (C c OR D d)+)    -- path of `d`: InSequence, InRepetition, InBranch
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import CatalogSource, Columns, reject_op
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.expr import Expr
from inkling.model.types import Type
from inkling.source import Span


@dataclass(frozen=True, slots=True)
class InSequence:
    """Inside a sequence with a selection policy."""

    number: int
    policy: p.Policy


@dataclass(frozen=True, slots=True)
class InRepetition:
    """Inside a repetition; `at_most_once` for `p?`."""

    number: int
    at_most_once: bool


@dataclass(frozen=True, slots=True)
class InAbsence:
    """Inside `NOT`, which is tested once all other parts of its sequence are bound."""

    number: int
    sequence: int


@dataclass(frozen=True, slots=True)
class InComplement:
    """Inside `COMPLEMENT`."""

    number: int


@dataclass(frozen=True, slots=True)
class InException:
    """On the right side of `EXCEPT`, which can read the left side."""

    number: int


@dataclass(frozen=True, slots=True)
class InBranch:
    """Inside one branch of an `OR`."""

    choice: int
    branch: int


Barrier = InAbsence | InComplement | InException
Frame = InSequence | InRepetition | Barrier | InBranch
Path = tuple[Frame, ...]
"""What encloses a slot, from the outside in."""


@dataclass(slots=True, eq=False)
class BodyDraft:
    """A pattern with clauses of its own; `having` collects the conditions that are bound to it."""

    path: Path
    first: int  # its slots are first, …, last
    last: int = -1
    where: s.Expr | None = None
    checks: list[s.Expr] = field(default_factory=list)  # HAVING, and CHECK of its parts
    having: list[Expr] = field(default_factory=list)
    limits: tuple[p.Window, ...] = ()  # of this body and of those around it

    @property
    def evaluation_point(self) -> EvaluationPoint:
        return EvaluationPoint(self.path, self.last)


@dataclass(slots=True, eq=False)
class SlotDraft:
    """One slot: a leaf, or a named nested pattern (`inner`), with the conditions and look-ups bound to it so far."""

    number: int
    name: s.Ident | None
    span: Span
    path: Path
    body: BodyDraft  # the innermost enclosing body
    sources: tuple[CatalogSource, ...] = ()  # as in the program; none for `_`
    fillers: tuple[CatalogSource, ...] = ()  # the sources whose events can fill the slot
    columns: Columns = field(default_factory=dict)  # columns that all sources share
    is_broken: bool = False
    inner: BodyDraft | None = None
    condition: s.Expr | None = None
    check: s.Expr | None = None  # CHECK of a repetition of this event
    breaks: bool = False  # whether CHECK is tested after the event is chosen; else CHECK is one more condition
    conditions: list[Expr] = field(default_factory=list)
    checks: list[Expr] = field(default_factory=list)
    atoms: list[p.TableAtom] = field(default_factory=list)

    @property
    def evaluation_point(self) -> EvaluationPoint:
        return EvaluationPoint(self.path, self.number, self.number)

    @property
    def repetitions(self) -> tuple[InRepetition, ...]:
        return tuple(frame for frame in self.path if isinstance(frame, InRepetition))

    @property
    def barriers(self) -> tuple[Barrier, ...]:
        """The enclosing NOT, COMPLEMENT and EXCEPT, which hide the slot from the outside."""
        return tuple(frame for frame in self.path if isinstance(frame, Barrier))

    @property
    def id_type(self) -> Type | None:
        kinds = {source.id_type for source in self.fillers}
        return kinds.pop() if len(kinds) == 1 else None

    @property
    def title(self) -> str:
        """The variable of the slot, or its sources, for messages."""
        if self.name is not None:
            return self.name.text
        return " | ".join(source.name for source in self.sources) or "_"


def hidden_by(slot: SlotDraft, at: EvaluationPoint) -> str:
    barrier = next(barrier for barrier in slot.barriers if barrier not in at.path)
    match barrier:
        case InAbsence():
            return "NOT"
        case InComplement():
            return "COMPLEMENT"
        case InException():
            return "EXCEPT"


class ScopeObstacle(Enum):
    """Why a slot cannot be read at an evaluation point."""

    HIDDEN = "inside NOT, EXCEPT or COMPLEMENT"
    LATER = "not filled yet"
    OTHER_BRANCH = "in another branch of OR"


@dataclass(frozen=True, slots=True)
class EvaluationPoint:
    """Where an expression is evaluated: what encloses it, and up to which slot the pattern is bound there."""

    path: Path
    reach: int
    own: int | None = None  # the slot whose candidate event is tested

    def obstacle(self, slot: SlotDraft) -> ScopeObstacle | None:
        if any(barrier not in self.path for barrier in slot.barriers):
            return ScopeObstacle.HIDDEN
        if slot.number > self.reach and not self._waits_for(slot):
            return ScopeObstacle.LATER
        chosen = {frame.choice: frame.branch for frame in self.path if isinstance(frame, InBranch)}
        for frame in slot.path:
            if isinstance(frame, InBranch) and chosen.get(frame.choice, frame.branch) != frame.branch:
                return ScopeObstacle.OTHER_BRANCH
        return None

    def outer_repetitions(self, slot: SlotDraft) -> tuple[InRepetition, ...]:
        """The repetitions that enclose the slot but not this point, so that the slot is a list here."""
        return tuple(frame for frame in slot.repetitions if frame not in self.path)

    def shares_repetition(self, slot: SlotDraft) -> bool:
        return any(frame in self.path for frame in slot.repetitions)

    def _waits_for(self, slot: SlotDraft) -> bool:
        """Whether the slot is bound because this point is inside NOT, which is tested after its whole sequence."""
        around = {frame.number for frame in slot.path if isinstance(frame, InSequence)}
        return any(
            frame.sequence in around and frame not in slot.path for frame in self.path if isinstance(frame, InAbsence)
        )


@dataclass(frozen=True, slots=True)
class NestedDraft(p.Narrowed):
    """A nested body whose conditions are not bound yet."""

    draft: BodyDraft = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class OptionalDraft(p.Repetition):
    """`OPTIONAL p`, before it becomes an outer join."""


@dataclass(frozen=True, slots=True)
class PatternDraft:
    """A pattern with all of its slots, before conditions are bound."""

    pattern: p.Pattern
    within: p.Window | None
    top: BodyDraft
    slots: tuple[SlotDraft, ...]
    bodies: tuple[BodyDraft, ...]  # the top body first

    def named(self, name: str) -> SlotDraft | None:
        return next((slot for slot in self.slots if slot.name and slot.name.text == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(slot.name.text for slot in self.slots if slot.name)


def fill(part: p.Pattern, slots: tuple[SlotDraft, ...]) -> p.Pattern:
    """The pattern with the conditions and look-ups of its slots and bodies."""
    match part:
        case p.Leaf(slot=slot, sources=sources):
            draft = slots[slot]
            return p.Leaf(slot, sources, tuple(draft.conditions), tuple(draft.atoms), tuple(draft.checks))
        case NestedDraft(pattern=inner, within=within, slot=slot, draft=body):
            filled = fill(inner, slots)
            # without a nested body around it, a repetition would be spliced into its sequence
            if within is None and not body.having and slot is None and not isinstance(inner, p.Repetition):
                return filled
            return p.Narrowed(filled, within, tuple(body.having), slot)
        case p.Narrowed():
            raise AssertionError("nested bodies are drafts until they are filled")
        case _:
            return p.rebuilt(part, lambda inner: fill(inner, slots))


def typed_column(slot: SlotDraft, column: s.Ident, diagnostics: Diagnostics) -> Type | None:
    """The type of a column of a slot, or None after reporting an error."""
    if column.text in slot.columns:
        return slot.columns[column.text]
    if not slot.is_broken:
        _report(slot, column, diagnostics)
    return None


def _report(slot: SlotDraft, column: s.Ident, diagnostics: Diagnostics) -> None:
    owner = next((source.name for source in slot.sources if source.op == column.text), None)
    if owner is not None:
        reject_op(owner, column, diagnostics)
        return
    near = did_you_mean(column.text, slot.columns)
    partly = [source.name for source in slot.sources if column.text in source.columns]
    if not slot.sources:
        diagnostics.error(
            "INK0204",
            f"`_` has no column `{column}`",
            column,
            notes=["`_` is any event of the scope, so it has only the columns that all streams share"],
            helps=near,
        )
    elif partly:
        lacking = [source.name for source in slot.sources if source.name not in partly]
        if lacking:
            message = f"`{column}` is not a column of every event that `{slot.title}` can be"
            note = f"there is none in {listed(lacking)}"
        else:
            message = f"`{column}` has different types in the streams of `{slot.title}`"
            kinds = (f"{source.columns[column.text]} in `{source.name}`" for source in slot.sources)
            note = f"it is {', '.join(kinds)}"
        diagnostics.error("INK0218", message, column, notes=[note])
    else:
        owner = " | ".join(source.name for source in slot.sources)
        notes = [] if near or not slot.columns else [f"it has {listed(slot.columns)}"]
        diagnostics.error("INK0204", f"`{owner}` has no column `{column}`", column, notes=notes, helps=near)
