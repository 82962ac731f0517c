"""Several declarations of one event, and recursive events: declarations are bound together, then united.

A recursive event reads its own results, so its schema must be known before it is bound: it is inferred as a fixpoint.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical import recursion as r
from inkling.logical.binding.catalog import Catalog, CatalogSource, broken_source
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.events.clauses import reject_windows
from inkling.logical.binding.events.event import BoundEvent, bind_event, declared_names, used_sources
from inkling.logical.binding.events.extensions import as_read, fits_stream, in_types_of_stream
from inkling.logical.binding.events.outputs import as_types, event_source, titles_of
from inkling.logical.binding.patterns.segments import reject_united
from inkling.logical.patterns.maximal import maximal_parts
from inkling.logical.rewrites.everywhere import united
from inkling.model.types import Type


@dataclass(frozen=True, slots=True)
class EventDeclarations:
    """The declarations of one event, or of mutually recursive events."""

    decls: tuple[s.EventDecl, ...]
    is_recursive: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(decl.name.text for decl in self.decls))


def bind_event_group(declared: EventDeclarations, catalog: Catalog, diagnostics: Diagnostics) -> tuple[BoundEvent, ...]:
    """Binds the declarations of a group: one event per name, none if there is an error."""
    if len(declared.decls) == 1 and not declared.is_recursive:
        bound = _bound(declared.decls[0], catalog, diagnostics)
        if bound is not None and _fits_stream(bound, declared.decls, catalog, diagnostics):
            return (bound,)
        catalog.sources |= {name: broken_source(name, is_derived=True) for name in declared.names}
        return ()
    n_errors = diagnostics.n_errors
    decls = _with_common_titles(declared.decls)
    known = _reject_differences(decls, diagnostics)
    if declared.is_recursive and not known:
        known = _inferred_sources(decls, declared, catalog, diagnostics)
    members = _members(decls, declared, catalog, diagnostics, known)
    _reject_other_types([decl for decl in decls if decl.name.text not in known], members, diagnostics)
    if diagnostics.n_errors == n_errors and sum(map(len, members.values())) == len(decls):
        events = tuple(_united(members[name]) for name in declared.names)
        for event in events:
            catalog.sources[event.plan.name] = _source(event.plan, members[event.plan.name], catalog)
        fitting = [_fits_stream(event, decls, catalog, diagnostics) for event in events]
        if declared.is_recursive and all(fitting):
            _check_recursion(decls, tuple(event.plan for event in events), catalog, diagnostics)
        if diagnostics.n_errors == n_errors:
            return events
    for name in declared.names:
        catalog.sources[name] = broken_source(name, is_derived=True)
    return ()


def _bound(decl: s.EventDecl, catalog: Catalog, diagnostics: Diagnostics) -> BoundEvent | None:
    """The event of one declaration; one that extends a stream has the types of its columns."""
    bound = bind_event(decl, catalog, diagnostics)
    name = decl.name.text
    if bound is None or name not in catalog.payloads:
        return bound
    catalog.sources[name] = as_read(catalog.sources[name], catalog)
    return replace(bound, plan=in_types_of_stream(bound.plan, catalog.payloads[name]))


def _fits_stream(event: BoundEvent, decls: Sequence[s.EventDecl], catalog: Catalog, diagnostics: Diagnostics) -> bool:
    name = event.plan.name
    if name not in catalog.payloads:
        return True
    decl = next(decl for decl in decls if decl.name.text == name)
    return fits_stream(event.plan, decl, catalog, diagnostics)


def _inferred_sources(
    decls: Sequence[s.EventDecl], declared: EventDeclarations, catalog: Catalog, diagnostics: Diagnostics
) -> dict[str, CatalogSource]:
    """The schemas of recursive events, inferred by binding the group on trial until they do not change.

    A trial ends at the first error, which the final binding reports. From one trial to the next, a column can only
    widen from INTEGER to DOUBLE, and an event can only lose its total order, so this ends.
    """
    known: dict[str, CatalogSource] = {}
    most = 2 + sum(1 + len(decl.head or ()) + len(decl.returns) + len(decl.partition_by) for decl in decls)
    for _ in range(most):
        trial, seen = Diagnostics(diagnostics.source), catalog.copy()
        members = _members(decls, declared, seen, trial, {name: _without_nulls(one) for name, one in known.items()})
        _reject_other_types(decls, members, trial)
        if trial.n_errors or not all(members.values()):
            break
        outside = _outside(declared, seen)
        found = {name: _source(_united(members[name]).plan, members[name], seen, outside) for name in declared.names}
        if found == known:
            break
        known = found
    else:
        raise AssertionError(f"the columns of {listed(declared.names)} keep changing their types")
    return known


def _without_nulls(source: CatalogSource) -> CatalogSource:
    """The source with unknown types for columns that are NULL in all declarations that are known so far."""
    return replace(source, columns={name: None if kind is Type.NULL else kind for name, kind in source.columns.items()})


def _members(
    decls: Sequence[s.EventDecl],
    declared: EventDeclarations,
    catalog: Catalog,
    diagnostics: Diagnostics,
    known: dict[str, CatalogSource],
) -> dict[str, list[BoundEvent]]:
    """Binds each declaration after the sources it reads; of a recursive event, the base case first."""
    own = set(declared.names)
    for name in own:
        catalog.sources.pop(name, None)
    catalog.sources.update(known)
    members: dict[str, list[tuple[int, BoundEvent]]] = {name: [] for name in declared.names}
    waiting = list(enumerate(decls))
    outside = _outside(declared, catalog) if declared.is_recursive else ()
    while waiting:
        ready = [
            (place, decl)
            for place, decl in waiting
            if all(used.text in catalog.sources for used in used_sources(decl, catalog) if used.text in own)
        ]
        if not ready:
            _reject_without_beginning([decl for _, decl in waiting], own, catalog, diagnostics)
            catalog.sources.update({name: broken_source(name, is_derived=True) for name in own - {*catalog.sources}})
            continue
        for place, decl in ready:
            seen = catalog.sources.get(decl.name.text)
            bound = _bound(decl, catalog, diagnostics)
            if bound is not None and (
                decl.head is None or len(_outputs(bound.plan)) == len(decl.head) + len(decl.returns)
            ):
                members[decl.name.text].append((place, bound))
            if seen is not None and declared.is_recursive:
                catalog.sources[decl.name.text] = seen
            elif bound is not None and declared.is_recursive:
                catalog.sources[decl.name.text] = _without_nulls(_source(bound.plan, [bound], catalog, outside))
        waiting = [one for one in waiting if one not in ready]
    return {name: [bound for _, bound in sorted(found, key=lambda pair: pair[0])] for name, found in members.items()}


def _united(members: list[BoundEvent]) -> BoundEvent:
    columns = zip(*([output.type for output in _outputs(member.plan)] for member in members), strict=True)
    kinds = [_common(column) for column in columns]
    plans = tuple(as_types(member.plan, kinds) for member in members)
    return BoundEvent(united(plans), tuple(use for member in members for use in member.ticks_only))


def _common(kinds: Sequence[Type]) -> Type:
    """The type of a column of all declarations; a column that is NULL in one of them has the type of the others."""
    known = [kind for kind in kinds if kind is not Type.NULL]
    return Type.DOUBLE if Type.DOUBLE in known else known[0] if known else Type.NULL


def _reject_other_types(
    decls: Sequence[s.EventDecl], members: dict[str, list[BoundEvent]], diagnostics: Diagnostics
) -> None:
    """Reports columns with different types in the declarations of one event; INTEGER and DOUBLE give DOUBLE.

    NULL has every type.
    """
    for name, found in members.items():
        own = [decl for decl in decls if decl.name.text == name]
        if len(found) != len(own):
            continue
        for place, column in enumerate(zip(*(_outputs(member.plan) for member in found), strict=True)):
            kinds = {output.type for output in column} - {Type.NULL}
            if len(kinds) > 1 and kinds != {Type.INTEGER, Type.DOUBLE}:
                first = next(output for output in column if output.type is not Type.NULL)
                where = "its first" if first is column[0] else "an earlier"
                wrong = next(i for i, output in enumerate(column) if output.type not in (first.type, Type.NULL))
                items = (*(own[wrong].head or ()), *own[wrong].returns)
                diagnostics.error(
                    "INK0334",
                    f"`{first.name}` of `{name}` is {first.type} in {where} declaration and {column[wrong].type} here",
                    items[place] if place < len(items) else own[wrong].name,
                    helps=["results of events with the same name are combined, so their columns need one type"],
                )


def _outputs(plan: p.EventPlan) -> tuple[p.Output, ...]:
    return (*plan.head, *plan.returns)


def _source(
    plan: p.EventPlan, members: list[BoundEvent], catalog: Catalog, outside: Iterable[CatalogSource] | None = None
) -> CatalogSource:
    """The event as other patterns read it; a recursive event depends on all sources of its group."""
    if outside is None:
        used = {name for member in members for name in member.plan.sources if name != plan.name}
        outside = [catalog.sources[name] for name in sorted(used)]
        is_interval = plan.schema.is_interval
    else:
        is_interval = True
    outside = tuple(outside)
    source = event_source(
        plan,
        frozenset(name for source in outside for name in source.streams),
        frozenset(name for source in outside for name in source.uncertain),
        is_ordered=plan.schema.is_ordered and all(source.is_ordered for source in outside),
        is_interval=is_interval,
    )
    return as_read(source, catalog)


def _outside(declared: EventDeclarations, catalog: Catalog) -> tuple[CatalogSource, ...]:
    used = {used.text for decl in declared.decls for used in used_sources(decl, catalog)} - set(declared.names)
    return tuple(catalog.sources[name] for name in sorted(used) if name in catalog.sources)


def _with_common_titles(decls: tuple[s.EventDecl, ...]) -> tuple[s.EventDecl, ...]:
    """The declarations with the same column names: those of the first declaration that names a column."""
    titles: dict[tuple[str, int], str] = {}
    for decl in decls:
        for place, title in enumerate(titles_of(decl.head or ())):
            if title is not None:
                titles.setdefault((decl.name.text, place), title)
    return tuple(_titled(decl, titles) for decl in decls)


def _titled(decl: s.EventDecl, titles: dict[tuple[str, int], str]) -> s.EventDecl:
    if decl.head is None:
        return decl
    own = titles_of(decl.head)
    items = []
    for place, item in enumerate(decl.head):
        title = titles.get((decl.name.text, place))
        if title is not None and title != own[place]:
            item = replace(item, alias=s.Ident(title, span=item.span))
        items.append(item)
    return replace(decl, head=tuple(items))


def _reject_differences(decls: Sequence[s.EventDecl], diagnostics: Diagnostics) -> dict[str, CatalogSource]:
    """Reports events whose declarations conflict; returns placeholders for them."""
    broken: dict[str, CatalogSource] = {}
    for name in dict.fromkeys(decl.name.text for decl in decls):
        n_errors = diagnostics.n_errors
        own = [decl for decl in decls if decl.name.text == name]
        _reject_to_unite(own, diagnostics)
        if diagnostics.n_errors > n_errors:
            made = [made.text for decl in own for made in declared_names(decl)]
            broken |= {one: broken_source(one, is_derived=True) for one in made}
    return broken


def _reject_to_unite(decls: Sequence[s.EventDecl], diagnostics: Diagnostics) -> None:
    other = decls[0]
    for decl in decls[1:]:
        for what, own, its in _compared(decl, other):
            if own != its:
                its_text, own_text = (_shown(one, diagnostics) for one in (its, own))
                diagnostics.error(
                    "INK0334",
                    f"the declarations of `{decl.name}` differ in {what}",
                    decl.name,
                    f"{its_text} in the first, {own_text} here",
                    notes=[f"the first is at {diagnostics.location(other.name)}; events of one name are combined"],
                    helps=["make the declarations agree, or rename this event"],
                )
    reject_windows(decls, diagnostics)
    reject_united(decls, diagnostics)
    for decl in decls:
        if decl.on_timeout is not None:
            diagnostics.error(
                "INK0334",
                "ON TIMEOUT does not support recursive events or events with several declarations",
                decl.on_timeout,
                helps=["give this event a name of its own"],
            )
    preferring = [decl.consume.prefer for decl in decls if decl.consume is not None and decl.consume.prefer is not None]
    if len(decls) > 1 and preferring and not isinstance(preferring[0], str):
        diagnostics.error(
            "INK0334",
            f"PREFER by a value compares matches of one declaration, and `{decls[0].name}` has several",
            preferring[0],
            notes=["their matches have different variables, and partial matches of both have no common value"],
            helps=["write PREFER LONGER or PREFER SHORTER, or rename the events"],
        )


def _compared(decl: s.EventDecl, other: s.EventDecl) -> Iterable[tuple[str, str | s.Node, str | s.Node]]:
    """What declarations of one event must have in common, and what both have; an empty text for nothing."""

    def clauses(one: s.EventDecl) -> dict[str, str | s.Node]:
        return {
            "the number of their columns": "no head" if one.head is None else str(len(one.head)),
            "PER": one.per or "MATCH",
            "PARTITION BY": ", ".join(column.text for column in one.partition_by),
            "CONSUME": one.consume or "",
            "KEEP FOR": one.keep_for or "",
            "ON RETRACT": "" if one.on_retract is None else one.on_retract.text,
            "RETURN": ", ".join(title or "?" for title in titles_of(one.returns)),
            "HIDDEN": "HIDDEN" if one.hidden else "",
        }

    own, its = clauses(decl), clauses(other)
    return [(what, own[what], its[what]) for what in own]


def _shown(clause: str | s.Node, diagnostics: Diagnostics) -> str:
    return (clause if isinstance(clause, str) else diagnostics.text_of(clause)) or "none"


def _reject_without_beginning(
    decls: list[s.EventDecl], own: set[str], catalog: Catalog, diagnostics: Diagnostics
) -> None:
    for decl in decls:
        place = next(used for used in used_sources(decl, catalog) if used.text in own)
        diagnostics.error(
            "INK0333",
            f"`{decl.name}` depends only on itself, so it never has a first result",
            place,
            helps=[
                f"add a second `EVENT {decl.name}(…)` that does not use {listed(sorted(own))}: it is the base case",
                f"if there are rows of `{decl.name}`, declare the stream `{decl.name}`: the event then adds to it",
            ],
        )


def _check_recursion(
    decls: Sequence[s.EventDecl], events: Sequence[p.EventPlan], catalog: Catalog, diagnostics: Diagnostics
) -> None:
    """Reports recursion without a least model that can be built step by step: see `logical/recursion.py`."""
    names = frozenset(event.name for event in events)
    related = next((event for event in events if isinstance(event.pattern, p.Quantified)), None)
    if related is not None:
        _reject_relation(related, decls, names, diagnostics)
        return
    for event in events:
        own = [decl for decl in decls if decl.name.text == event.name]
        name = diagnostics.text_of(own[0].name)
        if event.per is not p.Per.INTERVAL:
            diagnostics.error(
                "INK0335",
                f"`{name}` is recursive, so its results must be distinguished by values and interval",
                own[0].name,
                notes=["a result of a recursion can be derived in several ways, but counts once"],
                helps=["add `PER INTERVAL`"],
            )
        if event.returns:
            diagnostics.error(
                "INK0336",
                f"`{name}` is recursive, so RETURN is ambiguous: a result can have several derivations",
                own[0].returns[0] if own[0].returns else own[0].name,
                helps=[f"move the value to the head: `EVENT {name}(…, value)`"],
            )
        if r.waits(event):
            diagnostics.error(
                "INK0425",
                f"a recursive event that waits, such as `{name}`, is not supported yet",
                own[0].name,
                notes=["AFTER, AT and a NOT at the end delay a result beyond its last event"],
                helps=["move the waiting part to another event, and use its results here"],
            )
    if all(r.is_monotone(event, names) for event in events) or all(r.is_progressive(event, names) for event in events):
        return
    at_fault = next(event for event in events if not r.is_monotone(event, names) or not r.is_progressive(event, names))
    own = [decl for decl in decls if decl.name.text == at_fault.name]
    place = next((used for decl in own for used in used_sources(decl, catalog) if used.text in names), own[0].name)
    diagnostics.error(
        "INK0337",
        f"`{at_fault.name}` depends on results of {listed(sorted(names))} and on their absence at the same time",
        place,
        notes=[
            "NOT, NEXT, STRICT, EXCEPT, OPTIONAL and CONSUME may look at results of the same recursion only if those"
            " end before the new result does",
            *(["MAXIMAL cannot be part of a recursion"] if any(maximal_parts(at_fault.pattern)) else []),
        ],
        helps=["let an event that follows end the match: `SEQ(" + at_fault.name + " p, …, Next n)`"],
    )


def _reject_relation(
    event: p.EventPlan, decls: Sequence[s.EventDecl], names: frozenset[str], diagnostics: Diagnostics
) -> None:
    own = next(decl for decl in decls if decl.name.text == event.name)
    place = next((used for used in s.named_sources(own.body) if used.text in names), own.name)
    diagnostics.error(
        "INK0337",
        f"`{event.name}` compares segments that depend on its own results",
        place,
        notes=["a relation between keys needs all their segments"],
        helps=["compare segments of an event that does not use " + listed([event.name])],
    )
