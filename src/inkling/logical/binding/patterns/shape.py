"""The shape of a pattern: which slots it has, what encloses them, and how its parts combine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, Columns, Source, common_columns
from inkling.logical.binding.clocks import TimeUses, to_moment
from inkling.logical.binding.diagnostics import Diagnostics
from inkling.logical.binding.events.clauses import opening_of, reject_window
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.patterns.places import (
    BodyPlace,
    DraftBody,
    Frame,
    InAbsence,
    InBranch,
    InComplement,
    InException,
    InRepetition,
    InSequence,
    Path,
    Place,
    Shape,
)
from inkling.logical.binding.patterns.segments import bind_operand, bind_same, reject_inside
from inkling.logical.binding.patterns.sequences import (
    EnclosingBody,
    check_eager,
    check_sequence,
    complement_outside_sequence,
    eager_outside_next,
)
from inkling.model.time import Span


def bind_shape(
    body: s.Body,
    scope: tuple[Source, ...],
    catalog: Catalog,
    diagnostics: Diagnostics,
    times: TimeUses,
    keep: Span | None = None,
) -> Shape:
    """The shape of the pattern of one event; `keep` is how far AT START looks back, if not to the beginning."""
    shaper = _Shaper(catalog, diagnostics, times, scope, keep, body.pattern)
    top = shaper.open_body(body, ())
    within = shaper.window(body.within)
    pattern = shaper.pattern(body.pattern, (), top, EnclosingBody(within))
    shaper.close_body(top)
    return Shape(pattern, within, top, tuple(shaper.places), tuple(shaper.bodies))


@dataclass(slots=True)
class _Shaper:
    """Walks a pattern once, from left to right, and numbers everything it meets."""

    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses
    scope: tuple[Source, ...]
    keep: Span | None
    whole: s.Pattern
    places: list[Place] = field(default_factory=list)
    bodies: list[BodyPlace] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    def open_body(self, body: s.Body, path: Path) -> BodyPlace:
        place = BodyPlace(path, len(self.places), where=body.where)
        if body.having is not None:
            place.checks.append(body.having)
        self.bodies.append(place)
        return place

    def close_body(self, body: BodyPlace) -> None:
        body.last = len(self.places) - 1

    def window(self, window: s.Window | None) -> p.Window | None:
        match window:
            case None:
                return None
            case s.Duration():
                self.times.spans.append((to_span(window), window.span))
                return to_span(window)
            case s.PointCount(n=n):
                self.times.points.append((self.diagnostics.words(window), window.span))
                return p.Points(n)
            case s.EventCount(n=n):
                return p.EventCount(n)

    def pattern(self, node: s.Pattern, path: Path, body: BodyPlace, held: EnclosingBody | None = None) -> p.Pattern:
        """The pattern at a place; `held` is set when a body holds it directly."""

        def inside(item: s.Pattern, *frames: Frame) -> p.Pattern:
            return self.pattern(item, (*path, *frames), body)

        match node:
            case s.Leaf():
                return self._leaf(node, path, body)
            case s.Seq() if node is self.whole and (since := opening_of(node)) is not None:
                number = next(self._numbers)
                within = (*path, InSequence(number, p.Policy.ANY))
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
                branches = [inside(item, InBranch(choice, branch)) for branch, item in enumerate(items)]
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
                return p.OtherRun(inside(inner, InComplement(next(self._numbers))))
            case s.Except(left=left, right=right):
                return p.Except(inside(left), inside(right, InException(next(self._numbers))))
            case s.WindowOf():
                if node is not self.whole or node.since is not None:
                    reject_window(node, self.diagnostics)
                return self._sliding(node, path, body, None)
            case s.AtTime():
                return p.TimePoint(to_moment(node, self.times.moments, self.diagnostics))
            case s.Quantified():
                return self._quantified(node, path, body)

    def _leaf(self, node: s.Leaf, path: Path, body: BodyPlace) -> p.Leaf:
        sources = tuple({name.text: self.catalog.source(name, self.diagnostics) for name in node.types}.values())
        if not node.types:
            return self._new_leaf(node.var, (), common_columns(self.scope), node, path, body, node.condition)
        return self._new_leaf(node.var, sources, common_columns(sources), node, path, body, node.condition)

    def _new_leaf(
        self,
        var: s.Ident | None,
        sources: tuple[Source, ...],
        columns: Columns,
        node: s.Node,
        path: Path,
        body: BodyPlace,
        condition: s.Expr | None = None,
    ) -> p.Leaf:
        fillers = sources or self.scope
        place = Place(
            len(self.places),
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
        self.places.append(place)
        return p.Leaf(place.number, tuple(source.name for source in sources))

    def _fresh(self, var: s.Ident | None) -> s.Ident | None:
        """The variable, unless its name is taken."""
        if var is None:
            return None
        names = [place.name for place in self.places if place.name]
        first = next((name for name in names if name.text == var.text), None)
        if first is None:
            return var
        self.diagnostics.wrong(
            "INK0208",
            f"two parts of the pattern are called `{var}`",
            var,
            notes=[f"the first is at {self.diagnostics.place(first)}"],
            helps=["give one of them another name"],
        )
        return None

    def _sequence(self, node: s.Seq, path: Path, body: BodyPlace, held: EnclosingBody | None) -> p.Sequence:
        number, policy = next(self._numbers), p.Policy(node.policy)
        within = (*path, InSequence(number, policy))
        parts: list[p.Part] = []
        for component in node.components:
            match component:
                case s.Absent(pattern=absent):
                    frame = InAbsence(next(self._numbers), number)
                    parts.append(p.Absent(self.pattern(absent, (*within, frame), body)))
                case s.OptionalPart(pattern=optional):
                    self._not_yet("INK0404", "OPTIONAL is", component, helps=["`p?` gives matches with and without p"])
                    parts.append(self.pattern(optional, within, body))
                case s.After(duration=duration):
                    self.times.spans.append((to_span(duration), duration.span))
                    parts.append(p.Deadline(to_span(duration)))
                case s.AtStart():
                    parts.append(p.StreamStart(self.keep))
                case s.Complement(pattern=inner):
                    hidden = InComplement(next(self._numbers))
                    parts.append(p.OtherRun(self.pattern(inner, (*within, hidden), body)))
                case s.Repeat():
                    parts.append(self._repetition(component, within, body))
                case s.Check(pattern=s.Repeat() as repeat):
                    parts.append(self._checked_repetition(component, repeat, within, body, policy))
                case _:
                    parts.append(self.pattern(component, within, body))
        check_eager(node, policy, tuple(parts), self.diagnostics)
        needs_limit = check_sequence(node, policy, tuple(parts), held, self.diagnostics)
        return p.Sequence(policy, tuple(parts), held.limit if needs_limit and held else None)

    def _repetition(self, node: s.Repeat, path: Path, body: BodyPlace) -> p.Repetition:
        if node.mode == "MAXIMAL":
            self._not_yet("INK0403", "MAXIMAL repetitions are", node)
        frame = InRepetition(next(self._numbers), at_most_once=node.high == 1)
        inner = self.pattern(node.pattern, (*path, frame), body)
        return p.Repetition(inner, node.low, node.high, node.mode == "EAGER")

    def _nested(self, node: s.Nested, path: Path, body: BodyPlace) -> DraftBody:
        inner = self.open_body(node.body, path)
        window = self.window(node.body.within)
        pattern = self.pattern(node.body.pattern, path, inner, EnclosingBody(window))
        self.close_body(inner)
        slot = None
        if node.var is not None:
            slot = len(self.places)
            self.places.append(Place(slot, self._fresh(node.var), node.var.span, path, body, inner=inner))
        return DraftBody(pattern, window, (), slot, place=inner)

    def _check(self, node: s.Check, path: Path, body: BodyPlace, held: EnclosingBody | None) -> p.Pattern:
        """`CHECK` filters without changing which event is next, so under NEXT it waits for the whole body."""
        if isinstance(node.pattern, s.Repeat):
            if node.pattern.mode == "EAGER":
                eager_outside_next(node.pattern, self.diagnostics)
            if _policy_around(path) is p.Policy.NEXT:
                self._not_yet(
                    "INK0405",
                    "CHECK on a repetition nested in a part of `SEQ NEXT` is",
                    node.condition,
                    helps=["write the repetition directly into `SEQ NEXT(…)`"],
                )
            return self._checked_repetition(node, node.pattern, path, body, p.Policy.ANY)
        local = path[len(body.path) :]
        fences = [i for i, frame in enumerate(local) if isinstance(frame, InAbsence | InComplement)]
        local = local[fences[-1] + 1 :] if fences else local
        takes_next = any(isinstance(frame, InSequence) and frame.policy is p.Policy.NEXT for frame in local)
        if not takes_next:
            place = BodyPlace(path, len(self.places), checks=[node.condition])
            self.bodies.append(place)
            pattern = self.pattern(node.pattern, path, body, held)
            self.close_body(place)
            return DraftBody(pattern, None, (), None, place=place)
        if fences or any(not isinstance(frame, InSequence) for frame in local):
            self._not_yet("INK0405", "CHECK inside NOT, OR or a repetition under NEXT is", node.condition)
        body.checks.append(node.condition)
        return self.pattern(node.pattern, path, body, held)

    def _checked_repetition(
        self, node: s.Check, repeat: s.Repeat, path: Path, body: BodyPlace, policy: p.Policy
    ) -> p.Repetition:
        """`x+ CHECK (c)`: c is tested for each round; only under NEXT it matters that this is after the hop."""
        if isinstance(repeat.pattern, s.Leaf):
            repetition = self._repetition(repeat, path, body)
            place = self.places[-1]
            place.check, place.breaks = node.condition, policy is p.Policy.NEXT
            return repetition
        if policy is p.Policy.NEXT:
            self._not_yet(
                "INK0405",
                "CHECK on a repetition of more than a single event under NEXT is",
                node.condition,
                helps=["repeat a single event: `At h+ CHECK (…)`"],
            )
        each = s.Nested(s.Body(repeat.pattern, having=node.condition), span=node.span)
        return self._repetition(replace(repeat, pattern=each), path, body)

    def _sliding(self, node: s.WindowOf, path: Path, body: BodyPlace, since: p.Leaf | None) -> p.Sliding:
        source = self.catalog.source(node.stream, self.diagnostics)
        frame = InRepetition(next(self._numbers), at_most_once=False)
        leaf = self._new_leaf(node.var, (source,), source.columns, node, (*path, frame), body, node.condition)
        last = self.window(node.last)
        assert isinstance(last, Span | p.EventCount), "a window has a number of events or a duration"
        return p.Sliding(leaf, last, since)

    def _quantified(self, node: s.Quantified, path: Path, body: BodyPlace) -> p.Quantified:
        if node is not self.whole:
            reject_inside(node, self.diagnostics)
        sources, sides = [], []
        for side in (node.left, node.right):
            source = self.catalog.source(side.stream, self.diagnostics)
            leaf = self._new_leaf(side.var, (source,), source.columns, side, path, body)
            sources.append(source)
            sides.append(bind_operand(side, source, leaf, self.diagnostics))
        return p.Quantified(sides[0], tuple(node.relations), sides[1], bind_same(node.same, sources, self.diagnostics))

    def _not_yet(
        self, code: str, what: str, at: s.Node, *, notes: Iterable[str] = (), helps: Iterable[str] = ()
    ) -> None:
        self.diagnostics.wrong(code, f"{what} not supported yet", at, notes=notes, helps=helps)


def _policy_around(path: Path) -> p.Policy:
    """The selection policy of a repetition at a place; in NOT and the like it is on its own."""
    for frame in reversed(path):
        match frame:
            case InSequence(policy=policy):
                return policy
            case InAbsence() | InComplement() | InException():
                return p.Policy.ANY
            case InBranch() | InRepetition():
                pass
    return p.Policy.ANY
