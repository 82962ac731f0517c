"""Checks of a query file before its translation: names, numbers of terms, and the scope of variables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from inkling.errors import Diagnostic, nearest
from inkling.language.lahar import terms as t
from inkling.language.syntax import Ident
from inkling.source import SourceText


@dataclass(frozen=True, slots=True)
class DeclaredNames:
    """The streams and relations of a file, by name."""

    streams: Mapping[str, t.Stream]
    relations: Mapping[str, t.Relation]


def declared(file: t.QueryFile) -> DeclaredNames:
    return DeclaredNames(
        {one.name.text: one for one in file.statements if isinstance(one, t.Stream)},
        {one.name.text: one for one in file.statements if isinstance(one, t.Relation)},
    )


def previous(column: str) -> str:
    """The column with the previous value, of a Markov stream."""
    return f"previous_{column}"


def declaration_errors(file: t.QueryFile, source: SourceText) -> Iterator[Diagnostic]:
    """Duplicate names, reserved columns, and Markov streams without values."""
    yield from _twice((one.name for one in file.statements), "a stream, relation or query", source)
    for one in file.statements:
        match one:
            case t.Stream():
                yield from _twice((column.name for column in one.columns), f"a column of `{one.name.text}`", source)
                yield from _of_stream(one, source)
            case t.Relation():
                yield from _twice((column.name for column in one.columns), f"a column of `{one.name.text}`", source)
            case t.NamedQuery():
                yield from _twice(one.head, "a variable of this head", source)


def _twice(names: Iterable[Ident], what: str, source: SourceText) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for name in names:
        if name.text in seen:
            yield Diagnostic("INK0154", f"`{name.text}` is already {what}", name.span, source)
        seen.add(name.text)


def _of_stream(stream: t.Stream, source: SourceText) -> Iterator[Diagnostic]:
    taken = {stream.time_column.text: "the time of an event"}
    if stream.probability_column is not None:
        if stream.probability_column.text in taken:
            yield Diagnostic(
                "INK0154",
                f"the time and the probability of `{stream.name.text}` are the same column",
                stream.probability_column.span,
                source,
            )
        taken[stream.probability_column.text] = "the probability of an event"
    if stream.kind == "markov":
        taken |= {previous(one.name.text): f"the previous value of `{one.name.text}`" for one in stream.values}
    for column in stream.columns:
        if column.name.text in taken:
            yield Diagnostic(
                "INK0154",
                f"`{stream.name.text}` cannot have a column `{column.name.text}`: it is {taken[column.name.text]}",
                column.name.span,
                source,
                helps=_renaming(stream, column.name.text),
            )
    if stream.kind == "markov" and not stream.values:
        yield Diagnostic(
            "INK0154",
            f"`{stream.name.text}` is `markov` but has no value columns",
            stream.name.span,
            source,
            notes=("columns to the left of `|` are the key, columns to the right are the values",),
        )


def _renaming(stream: t.Stream, name: str) -> tuple[str, ...]:
    if name == stream.time_column.text:
        return (f"name the column of the time: `{stream.kind} time seconds`",)
    if stream.probability_column is not None and name == stream.probability_column.text:
        return (f"name the column of the probability: `{stream.kind} probability chance`",)
    return (f"rename the column; a variable may still be named `{name}`",)


def query_errors(asked: t.NamedQuery, known: DeclaredNames, source: SourceText) -> list[Diagnostic]:
    checks = _Checks(known, source)
    return [
        *checks.names(asked.query),
        *checks.hidden(asked),
        *checks.conditions(asked.query, _hidden(asked.query)),
        *checks.head(asked),
    ]


def free(query: t.Query) -> frozenset[str]:
    """The variables that the answers of a query have a value of."""
    match query:
        case t.Goal():
            return frozenset(name.text for name in _names(query))
        case t.Selected(query=inner):
            return free(inner)
        case t.Plus(kept=kept):
            return frozenset(name.text for name in kept)
        case t.Sequence(parts=parts):
            return frozenset[str]().union(*map(free, parts))


def _names(goal: t.Goal) -> list[Ident]:
    return [term for term in goal.terms if isinstance(term, Ident)]


def _body(plus: t.Plus) -> t.Goal:
    goal = t.goal_of(plus.query)
    assert goal is not None
    return goal


def _pluses(query: t.Query) -> Iterator[t.Plus]:
    match query:
        case t.Plus():
            yield query
        case t.Selected(query=inner):
            yield from _pluses(inner)
        case t.Sequence(parts=parts):
            for part in parts:
                yield from _pluses(part)
        case t.Goal():
            return


def _locals(plus: t.Plus) -> dict[str, Ident]:
    """The variables that each unfolding has for itself, where they stand first."""
    kept = {name.text for name in plus.kept}
    found: dict[str, Ident] = {}
    for name in _names(_body(plus)):
        if name.text not in kept:
            found.setdefault(name.text, name)
    return found


def _hidden(query: t.Query) -> frozenset[str]:
    return frozenset(name for plus in _pluses(query) for name in _locals(plus))


def _mentioned(query: t.Query, but: t.Plus) -> Iterator[Ident]:
    """Every variable that a query mentions outside of one of its repetitions."""
    if query is but:
        return
    match query:
        case t.Goal():
            yield from _names(query)
        case t.Selected(condition=condition, query=inner):
            yield from t.variables(condition)
            yield from _mentioned(inner, but)
        case t.Plus(query=inner, kept=kept):
            yield from kept
            yield from _mentioned(inner, but)
        case t.Sequence(parts=parts):
            for part in parts:
                yield from _mentioned(part, but)


@dataclass(frozen=True, slots=True)
class _Checks:
    known: DeclaredNames
    source: SourceText

    def names(self, query: t.Query) -> Iterator[Diagnostic]:
        """Types and relations are declared and have their numbers of terms."""
        match query:
            case t.Goal(type=type, terms=terms):
                yield from self._used(type, terms, query)
            case t.Selected(condition=condition, query=inner):
                yield from self._atoms(condition)
                yield from self.names(inner)
            case t.Plus(query=inner, condition=condition):
                yield from self.names(inner)
                yield from self._atoms(condition)
            case t.Sequence(parts=parts):
                for part in parts:
                    yield from self.names(part)

    def _atoms(self, condition: t.Condition) -> Iterator[Diagnostic]:
        for atom in t.atoms(condition):
            if isinstance(atom, t.Atom):
                yield from self._used(atom.relation, atom.terms, atom)

    def _used(self, name: Ident, terms: tuple[t.Term, ...], node: t.Goal | t.Atom) -> Iterator[Diagnostic]:
        is_goal = isinstance(node, t.Goal)
        wanted: dict[str, t.Stream] | dict[str, t.Relation]
        wanted = dict(self.known.streams) if is_goal else dict(self.known.relations)
        what, other, where = (
            ("stream", self.known.relations, "it is a relation; use it in a condition: `sigma[…](…)`")
            if is_goal
            else ("relation", self.known.streams, "it is a stream; use it as a goal, not in a condition")
        )
        if name.text not in wanted:
            meant = tuple(f"did you mean `{one}`?" for one in nearest(name.text, wanted, n=1))
            yield Diagnostic(
                "INK0152",
                f"unknown {what} `{name.text}`",
                name.span,
                self.source,
                notes=(where,) if name.text in other else (),
                helps=meant if name.text not in other else (),
            )
            return
        columns = [column.name.text for column in wanted[name.text].columns]
        if len(columns) != len(terms):
            yield Diagnostic(
                "INK0151",
                f"`{name.text}` has {_count(len(columns), 'column')}, found {_count(len(terms), 'term')}",
                node.span,
                self.source,
                notes=(f"its columns are {', '.join(columns)}",) if columns else (),
                helps=("write `_` for a column that does not matter",) if len(terms) < len(columns) else (),
            )

    def hidden(self, asked: t.NamedQuery) -> Iterator[Diagnostic]:
        """A variable that each unfolding has for itself says nothing elsewhere."""
        for plus in _pluses(asked.query):
            elsewhere = {name.text: name for name in (*asked.head, *_mentioned(asked.query, plus))}
            for text, name in _locals(plus).items():
                if text in elsewhere:
                    where = self.source.position(elsewhere[text].span.start)
                    kept = ", ".join([*(one.text for one in plus.kept), text])
                    yield Diagnostic(
                        "INK0153",
                        f"`{text}` may differ between repetitions, so it has no value outside of them",
                        name.span,
                        self.source,
                        notes=(f"it is used at line {where.line}, column {where.column}",),
                        helps=(f"keep it the same in all repetitions: `+<{{{kept}}}, …>`", "or rename one of the two"),
                    )

    def conditions(self, query: t.Query, hidden: frozenset[str]) -> Iterator[Diagnostic]:
        """A condition speaks of variables of what it stands at."""
        match query:
            case t.Goal():
                return
            case t.Selected(condition=condition, query=inner):
                yield from self._reach(condition, inner, hidden)
                yield from self.conditions(inner, hidden)
            case t.Plus(query=inner, kept=kept, condition=condition):
                yield from self.conditions(inner, hidden - _locals(query).keys())
                goal = _body(query)
                yield from self._reach(condition, goal, hidden - _locals(query).keys())
                names = [name.text for name in _names(goal)]
                for idx, name in enumerate(kept):
                    if name.text not in names:
                        yield self._foreign(name, f"`{name.text}` is not a variable of the repeated goal", names)
                    elif name.text in {other.text for other in kept[:idx]}:
                        yield self._foreign(name, f"duplicate variable `{name.text}`", ())
            case t.Sequence(parts=parts):
                for part in parts:
                    yield from self.conditions(part, hidden)

    def _reach(self, condition: t.Condition, query: t.Query, hidden: frozenset[str]) -> Iterator[Diagnostic]:
        reach = free(query)
        reported: set[str] = set()
        for name in t.variables(condition):
            if name.text in reach | hidden | reported:
                continue
            reported.add(name.text)
            if t.goal_of(query) is None:
                yield self._foreign(name, f"`{name.text}` is not bound in this query", reach)
            else:
                yield self._foreign(
                    name,
                    f"`{name.text}` is not a variable of the goal that this condition selects from",
                    reach,
                    helps=(
                        "put the condition around the whole query: `sigma[…](q ; r)`",
                        "or use the variable in the goal",
                    ),
                )

    def head(self, asked: t.NamedQuery) -> Iterator[Diagnostic]:
        known = free(asked.query) | _hidden(asked.query)
        for name in asked.head:
            if name.text not in known:
                yield self._foreign(name, f"`{name.text}` is not bound in this query", known)

    def _foreign(self, name: Ident, message: str, names: Iterable[str], helps: tuple[str, ...] = ()) -> Diagnostic:
        meant = tuple(f"did you mean `{one}`?" for one in nearest(name.text, sorted(names), n=1))
        return Diagnostic("INK0153", message, name.span, self.source, helps=helps or meant)


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
