"""Translates a query file into a program: its streams, and an event for each query.

A strategy becomes the policy of a sequence; a condition is tested at the last event that it reads:

    PATTERN SEQ(Stock+ a[], Stock b)
    WHERE skip_till_next_match(a[], b) { [symbol] AND a[1].volume > 1000 AND a[i].price > avg(a[..i-1].price) }
    WITHIN 1 hour
    EVENT query1 AS
      PATTERN SEQ NEXT(Stock a[(COUNT(a) > 0 OR volume > 1000) AND price > AVG(a.price)]+ EAGER, Stock b)
      WITHIN 1 HOURS PARTITION BY symbol

The strategies are those of SASE+ (Agrawal, Diao, Gyllstrom, Immerman, SIGMOD 2008, section 2.1); windows over ticks are
those of "Recognizing Patterns in Streams with Imprecise Timestamps" (Zhang, Diao, Immerman, PVLDB 2010, section 3).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import cast

from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.language.kit.cursor import Number, Text
from inkling.language.sase import terms as t
from inkling.language.sase.checks import QueryChecks, columns_of, name_errors
from inkling.language.syntax.expressions import AggregateName
from inkling.model.time import MICROSECONDS
from inkling.source import SourceText, Span

DEFAULT = "skip_till_any_match"
POLICIES: Mapping[str, s.Policy] = MappingProxyType(
    {
        "skip_till_any_match": "ANY",
        "skip_till_next_match": "NEXT",
        "strict_contiguity": "STRICT",
        "partition_contiguity": "STRICT",
    }
)


def translate(file: t.QueryFile, source: SourceText) -> s.Program:
    """The program that queries stand for; raises `ProgramError` with every error found."""
    streams = {one.name.text: one for one in file.streams}
    problems: list[Diagnostic] = [*name_errors(file, source)]
    events: list[s.EventDecl] = []
    names = {one.name.text for one in file.queries if one.name} | set(streams)
    for number, query in enumerate(file.queries, start=1):
        found = list(QueryChecks(query, streams, source).errors())
        problems += found
        if not found:
            try:
                events.append(SaseTranslator(query, streams, source).event(_name(query, number, names)))
            except ProgramError as error:
                problems.extend(error.diagnostics)
    if problems:
        raise ProgramError(problems)
    return s.Program((*file.streams, *events), file.comments, span=Span(0, len(source.text)))


def _name(query: t.Query, number: int, taken: set[str]) -> s.Ident:
    """The name of a query, or one by its place."""
    if query.name is not None:
        return query.name
    text = f"query{number}"
    while text in taken:
        text += "_"
    return s.Ident(text, span=query.span)


@dataclass(slots=True)
class SaseTranslator:
    query: t.Query
    streams: Mapping[str, s.StreamDecl]
    source: SourceText
    tests: dict[str, list[s.Expr]] = field(default_factory=dict)  # conditions by the variable they are tested at
    having: list[s.Expr] = field(default_factory=list)

    @property
    def components(self) -> dict[str, t.Component]:
        return {one.var.text: one for one in self.query.components}

    @property
    def happening(self) -> list[t.Component]:
        return [one for one in self.query.components if not one.negated]

    @property
    def selection(self) -> t.Selection | None:
        return next((one for one in t.conjuncts(self.query.where) if isinstance(one, t.Selection)), None)

    @property
    def strategy(self) -> str:
        return self.selection.strategy.text if self.selection else DEFAULT

    @property
    def policy(self) -> s.Policy:
        return POLICIES[self.strategy]

    @property
    def shared(self) -> tuple[s.Ident, ...]:
        """The columns of equivalence tests."""
        tests = [one for one in t.conjuncts(self.query.where) if isinstance(one, t.Equivalence)]
        return tuple({column.text: column for one in tests for column in one.columns}.values())

    def event(self, name: s.Ident) -> s.EventDecl:
        query = self.query
        for condition in t.conjuncts(query.where):
            if not isinstance(condition, t.Selection | t.Equivalence):
                self._place(condition)
        if self.strategy == "strict_contiguity":
            for column in self.shared:
                self._equal(column)
        self.having += [self._complete(condition) for condition in t.conjuncts(query.having)]
        body = s.Body(self._pattern(), within=self._window(), having=_all_of(self.having, query.span), span=query.span)
        return s.EventDecl(
            name,
            None,
            body,
            partition_by=() if self.strategy == "strict_contiguity" else self.shared,
            over=self._scope(),
            returns=tuple(self._returned()),
            confidence=self._confidence(),
            top=None if query.top is None else int(query.top.size),
            span=query.span,
            comments=query.comments,
        )

    def _pattern(self) -> s.Pattern:
        components = tuple(self._component(one) for one in self.query.components)
        only = components[0]
        if len(components) == 1 and isinstance(only, s.Leaf):
            return only
        return s.Seq(self.policy, components, span=self.query.components[0].span.to(self.query.components[-1].span))

    def _component(self, one: t.Component) -> s.Component:
        condition = _all_of(self.tests.get(one.var.text, []), one.span)
        leaf = s.Leaf(one.types, one.var, condition, span=one.span)
        if one.negated:
            return s.Absent(leaf, span=one.span)
        if one.repeated:
            is_last = one is self.happening[-1]
            return s.Repeat(leaf, 1, mode="EAGER" if self.policy == "NEXT" and not is_last else None, span=one.span)
        return leaf

    def _scope(self) -> tuple[s.Ident, ...]:
        """The streams of which no event lies between contiguous ones: all, or all that have the columns of the key."""
        if self.policy != "STRICT":
            return ()
        keys = frozenset() if self.strategy == "strict_contiguity" else {column.text for column in self.shared}
        named = {type.text for one in self.query.components for type in one.types}
        scope = [name for name, stream in self.streams.items() if keys <= columns_of(stream)]
        span = self.selection.span if self.selection else self.query.span
        return () if set(scope) == named else tuple(s.Ident(name, span=span) for name in scope)

    def _window(self) -> s.Window | None:
        """Without a unit, and where all streams have the same tick, a number of ticks, of which both ends count."""
        window = self.query.within
        if window is None:
            return None
        amount = Fraction(window.amount.written)
        if window.unit in (None, "TICKS"):
            return s.PointCount(int(amount), span=window.span)
        tick = self._tick()
        if tick is not None and window.unit is not None:
            return s.PointCount(max(1, round(amount * _length(window.unit) / tick)), span=window.span)
        whole = int(amount) if amount.denominator == 1 else amount
        return s.Duration(whole, window.unit or "TICKS", span=window.span)

    def _tick(self) -> Fraction | None:
        ticks = {self.streams[type.text].tick for one in self.query.components for type in one.types}
        (tick,) = ticks if len(ticks) == 1 else (None,)
        if tick is None or tick.unit == "TICKS" or not tick.amount:  # a tick of no length is reported where it is bound
            return None
        return tick.amount * _length(tick.unit)

    def _confidence(self) -> s.Confidence | None:
        threshold = self.query.threshold
        if threshold is None:
            return None
        least = threshold.least
        share = float(least.share if isinstance(least, t.Percent) else Fraction(least.written))
        return s.Confidence(threshold.op, share, span=threshold.span)

    def _returned(self) -> Iterator[s.Item]:
        """Single events by their ids; those of a repetition are in the lineage of the result."""
        for one in self.query.returned:
            if not isinstance(one.value, t.Variable):
                yield s.Item(self._whole(one.value), one.alias or _alias(one.value), span=one.span)
            elif not self.components[one.value.name.text].repeated:
                name = one.value.name
                yield s.Item(s.IdOf(name, span=one.span), one.alias or s.Ident(name.text, span=one.span), span=one.span)

    def _equal(self, column: s.Ident) -> None:
        """An equivalence test as conditions: every event has the value of the one before, or of the first."""
        first = self.happening[0]
        for one in self.query.components:
            if one is first and not one.repeated:
                continue
            other = first.var
            expected: s.Expr = (
                s.FirstOrLast("LAST", other, column, span=column.span)
                if first.repeated
                else s.Attribute(other, column, span=column.span)
            )
            own = s.Variable(column, span=column.span)
            self.tests.setdefault(one.var.text, []).append(s.Compare("=", own, expected, span=column.span))

    def _place(self, condition: t.Condition) -> None:
        """Tests a condition at the absent event that it reads, or else at the last event."""
        read = list(t.readings(condition))
        names = {node.var.text for node in read}
        order = [one.var.text for one in self.query.components]
        absent = [name for name in order if name in names and self.components[name].negated]
        last = next((name for name in reversed(order) if name in names), self.happening[0].var.text)
        target = absent[0] if absent else last
        own = [node for node in read if node.var.text == target]
        self._reject_each_elsewhere(read, target)
        if not self.components[target].repeated:
            self._test(target, _Expressions(target, {}).condition(condition))
        elif any(_is_of_all(node) for node in own):
            self._test_when_complete(condition, target, own)
        else:
            self._test_each(condition, target, own)

    def _test(self, target: str, test: s.Expr) -> None:
        self.tests.setdefault(target, []).append(test)

    def _test_each(self, condition: t.Condition, target: str, own: list[t.Value | t.Aggregated]) -> None:
        """A condition on each event of a repetition, on each but the first, or on the first alone."""
        var = self.components[target].var
        indexes = {node.index for node in own if isinstance(node, t.Value)}
        count = s.Aggregate("COUNT", var, span=condition.span)
        nothing = s.Literal(0, span=condition.span)
        if indexes == {"1"} and not any(isinstance(node, t.Aggregated) for node in own):
            test = _Expressions(target, {"1": None}).condition(condition)
            is_later = s.Compare(">", count, nothing, span=condition.span)
            self._test(target, s.AnyOf((is_later, *_alternatives(test)), span=condition.span))
            return
        test = _Expressions(target, {"1": "FIRST", "i": None, "i-1": "LAST"}).condition(condition)
        looks_back = any(isinstance(node, t.Aggregated) or node.index != "i" for node in own)
        is_dropped = any(isinstance(part, s.FirstOrLast) and part.var.text == target for part in s.walk(test))
        aggregates = [one for one in s.walk(test) if isinstance(one, s.Aggregate) and one.function != "COUNT"]
        if looks_back and not is_dropped and not aggregates:
            is_first = s.Compare("=", count, nothing, span=condition.span)
            test = s.AnyOf((is_first, *_alternatives(test)), span=condition.span)
        self._test(target, test)

    def _test_when_complete(self, condition: t.Condition, target: str, own: list[t.Value | t.Aggregated]) -> None:
        """A condition on a whole repetition: under NEXT it decides about the part after it, else about the match."""
        for node in own:
            if not _is_of_all(node) and not (isinstance(node, t.Value) and node.index == "1"):
                self._fail(
                    node,
                    f"`{self.source.text_of(node.span)}` is one event, but the condition reads the whole repetition",
                    f"compare with the events before: `avg({target}[..i-1].…)`",
                )
        following = self.happening[self.happening.index(self.components[target]) + 1 :]
        if self.policy == "NEXT" and following:
            after = following[0].var.text
            self._test(after, _Expressions(after, {}).condition(condition))
        else:
            self.having.append(_Expressions(None, {}).condition(condition))

    def _complete(self, condition: t.Condition) -> s.Expr:
        """A condition on a complete match."""
        self._reject_each_elsewhere(list(t.readings(condition)), None)
        return _Expressions(None, {}).condition(condition)

    def _whole(self, term: t.Term) -> s.Expr:
        self._reject_each_elsewhere(list(t.readings(term)), None)
        return _Expressions(None, {}).term(term)

    def _reject_each_elsewhere(self, read: list[t.Value | t.Aggregated], target: str | None) -> None:
        """`b[i]` has a meaning where events of b are selected, and nowhere else."""
        for node in read:
            of_one = node.earlier if isinstance(node, t.Aggregated) else node.index in ("i", "i-1")
            if of_one and node.var.text != target:
                name = node.var.text
                self._fail(
                    node,
                    f"`{self.source.text_of(node.span)}` is read after the repetition `{name}`",
                    f"write `{name}[1].…`, `{name}[{name}.LEN].…` or an aggregate such as `max({name}[].…)`",
                )

    def _fail(self, node: s.Node, message: str, help: str) -> None:
        raise ProgramError.of("INK0162", message, span=node.span, source=self.source, helps=(help,))


def _is_of_all(node: t.Value | t.Aggregated) -> bool:
    return not node.earlier if isinstance(node, t.Aggregated) else node.index == "LEN"


def _length(unit: s.TimeUnit) -> Fraction:
    return Fraction(MICROSECONDS[unit])


def _alias(term: t.Term) -> s.Ident | None:
    """The name of a returned value without one: `a_price`, `avg_b_price`."""
    match term:
        case t.Value(var=var, index=index, column=column):
            which = {"1": "first_", "LEN": "last_"}.get(index or "", "")
            return s.Ident(f"{which}{var.text}_{column.text}", span=term.span)
        case t.Aggregated(function=function, var=var, column=column):
            read = f"_{column.text}" if column else ""
            return s.Ident(f"{function.text}_{var.text}{read}", span=term.span)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Expressions:
    """Expressions tested at an event: its own columns are bare, or those of earlier events of its repetition."""

    target: str | None
    own: Mapping[str, str | None]  # FIRST or LAST by index; None for the tested event itself

    def condition(self, node: t.Condition) -> s.Expr:
        match node:
            case t.Comparison(op=op, left=left, right=right):
                return s.Compare(op, self.term(left), self.term(right), span=node.span)
            case t.Negated(item=item):
                return s.Negation(self.condition(item), span=node.span)
            case t.Joined(op=op, items=items):
                parts = tuple(self.condition(item) for item in items)
                return s.AllOf(parts, span=node.span) if op == "AND" else s.AnyOf(parts, span=node.span)
            case _:
                raise AssertionError("checked before")

    def term(self, node: t.Term) -> s.Expr:
        match node:
            case Number() | Text():
                return node.literal
            case t.Percent(share=share):
                return s.Literal(float(share), span=node.span)
            case t.Truth(value=value):
                return s.Literal(value, span=node.span)
            case t.Minus(item=item):
                return s.Unary("-", self.term(item), span=node.span)
            case t.Arithmetic(op=op, left=left, right=right):
                return s.Binary(op, self.term(left), self.term(right), span=node.span)
            case t.Aggregated(function=function, var=var, column=column):
                return s.Aggregate(cast(AggregateName, function.text.upper()), var, column, span=node.span)
            case t.Value():
                return self._value(node)

    def _value(self, node: t.Value) -> s.Expr:
        var, column = node.var, node.column
        if var.text == self.target and (node.index is None or self.own.get(node.index, "") is None):
            return s.Variable(column, span=node.span)
        if node.index is None:
            return s.Attribute(var, column, span=node.span)
        which = self.own.get(node.index) if var.text == self.target else None
        is_first = which == "FIRST" if which else node.index == "1"
        return s.FirstOrLast("FIRST" if is_first else "LAST", var, column, span=node.span)


def _alternatives(test: s.Expr) -> tuple[s.Expr, ...]:
    return test.items if isinstance(test, s.AnyOf) else (test,)


def _all_of(conditions: list[s.Expr], span: Span) -> s.Expr | None:
    """The conjunction of conditions, flattened."""
    flat = [one for condition in conditions for one in s.conjuncts(condition)]
    if len(flat) < 2:
        return flat[0] if flat else None
    return s.AllOf(tuple(flat), span=span)
