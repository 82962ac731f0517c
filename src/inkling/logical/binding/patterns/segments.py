"""Relations between the segments of two keys (`ALL S x DURING SOME T y`): operands, quantifiers, look-ups, clauses.

`AT LEAST k FROM 1 TO 12 S x` asks the question for each number of segments; `k` is a column of the results.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, CatalogSource, as_declared
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.patterns.drafts import SlotDraft
from inkling.logical.binding.patterns.scope import EventNames
from inkling.logical.knowledge import VARIABLES
from inkling.model.schema import Column


def bounds_of(side: s.Quantity) -> tuple[int | None, int | None]:
    """The least number of segments, None for ALL; and the largest number of a range `FROM … TO`."""
    match side.count:
        case s.EachCount(least=least, most=most):
            return least, most
        case count:
            return (1 if side.quantifier == "SOME" else count), None


def take_quantity(body: s.Body, names: EventNames) -> None:
    """Declares the variable of a range of counts; a range that is not allowed is reported once."""
    for count in _each_counts(body):
        if not isinstance(body.pattern, s.Quantified):
            names.poisoned.add(count.name.text)  # the whole relation is rejected elsewhere
        elif count is body.pattern.right.count:
            names.poisoned.add(count.name.text)
            _reject_right(count, names.diagnostics)
        elif _is_taken(count.name, names):
            names.poisoned.add(count.name.text)
        else:
            names.quantity = count.name.text


def check_quantity(decl: s.EventDecl, names: EventNames, head: tuple[p.Output, ...]) -> None:
    """Checks that the head shows the variable of a range of counts, and that WHERE does not use it."""
    if names.quantity is None or not isinstance(decl.body.pattern, s.Quantified):
        return
    count = decl.body.pattern.left.count
    assert isinstance(count, s.EachCount)
    shown = (names.draft.slots[0].conditions, names.draft.slots[1].conditions)
    if any(isinstance(part, e.Quantity) for some in shown for test in some for part in e.walk(test)):
        names.diagnostics.error(
            "INK0354",
            f"`{count.name}` cannot be used in WHERE",
            next(_tests(decl, count.name), count),
            notes=["WHERE selects segments before they are counted"],
            helps=[f"compare `{count.name}` with columns of KEY in HAVING"],
        )
    if not any(isinstance(output.expr, e.Quantity) for output in head):
        values = [names.diagnostics.text_of(item) for item in decl.head or ()]
        names.diagnostics.error(
            "INK0354",
            f"the head does not show `{count.name}`, so nothing distinguishes results of different numbers",
            count,
            helps=[f"write `EVENT {decl.name}({', '.join([*values, count.name.text])})`"],
        )


def _each_counts(body: s.Body) -> Iterator[s.EachCount]:
    for node in s.parts_of(body):
        if isinstance(node, s.Quantity) and isinstance(node.count, s.EachCount):
            yield node.count


def _reject_right(count: s.EachCount, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "INK0354",
        "a range of counts is allowed on the left side only",
        count,
        notes=["the right side determines which segments of the left side qualify"],
        helps=[f"write one number, such as `AT LEAST {count.least}`"],
    )


def _is_taken(name: s.Ident, names: EventNames) -> bool:
    """Whether another part of the event has the name already; reports it."""
    other = names.draft.named(name.text)
    if other is not None and other.name is not None:
        names.diagnostics.error(
            "INK0208",
            f"two parts of the pattern are called `{name}`",
            other.name,
            notes=[f"the first is at {names.diagnostics.location(name)}"],
            helps=["give one of them another name"],
        )
        return True
    if name.text in names.partition:
        names.diagnostics.error(
            "INK0208",
            f"`{name}` is also a column of PARTITION BY",
            name,
            notes=[f"the columns of PARTITION BY are {listed(names.partition)}"],
            helps=["give the number another name"],
        )
        return True
    return False


def _tests(decl: s.EventDecl, name: s.Ident) -> Iterator[s.Expr]:
    """The conjuncts of WHERE that mention the number."""
    for node in s.conjuncts(decl.body.where):
        if any(isinstance(part, s.Variable) and part.name.text == name.text for part in s.walk(node)):
            yield node


def bind_operand(side: s.Quantity, source: CatalogSource, leaf: p.Leaf, diagnostics: Diagnostics) -> p.Operand:
    """One side of the relation; its stream or event needs a key for its segments."""
    if not source.key and not source.is_broken:
        what, helps = _keyless(source)
        diagnostics.error("INK0328", f"`{source.name}` {what}, so its segments have no key", side.stream, helps=helps)
    least, most = bounds_of(side)
    return p.Operand(leaf, tuple(_columns(source, source.key)), least, source.pairing, most)


def _keyless(source: CatalogSource) -> tuple[str, list[str]]:
    """Why the segments of a source have no key, and how to add one."""
    if not source.is_derived:
        return "has no KEY", [f"add `KEY …` to the declaration of `{source.name}`"]
    if source.unshown:
        head = f"`EVENT {source.name}({', '.join(source.unshown)}, …)`"
        return f"does not show {listed(source.unshown)}", [f"add the columns of PARTITION BY to its head: {head}"]
    return "has no PARTITION BY", [
        f"partition `{source.name}` by the key of its segments, and add that key to its head:"
        f" `EVENT {source.name}(k, …) … PARTITION BY k`"
    ]


def bind_same(same: s.Ident | None, sources: Iterable[CatalogSource], diagnostics: Diagnostics) -> Column | None:
    """The column of ON SAME, which both sides have with one type."""
    if same is None:
        return None
    sound = [source for source in sources if not source.is_broken]
    for source in sound:
        if same.text not in source.columns:
            diagnostics.error("INK0204", f"`{source.name}` has no column `{same}`", same)
    found = {column.type: column for source in sound for column in _columns(source, (same.text,))}
    if len(found) > 1:
        diagnostics.error(
            "INK0210",
            f"ON SAME compares {' with '.join(as_declared(kind) for kind in found)}",
            same,
            notes=[f"`{same}` has another type in `{sound[0].name}` than in `{sound[1].name}`"],
        )
    return next(iter(found.values()), None)


def reject_inside(node: s.Quantified, diagnostics: Diagnostics) -> None:
    """Rejects a relation with a range of counts that is part of another pattern."""
    diagnostics.error(
        "INK0362",
        "a relation with a range of counts cannot be part of another pattern",
        node,
        notes=["it has results for each of the numbers"],
        helps=["make it an event of its own, and use that event here"],
    )


def reject_extended(stream: s.Ident, catalog: Catalog, diagnostics: Diagnostics) -> None:
    """Rejects a stream with derived events as a side of a relation, which has one source of segments."""
    if stream.text in catalog.extended:
        diagnostics.error(
            "INK0339",
            f"`{stream}` is a stream and an event, so its segments have two sources",
            stream,
            notes=["each side of a relation between segments reads one stream or one event"],
            helps=[
                f"derive an event of another name from `{stream}`, partitioned by the key, and compare its segments"
            ],
        )


def reject_united(decls: Iterable[s.EventDecl], diagnostics: Diagnostics) -> None:
    """Rejects relations between segments among several declarations of one event."""
    declared = list(decls)
    for decl in declared:
        is_alone = sum(other.name.text == decl.name.text for other in declared) == 1
        if isinstance(decl.body.pattern, s.Quantified) and not is_alone:
            diagnostics.error(
                "INK0362",
                f"a relation between segments cannot be one of several declarations of `{decl.name}`",
                decl.name,
                notes=["its results are pairs of keys; those of other patterns are matches"],
                helps=[f"give it another name, and define `{decl.name}` by the events of both names: `A | B`"],
            )


def bind_look_ups(decl: s.EventDecl, names: EventNames) -> None:
    """Look-ups of a relation between segments as conditions: there are rows for which all conditions on them hold."""
    if not isinstance(decl.body.pattern, s.Quantified):
        return
    slots = names.draft.slots
    tests = [condition for slot in slots for condition in slot.conditions if e.atoms_of(condition)]
    atoms = {atom.number: atom for slot in slots for atom in slot.atoms}
    homes = {atom.number: slot for slot in slots for atom in slot.atoms}
    for slot in slots:
        slot.conditions[:] = [condition for condition in slot.conditions if condition not in tests]
        slot.atoms.clear()
    for numbers in _connected(atoms.values(), tests):
        chosen = [atoms[number] for number in numbers]
        condition = _some_row(chosen, [test for test in tests if e.atoms_of(test) <= {*numbers}])
        read = e.slots_of(condition)
        (slots[max(read)] if read else homes[numbers[0]]).conditions.append(condition)


def _connected(atoms: Iterable[p.TableAtom], tests: Iterable[e.Expr]) -> list[list[int]]:
    """The numbers of look-ups in groups, such that conditions and arguments read rows of one group only."""
    groups: list[set[int]] = []
    together = [{atom.number}.union(*(e.atoms_of(arg) for arg in atom.args if arg is not None)) for atom in atoms]
    for numbers in [*together, *(set(e.atoms_of(test)) for test in tests)]:
        touched = [group for group in groups if group & numbers]
        groups = [*(group for group in groups if group not in touched), numbers.union(*touched)]
    return [sorted(group) for group in sorted(groups, key=min)]


def _some_row(atoms: list[p.TableAtom], tests: list[e.Expr]) -> e.Expr:
    """Whether the tables have rows, one per look-up, for which all tests hold."""
    inner = [part.number for test in tests for part in e.walk(test) if isinstance(part, e.InTable)]
    lowest = min([VARIABLES, *inner])
    numbers = {atom.number: lowest - place for place, atom in enumerate(atoms, 1)}

    def renumbered(expr: e.Expr) -> e.Expr:
        if isinstance(expr, e.FactColumn) and expr.atom >= 0:
            return replace(expr, atom=numbers[expr.atom])
        return e.rebuilt(expr, renumbered)

    condition: e.Expr | None = e.AllOf(tuple(map(renumbered, tests))) if tests else None
    for atom in reversed(atoms):
        args = tuple(None if arg is None else renumbered(arg) for arg in atom.args)
        condition = e.InTable(atom.table, args, condition, numbers[atom.number])
    assert condition is not None, "there is at least one look-up"
    return condition


def check_segments(
    decl: s.EventDecl, names: EventNames, head: tuple[p.Output, ...], returns: tuple[p.Output, ...]
) -> None:
    """Checks the rest of an event whose pattern is a relation between segments."""
    if not isinstance(decl.body.pattern, s.Quantified):
        return
    _check_clauses(decl, returns, names.diagnostics)
    top = names.draft.top
    read = [output.expr for output in (*head, *returns)] + list(top.having)
    for part in (part for expr in read for part in e.walk(expr)):
        match part:
            case e.ColumnOf(slot=slot, column=column) if column in _keys(names.draft.slots[slot]):
                pass
            case e.ColumnOf(slot=slot) | e.TimeOf(slot=slot) | e.IdOf(slot=slot) | e.ListColumn(slot=slot):
                _reject_value(decl, part, names.draft.slots[slot], names.diagnostics)
            case e.FactColumn() if part.atom >= 0:
                _reject_fact(decl, part, names)
            case _:
                pass


def _check_clauses(decl: s.EventDecl, returns: tuple[p.Output, ...], diagnostics: Diagnostics) -> None:
    def reject(clause: str, at: s.Node, *notes: str, helps: Iterable[str] = (), label: str = "") -> None:
        diagnostics.error(
            "INK0329", f"{clause} does not apply to a relation between segments", at, label, notes=notes, helps=helps
        )

    whole = "it compares all segments of a key, however far apart they are"
    if decl.per not in (None, "VALUES"):
        reject(
            f"PER {decl.per}",
            decl.name,
            "the relation has at most one result for two keys",
            helps=["leave PER out; `PER VALUES` is the default here"],
            label=f"because of `PER {decl.per}`",
        )
    if isinstance(decl.body.within, s.EventCount):
        reject("WITHIN EVENTS", decl.body.within, whole, helps=["limit the time of two related segments: `WITHIN d`"])
    if decl.keep_for is not None:
        reject("KEEP FOR", decl.keep_for, whole)
    if decl.consume is not None:
        reject("CONSUME", decl.consume, "its results are pairs of keys, and no key is consumed")
    if decl.over:
        reject("OVER", decl.over[0], "it lists the streams whose events STRICT counts")
    if returns:
        reject("RETURN", decl.returns[0], "results are distinguished by the head alone", helps=["write it in the head"])


def _reject_value(decl: s.EventDecl, expr: e.Expr, slot: SlotDraft, diagnostics: Diagnostics) -> None:
    key = _keys(slot)
    if not key:
        return  # a missing key is reported elsewhere
    at = next((node for node in _references(decl) if _reads(node, expr, slot)), decl.name)
    source = slot.sources[0]
    whose = f"segments of `{source.name}` belong to" if source.is_derived else f"KEY of `{source.name}` is"
    diagnostics.error(
        "INK0330",
        f"`{slot.title}` stands for all segments of a key, which share only the columns of"
        f" {'PARTITION BY' if source.is_derived else 'KEY'}",
        at,
        notes=[f"{whose} {listed(key)}"],
        helps=[f"read `{slot.title}.{key[0]}`"] if slot.name else (),
    )


def _reject_fact(decl: s.EventDecl, fact: e.FactColumn, names: EventNames) -> None:
    variables = {name for name, some in names.supplies.items() for supply in some if fact in e.walk(supply.fact)}
    found = (node for node in _references(decl) if isinstance(node, s.Variable) and node.name.text in variables)
    at = next(found, None)
    names.diagnostics.error(
        "INK0330",
        f"`{fact.column if at is None else at.name}` is looked up for each segment, and a result stands for all"
        " segments of two keys",
        at or decl.name,
        notes=["WHERE selects segments for which the table has some row"],
        helps=["look up columns of KEY in another event, which reads the results of this one"],
    )


def _references(decl: s.EventDecl) -> Iterator[s.Expr]:
    for expr in (*(item.value for item in (*(decl.head or ()), *decl.returns)), decl.body.having, decl.body.where):
        yield from s.walk(expr)


def _reads(node: s.Expr, expr: e.Expr, slot: SlotDraft) -> bool:
    match node:
        case s.Attribute(var=var, column=column) | s.FirstOrLast(var=var, column=column):
            named = isinstance(expr, e.ColumnOf | e.ListColumn) and column.text == expr.column
            return named and slot.name is not None and var.text == slot.name.text
        case s.TimeOf(var=var):
            return isinstance(expr, e.TimeOf) and slot.name is not None and var.text == slot.name.text
        case s.IdOf(var=var) | s.Variable(name=var):
            return isinstance(expr, e.IdOf) and slot.name is not None and var.text == slot.name.text
        case _:
            return False


def _keys(slot: SlotDraft) -> tuple[str, ...]:
    return tuple(name for source in slot.sources for name in source.key)


def _columns(source: CatalogSource, names: Iterable[str]) -> Iterator[Column]:
    for name in names:
        kind = source.columns.get(name)
        if kind is not None:
            yield Column(name, kind)
