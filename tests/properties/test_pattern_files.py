"""Pattern files are detected where symbolic regular expressions over all short words say."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from inkling import parse
from inkling.language.sre import terms as t
from inkling.language.sre.reader import read_patterns
from inkling.language.syntax import Ident
from inkling.source import SourceText

Part: TypeAlias = Callable[[int], frozenset[int]]

LETTERS = "abc"
WORDS = ["".join(letters) for length in range(1, 5) for letters in product(LETTERS, repeat=length)]

PREDICATES = st.recursive(
    st.sampled_from([*(f"IsEventTypePredicate({letter})" for letter in LETTERS), "TruePredicate"]),
    lambda inner: st.one_of(
        inner.map(lambda one: f"- {one}"), st.builds("{}({},{})".format, st.sampled_from("^|"), inner, inner)
    ),
    max_leaves=2,
)
EXPRESSIONS = st.recursive(
    PREDICATES,
    lambda inner: st.one_of(
        st.builds(";({},{})".format, inner, inner),
        st.builds(";({},{},{})".format, inner, inner, inner),
        st.builds("+({},{})".format, inner, inner),
        st.builds("*({})".format, inner),
        st.builds("!({})".format, inner),
        st.builds("&({},{})".format, inner, inner),
        st.builds("+({},EpsilonPredicate)".format, inner),
        st.builds(";({},EpsilonPredicate)".format, inner),
        st.builds("!(;({},EpsilonPredicate))".format, inner),
        st.builds(";({},!({}),{})".format, inner, inner, inner),
        st.builds("{}(;({},{}))".format, st.sampled_from("#@"), inner, inner),
        st.builds("{}({})".format, st.sampled_from("#@"), inner),
    ),
    max_leaves=5,
)


def ends(node: t.Expression, word: str) -> Part:
    """From a place in a word to all places at which an occurrence that begins there may end."""
    everywhere = range(len(word) + 1)

    def concatenated(*parts: Part) -> Part:
        def found(place: int) -> frozenset[int]:
            places = frozenset({place})
            for part in parts:
                places = frozenset(end for one in places for end in part(one))
            return places

        return cache(found)

    def complement(part: Part) -> Part:
        return cache(lambda place: frozenset(range(place, len(word) + 1)) - part(place))

    def repeated(part: Part) -> Part:
        def found(place: int) -> frozenset[int]:
            places = {place}
            while not (more := {end for one in places for end in part(one)}) <= places:
                places |= more
            return frozenset(places)

        return cache(found)

    def anything(place: int) -> frozenset[int]:
        return frozenset(range(place, len(word) + 1))

    def filled(part: Part) -> Part:
        return cache(lambda place: part(place) - {place})

    def gap(op: str, part: Part) -> Part:
        return anything if op == "#" else complement(concatenated(anything, filled(part), anything))

    def skipping(op: str, parts: list[Part]) -> Part:
        """Parts with gaps between them; one that is empty is left out, together with a gap."""
        steps = [(filled(part), gap(op, part), part) for part in parts]

        def found(place: int) -> frozenset[int]:
            places = {(place, False)}
            for part, before, whole in steps:
                begins = {begin for one, begun in places for begin in (before(one) if begun else {one})}
                places = {(end, True) for begin in begins for end in part(begin)} | {
                    (one, begun) for one, begun in places if one in whole(one)
                }
            return frozenset(one for one, _ in places)

        return cache(found)

    def of(node: t.Expression) -> Part:
        match node:
            case t.Single() if t.is_epsilon(node):
                return lambda place: frozenset({place})
            case t.Single(formula=formula):
                good = {place for place in everywhere[:-1] if holds(formula, word[place])}
                return lambda place: frozenset({place + 1}) if place in good else frozenset()
            case t.Operation(op=";", items=items):
                return concatenated(*map(of, items))
            case t.Operation(op="+", items=items):
                parts = [of(item) for item in items]
                return lambda place: frozenset().union(*(part(place) for part in parts))
            case t.Operation(op="&", items=(left, right)):
                one, other = of(left), of(right)
                return lambda place: one(place) & other(place)
            case t.Operation(op="*", items=(item,)):
                return repeated(of(item))
            case t.Operation(op="!", items=(item,)):
                return complement(of(item))
            case t.Operation(op=op, items=(t.Operation(op=";", items=items),)):
                return skipping(op, [of(item) for item in items])
            case t.Operation(op=op, items=(t.Operation(op="*", items=(item,)),)):
                part = filled(of(item))
                more = concatenated(part, repeated(concatenated(gap(op, part), part)))
                return lambda place: frozenset({place}) | more(place)
            case t.Operation(items=(item,)):
                return of(item)
            case _:
                raise AssertionError(node)

    return of(node)


def holds(formula: t.Formula, letter: str) -> bool:
    match formula:
        case t.Predicate(args=(Ident(text=text),)):
            return text == letter
        case t.Predicate():
            return True
        case t.Negated(item=item):
            return not holds(item, letter)
        case t.Joined(op=op, items=items):
            return (all if op == "^" else any)(holds(item, letter) for item in items)


def detections(expression: t.Expression, word: str, *, overlap: bool) -> list[int]:
    """Places, counted from one, where an occurrence of one event or more ends; each restart forgets what was before."""
    found: list[int] = []
    end_of = ends(expression, word)
    first = 0
    for place in range(1, len(word) + 1):
        if any(place in end_of(start) for start in range(first, place)):
            found.append(place)
            first = first if overlap else place
    return found


@settings(max_examples=40)
@given(EXPRESSIONS)
def test_detections_are_those_of_the_regular_expression(text: str) -> None:
    program = parse(f"{text}{{partitionBy:word}}{{counting:overlap}} & {text}{{partitionBy:word}}", name="x.sre")
    (pattern, _) = read_patterns(SourceText("x", f"{text} & {text}")).patterns
    rows = [{"word": word, "type": type, "ts": ts} for word in WORDS for ts, type in enumerate(word, 1)]
    tables = program.run_local({"events": rows}).tables
    for name, overlap in (("p1", True), ("p2", False)):
        expected = {(word, end) for word in WORDS for end in detections(pattern.expression, word, overlap=overlap)}
        columns = (tables[name].column(column).to_pylist() for column in ("word", "end"))
        assert set(zip(*columns, strict=True)) == expected
