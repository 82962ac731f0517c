"""Binds one EVENT: its pattern, names, conditions, clauses and result columns become an `EventPlan`."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, CatalogSource, broken_source
from inkling.logical.binding.clocks import TimeUses, check_times, report_pattern_without_events
from inkling.logical.binding.declarations import warn_of_empty_output
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.events import clauses
from inkling.logical.binding.events.facts import called_in_where, with_facts
from inkling.logical.binding.events.outputs import bind_outputs, event_source
from inkling.logical.binding.events.timeouts import bind_timeouts
from inkling.logical.binding.knowledge.lookups import warn_of_unread
from inkling.logical.binding.patterns.conditions import bind_conditions, report_unused
from inkling.logical.binding.patterns.drafts import PatternDraft, fill
from inkling.logical.binding.patterns.optional import with_outer_joins
from inkling.logical.binding.patterns.pattern import bind_pattern
from inkling.logical.binding.patterns.scope import EventNames, report_unknown, warn_of_column
from inkling.logical.binding.patterns.segments import bind_look_ups, check_quantity, check_segments, take_quantity
from inkling.logical.patterns.moments import happens_without_events
from inkling.model.schema import Column, EventSchema
from inkling.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class BoundEvent:
    """The plan of an event and of its ON TIMEOUT, and the plain numbers that count ticks."""

    plan: p.EventPlan
    ticks_only: tuple[p.TicksOnly, ...]
    timeouts: p.EventPlan | None = None

    @property
    def plans(self) -> tuple[p.EventPlan, ...]:
        return (self.plan,) if self.timeouts is None else (self.plan, self.timeouts)


def bind_event(decl: s.EventDecl, catalog: Catalog, diagnostics: Diagnostics) -> BoundEvent | None:
    """The plan of one event, which also enters the catalog; None when it has an error."""
    n_errors = diagnostics.n_errors
    written = _with_aggregates(decl, catalog.aggregates)
    decl, facts = with_facts(written, catalog, diagnostics)
    times = TimeUses()
    scope = clauses.bind_scope(written, catalog, diagnostics)
    keep = clauses.bind_keep(decl, times)
    shape = bind_pattern(decl.body, scope, catalog, diagnostics, times, keep)
    used = {source.name: source for place in shape.slots for source in place.sources}
    sources = tuple({**used, **{source.name: source for source in scope}}.values())
    names = EventNames(shape, catalog, diagnostics, times, clauses.bind_partition(decl, sources, diagnostics))
    take_quantity(decl.body, names)
    bind_conditions(names, facts.denied)
    bind_look_ups(decl, names)
    head, returns = bind_outputs(decl, names)
    check_segments(decl, names, head, returns)
    check_quantity(decl, names, head)
    clauses.check_windows(decl, names)
    consumption = clauses.bind_consumption(decl, names)
    report_unused(names)
    warn_of_unread(names)
    clauses.warn_of_identity(decl, names)
    for name in facts.unread:
        warn_of_column(name, names, facts.names)
    streams = frozenset(name for source in sources for name in source.streams)
    uncertain = frozenset(name for source in sources for name in source.uncertain)
    confidence = clauses.bind_confidence(decl, uncertain, diagnostics)
    top = clauses.bind_top(decl, uncertain, diagnostics)
    demand = clauses.bind_demand(decl, uncertain, diagnostics)
    warn_of_empty_output(decl, streams, catalog, diagnostics)
    _check_complement_scope(decl, scope, diagnostics)
    _check_since(decl, names)
    ticks_only = check_times(times, streams, decl.name.span, catalog, diagnostics)
    _warn_of_mixed_operators(written.body, diagnostics)
    if diagnostics.n_errors > n_errors or any(source.has_error for source in sources):
        for name in declared_names(decl):
            catalog.sources[name.text] = broken_source(name.text, is_derived=True)
        return None
    pattern = fill(shape.pattern, shape.slots)
    if happens_without_events(pattern):
        report_pattern_without_events(decl, diagnostics)
        catalog.sources[decl.name.text] = broken_source(decl.name.text, is_derived=True)
        return None
    if p.can_be_empty(pattern):
        diagnostics.warn(
            "INK0323",
            "the pattern also matches the empty sequence; empty matches are not emitted",
            decl.body.pattern,
            helps=["write `+` instead of `*` or `?`"],
        )
    columns = tuple(Column(output.name, output.type) for output in (*head, *returns))
    schema = EventSchema(decl.name.text, columns, _is_ordered(shape, pattern), _is_interval(shape, pattern))
    plan = p.EventPlan(
        schema.name,
        head,
        returns,
        pattern,
        shape.within,
        tuple(shape.top.having),
        tuple(Column(name, kind) for name, kind in names.partition.items() if kind is not None),
        tuple(source.name for source in scope),
        p.Per(decl.per or ("VALUES" if isinstance(pattern, p.Quantified) else "MATCH")),
        clauses.restarts(decl),
        _slots(shape),
        schema,
        keep,
        confidence=confidence,
        top=top,
        demand=demand,
        consumption=consumption,
        on_change=decl.on_change,
        retracted_as=decl.on_retract.text if decl.on_retract else None,
        hidden=decl.hidden,
    )
    plan = with_outer_joins(plan)
    if not clauses.fits_maximal(decl, plan, diagnostics):
        catalog.sources[schema.name] = broken_source(schema.name, is_derived=True)
        return None
    catalog.sources[schema.name] = event_source(plan, streams, uncertain)
    if (
        decl.consume is not None
        and consumption is not None
        and not clauses.fits_consumption(decl.consume, plan, diagnostics)
    ):
        catalog.sources[schema.name] = broken_source(schema.name, is_derived=True)
        return None
    return BoundEvent(plan, ticks_only, bind_timeouts(decl, plan, catalog, diagnostics))


def declared_names(decl: s.EventDecl) -> tuple[s.Ident, ...]:
    """The events that a declaration declares."""
    return (decl.name,) if decl.on_timeout is None else (decl.name, decl.on_timeout)


def used_sources(decl: s.EventDecl, catalog: Catalog) -> tuple[s.Ident, ...]:
    """Every stream and event that a declaration reads; among them are names of what may be events in WHERE."""
    return (*s.named_sources(decl.body), *called_in_where(decl, catalog), *decl.over)


def _slots(shape: PatternDraft) -> tuple[p.Slot, ...]:
    return tuple(
        p.Slot(
            place.number,
            place.name.text if place.name else None,
            tuple(source.name for source in place.sources),
            bool(place.repetitions),
            bool(place.barriers),
            place.inner is not None,
        )
        for place in shape.slots
    )


def _is_ordered(shape: PatternDraft, pattern: p.Pattern) -> bool:
    """Whether results are totally ordered: all events of a match come from ordered streams, and no deadline ends it."""
    if isinstance(pattern, p.Quantified):
        return False
    filled = [place for place in shape.slots if place.inner is None and not place.barriers]
    return not _has_deadline(pattern) and all(source.is_ordered for place in filled for source in place.fillers)


def _has_deadline(part: p.Part) -> bool:
    match part:
        case p.Deadline() | p.TimePoint():
            return True
        case p.Except(pattern=inner):
            return _has_deadline(inner)
        case p.Sequence(parts=parts):
            return any(_has_deadline(one) for one in parts if not isinstance(one, p.Absent))
        case _:
            return any(_has_deadline(inner) for inner in p.sub_patterns(part))


def _is_interval(shape: PatternDraft, pattern: p.Pattern) -> bool:
    """Whether a match can be longer than one point in time."""
    match pattern:
        case p.Leaf(slot=slot):
            return any(source.is_interval for source in shape.slots[slot].fillers)
        case p.Narrowed(pattern=inner):
            return _is_interval(shape, inner)
        case p.Disjunction(items=items):
            return any(_is_interval(shape, item) for item in items)
        case _:
            return True


def _check_complement_scope(decl: s.EventDecl, scope: tuple[CatalogSource, ...], diagnostics: Diagnostics) -> None:
    unordered = [source.name for source in scope if not source.is_ordered and not source.is_broken]
    complement = next((node for node in s.parts_of(decl.body) if isinstance(node, s.Complement)), None)
    if complement is not None and unordered:
        diagnostics.error(
            "INK0316",
            "COMPLEMENT needs totally ordered streams",
            complement,
            notes=[f"simultaneous events of {listed(unordered)} are unordered"],
            helps=["declare `ORDER BY column` for every stream of the scope"],
        )


def _check_since(decl: s.EventDecl, names: EventNames) -> None:
    for node in s.parts_of(decl.body):
        if isinstance(node, s.WindowOf) and node.since and names.draft.named(node.since.text) is None:
            report_unknown(node.since, names, None)


def _with_aggregates(node: s.NodeT, names: Collection[str]) -> s.NodeT:
    """The same with `name(w.x)` as an aggregate for each of the names; the same object when there is none."""

    def changed(inner: s.Node) -> s.Node:
        match inner:
            case s.Call(name=name, args=(s.Attribute(var=var, column=column),)) if name.text in names:
                return s.Aggregate(cast(Any, name.text), var, column, span=inner.span)
            case s.Call(name=name, args=(s.Variable(name=var),)) if name.text in names:
                return s.Aggregate(cast(Any, name.text), var, span=inner.span)
            case _:
                return s.rebuilt(inner, changed)

    return s.rebuilt(node, changed) if names else node


Operator = s.And | s.Or | s.Par | s.Allen | s.Except | s.LeftJoin | s.Seq

_PREFIX = re.compile(
    r"(SEQ\s*(ANY\b|NEXT\b|STRICT\b)?|[;+&*!#@])\s*\(|(SEQ|EQUALS|AND|UNION|OPTIONAL)?\s*\{", re.IGNORECASE
)
"""A sequence in front of its components, the operators of Wayeb, and groups of triples, which are in braces."""


def _warn_of_mixed_operators(node: s.Node, diagnostics: Diagnostics) -> None:
    """Warns of each operand with another operator that is not in parentheses."""
    for child in s.direct_parts(node):
        if (
            _is_infix(node, diagnostics.source)
            and _is_infix(child, diagnostics.source)
            and type(child) is not type(node)
            and not _in_parentheses(child.span, diagnostics.source)
        ):
            inner = diagnostics.text_of(child)
            diagnostics.warn(
                "INK0324",
                f"{_word(child)} {_precedes(child, node)} {_word(node)} here",
                child,
                helps=[f"write `({inner})` to make the precedence explicit"],
            )
        _warn_of_mixed_operators(child, diagnostics)


def _is_infix(node: s.Node, source: SourceText) -> TypeGuard[Operator]:
    """Whether the operator is written between its operands; SEQ is so in rules of ETALIS only."""
    return isinstance(node, Operator) and not _PREFIX.match(source.text, node.span.start)


def _precedes(child: Operator, node: Operator) -> str:
    """SEQ between operands, relations, EXCEPT and OPTIONAL have one precedence and are read from left to right."""
    chained = s.Seq | s.Allen | s.Except | s.LeftJoin
    reads_on = isinstance(child, chained) and isinstance(node, chained) and s.Seq in (type(child), type(node))
    return "is read before" if reads_on else "binds tighter than"


def _word(node: Operator) -> str:
    match node:
        case s.Seq():
            return "SEQ"
        case s.And():
            return "AND"
        case s.Or():
            return "OR"
        case s.Par():
            return "PAR"
        case s.Allen(relations=relations):
            return " ".join(relations[:1])
        case s.Except():
            return "EXCEPT"
        case s.LeftJoin():
            return "OPTIONAL"


def _in_parentheses(span: Span, source: SourceText) -> bool:
    before = source.text[: span.start].rstrip()
    after = source.text[span.end :].lstrip()
    return (before.endswith("(") and after.startswith(")")) or source.text_of(span).startswith("(")
