"""Checks of a query before its translation: streams, variables, indexes of repetitions, and strategies."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from inkling.errors import Diagnostic, nearest
from inkling.language.sase import terms as t
from inkling.language.syntax import Ident, Node, StreamDecl
from inkling.source import SourceText


def name_errors(file: t.QueryFile, source: SourceText) -> Iterator[Diagnostic]:
    """Queries with the name of another query or of a stream."""
    taken = {one.name.text: "a stream" for one in file.streams}
    for query in file.queries:
        if query.name is not None:
            if query.name.text in taken:
                what = taken[query.name.text]
                yield Diagnostic("INK0164", f"`{query.name.text}` is already {what}", query.name.span, source)
            taken[query.name.text] = "a query"


def columns_of(stream: StreamDecl) -> frozenset[str]:
    return frozenset((*(one.name.text for one in stream.columns), *(one.name.text for one in stream.derive)))


@dataclass(frozen=True, slots=True)
class QueryChecks:
    query: t.Query
    streams: Mapping[str, StreamDecl]
    source: SourceText

    def errors(self) -> Iterator[Diagnostic]:
        yield from self._components()
        yield from self._variables()
        yield from self._strategies()
        yield from self._equivalences()
        yield from self._absent()

    @property
    def _by_name(self) -> dict[str, t.Component]:
        return {one.var.text: one for one in self.query.components}

    def _conditions(self) -> tuple[t.Condition, ...]:
        return tuple(one for one in (self.query.where, self.query.having) if one)

    def _components(self) -> Iterator[Diagnostic]:
        seen: set[str] = set()
        for one in self.query.components:
            for type in one.types:
                if type.text not in self.streams:
                    yield self._unknown("stream", type, self.streams)
            if one.var.text in seen:
                yield self._wrong("INK0164", f"two events of the pattern are named `{one.var.text}`", one.var)
            seen.add(one.var.text)
        if all(one.negated for one in self.query.components):
            yield self._wrong("INK0163", "nothing in this pattern happens", self.query.components[0])

    def _variables(self) -> Iterator[Diagnostic]:
        """Every variable is one of the pattern, with an index if it is a repetition and without one if not."""
        for condition in self._conditions():
            for one in t.readings(condition):
                yield from self._reading(one)
        for returned in self.query.returned:
            if isinstance(returned.value, t.Variable):
                yield from self._known(returned.value.name)
            else:
                for one in t.readings(returned.value):
                    yield from self._reading(one)

    def _known(self, name: Ident) -> Iterator[Diagnostic]:
        if name.text not in self._by_name:
            yield self._unknown("variable", name, self._by_name)

    def _reading(self, node: t.Value | t.Aggregated) -> Iterator[Diagnostic]:
        component = self._by_name.get(node.var.text)
        if component is None:
            yield self._unknown("variable", node.var, self._by_name)
            return
        name = node.var.text
        if component.repeated and isinstance(node, t.Value) and node.index is None:
            column = node.column.text
            yield self._wrong(
                "INK0162",
                f"`{name}.{column}` has several values",
                node,
                notes=(f"`{name}` is a repetition",),
                helps=(
                    f"write `{name}[i].{column}` for each of them, `{name}[1].{column}` for the first one,"
                    f" `{name}[{name}.LEN].{column}` for the last one, or an aggregate: `avg({name}[].{column})`",
                ),
            )
        elif not component.repeated and (isinstance(node, t.Aggregated) or node.index is not None):
            what = "an aggregate" if isinstance(node, t.Aggregated) else "an index"
            yield self._wrong(
                "INK0162",
                f"{what} needs a repetition, but `{name}` is a single event",
                node,
                helps=(f"write `{component.types[0].text}+ {name}[]` in the pattern",),
            )

    def _strategies(self) -> Iterator[Diagnostic]:
        allowed = [one for one in t.conjuncts(self.query.where) if isinstance(one, t.Selection)]
        everywhere = [one for condition in self._conditions() for one in _selections(condition)]
        for one in everywhere:
            if not any(one is other for other in allowed):
                yield self._wrong("INK0161", "a strategy holds for the whole query", one, notes=(_ONE,))
        for one in allowed[1:]:
            yield self._wrong("INK0161", "a query has one strategy", one.strategy, notes=(_ONE,))
        for one in allowed[:1]:
            yield from self._selected(one)

    def _selected(self, selection: t.Selection) -> Iterator[Diagnostic]:
        by_name = self._by_name
        for variable in selection.variables:
            yield from self._known(variable.name)
        named = [one.name.text for one in selection.variables if one.name.text in by_name]
        happening = [one for one in named if not by_name[one].negated]
        wanted = [one.var.text for one in self.query.components if not one.negated]
        if len(named) == len(selection.variables) and happening != wanted:
            listed = ", ".join(f"{one}[]" if by_name[one].repeated else one for one in wanted)
            yield self._wrong(
                "INK0161",
                "a strategy names the events of the pattern in their order",
                selection.strategy,
                helps=(f"write `{selection.strategy.text}({listed})`",),
            )
        if selection.strategy.text == "partition_contiguity" and not any(
            isinstance(one, t.Equivalence) for one in t.conjuncts(self.query.where)
        ):
            yield self._wrong(
                "INK0161",
                "`partition_contiguity` needs a partition",
                selection.strategy,
                notes=("events are contiguous among those with the same values",),
                helps=("name the columns: `[symbol]`", "or write `strict_contiguity`"),
            )

    def _equivalences(self) -> Iterator[Diagnostic]:
        for condition in self._conditions():
            direct = tuple(t.conjuncts(condition)) if condition is self.query.where else ()
            for one in _equivalences(condition):
                if not any(one is other for other in direct):
                    yield self._wrong("INK0161", "`[…]` cannot be part of OR, NOT or HAVING", one)
                    continue
                for column in one.columns:
                    yield from self._shared(column)

    def _shared(self, column: Ident) -> Iterator[Diagnostic]:
        for name in dict.fromkeys(type.text for one in self.query.components for type in one.types):
            stream = self.streams.get(name)
            if stream is not None and column.text not in columns_of(stream):
                meant = nearest(column.text, sorted(columns_of(stream)), n=1)
                yield self._wrong(
                    "INK0160",
                    f"`{name}` has no column `{column.text}`",
                    column,
                    notes=("`[…]` compares a column of every event of the pattern",),
                    helps=tuple(f"did you mean `{one}`?" for one in meant),
                )

    def _absent(self) -> Iterator[Diagnostic]:
        absent = {one.var.text for one in self.query.components if one.negated}
        for one in t.conjuncts(self.query.where):
            read = dict.fromkeys(node.var.text for node in t.readings(one) if node.var.text in absent)
            if len(read) > 1:
                names = " and ".join(f"`{name}`" for name in read)
                yield self._wrong("INK0163", f"a condition cannot read two absent events, {names}", one)
        later = [node for node in t.readings(self.query.having) if node.var.text in absent] if self.query.having else []
        for returned in self.query.returned:
            if isinstance(returned.value, t.Variable):
                later += [t.Value(returned.value.name, None, returned.value.name, span=returned.span)] * (
                    returned.value.name.text in absent
                )
            else:
                later += [node for node in t.readings(returned.value) if node.var.text in absent]
        for node in later:
            yield self._wrong("INK0163", f"`{node.var.text}` does not happen, so it has no value", node)

    def _unknown(self, what: str, name: Ident, known: Iterable[str]) -> Diagnostic:
        choices = sorted(known)
        meant = nearest(name.text, choices, n=1)
        listed = ", ".join(f"`{one}`" for one in choices)
        helps = tuple(f"did you mean `{one}`?" for one in meant)
        if not helps and what == "stream":
            helps = (f"declare it at the start of the file: `STREAM {name.text}(…) TIME t;`",)
        notes = (f"the {what}s are {listed}",) if choices and not meant else ()
        return self._wrong("INK0160", f"unknown {what} `{name.text}`", name, notes=notes, helps=helps)

    def _wrong(
        self, code: str, message: str, at: Node, notes: tuple[str, ...] = (), helps: tuple[str, ...] = ()
    ) -> Diagnostic:
        return Diagnostic(code, message, at.span, self.source, notes=notes, helps=helps)


_ONE = "it is written once, as a part of WHERE: `skip_till_next_match(a, b) { … }`"


def _selections(condition: t.Condition) -> Iterator[t.Selection]:
    if isinstance(condition, t.Selection):
        yield condition
    yield from (found for inner in _inner(condition) for found in _selections(inner))


def _equivalences(condition: t.Condition) -> Iterator[t.Equivalence]:
    if isinstance(condition, t.Equivalence):
        yield condition
    yield from (found for inner in _inner(condition) for found in _equivalences(inner))


def _inner(condition: t.Condition) -> tuple[t.Condition, ...]:
    match condition:
        case t.Joined(items=items):
            return items
        case t.Negated(item=item):
            return (item,)
        case t.Selection(condition=inner) if inner is not None:
            return (inner,)
        case _:
            return ()
