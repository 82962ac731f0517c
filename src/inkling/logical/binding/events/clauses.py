"""The clauses of an event besides its pattern: partition, scope, consumption and thresholds.

What `WINDOW` and `ON CHANGE` demand of the event they stand in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, Source
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.syntax_walk import named_sources, parts_of
from inkling.model.time import Span
from inkling.model.types import Type


def bind_scope(decl: s.EventDecl, catalog: Catalog, diagnostics: Diagnostics) -> tuple[Source, ...]:
    """The sources whose events STRICT counts: those in OVER, or all that the pattern names."""
    names = decl.over or tuple(named_sources(decl.body))
    scope = {name.text: catalog.source(name, diagnostics) for name in names}
    if not scope:
        diagnostics.wrong(
            "INK0318",
            "the pattern names no stream, so `_` is ambiguous",
            decl.body,
            helps=["add `OVER (…)` with the streams of the scope"],
        )
    return tuple(scope[name] for name in sorted(scope))


def bind_partition(decl: s.EventDecl, sources: tuple[Source, ...], diagnostics: Diagnostics) -> dict[str, Type | None]:
    """Partition columns with their type, which must be the same in every source."""
    partition: dict[str, Type | None] = {}
    for column in decl.partition_by:
        sound = [source for source in sources if not source.is_broken]
        lacking = [source.name for source in sound if column.text not in source.columns]
        kinds = {source.columns[column.text] for source in sound if column.text in source.columns}
        partition[column.text] = next(iter(kinds)) if len(kinds) == 1 and not lacking else None
        if lacking:
            known = [name for source in sound for name in source.columns]
            diagnostics.wrong(
                "INK0319",
                f"cannot partition by `{column}`: {listed(lacking)} {'has' if len(lacking) == 1 else 'have'}"
                " no such column",
                column,
                notes=["every stream of the pattern and its scope must have the column"],
                helps=did_you_mean(column.text, known) if len(lacking) == len(sound) else (),
            )
        elif len(kinds) > 1:
            written = ", ".join(f"{source.columns[column.text]} in `{source.name}`" for source in sound)
            diagnostics.wrong(
                "INK0319", f"cannot partition by `{column}`: its type differs", column, notes=[f"it is {written}"]
            )
    return partition


def bind_keep(decl: s.EventDecl, times: TimeUses) -> Span | None:
    """How long after its start a match may become known."""
    if decl.keep_for is None:
        return None
    keep = to_span(decl.keep_for)
    times.spans.append((keep, decl.keep_for.span))
    return keep


def restarts(decl: s.EventDecl) -> bool:
    """Whether matches restart after each other."""
    return decl.consume is not None and decl.consume.policy == "RESTART"


def bind_confidence(decl: s.EventDecl, uncertain: frozenset[str], diagnostics: Diagnostics) -> p.Confidence | None:
    """The least probability that a result must have; it changes nothing when every stream is certain."""
    confidence = decl.confidence
    if confidence is None:
        return None
    if confidence.early and not isinstance(decl.body.pattern, s.Quantified):
        reject_early(confidence, "other results are emitted when their probabilities are final", diagnostics)
    if confidence.op == ">" and confidence.threshold >= 1:
        diagnostics.wrong(
            "INK0321",
            "no probability is greater than 1, so there would be no results",
            confidence,
            helps=["write `CONFIDENCE >= 1` for certain results"],
        )
    elif not uncertain:
        diagnostics.warn(
            "INK0322", "CONFIDENCE has no effect: every stream is certain, so every probability is 1", confidence
        )
    return p.Confidence(float(confidence.threshold), confidence.op == ">", confidence.early)


def reject_early(confidence: s.Confidence, why: str, diagnostics: Diagnostics) -> None:
    """EARLY outside a relation between segments."""
    diagnostics.wrong(
        "INK0353",
        "EARLY applies only to relations between segments",
        confidence,
        notes=[f"`ALL`, `SOME` and `AT LEAST` can be certain to hold before all rows have arrived; {why}"],
        helps=["leave EARLY out"],
    )


def bind_top(decl: s.EventDecl, uncertain: frozenset[str], diagnostics: Diagnostics) -> int | None:
    """How many of the most probable results are returned."""
    if decl.top is not None and not uncertain:
        diagnostics.wrong(
            "INK0411",
            "TOP over certain streams is not supported yet",
            decl.name,
            f"because of `TOP {decl.top}`",
            notes=["every probability is 1, so all results rank equally"],
        )
    return decl.top


def bind_demand(decl: s.EventDecl, uncertain: frozenset[str], diagnostics: Diagnostics) -> p.Demand | None:
    """Whether the event insists on exact or on sampled probabilities."""
    if decl.demand is None:
        return None
    if decl.demand == "SAMPLED" and not uncertain:
        diagnostics.warn(
            "INK0322", "SAMPLED has no effect: every stream is certain, so every probability is 1", decl.name
        )
    return p.Demand(decl.demand)


def opening_of(pattern: s.Pattern) -> tuple[s.Leaf, s.WindowOf] | None:
    """The parts of `SEQ(A a, WINDOW S w LAST … SINCE a)`, if the pattern is that."""
    match pattern:
        case s.Seq(policy="ANY", components=(s.Leaf() as opening, s.WindowOf() as window)):
            since = window.since
            named = since is not None and opening.var is not None and opening.var.text == since.text
            return (opening, window) if named else None
        case _:
            return None


def reject_window(node: s.WindowOf, diagnostics: Diagnostics) -> None:
    """A window that is part of another pattern, or begins with nothing."""
    notes = ["WINDOW is a whole pattern, or with SINCE the last part of `SEQ(A a, WINDOW S w LAST … SINCE a)`"]
    if node.since is not None:
        notes.append(f"`{node.since}` must be the only part before the window, and a single event")
    diagnostics.wrong(
        "INK0355",
        "a window cannot be part of this pattern",
        node,
        notes=notes,
        helps=["derive an event from the window, and use that event here"],
    )


def reject_windows(decls: Iterable[s.EventDecl], diagnostics: Diagnostics) -> None:
    """Windows of events that are united with others or use themselves."""
    for decl in decls:
        for node in parts_of(decl.body):
            if isinstance(node, s.WindowOf):
                diagnostics.wrong(
                    "INK0355",
                    f"`{decl.name}` is recursive or has several declarations, so it cannot be a window",
                    node,
                    helps=[f"derive an event of another name from the window, and define `{decl.name}` by that event"],
                )


def check_windows(decl: s.EventDecl, names: EventNames) -> None:
    """What a window demands of the rest of its event, and ON CHANGE of the pattern."""
    diagnostics = names.diagnostics
    if not any(isinstance(part, s.WindowOf) for part in parts_of(decl.body)):
        if decl.on_change:
            diagnostics.wrong(
                "INK0356",
                "ON CHANGE needs a window",
                decl.name,
                "because of `ON CHANGE`",
                notes=["results without a window have no previous result to compare with"],
                helps=["put a window over the results: `WINDOW e w LAST 1 EVENTS … ON CHANGE`"],
            )
        return
    for clause, at, note in _misfits(decl):
        diagnostics.wrong("INK0357", f"{clause} does not apply to a window", at, notes=[note])
    for place in names.shape.places:
        if place.atoms:
            diagnostics.wrong(
                "INK0440",
                "values that a table supplies in the brackets of a window are not supported yet",
                place.span,
                helps=["derive an event with these values, and put the window over that event"],
            )
        for condition in place.conditions:
            if any(isinstance(part, e.ListColumn) and part.own for part in e.walk(condition)):
                diagnostics.wrong(
                    "INK0357",
                    "FIRST and LAST are not allowed in the brackets of a window",
                    place.span,
                    notes=["the condition is tested for each event separately"],
                    helps=["put conditions on the whole window into HAVING"],
                )


def _misfits(decl: s.EventDecl) -> Iterator[tuple[str, s.Node, str]]:
    if decl.body.within is not None:
        yield "WITHIN", decl.body.within, "LAST sets how far back a window reaches"
    if decl.keep_for is not None:
        yield "KEEP FOR", decl.keep_for, "LAST sets how far back a window reaches"
    if decl.consume is not None:
        yield "CONSUME", decl.consume, "every event moves the window; no event is consumed"
    if decl.on_timeout is not None:
        yield "ON TIMEOUT", decl.on_timeout, "a window has a result from its first event on; it never waits"
    if decl.per == "VALUES":
        yield ("PER VALUES", decl.name, "a window has one result per event; `PER END` distinguishes them by time")
