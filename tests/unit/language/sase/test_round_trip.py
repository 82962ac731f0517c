"""Whatever query is printed reads back as itself."""

import hypothesis.strategies as st
from hypothesis import given

from inkling.language.kit.cursor import Number, Text
from inkling.language.sase import terms as t
from inkling.language.sase.printer import format_file
from inkling.language.sase.reader import AGGREGATES, STRATEGIES, read_queries
from inkling.language.syntax import Ident
from inkling.source import SourceText

names = st.sampled_from(["a", "b", "x1", "Stock", "price", "é", "i", "confidence_"]).map(Ident)
texts = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=3).map(Text)
numbers = st.sampled_from(["0", "12", "1.5", "2.5e-3"]).map(Number)
percents = st.sampled_from(["80", "2.5"]).map(t.Percent)
read = st.one_of(
    st.builds(t.Value, names, st.sampled_from([None, "1", "i", "i-1", "LEN"]), names),
    st.builds(t.Aggregated, st.sampled_from(AGGREGATES).map(Ident), names, st.booleans(), names),
    st.builds(t.Aggregated, st.just(Ident("count")), names, st.booleans(), st.none()),
)
simple = st.one_of(read, numbers, percents, texts, st.builds(t.Truth, st.booleans()))
values = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(t.Minus, inner), st.builds(t.Arithmetic, st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner)
    ),
    max_leaves=4,
)
comparisons = st.builds(t.Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), values, values)
atoms = st.one_of(comparisons, st.builds(t.Equivalence, st.lists(names, min_size=1, max_size=2).map(tuple)))


def joined(op: t.Connective, items: list[t.Condition]) -> t.Condition:
    flat = [one for item in items for one in (item.items if isinstance(item, t.Joined) and item.op == op else (item,))]
    return t.Joined(op, tuple(flat))


variables = st.builds(t.Variable, names, st.booleans())


def larger(conditions: st.SearchStrategy[t.Condition]) -> st.SearchStrategy[t.Condition]:
    return st.one_of(
        st.builds(t.Negated, conditions),
        st.builds(joined, st.sampled_from(["AND", "OR"]), st.lists(conditions, min_size=2, max_size=3)),
        st.builds(
            t.Selection,
            st.sampled_from(STRATEGIES).map(Ident),
            st.lists(variables, max_size=2).map(tuple),
            st.none() | conditions,
        ),
    )


conditions = st.recursive(atoms, larger, max_leaves=5)
types = st.lists(names, min_size=1, max_size=2).map(tuple)
components = st.one_of(
    st.builds(t.Component, types, names, st.booleans()),
    st.builds(t.Component, types, names, st.just(False), st.just(True)),
)
returned = st.builds(t.Returned, st.one_of(variables, values), st.none() | names)
windows = st.one_of(
    st.builds(t.Window, st.just(Number("5")), st.sampled_from([None, "TICKS", "HOURS"])),
    st.builds(t.Window, st.sampled_from(["1", "1.5"]).map(Number), st.sampled_from(["SECONDS", "DAYS"])),
)
queries = st.builds(
    t.Query,
    st.none() | names,
    st.lists(components, min_size=1, max_size=3).map(tuple),
    st.none() | conditions,
    st.none() | windows,
    st.none() | st.builds(t.Threshold, st.sampled_from([">=", ">"]), st.sampled_from(["0.5", "1"]).map(Number)),
    st.none() | conditions,
    st.lists(returned, max_size=2).map(tuple),
    st.none() | st.just(Number("3")),
)
files = st.lists(queries, max_size=3).map(lambda some: t.QueryFile((), tuple(some)))


@given(files)
def test_reading_what_is_printed_is_identity(file: t.QueryFile) -> None:
    printed = format_file(file)
    assert read_queries(SourceText("<printed>", printed)) == file
    assert format_file(read_queries(SourceText("<printed>", printed))) == printed


def test_a_variable_may_have_the_name_of_the_index() -> None:
    text = "PATTERN SEQ(A i)\nRETURN i[i.LEN].v, i[i].v;\n"
    values = [one.value for one in read_queries(SourceText("<query>", text)).queries[0].returned]
    assert values == [t.Value(Ident("i"), "LEN", Ident("v")), t.Value(Ident("i"), "i", Ident("v"))]
