"""`ON TIMEOUT name`: checks that partial matches can time out, and builds the event that reports them.

The time-outs of `SEQ(a, b, c) WITHIN d` are the matches of `SEQ(a, NOT b) WITHIN d` and `SEQ(a, b, NOT c) WITHIN d`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, broken_source
from inkling.logical.binding.diagnostics import Diagnostics
from inkling.logical.binding.events.outputs import event_source
from inkling.logical.patterns.maximal import maximal_parts
from inkling.logical.patterns.moments import happens_without_events
from inkling.logical.plan import can_be_empty
from inkling.logical.rewrites.everywhere import Renumbering, slots_in_order, where_present
from inkling.model.schema import Column, EventSchema
from inkling.model.types import Type


def bind_timeouts(
    decl: s.EventDecl, event: p.EventPlan, catalog: Catalog, diagnostics: Diagnostics
) -> p.EventPlan | None:
    """The event of the partial matches that timed out, which also enters the catalog."""
    if decl.on_timeout is None or decl.on_timeout.text in catalog.sources:  # a duplicate name is reported elsewhere
        return None
    if not _is_sound(decl.on_timeout, decl, event, diagnostics):
        catalog.sources[decl.on_timeout.text] = broken_source(decl.on_timeout.text, is_derived=True)
        return None
    plan = timeouts_of(event, decl.on_timeout.text)
    main = catalog.sources[event.name]
    catalog.sources[plan.name] = event_source(plan, main.streams, main.uncertain)
    return plan


def _is_sound(name: s.Ident, decl: s.EventDecl, event: p.EventPlan, diagnostics: Diagnostics) -> bool:
    pattern = event.pattern
    if not isinstance(pattern, p.Sequence):
        diagnostics.error(
            "INK0326",
            "ON TIMEOUT needs a sequence",
            name,
            helps=["write the pattern as `SEQ(…)`, with `WITHIN` outside of any parentheses"],
        )
    elif pattern.policy is p.Policy.STRICT:
        diagnostics.error(
            "INK0326",
            "ON TIMEOUT does not support `SEQ STRICT`",
            name,
            notes=["in `SEQ STRICT` the next event ends a partial match, not a timeout"],
            helps=["write `SEQ NEXT(…)`"],
        )
    elif event.within is None or isinstance(event.within, p.EventCount):
        counted = ["`WITHIN n EVENTS` counts events; no time passes"] if event.within is not None else []
        diagnostics.error(
            "INK0326",
            "ON TIMEOUT needs a limit in time",
            name,
            "without WITHIN, a partial match never times out",
            notes=counted,
            helps=["add a limit to the pattern, for example `WITHIN 10 MINUTES`"],
        )
    elif not _late_parts(pattern):
        diagnostics.error(
            "INK0326",
            "no partial match of this sequence can time out",
            name,
            notes=["the sequence needs at least two parts that are not optional"],
        )
    elif any(isinstance(part, p.Repetition) and part.eager for part in pattern.parts):
        diagnostics.error(
            "INK0326",
            "ON TIMEOUT does not support EAGER repetitions",
            name,
            notes=["a partial match may be waiting for one more round or for the next part"],
            helps=["leave EAGER out"],
        )
    elif any(maximal_parts(pattern)):
        diagnostics.error(
            "INK0326",
            "ON TIMEOUT does not support MAXIMAL repetitions",
            name,
            notes=["MAXIMAL compares complete matches, not partial ones"],
            helps=["leave MAXIMAL out"],
        )
    elif (title := _looked_ahead(event, pattern)) is not None:
        diagnostics.error(
            "INK0326",
            f"ON TIMEOUT does not support a NOT that reads the later part `{title}`",
            name,
            f"an earlier part can time out before `{title}` happens",
            helps=["compare the event inside NOT with earlier parts only"],
        )
    elif any(output.name == REACHED for output in (*event.head, *event.returns)):
        diagnostics.error(
            "INK0220",
            f"two columns of `{name}` are called `{REACHED}`",
            name,
            notes=[f"`{REACHED}` is the number of parts that had happened when the time was up"],
            helps=[f"give the column of `{decl.name}` another name with `AS`"],
        )
    else:
        return True
    return False


def _looked_ahead(event: p.EventPlan, sequence: p.Sequence) -> str | None:
    """A part that an earlier NOT reads although a time-out between the two is possible; None if there is none."""
    late = _late_parts(sequence)
    home = {leaf.slot: place for place, part in enumerate(sequence.parts) for leaf in _leaves(part)}
    for place, part in enumerate(sequence.parts):
        if isinstance(part, p.Absent):
            for slot in sorted({slot for expr in p.expressions_of(part.pattern) for slot in e.slots_of(expr)}):
                if any(place < missing <= home.get(slot, -1) for missing in late):
                    return event.slots[slot].name or " | ".join(event.slots[slot].sources)
    return None


def _leaves(part: p.Part) -> Iterator[p.Leaf]:
    if isinstance(part, p.Absent):
        yield from p.leaves(part.pattern)
    elif not isinstance(part, p.Deadline | p.StreamStart):
        yield from p.leaves(part)


REACHED = "reached"
"""The column with the number of parts that were matched before the time-out."""


def _late_parts(sequence: p.Sequence) -> tuple[int, ...]:
    """Positions of the parts that a partial match can wait for: not the first one, and no optional one."""
    placed = [place for place, part in enumerate(sequence.parts) if _is_placed(part)]
    return tuple(
        place
        for place in placed[1:]
        if not can_be_empty(sequence.parts[place])
        and not happens_without_events(replace(sequence, parts=sequence.parts[:place]))
    )


def timeouts_of(event: p.EventPlan, name: str) -> p.EventPlan:
    """The event `name` whose results are the partial matches of `event` that timed out."""
    assert isinstance(event.pattern, p.Sequence), "only the parts of a sequence are waited for"
    partials: list[_Partial] = []
    n_slots = n_atoms = 0
    for place in _late_parts(event.pattern):
        partial = _partial(event, event.pattern, place, n_slots, n_atoms)
        n_slots, n_atoms = partial.span + 1, n_atoms + len(partial.atoms)
        partials.append(partial)
    head = tuple(_output(output, partials) for output in event.head)
    reached = p.Output(REACHED, _chosen([(one, e.Literal(one.reached, Type.INTEGER)) for one in partials]))
    returns = tuple(_output(output, partials) for output in event.returns)
    pattern, having = _together(partials)
    columns = tuple(Column(output.name, output.type) for output in (*head, reached, *returns))
    return p.EventPlan(
        name,
        (*head, reached),
        returns,
        pattern,
        event.within,
        having,
        event.partition,
        event.scope,
        p.Per.MATCH,
        restart=False,
        slots=tuple(slot for one in partials for slot in one.slots[: one.span if len(partials) == 1 else None]),
        schema=EventSchema(name, columns, event.schema.is_ordered, is_interval=True),
        timeouts_of=event.name,
    )


@dataclass(frozen=True, slots=True)
class _Partial:
    """A sequence up to a part that does not arrive, with its own numbers of slots and look-ups."""

    reached: int
    sequence: p.Sequence
    having: tuple[e.Expr, ...]
    slots: tuple[p.Slot, ...]
    span: int  # the slot that names it
    numbers: dict[int, int]  # its slots by slots of the whole sequence, of the parts that were matched
    atoms: dict[int, int]  # its look-ups likewise

    def has(self, expr: e.Expr) -> bool:
        """Whether all slots and look-ups that an expression reads are matched."""
        return e.slots_of(expr) <= self.numbers.keys() and e.atoms_of(expr) <= self.atoms.keys()

    def own(self, expr: e.Expr) -> e.Expr:
        return Renumbering(self.numbers, self.atoms).expr(expr)


def _partial(event: p.EventPlan, sequence: p.Sequence, place: int, n_slots: int, n_atoms: int) -> _Partial:
    happened, late = sequence.parts[:place], sequence.parts[place]
    assert not isinstance(late, p.Absent | p.Deadline | p.StreamStart), "only parts that happen can be late"
    if isinstance(late, p.Repetition):
        if isinstance(late.pattern, p.Leaf):  # an event that fails its CHECK has arrived: nothing waits for it
            late = replace(late, pattern=replace(late.pattern, checks=()))
        late = p.Sequence(sequence.policy, (late,))
    cut = p.Sequence(sequence.policy, (*happened, p.Absent(late)), event.within)
    slots = {old: n_slots + number for number, old in enumerate(slots_in_order(cut))}
    atoms = {atom.number: n_atoms + k for k, atom in enumerate(a for leaf in p.leaves(cut) for a in leaf.atoms)}
    hidden = {*slots_in_order(late)}
    span = n_slots + len(slots)
    reached = sum(_is_placed(part) for part in happened)
    own = Renumbering(slots, atoms).pattern(cut)
    assert isinstance(own, p.Sequence)
    described = [
        replace(event.slots[old], number=new, negated=event.slots[old].negated or old in hidden)
        for old, new in slots.items()
    ]
    name = p.Slot(span, f"partial{reached}", (), repeated=False, negated=False, span_only=True)
    seen = {old: new for old, new in slots.items() if old not in hidden}
    draft = _Partial(reached, own, (), (*described, name), span, seen, atoms)
    conditions = [part for condition in event.having for part in e.conjuncts(condition)]
    return replace(draft, having=tuple(draft.own(one) for one in conditions if draft.has(one)))


def _is_placed(part: p.Part) -> bool:
    return not isinstance(part, p.Absent | p.Deadline | p.StreamStart)


def _output(output: p.Output, partials: list[_Partial]) -> p.Output:
    """The value of a column in each partial match that has the slots it reads; null in the others."""
    expr = output.expr
    if not e.slots_of(expr) and not e.atoms_of(expr):
        return output
    known = [(one, one.own(expr)) for one in partials if one.has(expr)]
    if not known:
        return p.Output(output.name, e.Literal(None, expr.type))
    return p.Output(output.name, _chosen(known, by_all=len(known) == len(partials)))


def _chosen(values: list[tuple[_Partial, e.Expr]], *, by_all: bool = True) -> e.Expr:
    return where_present([(one.span, value) for one, value in values], always=by_all)


def _together(partials: list[_Partial]) -> tuple[p.Pattern, tuple[e.Expr, ...]]:
    """One pattern for all partial matches, and its conditions."""
    if len(partials) == 1:
        return partials[0].sequence, partials[0].having
    return p.Disjunction(tuple(p.Narrowed(one.sequence, None, one.having, one.span) for one in partials)), ()
