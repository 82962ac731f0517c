"""Events as facts: `link(a.x, y)` in WHERE asks for an event `link` with these values that has ended by then.

The event becomes the right side of a join, and the arguments become comparisons with its columns:

    PATTERN A a WHERE link(a.x, y)        -- one match per `link l` with l.first = a.x; y is l.second
    PATTERN A a WHERE NOT link(a.x, _)    -- a match where there is no `link l` with l.first = a.x
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog, common_columns
from inkling.logical.binding.diagnostics import Diagnostics


@dataclass(slots=True)
class EventFacts:
    """The events in the WHERE of one declaration."""

    denied: set[str] = field(default_factory=set)  # the variables of those under NOT
    names: set[str] = field(default_factory=set)  # the variables of all
    unread: list[s.Ident] = field(default_factory=list)  # variables of arguments that nothing else uses


def called_in_where(decl: s.EventDecl, catalog: Catalog) -> Iterator[s.Ident]:
    """The names in WHERE that are called and are no table, rule or function, so that they may be events."""
    for body in _nodes(decl):
        if isinstance(body, s.Body):
            yield from (
                call.name
                for call in s.walk(body.where)
                if isinstance(call, s.Call) and not _is_known(call.name.text, catalog)
            )


def with_facts(decl: s.EventDecl, catalog: Catalog, diagnostics: Diagnostics) -> tuple[s.EventDecl, EventFacts]:
    """The declaration with joins in place of events in WHERE; the same object when there are none."""
    if not any(name.text in catalog.sources for name in called_in_where(decl, catalog)):
        return decl, EventFacts()
    nodes = list(_nodes(decl))
    taken = Counter(node.text for node in nodes if isinstance(node, s.Ident))
    taken -= Counter(name.text for node in nodes for name in _names_of_sources(node))
    uses = Counter(node.name.text for node in nodes if isinstance(node, s.Variable))
    joins = _Joins(catalog, diagnostics, set(taken), uses)
    denied = [node.item for node in nodes if isinstance(node, s.Negation)]
    joins.denied += Counter(
        arg.name.text
        for call in denied
        if isinstance(call, s.Call) and joins.is_event(call.name.text)
        for arg in call.args
        if isinstance(arg, s.Variable)
    )
    return s.rebuilt(decl, joins.changed), joins.facts


def _is_known(name: str, catalog: Catalog) -> bool:
    return catalog.is_knowledge(name) or catalog.has_function(name) or name in catalog.aggregates


def _nodes(node: s.Node) -> Iterator[s.Node]:
    yield node
    for child in s.children(node):
        yield from _nodes(child)


def _names_of_sources(node: s.Node) -> tuple[s.Ident, ...]:
    """The names in a node that are no variables of the pattern."""
    match node:
        case s.EventDecl(name=name) | s.Call(name=name):
            return (name,)
        case s.Leaf(types=types):
            return types
        case _:
            return ()


def _is_relation(pattern: s.Pattern) -> bool:
    return isinstance(pattern, s.Quantified)


def _has_no_matches(pattern: s.Pattern) -> bool:
    """Whether a pattern is a relation between segments or a window, alone or after the event since which it lasts."""
    return _is_relation(pattern) or any(isinstance(node, s.WindowOf) for node in _nodes(pattern))


@dataclass(slots=True)
class _Joins:
    catalog: Catalog
    diagnostics: Diagnostics
    taken: set[str]
    uses: Counter[str]  # how often each bare name stands in the declaration
    denied: Counter[str] = field(default_factory=Counter)  # how often it is an argument of an event under NOT
    facts: EventFacts = field(default_factory=EventFacts)

    def changed(self, node: s.Node) -> s.Node:
        match node:
            case s.Nested(body=body, var=var):
                inside = self._joined(s.rebuilt(body, self.changed))
                adds_something = var or inside.where or inside.within or inside.having
                return replace(node, body=inside) if adds_something else inside.pattern
            case s.Body():
                return self._joined(s.rebuilt(node, self.changed))
            case _:
                return s.rebuilt(node, self.changed)

    def _joined(self, body: s.Body) -> s.Body:
        """The body with a join around its pattern per event of WHERE; those under NOT read what the others bind."""
        tests: list[s.Expr] = []
        joins: list[tuple[s.Leaf, s.JoinKind]] = []
        conditions = list(s.conjuncts(body.where))
        for node in conditions:
            call = node.item if isinstance(node, s.Negation) else node
            if not isinstance(call, s.Call) or not self.is_event(call.name.text):
                tests.append(node)
                continue
            if _has_no_matches(body.pattern):
                self._reject(call, body.pattern)
                continue
            kind: s.JoinKind = "FACT" if call is node else "NO FACT"
            var = s.Ident(self._fresh(call.name.text), span=call.name.span)
            self.facts.names.add(var.text)
            joins.append((s.Leaf((call.name,), var, span=call.span), kind))
            tests += self._comparisons(call, var, kind)
            if kind == "NO FACT":
                self.facts.denied.add(var.text)
        if not joins and len(tests) == len(conditions):
            return body
        pattern = body.pattern
        for leaf, kind in sorted(joins, key=lambda join: join[1] == "NO FACT"):
            pattern = s.LeftJoin(pattern, (), leaf, kind, span=pattern.span)
        where = s.AllOf(tuple(tests), span=tests[0].span) if len(tests) > 1 else next(iter(tests), None)
        return replace(body, pattern=pattern, where=where)

    def _reject(self, call: s.Call, pattern: s.Pattern) -> None:
        code, what = ("INK0362", "relation between segments") if _is_relation(pattern) else ("INK0355", "window")
        self.diagnostics.error(
            code,
            f"a {what} cannot ask for an event in WHERE",
            call,
            notes=[f"an event is joined with a match, and a {what} has none; tables and rules can be asked for here"],
            helps=[f"give the {what} a name, and ask there: `EVENT … AS PATTERN name n WHERE {call.name}(n.x, …)`"],
        )

    def is_event(self, name: str) -> bool:
        return name in self.catalog.sources and not _is_known(name, self.catalog)

    def _fresh(self, name: str) -> str:
        choices = chain((name,), (f"{name}_{number}" for number in count(2)))
        fresh = next(choice for choice in choices if choice not in self.taken)
        self.taken.add(fresh)
        return fresh

    def _comparisons(self, call: s.Call, var: s.Ident, kind: s.JoinKind) -> Iterator[s.Expr]:
        """The arguments compared with the columns at their positions; a name that nothing else uses has any value."""
        sources = self.catalog.events_of(call.name, self.diagnostics)
        columns = list(common_columns(sources))
        if any(source.is_broken for source in sources):
            columns = [f"unknown{number}" for number in range(len(call.args))]  # not reported again
        if len(call.args) > len(columns):
            signature = f"{call.name}({', '.join(columns)})"
            wanted = f"{len(columns)} argument{'' if len(columns) == 1 else 's'}"
            self.diagnostics.error(
                "INK0209",
                f"`{call.name}` takes {wanted}, found {len(call.args)}",
                call,
                notes=[f"arguments are the columns of `{signature}` in this order; the last ones may be left out"],
            )
            return
        own = Counter(arg.name.text for arg in call.args if isinstance(arg, s.Variable))
        here = own if kind == "FACT" else self.denied
        first: dict[str, s.Attribute] = {}
        for column, arg in zip(columns, call.args, strict=False):
            value = s.Attribute(var, s.Ident(column, span=call.name.span), span=call.name.span)
            name = arg.name if isinstance(arg, s.Variable) else None
            if name is not None and name.text == "_":
                continue
            if name is not None and self.uses[name.text] == here[name.text]:
                if name.text in first:
                    yield s.Compare("=", first[name.text], value, span=arg.span)
                elif own[name.text] == 1 and kind == "FACT":
                    self.facts.unread.append(name)
                first.setdefault(name.text, value)
                continue
            yield s.Compare("=", arg, value, span=arg.span)
