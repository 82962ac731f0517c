"""Relations between the segments of two keys: what stands on their sides, and which clauses fit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Source
from inkling.logical.binding.columns import as_declared
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.places import Place
from inkling.logical.binding.quantities import bounds_of
from inkling.logical.binding.syntax_walk import conjuncts, walk
from inkling.model.schema import Column


def bind_operand(side: s.Quantity, source: Source, leaf: p.Leaf, mistakes: Mistakes) -> p.Operand:
    """One side of the relation; its stream or event must say which segments belong together."""
    if not source.key and not source.is_broken:
        what, helps = _keyless(source)
        mistakes.wrong(
            "INK0328",
            f"`{source.name}` {what}, so nothing says which segments belong together",
            side.stream,
            helps=helps,
        )
    least, most = bounds_of(side)
    return p.Operand(leaf, tuple(_columns(source, source.key)), least, source.pairing, most)


def _keyless(source: Source) -> tuple[str, list[str]]:
    """Why the segments of a source belong to no key, and what to do about it."""
    if not source.is_derived:
        return "has no KEY", [f"add `KEY …` to the declaration of `{source.name}`"]
    if source.unshown:
        head = f"`EVENT {source.name}({', '.join(source.unshown)}, …)`"
        return f"does not show {listed(source.unshown)}", [f"show in its head what it is PARTITION BY: {head}"]
    return "has no PARTITION BY", [
        f"partition `{source.name}` by what its segments belong to, and show that in its head:"
        f" `EVENT {source.name}(k, …) … PARTITION BY k`"
    ]


def bind_same(same: s.Ident | None, sources: Iterable[Source], mistakes: Mistakes) -> Column | None:
    """The column of ON SAME, which both sides have with one type."""
    if same is None:
        return None
    sound = [source for source in sources if not source.is_broken]
    for source in sound:
        if same.text not in source.columns:
            mistakes.wrong("INK0204", f"`{source.name}` has no column `{same}`", same)
    found = {column.type: column for source in sound for column in _columns(source, (same.text,))}
    if len(found) > 1:
        mistakes.wrong(
            "INK0210",
            f"ON SAME compares {' with '.join(as_declared(kind) for kind in found)}",
            same,
            notes=[f"`{same}` has another type in `{sound[0].name}` than in `{sound[1].name}`"],
        )
    return next(iter(found.values()), None)


def refuse_inside(node: s.Quantified, mistakes: Mistakes) -> None:
    """A relation between segments that is part of another pattern."""
    mistakes.wrong(
        "INK0410",
        "a relation between segments inside another pattern is not supported yet",
        node,
        helps=["make it an event of its own, and use that event here"],
    )


def refuse_united(decls: Iterable[s.EventDecl], mistakes: Mistakes) -> None:
    """Relations between segments that are one of several declarations of an event."""
    declared = list(decls)
    for decl in declared:
        is_alone = sum(other.name.text == decl.name.text for other in declared) == 1
        if isinstance(decl.body.pattern, s.Quantified) and not is_alone:
            mistakes.wrong(
                "INK0410",
                "a relation between segments as one of several declarations of an event is not supported yet",
                decl.name,
                helps=[f"give it another name, and make `{decl.name}` of the events of both names: `A | B`"],
            )


def check_segments(
    decl: s.EventDecl, names: EventNames, head: tuple[p.Output, ...], returns: tuple[p.Output, ...]
) -> None:
    """What a relation between segments demands of the rest of its event."""
    if not isinstance(decl.body.pattern, s.Quantified):
        return
    _check_clauses(decl, returns, names.mistakes)
    _check_conditions(decl, names)
    top = names.shape.top
    read = [output.expr for output in (*head, *returns)] + list(top.having)
    for part in (part for expr in read for part in e.walk(expr)):
        match part:
            case e.ColumnOf(slot=slot, column=column) if column in _keys(names.shape.places[slot]):
                pass
            case e.ColumnOf(slot=slot) | e.TimeOf(slot=slot) | e.IdOf(slot=slot) | e.ListColumn(slot=slot):
                _refuse_value(decl, part, names.shape.places[slot], names.mistakes)
            case _:
                pass


def _check_clauses(decl: s.EventDecl, returns: tuple[p.Output, ...], mistakes: Mistakes) -> None:
    def refuse(clause: str, at: s.Node, *notes: str, helps: Iterable[str] = (), label: str = "") -> None:
        mistakes.wrong(
            "INK0329", f"{clause} does not fit a relation between segments", at, label, notes=notes, helps=helps
        )

    whole = "it looks at all segments of a key, however far apart they are"
    if decl.per not in (None, "VALUES"):
        refuse(
            f"PER {decl.per}",
            decl.name,
            "the relation holds or does not hold, once for two keys",
            helps=["leave PER out: `PER VALUES` is meant"],
            label=f"because of `PER {decl.per}`",
        )
    if decl.body.within is not None:
        refuse("WITHIN", decl.body.within, whole)
    if decl.keep_for is not None:
        refuse("KEEP FOR", decl.keep_for, whole)
    if decl.consume is not None:
        refuse("CONSUME", decl.consume, "its results are pairs of keys, and one does not use up another")
    if decl.over:
        refuse("OVER", decl.over[0], "it says which events STRICT counts")
    if returns:
        refuse("RETURN", decl.returns[0], "its results differ in nothing but the head", helps=["write it in the head"])


def _check_conditions(decl: s.EventDecl, names: EventNames) -> None:
    for place in names.shape.places:
        for condition in place.conditions:
            if e.slots_of(condition) - {place.number}:
                names.mistakes.wrong(
                    "INK0410",
                    "a condition in WHERE on both sides of a relation between segments is not supported yet",
                    _comparison(decl, names) or decl.body,
                    notes=["WHERE chooses the segments of one side, whatever the other side is"],
                    helps=["compare columns of KEY in HAVING, and others with `ON SAME column`"],
                )
        if place.atoms:
            names.mistakes.wrong(
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


def _refuse_value(decl: s.EventDecl, expr: e.Expr, place: Place, mistakes: Mistakes) -> None:
    key = _keys(place)
    if not key:
        return  # nothing can be read, which is already reported
    at = next((node for node in _references(decl) if _reads(node, expr, place)), decl.name)
    source = place.sources[0]
    whose = f"segments of `{source.name}` belong to" if source.is_derived else f"KEY of `{source.name}` is"
    mistakes.wrong(
        "INK0330",
        f"`{place.title}` stands for a key with all its segments, and they share only the columns of"
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
