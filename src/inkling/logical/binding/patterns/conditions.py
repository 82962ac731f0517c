"""Binds every condition of an event to the slot or body where it is tested.

A condition is tested at the last slot that it mentions, or after the whole body; `v = expression` names a value:

    WHERE a.x < b.x AND n = COUNT(b)    -- the first conjunct is tested at `b`, the second names a value
"""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.knowledge.lookups import (
    Lookup,
    Mentions,
    mentions,
    place_lookups,
    take_lookup,
    target_of,
    with_look_ups_as_tests,
)
from inkling.logical.binding.patterns import drafts as d
from inkling.logical.binding.patterns.scope import EventNames, NamedValue, NameScope, report_unknown


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One conjunct of the brackets of `home`, or of the WHERE of `body`."""

    node: s.Expr
    body: d.BodyDraft
    home: d.SlotDraft | None

    @property
    def at(self) -> d.EvaluationPoint:
        return self.home.evaluation_point if self.home else self.body.evaluation_point

    @property
    def last(self) -> int:
        """The last slot that it can read."""
        return self.home.number if self.home else self.body.last

    @property
    def is_absent(self) -> bool:
        """Whether it is inside NOT."""
        return any(isinstance(frame, d.InAbsence) for frame in self.at.path)


def bind_conditions(names: EventNames, denied: Collection[str] = ()) -> None:
    """Adds typed conditions and look-ups to the slots and bodies of a pattern.

    Comparisons with the events `denied`, of which there must be none, give no value a name.
    """
    tests = _split(names, denied)
    lookups = [test for test in tests if isinstance(test, Lookup)]
    place_lookups(lookups, names)
    for test in tests:
        if isinstance(test, Conjunct):
            _place(test, names)
    for slot in names.draft.slots:
        for node in s.conjuncts(slot.check):
            _bind_check(node, slot, names)
    for body in names.draft.bodies:
        for check in body.checks:
            for node in s.conjuncts(check):
                _bind_after(node, body, None, names)
    for part in p.parts_of(names.draft.pattern):
        if isinstance(part, p.Sliding):
            with_look_ups_as_tests(names.draft.slots[part.leaf.slot])


def _split(names: EventNames, denied: Collection[str]) -> list[Conjunct | Lookup]:
    """All conjuncts in source order; conjuncts that name a value are removed."""
    written = [Conjunct(node, slot.body, slot) for slot in names.draft.slots for node in s.conjuncts(slot.condition)]
    written += [Conjunct(node, body, None) for body in names.draft.bodies for node in s.conjuncts(body.where)]
    written.sort(key=lambda test: test.node.span.start)
    supplied = [found for test in written for found in _supplied_by(test, names)]
    inside_last = sorted(range(len(written)), key=lambda number: written[number].is_absent)
    named = {
        number
        for number in inside_last
        if not _is_about(written[number].node, denied)
        and _take_named_value(written[number], names, _compared_in(written[number], supplied))
    }
    left = [test for number, test in enumerate(written) if number not in named]
    _reject_cycles(names)
    tests: list[Conjunct | Lookup] = []
    for order, test in enumerate(left):
        if not isinstance(test.node, s.Call) or names.catalog.has_function(test.node.name.text):
            tests.append(test)
            continue
        lookup = take_lookup(test.node, test.body, test.home, order, names)
        if lookup is not None:
            tests.append(lookup)
    return tests


def _is_about(node: s.Expr, denied: Collection[str]) -> bool:
    return isinstance(node, s.Compare) and isinstance(node.right, s.Attribute) and node.right.var.text in denied


def _place(test: Conjunct, names: EventNames) -> None:
    found = mentions(test.node, test.home, test.at, names)
    if found.aggregates and not _are_of_earlier_rounds(test, found):
        if _may_wait(test, found, names):
            _bind_after(test.node, test.body, test.home, names)
        return
    target = test.home or target_of(found.slots, test.body)
    if target is None:
        _bind_after(test.node, test.body, None, names)
    elif target.inner is not None:
        _bind_after(test.node, target.inner, None, names, d.EvaluationPoint(target.path, target.number))
    else:
        view = NameScope(names, target.evaluation_point, test.home, inline=test.home is not None)
        bound = view.binder().condition(test.node)
        if bound is not None:
            target.conditions.append(bound)


def _are_of_earlier_rounds(test: Conjunct, found: Mentions) -> bool:
    """Whether a condition in the brackets of a repeated event aggregates that repetition, as far as it goes."""
    home = test.home
    if home is None or home.name is None or not home.repetitions:
        return False
    return all(one.var.text == home.name.text for one in found.aggregates)


def _bind_check(node: s.Expr, slot: d.SlotDraft, names: EventNames) -> None:
    """A conjunct of the CHECK of a repetition: it is tested for each event, after the event is chosen."""
    aggregates = mentions(node, None, slot.evaluation_point, names).aggregates
    if aggregates:
        names.diagnostics.error(
            "INK0315",
            "an aggregate is not allowed in the CHECK of a repetition",
            aggregates[0],
            notes=["it is tested for one event at a time, before the repetition is complete"],
            helps=[f"move the condition to HAVING: `HAVING {names.diagnostics.text_of(node)}`"],
        )
        return
    bound = NameScope(names, slot.evaluation_point).binder().condition(node)
    if bound is not None:
        (slot.checks if slot.breaks else slot.conditions).append(bound)


def _bind_after(
    node: s.Expr, body: d.BodyDraft, home: d.SlotDraft | None, names: EventNames, at: d.EvaluationPoint | None = None
) -> None:
    bound = NameScope(names, at or body.evaluation_point, home).binder().condition(node)
    if bound is not None:
        body.having.append(bound)


def _may_wait(test: Conjunct, found: Mentions, names: EventNames) -> bool:
    """Whether an aggregate outside HAVING can be tested at the end with the same result; reports if not."""
    frames = [
        frame for slot in (*found.slots, *([test.home] if test.home else [])) for frame in _local(slot, test.body)
    ]
    policies = {frame.policy for frame in frames if isinstance(frame, d.InSequence)} - {p.Policy.ANY}
    words = names.diagnostics.text_of(found.aggregates[0])
    where = "`[…]`" if test.home else "WHERE"
    if policies:
        policy = policies.pop().value
        names.diagnostics.error(
            "INK0315",
            f"an aggregate in {where} is not allowed under {policy}",
            found.aggregates[0],
            f"`{words}` is only known once the repetition is complete",
            notes=[f"{policy} selects events one by one, before the repetition is complete"],
            helps=[f"move the condition to HAVING: `HAVING {names.diagnostics.text_of(test.node)}`"],
        )
        return False
    if test.home is not None and any(isinstance(frame, d.InRepetition) for frame in _local(test.home, test.body)):
        names.diagnostics.error(
            "INK0315",
            f"`{words}` is only known once the repetition is complete",
            found.aggregates[0],
            notes=["a condition in the brackets of a repeated event is tested for one event at a time"],
            helps=[
                f"move the condition to HAVING, or look at the previous event with `LAST({found.aggregates[0].var}).…`"
            ],
        )
        return False
    if any(isinstance(frame, d.InBranch) for frame in frames):
        names.diagnostics.error(
            "INK0315",
            f"an aggregate in {where} is not allowed inside OR",
            found.aggregates[0],
            f"`{words}` is only known once the repetition is complete",
            helps=[f"give that branch its own HAVING: `(… HAVING {names.diagnostics.text_of(test.node)})`"],
        )
        return False
    return True


def _local(slot: d.SlotDraft, body: d.BodyDraft) -> d.Path:
    """What encloses a slot inside a body."""
    return slot.path[len(body.path) :]


def _supplied_by(test: Conjunct, names: EventNames) -> Iterator[tuple[str, Conjunct]]:
    """The names that a look-up may bind."""
    if isinstance(test.node, s.Call) and not names.catalog.function(test.node.name.text):
        yield from ((arg.name.text, test) for arg in test.node.args if isinstance(arg, s.Variable))


def _compared_in(test: Conjunct, supplied: list[tuple[str, Conjunct]]) -> set[str]:
    """The names that brackets compare and do not bind: look-ups of earlier parts bind them, or any outside of NOT."""
    if test.home is None:
        return set()
    return {
        name for name, lookup in supplied if not lookup.is_absent and (test.is_absent or lookup.last < test.home.number)
    }


def _take_named_value(test: Conjunct, names: EventNames, supplied: Container[str]) -> bool:
    """Whether a conjunct names a value: one side of `=` is a name that nothing else binds."""
    node, home = test.node, test.home
    if not isinstance(node, s.Compare) or node.op != "=":
        return False
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(side, s.Variable) or side.name.text in names.named_values or side.name.text in supplied:
            continue
        if names.is_free(side.name.text, home) and not (home is not None and home.is_broken):
            names.named_values[side.name.text] = NamedValue(side.name, other, home)
            return True
    return False


def _reject_cycles(names: EventNames) -> None:
    """Reports values that are defined in terms of themselves, and removes them."""
    needs = {
        name: [
            node.name.text
            for node in s.walk(named.value)
            if isinstance(node, s.Variable) and names.is_free(node.name.text, named.home)
        ]
        for name, named in names.named_values.items()
    }
    for name, named in list(names.named_values.items()):
        cycle = _cycle(name, needs)
        if not cycle or name in names.poisoned:
            continue
        notes = [] if len(cycle) == 2 else [f"the cycle is {' → '.join(f'`{one}`' for one in cycle)}"]
        names.diagnostics.error("INK0312", f"`{name}` is defined in terms of itself", named.name, notes=notes)
        names.poisoned.update(cycle)
    for name in names.poisoned & names.named_values.keys():
        del names.named_values[name]


def report_unused(names: EventNames) -> None:
    """Reports named values that nothing uses: such a name is probably a misspelled column."""
    for name, named in names.named_values.items():
        if not named.is_used and name not in names.poisoned:
            home = named.home
            note = f"`{name} = …` defines a value, but nothing uses it"
            report_unknown(named.name, names, home, [note])


def _cycle(name: str, needs: dict[str, list[str]]) -> list[str]:
    """The shortest cycle of definitions through a name; empty if there is none."""
    paths = [[name]]
    seen: set[str] = set()
    while paths:
        path = paths.pop(0)
        for needed in needs.get(path[-1], ()):
            if needed == name:
                return [*path, name]
            if needed not in seen:
                seen.add(needed)
                paths.append([*path, needed])
    return []
