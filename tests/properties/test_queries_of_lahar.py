"""Queries find what Lahar's semantics says when it is followed word by word: pairs of a binding and a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from tests.kit.oracle import oracle

from inkling import parse
from inkling.language.kit.cursor import Text
from inkling.language.lahar import terms as t
from inkling.language.lahar.checks import free
from inkling.language.lahar.reader import read_queries
from inkling.language.syntax import Ident
from inkling.source import SourceText

Binding: TypeAlias = frozenset[tuple[str, str]]
Pair: TypeAlias = tuple[Binding, int]
Event: TypeAlias = tuple[str, tuple[str, ...], int]  # type, values, time

DECLARED = "stream A(k | v) certain; stream B(k) certain; relation In(v);"
RELATIONS = {"In": {("a",)}}
OPERATORS = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


class World:
    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events

    def pairs(self, query: t.Query) -> set[Pair]:
        match query:
            case t.Goal():
                return {(b, time) for type, values, time in self.events for b in unified(query, type, values)}
            case t.Selected(condition=condition, query=inner):
                return {(b, time) for b, time in self.pairs(inner) if holds(condition, dict(b))}
            case t.Plus(query=inner, condition=condition):
                first = {(b, time) for b, time in self.pairs(inner) if holds(condition, dict(b))}
                begun = {(kept(query, b), time) for b, time in first}
                return begun | self.unfolded(begun, query)
            case t.Sequence(parts=parts):
                found = self.pairs(parts[0])
                for part in parts[1:]:
                    found = self.unfolded(found, part) if isinstance(part, t.Plus) else self.followed(found, part)
                return found

    def followed(self, before: set[Pair], part: t.Query) -> set[Pair]:
        candidates = self.pairs(part)
        return {(b | other, time) for b, at in before for other, time in successors(b, at, candidates)}

    def unfolded(self, before: set[Pair], plus: t.Plus) -> set[Pair]:
        candidates = self.pairs(plus.query)
        found: set[Pair] = set()
        ends = before
        while ends:
            ends = {
                (b | kept(plus, other), time)
                for b, at in ends
                for other, time in successors(b, at, candidates)
                if holds(plus.condition, dict(other))
            } - found
            found |= ends
        return found


def unified(goal: t.Goal, type: str, values: tuple[str, ...]) -> Iterator[Binding]:
    binding: dict[str, str] = {}
    for term, value in zip(goal.terms, values, strict=False):
        match term:
            case Ident(text=name) if binding.setdefault(name, value) != value:
                return
            case Text(value=wanted) if wanted != value:
                return
    if goal.type.text == type:
        yield frozenset(binding.items())


def successors(binding: Binding, at: int, candidates: set[Pair]) -> list[Pair]:
    """Those at the first later time of all that agree with the binding."""
    values = dict(binding)
    later = [
        (b, time) for b, time in candidates if time > at and all(values.get(name, value) == value for name, value in b)
    ]
    first = min((time for _, time in later), default=0)
    return [(b, time) for b, time in later if time == first]


def kept(plus: t.Plus, binding: Binding) -> Binding:
    names = {name.text for name in plus.kept}
    return frozenset((name, value) for name, value in binding if name in names)


def holds(condition: t.Condition, values: Mapping[str, str]) -> bool:
    def value(term: t.Term) -> str:
        assert isinstance(term, Ident | Text)
        return values[term.text] if isinstance(term, Ident) else term.value

    match condition:
        case t.Truth():
            return True
        case t.Comparison(op=op, left=left, right=right):
            return bool(OPERATORS[op](value(left), value(right)))
        case t.Atom(relation=relation, terms=terms):
            return tuple(map(value, terms)) in RELATIONS[relation.text]
        case t.Negated(item=item):
            return not holds(item, values)
        case t.Joined(op=op, items=items):
            return (all if op == "and" else any)(holds(item, values) for item in items)


@st.composite
def conditions(draw: st.DrawFn, names: Sequence[str]) -> str:
    """A condition on some of the variables; `true` where there are none."""
    if not names or draw(st.integers(0, 3)) == 0:
        return "true"
    one, other = draw(st.sampled_from(names)), draw(st.sampled_from([*names, "'a'", "'b'"]))
    atom = draw(st.sampled_from([f"In({one})", f"{one} {draw(st.sampled_from(list(OPERATORS)))} {other}"]))
    return draw(st.sampled_from([atom, atom, f"not {atom}", f"{atom} or {other} = 'a'", f"{atom} and In({one})"]))


@st.composite
def goals(draw: st.DrawFn, names: Sequence[str]) -> tuple[str, list[str]]:
    """A goal with a condition of its own or without, and its variables."""
    type, arity = draw(st.sampled_from([("A", 2), ("A", 2), ("B", 1)]))
    terms = draw(st.lists(st.sampled_from([*names, "'a'", "_", "_"]), min_size=arity, max_size=arity))
    own = [term for term in dict.fromkeys(terms) if term.isalpha()]
    goal = f"{type}({', '.join(terms)})"
    return (f"sigma[{draw(conditions(own))}]({goal})" if draw(st.integers(0, 3)) == 0 else goal), own


@st.composite
def queries(draw: st.DrawFn) -> str:
    written = ""
    bound: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        local = "uvw"[number]
        if draw(st.integers(0, 2)) == 0:
            goal, own = draw(goals([*"xy", local]))
            names = [name for name in own if name != local]
            part = f"({goal})+<{{{', '.join(names)}}}, {draw(conditions(own))}>"
        else:
            part, names = draw(goals("xyz"))
        written = f"{written} ; {part}" if written else part
        bound += names
        if draw(st.integers(0, 3)) == 0:
            written = f"sigma[{draw(conditions(bound))}]({written})"
    return written


VALUES = st.sampled_from("ab")
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("A"), st.tuples(VALUES, VALUES), st.integers(1, 6)),
        st.tuples(st.just("B"), st.tuples(VALUES), st.integers(1, 6)),
    ),
    min_size=6,
    max_size=10,
    unique=True,
)


@given(queries(), EVENTS)
def test_queries_find_what_the_semantics_says(query: str, events: list[Event]) -> None:
    (asked,) = read_queries(SourceText("<query>", f"x() : {query}")).statements
    assert isinstance(asked, t.NamedQuery)
    names = sorted(free(asked.query))
    program = parse(f"{DECLARED} x({', '.join(names)}) : {query}", name="x.lahar")
    rows = {
        name: [dict(zip("kv", values, strict=False), t=time) for type, values, time in events if type == name]
        for name in "AB"
    }
    found = oracle(program.plan, rows, {"In": [{"v": "a"}]})["x"]
    expected = {(tuple(dict(b)[name] for name in names), time) for b, time in World(events).pairs(asked.query)}
    assert {(one.values, one.end) for one in found} == expected
