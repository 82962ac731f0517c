"""Whatever query is printed reads back as itself."""

import hypothesis.strategies as st
from hypothesis import given

from inkling.language.kit.cursor import Number, Text
from inkling.language.lahar import terms as t
from inkling.language.lahar.printer import format_file
from inkling.language.lahar.reader import read_queries
from inkling.language.syntax import Ident
from inkling.source import NOWHERE, SourceText

names = st.sampled_from(["x", "y", "room", "At", "Hall", "from", "sigma_", "é"]).map(
    lambda text: Ident(text, span=NOWHERE)
)
texts = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=3)
values = st.one_of(
    names,
    texts.map(lambda value: Text(value, span=NOWHERE)),
    st.sampled_from(["0", "12", "-3", "1.5", "-2.5e-3"]).map(lambda written: Number(written, span=NOWHERE)),
)
terms = st.one_of(values, st.just(t.Anything(span=NOWHERE)))
atoms = st.one_of(
    st.just(t.Truth(span=NOWHERE)),
    st.builds(t.Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), values, values, span=st.just(NOWHERE)),
    st.builds(t.Atom, names, st.lists(terms, min_size=1, max_size=2).map(tuple), span=st.just(NOWHERE)),
)


def joined(op: t.Connective, items: list[t.Condition]) -> t.Condition:
    flat = [one for item in items for one in (item.items if isinstance(item, t.Joined) and item.op == op else (item,))]
    return t.Joined(op, tuple(flat), span=NOWHERE)


def larger(conditions: st.SearchStrategy[t.Condition]) -> st.SearchStrategy[t.Condition]:
    several = st.lists(conditions, min_size=2, max_size=3)
    return st.one_of(
        st.builds(t.Negated, conditions, span=st.just(NOWHERE)),
        st.builds(joined, st.sampled_from(["and", "or"]), several),
    )


conditions = st.recursive(atoms, larger, max_leaves=5)
goals = st.builds(t.Goal, names, st.lists(terms, max_size=3).map(tuple), span=st.just(NOWHERE))
simple = st.one_of(goals, st.builds(t.Selected, conditions, goals, span=st.just(NOWHERE)))
kept = st.lists(names, max_size=2).map(tuple)
parts = st.one_of(simple, st.builds(t.Plus, simple, kept, conditions, span=st.just(NOWHERE)))


def sequence(first: t.Query, rest: list[t.Query]) -> t.Query:
    before = first.parts if isinstance(first, t.Sequence) else (first,)
    return t.Sequence((*before, *rest), span=NOWHERE)


def longer(queries: st.SearchStrategy[t.Query]) -> st.SearchStrategy[t.Query]:
    return st.one_of(
        st.builds(t.Selected, conditions, queries, span=st.just(NOWHERE)),
        st.builds(sequence, queries, st.lists(parts, min_size=1, max_size=3)),
    )


asked = st.builds(
    t.NamedQuery,
    names,
    st.lists(names, max_size=2).map(tuple),
    st.booleans(),
    st.recursive(parts, longer, max_leaves=3),
    span=st.just(NOWHERE),
)
column = st.builds(t.Column, names, st.none() | st.just(Ident("DOUBLE", span=NOWHERE)), span=st.just(NOWHERE))
columns = st.lists(column, max_size=2).map(tuple)
streams = st.one_of(
    st.builds(t.Stream, names, columns, columns, st.just("certain"), st.none() | names, span=st.just(NOWHERE)),
    st.builds(
        t.Stream,
        names,
        columns,
        columns,
        st.sampled_from(["independent", "markov"]),
        st.none() | names,
        st.none() | names,
        span=st.just(NOWHERE),
    ),
)
relations = st.builds(
    t.Relation,
    names,
    st.lists(column, min_size=1, max_size=2).map(tuple),
    st.none() | texts.map(lambda path: Text(path, span=NOWHERE)),
    span=st.just(NOWHERE),
)
files = st.lists(st.one_of(asked, streams, relations), max_size=4).map(lambda some: t.QueryFile(tuple(some)))


@given(files)
def test_reading_what_is_printed_is_identity(file: t.QueryFile) -> None:
    printed = format_file(file)
    assert read_queries(SourceText("<printed>", printed)) == file
    assert format_file(read_queries(SourceText("<printed>", printed))) == printed
