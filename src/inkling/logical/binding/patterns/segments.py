"""Relations between the segments of two keys: what stands on their sides, and which clauses fit them.

`AT LEAST k FROM 1 TO 12`: how many segments of a key are asked about, one number at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Source
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.patterns.places import Place
from inkling.logical.binding.streams.columns import as_declared
from inkling.logical.binding.syntax_walk import conjuncts, parts_of, walk
from inkling.model.schema import Column


def bounds_of(side: s.Quantity) -> tuple[int | None, int | None]:
    """The least number of segments, None for all of them, and the last one of several that are asked about."""
    match side.count:
        case s.EachCount(least=least, most=most):
            return least, most
        case count:
            return (1 if side.quantifier == "SOME" else count), None


def take_quantity(body: s.Body, names: EventNames) -> None:
    """Enters the name of the number; where none may stand it is reported and not called unknown besides."""
    for count in _each_counts(body):
        if not isinstance(body.pattern, s.Quantified):
            names.unknowable.add(count.name.text)  # such a part of a pattern is rejected as a whole
        elif count is body.pattern.right.count:
            names.unknowable.add(count.name.text)
            _reject_right(count, names.diagnostics)
        elif _is_taken(count.name, names):
            names.unknowable.add(count.name.text)
        else:
            names.quantity = count.name.text


def check_quantity(decl: s.EventDecl, names: EventNames, head: tuple[p.Output, ...]) -> None:
    """Different numbers give different results, so the head distinguishes them; WHERE chooses segments before."""
    if names.quantity is None or not isinstance(decl.body.pattern, s.Quantified):
        return
    count = decl.body.pattern.left.count
    assert isinstance(count, s.EachCount)
    shown = (names.shape.places[0].conditions, names.shape.places[1].conditions)
    if any(isinstance(part, e.Quantity) for some in shown for test in some for part in e.walk(test)):
        names.diagnostics.wrong(
            "INK0354",
            f"`{count.name}` cannot be used in WHERE",
            next(_tests(decl, count.name), count),
            notes=["WHERE selects segments before they are counted"],
            helps=[f"compare `{count.name}` with columns of KEY in HAVING"],
        )
    if not any(isinstance(output.expr, e.Quantity) for output in head):
        values = [names.diagnostics.words(item) for item in decl.head or ()]
        names.diagnostics.wrong(
            "INK0354",
            f"the head does not show `{count.name}`, so nothing distinguishes results of different numbers",
            count,
            helps=[f"write `EVENT {decl.name}({', '.join([*values, count.name.text])})`"],
        )


def _each_counts(body: s.Body) -> Iterator[s.EachCount]:
    for node in parts_of(body):
        if isinstance(node, s.Quantity) and isinstance(node.count, s.EachCount):
            yield node.count


def _reject_right(count: s.EachCount, diagnostics: Diagnostics) -> None:
    diagnostics.wrong(
        "INK0354",
        "a range of counts is allowed on the left side only",
        count,
        notes=["the right side determines which segments of the left side qualify"],
        helps=[f"write one number, such as `AT LEAST {count.least}`"],
    )


def _is_taken(name: s.Ident, names: EventNames) -> bool:
    """Whether something else has the name, which is then reported."""
    other = names.shape.named(name.text)
    if other is not None and other.name is not None:
        names.diagnostics.wrong(
            "INK0208",
            f"two parts of the pattern are called `{name}`",
            other.name,
            notes=[f"the first is at {names.diagnostics.place(name)}"],
            helps=["give one of them another name"],
        )
        return True
    if name.text in names.partition:
        names.diagnostics.wrong(
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
    for node in conjuncts(decl.body.where):
        if any(isinstance(part, s.Variable) and part.name.text == name.text for part in walk(node)):
            yield node


def bind_operand(side: s.Quantity, source: Source, leaf: p.Leaf, diagnostics: Diagnostics) -> p.Operand:
    """One side of the relation; its stream or event must say which segments belong together."""
    if not source.key and not source.is_broken:
        what, helps = _keyless(source)
        diagnostics.wrong("INK0328", f"`{source.name}` {what}, so its segments have no key", side.stream, helps=helps)
    least, most = bounds_of(side)
    return p.Operand(leaf, tuple(_columns(source, source.key)), least, source.pairing, most)


def _keyless(source: Source) -> tuple[str, list[str]]:
    """Why the segments of a source belong to no key, and what to do about it."""
    if not source.is_derived:
        return "has no KEY", [f"add `KEY …` to the declaration of `{source.name}`"]
    if source.unshown:
        head = f"`EVENT {source.name}({', '.join(source.unshown)}, …)`"
        return f"does not show {listed(source.unshown)}", [f"add the columns of PARTITION BY to its head: {head}"]
    return "has no PARTITION BY", [
        f"partition `{source.name}` by the key of its segments, and add that key to its head:"
        f" `EVENT {source.name}(k, …) … PARTITION BY k`"
    ]


def bind_same(same: s.Ident | None, sources: Iterable[Source], diagnostics: Diagnostics) -> Column | None:
    """The column of ON SAME, which both sides have with one type."""
    if same is None:
        return None
    sound = [source for source in sources if not source.is_broken]
    for source in sound:
        if same.text not in source.columns:
            diagnostics.wrong("INK0204", f"`{source.name}` has no column `{same}`", same)
    found = {column.type: column for source in sound for column in _columns(source, (same.text,))}
    if len(found) > 1:
        diagnostics.wrong(
            "INK0210",
            f"ON SAME compares {' with '.join(as_declared(kind) for kind in found)}",
            same,
            notes=[f"`{same}` has another type in `{sound[0].name}` than in `{sound[1].name}`"],
        )
    return next(iter(found.values()), None)


def reject_inside(node: s.Quantified, diagnostics: Diagnostics) -> None:
    """A relation between segments that is part of another pattern."""
    diagnostics.wrong(
        "INK0410",
        "a relation between segments inside another pattern is not supported yet",
        node,
        helps=["make it an event of its own, and use that event here"],
    )


def reject_united(decls: Iterable[s.EventDecl], diagnostics: Diagnostics) -> None:
    """Relations between segments that are one of several declarations of an event."""
    declared = list(decls)
    for decl in declared:
        is_alone = sum(other.name.text == decl.name.text for other in declared) == 1
        if isinstance(decl.body.pattern, s.Quantified) and not is_alone:
            diagnostics.wrong(
                "INK0410",
                "a relation between segments as one of several declarations of an event is not supported yet",
                decl.name,
                helps=[f"give it another name, and define `{decl.name}` by the events of both names: `A | B`"],
            )


def check_segments(
    decl: s.EventDecl, names: EventNames, head: tuple[p.Output, ...], returns: tuple[p.Output, ...]
) -> None:
    """What a relation between segments demands of the rest of its event."""
    if not isinstance(decl.body.pattern, s.Quantified):
        return
    _check_clauses(decl, returns, names.diagnostics)
    _check_conditions(decl, names)
    top = names.shape.top
    read = [output.expr for output in (*head, *returns)] + list(top.having)
    for part in (part for expr in read for part in e.walk(expr)):
        match part:
            case e.ColumnOf(slot=slot, column=column) if column in _keys(names.shape.places[slot]):
                pass
            case e.ColumnOf(slot=slot) | e.TimeOf(slot=slot) | e.IdOf(slot=slot) | e.ListColumn(slot=slot):
                _reject_value(decl, part, names.shape.places[slot], names.diagnostics)
            case _:
                pass


def _check_clauses(decl: s.EventDecl, returns: tuple[p.Output, ...], diagnostics: Diagnostics) -> None:
    def reject(clause: str, at: s.Node, *notes: str, helps: Iterable[str] = (), label: str = "") -> None:
        diagnostics.wrong(
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
    if decl.body.within is not None:
        reject("WITHIN", decl.body.within, whole)
    if decl.keep_for is not None:
        reject("KEEP FOR", decl.keep_for, whole)
    if decl.consume is not None:
        reject("CONSUME", decl.consume, "its results are pairs of keys, and no key is consumed")
    if decl.over:
        reject("OVER", decl.over[0], "it lists the streams whose events STRICT counts")
    if returns:
        reject("RETURN", decl.returns[0], "results are distinguished by the head alone", helps=["write it in the head"])


def _check_conditions(decl: s.EventDecl, names: EventNames) -> None:
    for place in names.shape.places:
        for condition in place.conditions:
            if e.slots_of(condition) - {place.number}:
                names.diagnostics.wrong(
                    "INK0410",
                    "a condition in WHERE on both sides of a relation between segments is not supported yet",
                    _comparison(decl, names) or decl.body,
                    notes=["WHERE selects the segments of each side separately"],
                    helps=["compare columns of KEY in HAVING, and others with `ON SAME column`"],
                )
        if place.atoms:
            names.diagnostics.wrong(
                "INK0410",
                "a look-up of segments in a table is not supported yet",
                decl.body.where or decl.body,
                notes=[f"`{place.atoms[0].table}` would supply values to single segments"],
            )


def _comparison(decl: s.EventDecl, names: EventNames) -> s.Expr | None:
    """The conjunct of WHERE that mentions both sides."""
    for node in conjuncts(decl.body.where):
        mentioned = {part.var.text for part in walk(node) if isinstance(part, s.Attribute | s.TimeOf | s.IdOf)}
        if len(mentioned & set(names.shape.names)) > 1:
            return node
    return decl.body.where


def _reject_value(decl: s.EventDecl, expr: e.Expr, place: Place, diagnostics: Diagnostics) -> None:
    key = _keys(place)
    if not key:
        return  # nothing can be read, which is already reported
    at = next((node for node in _references(decl) if _reads(node, expr, place)), decl.name)
    source = place.sources[0]
    whose = f"segments of `{source.name}` belong to" if source.is_derived else f"KEY of `{source.name}` is"
    diagnostics.wrong(
        "INK0330",
        f"`{place.title}` stands for all segments of a key, which share only the columns of"
        f" {'PARTITION BY' if source.is_derived else 'KEY'}",
        at,
        notes=[f"{whose} {listed(key)}"],
        helps=[f"read `{place.title}.{key[0]}`"] if place.name else (),
    )


def _references(decl: s.EventDecl) -> Iterator[s.Expr]:
    for expr in (*(item.value for item in (*(decl.head or ()), *decl.returns)), decl.body.having, decl.body.where):
        yield from walk(expr)


def _reads(node: s.Expr, expr: e.Expr, place: Place) -> bool:
    match node:
        case s.Attribute(var=var, column=column) | s.Part(var=var, column=column):
            named = isinstance(expr, e.ColumnOf | e.ListColumn) and column.text == expr.column
            return named and place.name is not None and var.text == place.name.text
        case s.TimeOf(var=var):
            return isinstance(expr, e.TimeOf) and place.name is not None and var.text == place.name.text
        case s.IdOf(var=var) | s.Variable(name=var):
            return isinstance(expr, e.IdOf) and place.name is not None and var.text == place.name.text
        case _:
            return False


def _keys(place: Place) -> tuple[str, ...]:
    return tuple(name for source in place.sources for name in source.key)


def _columns(source: Source, names: Iterable[str]) -> Iterator[Column]:
    for name in names:
        kind = source.columns.get(name)
        if kind is not None:
            yield Column(name, kind)
