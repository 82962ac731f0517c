"""The pattern of an event from its syntax: one slot per leaf, what encloses each slot, and checks of sequences.

Conditions are bound later, when all slots are known (`patterns/conditions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count, takewhile

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, CatalogSource, Columns, common_columns
from inkling.logical.binding.clocks import TimeUses, to_moment
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.events.clauses import opening_of, reject_window
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.patterns import drafts as d
from inkling.logical.binding.patterns.segments import bind_operand, bind_same, reject_extended, reject_inside
from inkling.logical.patterns.allen import ENDED_BY
from inkling.model.time import Duration


def bind_pattern(
    body: s.Body,
    scope: tuple[CatalogSource, ...],
    catalog: Catalog,
    diagnostics: Diagnostics,
    times: TimeUses,
    keep: Duration | None = None,
) -> d.PatternDraft:
    """The pattern of one event without its conditions; `keep` limits how far AT START looks back."""
    binder = _PatternBinder(catalog, diagnostics, times, scope, keep, body.pattern)
    within = binder.window(body.within)
    top = binder.open_body(body, (), tuple(limit for limit in (within, keep) if limit is not None))
    pattern = binder.pattern(body.pattern, (), top, EnclosingBody(within))
    binder.close_body(top)
    if isinstance(pattern, p.Quantified) and not isinstance(within, p.EventCount):
        pattern, within = replace(pattern, within=within), None  # it limits pairs of segments
    return d.PatternDraft(pattern, within, top, tuple(binder.slots), tuple(binder.bodies))


@dataclass(slots=True)
class _PatternBinder:
    """Walks a pattern once, from left to right, and numbers its slots, sequences, repetitions and branches."""

    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses
    scope: tuple[CatalogSource, ...]
    keep: Duration | None
    whole: s.Pattern
    slots: list[d.SlotDraft] = field(default_factory=list)
    bodies: list[d.BodyDraft] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    def open_body(self, body: s.Body, path: d.Path, limits: tuple[p.Window, ...]) -> d.BodyDraft:
        draft = d.BodyDraft(path, len(self.slots), where=body.where, limits=limits)
        if body.having is not None:
            draft.checks.append(body.having)
        self.bodies.append(draft)
        return draft

    def close_body(self, body: d.BodyDraft) -> None:
        body.last = len(self.slots) - 1

    def window(self, window: s.Window | None) -> p.Window | None:
        match window:
            case None:
                return None
            case s.Duration():
                self.times.spans.append((to_span(window), window.span))
                return to_span(window)
            case s.PointCount(n=n):
                self.times.points.append((self.diagnostics.text_of(window), window.span))
                return p.Points(n)
            case s.EventCount(n=n):
                return p.EventCount(n)

    def pattern(self, node: s.Pattern, path: d.Path, body: d.BodyDraft, held: EnclosingBody | None = None) -> p.Pattern:
        """The bound pattern of a node; `held` is set if a body directly encloses the node."""

        def inside(item: s.Pattern, *frames: d.Frame) -> p.Pattern:
            return self.pattern(item, (*path, *frames), body)

        match node:
            case s.Leaf():
                return self._leaf(node, path, body)
            case s.Seq() if node is self.whole and (since := opening_of(node)) is not None:
                number = next(self._numbers)
                within = (*path, d.InSequence(number, p.Policy.ANY))
                opening = self._leaf(since[0], within, body)
                return self._sliding(since[1], within, body, opening)
            case s.Seq():
                return self._sequence(node, path, body, held)
            case s.And(items=items):
                return p.Conjunction(tuple(inside(item) for item in items))
            case s.Par(items=items):
                return p.Parallel(tuple(inside(item) for item in items))
            case s.Or(items=items):
                choice = next(self._numbers)
                branches = [inside(item, d.InBranch(choice, branch)) for branch, item in enumerate(items)]
                return p.Disjunction(tuple(branches))
            case s.Allen(left=left, relations=relations, right=right):
                return p.Related(inside(left), tuple(relations), inside(right))
            case s.NotBetween(absent=absent, first=first, last=last):
                components = (first, s.Absent(absent, span=absent.span), last)
                return self._sequence(s.Seq("ANY", components, span=node.span), path, body, None)
            case s.Repeat():
                if node.mode == "EAGER":
                    eager_outside_next(node, self.diagnostics)
                return self._repetition(node, path, body)
            case s.Nested():
                return self._nested(node, path, body)
            case s.Check():
                return self._check(node, path, body, held)
            case s.Complement(pattern=inner):
                complement_outside_sequence(node, self.diagnostics)
                return p.OtherRun(inside(inner, d.InComplement(next(self._numbers))))
            case s.Except(left=left, right=right):
                return p.Except(inside(left), inside(right, d.InException(next(self._numbers))))
            case s.LeftJoin(left=left, right=right, kind="FACT" | "NO FACT" as kind):
                hidden_fact = (d.InAbsence(next(self._numbers), -1),) if kind == "NO FACT" else ()
                given = self.pattern(left, path, body, held)
                return p.LeftJoin(given, (), inside(right, *hidden_fact), body.limits, p.JoinKind(kind))
            case s.LeftJoin(left=left, relations=relations, right=right):
                _check_left_join(node, self.diagnostics)
                return p.LeftJoin(inside(left), tuple(relations), inside(right), body.limits)
            case s.WindowOf():
                if node is not self.whole or node.since is not None:
                    reject_window(node, self.diagnostics)
                return self._sliding(node, path, body, None)
            case s.AtTime():
                return p.TimePoint(to_moment(node, self.times.moments, self.diagnostics))
            case s.Quantified():
                return self._quantified(node, path, body)

    def _leaf(self, node: s.Leaf, path: d.Path, body: d.BodyDraft) -> p.Leaf:
        found = [source for name in node.types for source in self.catalog.events_of(name, self.diagnostics)]
        sources = tuple({source.name: source for source in found}.values())
        if not node.types:
            return self._new_leaf(node.var, (), common_columns(self.scope), node, path, body, node.condition)
        return self._new_leaf(node.var, sources, common_columns(sources), node, path, body, node.condition)

    def _new_leaf(
        self,
        var: s.Ident | None,
        sources: tuple[CatalogSource, ...],
        columns: Columns,
        node: s.Node,
        path: d.Path,
        body: d.BodyDraft,
        condition: s.Expr | None = None,
    ) -> p.Leaf:
        fillers = sources or self.scope
        slot = d.SlotDraft(
            len(self.slots),
            self._fresh(var),
            node.span,
            path,
            body,
            sources,
            fillers,
            columns,
            is_broken=any(source.is_broken for source in fillers),
            condition=condition,
        )
        self.slots.append(slot)
        return p.Leaf(slot.number, tuple(source.name for source in sources))

    def _fresh(self, var: s.Ident | None) -> s.Ident | None:
        """The variable, unless its name is taken."""
        if var is None:
            return None
        names = [slot.name for slot in self.slots if slot.name]
        first = next((name for name in names if name.text == var.text), None)
        if first is None:
            return var
        self.diagnostics.error(
            "INK0208",
            f"two parts of the pattern are called `{var}`",
            var,
            notes=[f"the first is at {self.diagnostics.location(first)}"],
            helps=["give one of them another name"],
        )
        return None

    def _sequence(self, node: s.Seq, path: d.Path, body: d.BodyDraft, held: EnclosingBody | None) -> p.Sequence:
        number, policy = next(self._numbers), p.Policy(node.policy)
        within = (*path, d.InSequence(number, policy))
        parts: list[p.Part] = []
        at_borders = _complements_at_borders(node)
        for place, component in enumerate(node.components):
            match component:
                case s.Absent(pattern=absent):
                    frame = d.InAbsence(next(self._numbers), number)
                    parts.append(p.Absent(self._absent(absent, (*within, frame), body)))
                case s.OptionalPart(pattern=optional):
                    once = d.InRepetition(next(self._numbers), at_most_once=True)
                    parts.append(d.OptionalDraft(self.pattern(optional, (*within, once), body), 0, 1))
                case s.After(duration=duration):
                    self.times.spans.append((to_span(duration), duration.span))
                    parts.append(p.Deadline(to_span(duration)))
                case s.AtStart():
                    parts.append(p.StreamStart(self.keep))
                case s.Complement(pattern=inner) if place in at_borders:
                    parts.append(self._other_events(inner, component, within, body))
                case s.Complement(pattern=inner):
                    hidden = d.InComplement(next(self._numbers))
                    parts.append(p.OtherRun(self.pattern(inner, (*within, hidden), body)))
                case s.Repeat():
                    parts.append(self._repetition(component, within, body))
                case s.Check(pattern=s.Repeat() as repeat):
                    parts.append(self._checked_repetition(component, repeat, within, body, policy))
                case _:
                    parts.append(self.pattern(component, within, body))
        written, outlined = _with_absences(node, parts)
        check_eager(written, policy, outlined, self.diagnostics)
        needs_limit = check_sequence(written, policy, outlined, held, self.diagnostics)
        return p.Sequence(policy, tuple(parts), held.limit if needs_limit and held else None)

    def _other_events(self, inner: s.Pattern, node: s.Complement, path: d.Path, body: d.BodyDraft) -> p.Part:
        """COMPLEMENT at a border: its events belong to the match, because they say where it starts or ends."""
        optional = (*path, d.InRepetition(next(self._numbers), at_most_once=True))
        any_events = s.Seq("STRICT", (s.Repeat(s.Leaf((), span=node.span), 1, span=node.span),), span=node.span)
        events = self.pattern(any_events, optional, body)
        other = self.pattern(inner, (*optional, d.InComplement(next(self._numbers))), body)
        part = p.Except(events, other, in_order=True)
        return part if p.can_be_empty(other) else p.Repetition(part, 0, 1)

    def _absent(self, node: s.Pattern, path: d.Path, body: d.BodyDraft) -> p.Pattern:
        """A pattern inside NOT; its CHECK is tested there, not for the whole match."""
        parts = list(s.parts_of(node))
        takes_next = any(isinstance(part, s.Seq) and part.policy == "NEXT" for part in parts)
        if not takes_next or not any(isinstance(part, s.Check) for part in parts):
            return self.pattern(node, path, body)
        own = d.BodyDraft(path, len(self.slots), limits=body.limits)
        self.bodies.append(own)
        pattern = self.pattern(node, path, own)
        self.close_body(own)
        return d.NestedDraft(pattern, None, (), None, draft=own)

    def _repetition(self, node: s.Repeat, path: d.Path, body: d.BodyDraft) -> p.Repetition:
        if node.mode == "MAXIMAL":
            _check_maximal(node, path, self.diagnostics)
        frame = d.InRepetition(next(self._numbers), at_most_once=node.high == 1)
        inner = self.pattern(node.pattern, (*path, frame), body)
        return p.Repetition(inner, node.low, node.high, node.mode == "EAGER", node.mode == "MAXIMAL")

    def _nested(self, node: s.Nested, path: d.Path, body: d.BodyDraft) -> d.NestedDraft:
        window = self.window(node.body.within)
        inner = self.open_body(node.body, path, body.limits if window is None else (*body.limits, window))
        pattern = self.pattern(node.body.pattern, path, inner, EnclosingBody(window))
        self.close_body(inner)
        slot = None
        if node.var is not None:
            slot = len(self.slots)
            self.slots.append(d.SlotDraft(slot, self._fresh(node.var), node.var.span, path, body, inner=inner))
        return d.NestedDraft(pattern, window, (), slot, draft=inner)

    def _check(self, node: s.Check, path: d.Path, body: d.BodyDraft, held: EnclosingBody | None) -> p.Pattern:
        """`CHECK` filters without changing which event is next, so under NEXT it is tested after the whole body."""
        if isinstance(node.pattern, s.Repeat):
            if node.pattern.mode == "EAGER":
                eager_outside_next(node.pattern, self.diagnostics)
            if _policy_around(path) is p.Policy.NEXT:
                self._misplaced_check(node, "write the repetition directly into `SEQ NEXT(…)`")
            return self._checked_repetition(node, node.pattern, path, body, p.Policy.ANY)
        local = path[len(body.path) :]
        barriers = [i for i, frame in enumerate(local) if isinstance(frame, d.InAbsence | d.InComplement)]
        local = local[barriers[-1] + 1 :] if barriers else local
        takes_next = any(isinstance(frame, d.InSequence) and frame.policy is p.Policy.NEXT for frame in local)
        if not takes_next:
            nested = d.BodyDraft(path, len(self.slots), checks=[node.condition], limits=body.limits)
            self.bodies.append(nested)
            pattern = self.pattern(node.pattern, path, body, held)
            self.close_body(nested)
            return d.NestedDraft(pattern, None, (), None, draft=nested)
        if barriers or any(not isinstance(frame, d.InSequence) for frame in local):
            self._misplaced_check(
                node,
                "after a repeated event write `b+ CHECK (…)`, without parentheses around `b`",
                "for one alternative of OR, write an EVENT statement of the same name for each alternative",
            )
        body.checks.append(node.condition)
        return self.pattern(node.pattern, path, body, held)

    def _checked_repetition(
        self, node: s.Check, repeat: s.Repeat, path: d.Path, body: d.BodyDraft, policy: p.Policy
    ) -> p.Repetition:
        """`x+ CHECK (c)`: c is tested in each round; under NEXT, after the next event is chosen."""
        if isinstance(repeat.pattern, s.Leaf):
            repetition = self._repetition(repeat, path, body)
            slot = self.slots[-1]
            slot.check, slot.breaks = node.condition, policy is p.Policy.NEXT
            return repetition
        if policy is p.Policy.NEXT:
            self._misplaced_check(node, "put the group into an event of its own, and repeat that: `group g+ CHECK (…)`")
        each = s.Nested(s.Body(repeat.pattern, having=node.condition), span=node.span)
        return self._repetition(replace(repeat, pattern=each), path, body)

    def _sliding(self, node: s.WindowOf, path: d.Path, body: d.BodyDraft, since: p.Leaf | None) -> p.Sliding:
        sources = self.catalog.events_of(node.stream, self.diagnostics)
        frame = d.InRepetition(next(self._numbers), at_most_once=False)
        leaf = self._new_leaf(node.var, sources, common_columns(sources), node, (*path, frame), body, node.condition)
        last = self.window(node.last)
        assert isinstance(last, Duration | p.EventCount), "a window has a number of events or a duration"
        return p.Sliding(leaf, last, since)

    def _quantified(self, node: s.Quantified, path: d.Path, body: d.BodyDraft) -> p.Quantified:
        if node is not self.whole:
            reject_inside(node, self.diagnostics)
        sources, sides = [], []
        for side in (node.left, node.right):
            source = self.catalog.source(side.stream, self.diagnostics)
            reject_extended(side.stream, self.catalog, self.diagnostics)
            leaf = self._new_leaf(side.var, (source,), source.columns, side, path, body)
            sources.append(source)
            sides.append(bind_operand(side, source, leaf, self.diagnostics))
        return p.Quantified(sides[0], tuple(node.relations), sides[1], bind_same(node.same, sources, self.diagnostics))

    def _misplaced_check(self, node: s.Check, *helps: str) -> None:
        self.diagnostics.error(
            "INK0393",
            "CHECK under NEXT needs a single event, alone or repeated, as a direct part of `SEQ NEXT`",
            node.condition,
            notes=["it is tested after the next event is chosen, and here several choices have been made by then"],
            helps=helps,
        )


def _policy_around(path: d.Path) -> p.Policy:
    """The selection policy that applies to a repetition; inside NOT, COMPLEMENT and EXCEPT it is ANY."""
    for frame in reversed(path):
        match frame:
            case d.InSequence(policy=policy):
                return policy
            case d.InAbsence() | d.InComplement() | d.InException():
                return p.Policy.ANY
            case d.InBranch() | d.InRepetition():
                pass
    return p.Policy.ANY


@dataclass(frozen=True, slots=True)
class EnclosingBody:
    """The body directly around a sequence; its window limits a NOT at the start or end of the sequence."""

    limit: p.Window | None


def _with_absences(node: s.Seq, parts: list[p.Part]) -> tuple[s.Seq, tuple[p.Part, ...]]:
    """A sequence where OPTIONAL is two parts: one that is absent, and one that may be left out."""
    pairs: list[tuple[s.Component, p.Part]] = []
    for component, part in zip(node.components, parts, strict=True):
        if isinstance(part, d.OptionalDraft):
            pairs.append((component, p.Absent(part.pattern)))
        pairs.append((component, part))
    return replace(node, components=tuple(written for written, _ in pairs)), tuple(part for _, part in pairs)


def check_sequence(
    node: s.Seq, policy: p.Policy, parts: tuple[p.Part, ...], held: EnclosingBody | None, diagnostics: Diagnostics
) -> bool:
    """Reports misplaced parts; returns whether a NOT at the start or end refers to the window of the body."""
    _check_edges(node, parts, diagnostics)
    certain = [index for index, part in enumerate(parts) if _always_fills(part)]
    _check_complements(node, policy, diagnostics)
    absences = [index for index, part in enumerate(parts) if isinstance(part, p.Absent)]
    if not any(_can_fill(part) for part in parts):
        diagnostics.error(
            "INK0309",
            "a sequence needs at least one part besides NOT",
            node,
            notes=["NOT restricts the events around other parts; it matches no event itself"],
        )
        return False
    first = certain[0] if certain else len(parts)
    last = certain[-1] if certain else -1
    from_start = isinstance(parts[0], p.StreamStart)
    to_deadline = isinstance(parts[-1], p.Deadline)
    leading = [index for index in absences if index < first and not from_start]
    trailing = [index for index in absences if index > last and not to_deadline]
    for index in sorted({*leading, *trailing}):
        at_end = index in trailing
        written = node.components[index]
        if isinstance(written, s.OptionalPart) and not _joins_at_border(policy, at_end):
            _optional_at_border(written, policy, at_end=at_end, diagnostics=diagnostics)
            continue
        _check_limit(node, index, held, at_end=at_end, is_edge=_is_edge(parts, index, at_end), diagnostics=diagnostics)
    return bool(leading or trailing)


def _joins_at_border(policy: p.Policy, at_end: bool) -> bool:
    """Whether a part at a border belongs to the match if it occurs in the window at all."""
    return policy is p.Policy.ANY or (policy is p.Policy.NEXT and at_end)


def _optional_at_border(node: s.OptionalPart, policy: p.Policy, *, at_end: bool, diagnostics: Diagnostics) -> None:
    words = diagnostics.text_of(node.pattern)
    border = "end" if at_end else "start"
    chosen = "the neighboring event" if policy is p.Policy.STRICT else "the next event"
    outside = f"SEQ(…, OPTIONAL {words})" if at_end else f"SEQ(OPTIONAL {words}, …)"
    diagnostics.error(
        "INK0388",
        f"OPTIONAL cannot stand at the {border} of `SEQ {policy.value}`",
        node,
        notes=[f"{policy.value} looks at {chosen} only, so a `{words}` in the window need not belong to the match"],
        helps=[f"join it from outside: `{outside}`", f"`{words}?` gives the matches with and without it"],
    )


def _check_left_join(node: s.LeftJoin, diagnostics: Diagnostics) -> None:
    """Reports relations in which the right side may end after the left one."""
    later = [name for name in node.relations if name not in ENDED_BY]
    if not later:
        return
    left, right = diagnostics.text_of(node.left), diagnostics.text_of(node.right)
    fitting = [name for name in node.relations if name in ENDED_BY]
    repairs = [f"for a `{right}` that follows: `SEQ({left}, OPTIONAL {right}) WITHIN 10 MINUTES`"]
    if fitting:
        repairs.append(f"keep only {listed(fitting)}")
    diagnostics.error(
        "INK0394",
        f"`{right}` may end after `{left}` if it stands in the relation {listed(later, 'or')}",
        node,
        notes=[
            f"a `{left}` without partner is known when it ends, so OPTIONAL looks at what has ended by then",
            f"relations that fit are {listed(sorted(ENDED_BY))}",
        ],
        helps=repairs,
    )


def complement_outside_sequence(node: s.Complement, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "INK0316",
        "COMPLEMENT may only be a part of `SEQ STRICT`",
        node,
        notes=["it is a run of consecutive events"],
        helps=[f"write `SEQ STRICT({diagnostics.text_of(node)})`"],
    )


def _complements_at_borders(node: s.Seq) -> frozenset[int]:
    """The places of complements that are not between two parts that are never empty."""
    complements = [place for place, component in enumerate(node.components) if isinstance(component, s.Complement)]
    if not complements:
        return frozenset()
    certain = [place for place, component in enumerate(node.components) if _surely_fills(component)]
    return frozenset(place for place in complements if not (certain and certain[0] < place < certain[-1]))


def _surely_fills(component: s.Component) -> bool:
    return not isinstance(component, s.Absent | s.After | s.AtStart | s.Complement) and not _is_nothing(component)


def _is_nothing(node: s.Component) -> bool:
    """Whether a part may happen without any event, as `can_be_empty` says of bound parts."""
    match node:
        case s.Repeat(pattern=inner, low=low):
            return low == 0 or _is_nothing(inner)
        case s.Seq(components=items) | s.And(items=items):
            return all(_is_nothing(item) for item in items)
        case s.Or(items=items):
            return any(_is_nothing(item) for item in items)
        case s.Nested(body=s.Body(pattern=inner)) | s.Check(pattern=inner):
            return _is_nothing(inner)
        case s.Complement(pattern=inner):
            return not _is_nothing(inner)
        case _:
            return False


def _check_edges(node: s.Seq, parts: tuple[p.Part, ...], diagnostics: Diagnostics) -> None:
    for index, part in enumerate(parts):
        written = node.components[index]
        if isinstance(part, p.StreamStart):
            if index > 0:
                diagnostics.error("INK0310", "AT START may only be the first part of a sequence", written)
            elif not any(isinstance(one, p.Absent) for one in takewhile(lambda one: not _always_fills(one), parts[1:])):
                diagnostics.error(
                    "INK0310",
                    "AT START needs a NOT right after it",
                    written,
                    notes=["`SEQ(AT START, NOT A, B b)` is a B with no A before it"],
                )
        if isinstance(part, p.Deadline):
            if index < len(parts) - 1:
                diagnostics.error("INK0310", "AFTER may only be the last part of a sequence", written)
            elif not any(_always_fills(one) for one in parts[:index]):
                diagnostics.error(
                    "INK0310", "AFTER needs an event to count from", written, notes=["every part before it is optional"]
                )


def _check_complements(node: s.Seq, policy: p.Policy, diagnostics: Diagnostics) -> None:
    if policy is p.Policy.STRICT:
        return
    for component in node.components:
        if isinstance(component, s.Complement):
            diagnostics.error(
                "INK0316",
                "COMPLEMENT needs `SEQ STRICT`",
                component,
                notes=["it is a run of consecutive events; other sequences skip events"],
            )


def _check_limit(
    node: s.Seq, index: int, held: EnclosingBody | None, *, at_end: bool, is_edge: bool, diagnostics: Diagnostics
) -> None:
    limit = held.limit if held else None
    if limit is not None and not isinstance(limit, p.EventCount):
        return
    written = node.components[index]
    is_optional = isinstance(written, s.OptionalPart)
    words = diagnostics.text_of(written.pattern) if isinstance(written, s.Absent | s.OptionalPart) else ""
    notes = []
    if isinstance(limit, p.EventCount):
        notes.append("`WITHIN n EVENTS` counts events; the absence of one needs a limit in time")
    elif not is_edge and not is_optional:
        notes.append(f"the parts that {'follow' if at_end else 'precede'} it can be left out")
    helps = ["add a limit to the pattern, for example `WITHIN 10 MINUTES`"]
    if held is None:
        helps = ["give this sequence a limit of its own: `(SEQ(…) WITHIN 10 MINUTES)`"]
    if at_end:
        label = f"the absence of `{words}` is never final"
        if not is_optional:
            helps.append("or end the sequence with a deadline: `AFTER 10 MINUTES`")
    elif is_optional:
        label = f"`{words}` may lie any time before"
    else:
        label = f"`{words}` must be absent, without a time limit"
        helps.append('or start the sequence with `AT START` for "never before"')
    diagnostics.error(
        "INK0305",
        f"{'OPTIONAL' if is_optional else 'negation'} at the {'end' if at_end else 'start'} of a sequence"
        " needs a time limit",
        written,
        label,
        notes=notes,
        helps=helps,
    )


def _is_edge(parts: tuple[p.Part, ...], index: int, at_end: bool) -> bool:
    """Whether only NOT and time points stand between a part and the start or end of its sequence."""
    beyond = parts[index + 1 :] if at_end else parts[:index]
    return not any(_can_fill(part) for part in beyond)


def _can_fill(part: p.Part) -> bool:
    return not isinstance(part, p.Absent | p.Deadline | p.StreamStart | p.OtherRun)


def _always_fills(part: p.Part) -> bool:
    if isinstance(part, p.Absent | p.Deadline | p.StreamStart | p.OtherRun):
        return False
    return not p.can_be_empty(part)


def _check_maximal(node: s.Repeat, path: d.Path, diagnostics: Diagnostics) -> None:
    if any(isinstance(frame, d.InAbsence | d.InComplement | d.InException) for frame in path):
        diagnostics.error(
            "INK0389",
            "MAXIMAL compares matches, and a pattern that must not occur has none",
            node,
            helps=["leave MAXIMAL out"],
        )


def eager_outside_next(node: s.Repeat, diagnostics: Diagnostics) -> None:
    """Reports an EAGER repetition that is not a part of `SEQ NEXT`."""
    diagnostics.error(
        "INK0385",
        "EAGER needs `SEQ NEXT` directly around the repetition",
        node,
        notes=["EAGER takes whichever comes first, one more round or the next part; only NEXT has that choice"],
        helps=["write `SEQ NEXT(a, b+ EAGER, c)`, without parentheses around the repetition", "or leave EAGER out"],
    )


def check_eager(node: s.Seq, policy: p.Policy, parts: tuple[p.Part, ...], diagnostics: Diagnostics) -> None:
    """Reports EAGER repetitions of a sequence whose next part is ambiguous."""
    for position, (component, part) in enumerate(zip(node.components, parts, strict=True)):
        written = component.pattern if isinstance(component, s.Check) else component
        if not isinstance(part, p.Repetition) or not part.eager or not isinstance(written, s.Repeat):
            continue
        if policy is not p.Policy.NEXT:
            eager_outside_next(written, diagnostics)
        elif p.can_be_empty(part):
            diagnostics.error(
                "INK0386",
                "an EAGER repetition needs at least one round",
                written,
                notes=["EAGER chooses between one more round and the next part, after the first round"],
                helps=["write `+ EAGER`", "or leave EAGER out"],
            )
        else:
            _check_next(node, position, parts, diagnostics)


def _check_next(node: s.Seq, position: int, parts: tuple[p.Part, ...], diagnostics: Diagnostics) -> None:
    after = next((index for index in range(position + 1, len(parts)) if not isinstance(parts[index], p.Absent)), None)
    if after is None:
        return
    written = node.components[after]
    words = diagnostics.text_of(written)
    if isinstance(parts[after], p.Deadline):
        diagnostics.error(
            "INK0387",
            f"`{words}` cannot follow an EAGER repetition",
            written,
            notes=["a deadline is not an event"],
            helps=[f"leave EAGER out and exclude further rounds: `NOT …, {words}`"],
        )
    elif p.can_be_empty(parts[after]):
        diagnostics.error(
            "INK0387",
            f"`{words}` cannot follow an EAGER repetition, because it may be left out",
            written,
            notes=["then the next part after it could end the repetition too"],
            helps=["write two EVENT statements, one with this part and one without", "or leave EAGER out"],
        )
