"""The clauses of an event besides its pattern: partition, scope, CONSUME, CONFIDENCE, TOP, WINDOW and ON CHANGE.

Each function binds one clause, or checks that a clause fits the pattern of its event.
"""

from collections.abc import Iterable, Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, CatalogSource
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.patterns.drafts import InSequence
from inkling.logical.binding.patterns.scope import EventNames, NameScope
from inkling.logical.patterns.maximal import grows
from inkling.model.time import Duration
from inkling.model.types import Type


def bind_scope(decl: s.EventDecl, catalog: Catalog, diagnostics: Diagnostics) -> tuple[CatalogSource, ...]:
    """The scope: the sources in OVER, or all sources that the pattern names. STRICT counts their events."""
    names = decl.over or tuple(s.named_sources(decl.body))
    scope = {source.name: source for name in names for source in catalog.events_of(name, diagnostics)}
    if not scope:
        diagnostics.error(
            "INK0318",
            "the pattern names no stream, so `_` is ambiguous",
            decl.body,
            helps=["add `OVER (…)` with the streams of the scope"],
        )
    return tuple(scope[name] for name in sorted(scope))


def bind_partition(
    decl: s.EventDecl, sources: tuple[CatalogSource, ...], diagnostics: Diagnostics
) -> dict[str, Type | None]:
    """The partition columns with their types, which must be the same in every source."""
    partition: dict[str, Type | None] = {}
    for column in decl.partition_by:
        sound = [source for source in sources if not source.is_broken]
        lacking = [source.name for source in sound if column.text not in source.columns]
        kinds = {source.columns[column.text] for source in sound if column.text in source.columns}
        partition[column.text] = next(iter(kinds)) if len(kinds) == 1 and not lacking else None
        if lacking:
            known = [name for source in sound for name in source.columns]
            diagnostics.error(
                "INK0319",
                f"cannot partition by `{column}`: {listed(lacking)} {'has' if len(lacking) == 1 else 'have'}"
                " no such column",
                column,
                notes=["every stream of the pattern and its scope must have the column"],
                helps=did_you_mean(column.text, known) if len(lacking) == len(sound) else (),
            )
        elif len(kinds) > 1:
            written = ", ".join(f"{source.columns[column.text]} in `{source.name}`" for source in sound)
            diagnostics.error(
                "INK0319", f"cannot partition by `{column}`: its type differs", column, notes=[f"it is {written}"]
            )
    return partition


def bind_keep(decl: s.EventDecl, times: TimeUses) -> Duration | None:
    """KEEP FOR: how long after its start a match may be completed."""
    if decl.keep_for is None:
        return None
    keep = to_span(decl.keep_for)
    times.spans.append((keep, decl.keep_for.span))
    return keep


def restarts(decl: s.EventDecl) -> bool:
    """Whether the event has CONSUME RESTART."""
    return decl.consume is not None and decl.consume.policy == "RESTART"


def bind_confidence(decl: s.EventDecl, uncertain: frozenset[str], diagnostics: Diagnostics) -> p.Confidence | None:
    """CONFIDENCE: the least probability of a result; it has no effect when every stream is certain."""
    confidence = decl.confidence
    if confidence is None:
        return None
    if confidence.early and not isinstance(decl.body.pattern, s.Quantified):
        reject_early(confidence, "other results are emitted when their probabilities are final", diagnostics)
    if confidence.op == ">" and confidence.threshold >= 1:
        diagnostics.error(
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
    """Rejects EARLY outside a relation between segments."""
    diagnostics.error(
        "INK0353",
        "EARLY applies only to relations between segments",
        confidence,
        notes=[f"`ALL`, `SOME` and `AT LEAST` can be certain to hold before all rows have arrived; {why}"],
        helps=["leave EARLY out"],
    )


def warn_of_identity(decl: s.EventDecl, names: EventNames) -> None:
    """Warns of an aggregate of a repetition in the head of results that have one per end."""
    windows = {part.var.text for part in s.parts_of(decl.body) if isinstance(part, s.WindowOf)}
    for item in (decl.head or ()) if decl.per == "END" else ():
        for part in s.walk(item.value):
            if isinstance(part, s.Aggregate) and part.var.text not in windows:
                written = names.diagnostics.text_of(part)
                names.diagnostics.warn(
                    "INK0395",
                    f"there is one result per end and value of `{written}`, not one per end",
                    part,
                    notes=["PER END distinguishes results by their end and by all values of the head"],
                    helps=[f"leave `{written}` out of the head, or write `PER MATCH` to see every match"],
                )


def bind_top(decl: s.EventDecl, uncertain: frozenset[str], diagnostics: Diagnostics) -> int | None:
    """TOP: the number of most probable results to return."""
    if decl.top is not None and not uncertain:
        diagnostics.error(
            "INK0397",
            f"TOP keeps the most probable results, and all results of `{decl.name.text}` are certain",
            decl.name,
            f"because of `TOP {decl.top}`",
            notes=["over certain streams every probability is 1, so all results rank equally"],
            helps=["leave TOP out"],
        )
    return decl.top


def bind_demand(decl: s.EventDecl, uncertain: frozenset[str], diagnostics: Diagnostics) -> p.Demand | None:
    """EXACT or SAMPLED: how probabilities of the event must be computed."""
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
    """Rejects a window inside another pattern, or with a SINCE that names no part."""
    notes = ["WINDOW is a whole pattern, or with SINCE the last part of `SEQ(A a, WINDOW S w LAST … SINCE a)`"]
    if node.since is not None:
        notes.append(f"`{node.since}` must be the only part before the window, and a single event")
    diagnostics.error(
        "INK0355",
        "a window cannot be part of this pattern",
        node,
        notes=notes,
        helps=["derive an event from the window, and use that event here"],
    )


def reject_windows(decls: Iterable[s.EventDecl], diagnostics: Diagnostics) -> None:
    """Rejects windows in recursive events and in events with several declarations."""
    for decl in decls:
        for node in s.parts_of(decl.body):
            if isinstance(node, s.WindowOf):
                diagnostics.error(
                    "INK0355",
                    f"`{decl.name}` is recursive or has several declarations, so it cannot be a window",
                    node,
                    helps=[f"derive an event of another name from the window, and define `{decl.name}` by that event"],
                )


def check_windows(decl: s.EventDecl, names: EventNames) -> None:
    """Checks the clauses of an event with a WINDOW, and ON CHANGE of an event without one."""
    diagnostics = names.diagnostics
    if not any(isinstance(part, s.WindowOf) for part in s.parts_of(decl.body)):
        if decl.on_change:
            diagnostics.error(
                "INK0356",
                "ON CHANGE needs a window",
                decl.name,
                "because of `ON CHANGE`",
                notes=["results without a window have no previous result to compare with"],
                helps=["put a window over the results: `WINDOW e w LAST 1 EVENTS … ON CHANGE`"],
            )
        return
    for clause, at, note in _misfits(decl):
        diagnostics.error("INK0357", f"{clause} does not apply to a window", at, notes=[note])
    for place in names.draft.slots:
        for condition in place.conditions:
            if e.looks_back(condition):
                diagnostics.error(
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


_COMPARED = frozenset((Type.INTEGER, Type.DOUBLE, Type.TIME, Type.DURATION))


def bind_consumption(decl: s.EventDecl, names: EventNames) -> p.Consumption | None:
    """CONSUME RECENT or CHRONOLOGICAL, with its preference; None for RESTART or no CONSUME."""
    consume = decl.consume
    if consume is None or consume.policy == "RESTART":
        return None
    _check_policies(consume, names)
    if decl.on_timeout is not None:
        names.diagnostics.error(
            "INK0352",
            f"ON TIMEOUT cannot be combined with CONSUME {consume.policy}",
            consume,
            notes=["a partial match that is replaced by another one never times out"],
        )
    return p.Consumption(p.Selection(consume.policy), consume.keeping, _preference(consume, names))


def _check_policies(consume: s.Consume, names: EventNames) -> None:
    for place in names.draft.slots:
        policies = [frame.policy for frame in place.path if isinstance(frame, InSequence)]
        if any(policy is not p.Policy.ANY for policy in policies):
            names.diagnostics.error(
                "INK0320",
                f"CONSUME {consume.policy} needs `SEQ` without NEXT and STRICT",
                consume,
                notes=["it chooses among all combinations of events, and NEXT and STRICT leave some out"],
                helps=["write `SEQ(…)`, or `CONSUME RESTART`"],
            )
            return


def _preference(consume: s.Consume, names: EventNames) -> p.Preference | e.Expr | None:
    prefer = consume.prefer
    if prefer is None:
        return None
    if isinstance(prefer, str):
        return p.Preference(prefer)
    value = NameScope(names, names.draft.top.evaluation_point).binder().value(prefer)
    if value is not None and value.type not in _COMPARED:
        names.diagnostics.error("INK0351", "PREFER needs a number or a time", prefer, f"this is {value.type}")
    return value


def fits_consumption(consume: s.Consume, event: p.EventPlan, diagnostics: Diagnostics) -> bool:
    """Whether a consumption policy supports the pattern (see `logical/patterns/binary.py`); reports why not."""
    repeated = next((part for part in p.parts_of(event.pattern) if isinstance(part, p.Repetition)), None)
    if repeated is not None and repeated.high == 1:
        diagnostics.error(
            "INK0350",
            f"CONSUME {consume.policy} does not support parts that may be missing",
            consume,
            notes=["it consumes one event per part"],
            helps=["write two EVENT statements, one with the part and one without"],
        )
        return False
    if repeated is not None:
        diagnostics.error(
            "INK0350",
            f"CONSUME {consume.policy} does not support repetitions",
            consume,
            notes=["it consumes one event per part, and a repetition has several"],
            helps=["write the parts one after the other: `SEQ(A a1, A a2)` instead of `A a{2}`"],
        )
        return False
    obstacle = _obstacle(event)
    if obstacle is not None:
        what, why = obstacle
        diagnostics.error(
            "INK0350",
            f"CONSUME {consume.policy} does not support {what}",
            consume,
            notes=[why],
            helps=[
                "derive an event from the part with the table, which has its value as a column, and use it here"
                if why is _ROWS
                else "put the part that consumes into an event of its own, and use its results in this pattern"
            ],
        )
    return obstacle is None


def fits_maximal(decl: s.EventDecl, event: p.EventPlan, diagnostics: Diagnostics) -> bool:
    """Whether it is known some day that no MAXIMAL repetition can be extended; reports if not."""
    if not grows(event.pattern) or isinstance(event.within, Duration | p.Points):
        return True
    node = next(one for one in s.parts_of(decl.body) if isinstance(one, s.Repeat) and one.mode == "MAXIMAL")
    counts = ["`WITHIN n EVENTS` counts events; to wait for further ones needs a limit in time"]
    diagnostics.error(
        "INK0305",
        "MAXIMAL at the end of a pattern needs a time limit",
        node,
        f"a later event can always extend `{diagnostics.text_of(node.pattern)}`",
        notes=counts if event.within is not None else [],
        helps=["add a limit to the event, for example `WITHIN 10 MINUTES`", "or let another part follow"],
    )
    return False


_AT_ONCE = "a part is consumed when the part that completes it arrives, and this is known only later"
_PAIRS = "it consumes the parts of a join of two, and this is no such join"
_TIME = "how long a part waits for another is limited in time, not by a number of events"
_EVENTS = "it consumes the events of a stream or event that the part names"
_ROWS = "it consumes events, of which a table makes several candidates each"
_EARLIER = "parts are joined from left to right, and this reads a part that is joined later"
_SINGLE = "only NOT of a single event is compared with other parts"

_Obstacle = tuple[str, str]
"""What a consumption policy does not support, and why."""


def _obstacle(event: p.EventPlan) -> _Obstacle | None:
    if isinstance(event.within, p.EventCount):
        return "`WITHIN n EVENTS`", _TIME
    if event.on_change:
        return "ON CHANGE", _PAIRS
    return _obstacle_in(event.pattern)


def _obstacle_in(pattern: p.Pattern) -> _Obstacle | None:
    match pattern:
        case p.Leaf(sources=sources, atoms=atoms):
            if not sources:
                return "`_`", _EVENTS
            return ("a table that supplies values", _ROWS) if atoms else None
        case p.Sequence(parts=parts):
            return _obstacle_in_sequence(parts)
        case p.Narrowed(pattern=inner, within=within, having=having):
            if isinstance(within, p.EventCount):
                return "`WITHIN n EVENTS`", _TIME
            outside = {slot for one in having for slot in e.slots_of(one)} - _filled(pattern)
            return ("a nested HAVING that reads other parts", _EARLIER) if outside else _obstacle_in(inner)
        case p.Conjunction() | p.Disjunction() | p.Parallel() | p.Related():
            return next((found for inner in p.sub_patterns(pattern) if (found := _obstacle_in(inner))), None)
        case p.TimePoint():
            return "AT", _EVENTS
        case p.Except():
            return "EXCEPT", _PAIRS
        case p.LeftJoin(kind=kind):
            return "OPTIONAL" if kind is p.JoinKind.OUTER else "an event in WHERE", _PAIRS
        case p.Sliding():
            return "WINDOW", _PAIRS
        case p.Quantified():
            return "relations between segments", _PAIRS
        case p.Repetition() | p.OtherRun():
            return "COMPLEMENT", _PAIRS


def _obstacle_in_sequence(parts: tuple[p.Part, ...]) -> _Obstacle | None:
    if isinstance(parts[0], p.Absent) or isinstance(parts[-1], p.Absent):
        return "NOT at the border of a sequence", _AT_ONCE
    so_far: frozenset[int] = frozenset()
    absences: list[p.Pattern] = []
    for part in parts:
        match part:
            case p.Absent(pattern=inner):
                absences.append(inner)
                continue
            case p.Deadline():
                return "AFTER", _AT_ONCE
            case p.StreamStart():
                return "AT START", _PAIRS
        obstacle = _obstacle_in(part)
        if obstacle is not None:
            return obstacle
        so_far |= _filled(part)
        for absent in absences:
            reads = {slot for one in _expressions(absent) for slot in e.slots_of(one)} - _filled(absent)
            if not reads <= so_far:
                return "NOT that reads parts further away", _EARLIER
            if reads and not isinstance(absent, p.Leaf):
                return "NOT of a pattern that reads other parts", _SINGLE
            if any(leaf.atoms for leaf in p.leaves(absent)):
                return "a table that supplies values", _ROWS
            if any(not leaf.sources for leaf in p.leaves(absent)):
                return "`_`", _EVENTS
        absences = []
    return None


def _filled(part: p.Part) -> frozenset[int]:
    """The slots that a part fills, without slots inside NOT."""
    if isinstance(part, p.Leaf):
        return frozenset((part.slot,))
    own = {part.slot} if isinstance(part, p.Narrowed) and part.slot is not None else set()
    inner = [one for one in _parts_below(part) if not isinstance(one, p.Absent)]
    return frozenset(own).union(*(_filled(one) for one in inner))


def _parts_below(part: p.Part) -> tuple[p.Part, ...]:
    return part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part)


def _expressions(pattern: p.Pattern) -> Iterator[e.Expr]:
    for part in p.parts_of(pattern):
        match part:
            case p.Leaf(demands=demands):
                yield from demands
            case p.Narrowed(having=having):
                yield from having
            case _:
                pass
