"""Random rules derive what their definition says, through the program that they are translated to."""

from __future__ import annotations

from collections.abc import Mapping

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given
from tests.oracles.ele_model import Happened, model

from inkling import parse
from inkling.errors import ProgramError
from inkling.language import format_program
from inkling.language import parse as parse_text
from inkling.language.ele import ETALIS
from inkling.language.ele import terms as t
from inkling.language.ele.reader import read_rules
from inkling.language.ele.terms import bound_by
from inkling.source import SourceText

pytestmark = pytest.mark.long

STREAMS = """
:- stream(a(v: bigint)).
:- stream(b(v: bigint, w: bigint)).
:- stream(c).
:- stream(p(v: bigint), interval).
"""
ARITIES = {"a": 1, "b": 2, "c": 0, "p": 1}
OPERATORS = ("SEQ", "SEQ", "AND", "PAR", "OR", "EQUALS", "MEETS", "DURING", "STARTS", "FINISHES")

terms = st.sampled_from(["X", "X", "X", "Y", "Y", "Z", "_", "_", "1"])
times = st.integers(0, 4)
values = st.integers(0, 1)


@st.composite
def atoms(draw: st.DrawFn, known: dict[str, int]) -> str:
    name = draw(st.sampled_from(sorted(known)))
    args = ", ".join(draw(terms) for _ in range(known[name]))
    return f"{name}({args})" if args else name


def patterns(known: dict[str, int]) -> st.SearchStrategy[str]:
    return st.recursive(atoms(known), _larger, max_leaves=4)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda x, op, y: f"({x} {op} {y})", inner, st.sampled_from(OPERATORS), inner),
        st.builds(lambda x, y, z: f"NOT({x}).[{y}, {z}]", inner, inner, inner),
        st.builds(lambda x, n: f"({x}).{n}", inner, st.integers(0, 4)),
        st.builds(_filtered, inner, st.sampled_from(("<", ">=", "\\=")), values),
        st.builds(lambda x, y: f"({x} FNOT {y})", inner, inner),
        st.builds(lambda x, variable: f"({x} WHERE near({variable}))", inner, st.sampled_from("XYZ_")),
        st.builds(lambda x: f"({x} ntimes 2)", inner),
    )


def _bound(text: str) -> list[str]:
    rule = read_rules(SourceText("rule", f"x <- {text}.")).statements[0]
    assert isinstance(rule, t.Rule)
    return sorted(bound_by(rule.pattern))


def _filtered(text: str, op: str, value: int) -> str:
    bound = _bound(text)
    return f"({text} WHERE {bound[0]} {op} {bound[1] if len(bound) > 1 else value})" if bound else text


def _head(name: str, text: str) -> str:
    """A head with all variables that the pattern binds, so that nothing about it stays unseen."""
    bound = _bound(text)
    return f"{name}({', '.join(bound)})" if bound else name


@st.composite
def rule_files(draw: st.DrawFn) -> str:
    first = draw(patterns(ARITIES))
    head = _head("x", first)
    rules = [f"{head} <- {first}."]
    n_columns = head.count(",") + ("(" in head)
    if draw(st.booleans()):
        second = draw(patterns({**ARITIES, "x": n_columns}))
        rules.append(f"{_head('y', second)} <- {second}.")
    if draw(st.booleans()) and n_columns:
        again = head.removeprefix("x")
        rules.append(f"x{again} <- x{again} {draw(st.sampled_from(('SEQ', 'AND', 'MEETS')))} {draw(atoms(ARITIES))}.")
    return STREAMS + "\n".join(rules) + "\nnear(1).\nnear(2).\n"


points = st.tuples(st.sampled_from("abc"), values, values, times)
spans = st.tuples(values, times, times)


@st.composite
def happenings(draw: st.DrawFn) -> set[Happened]:
    found: set[Happened] = set()
    for name, v, w, at in draw(st.lists(points, min_size=3, max_size=8)):
        found.add((name, (v, w)[: ARITIES[name]], at, at))
    for v, x, y in draw(st.lists(spans, max_size=3)):
        found.add(("p", (v,), min(x, y), max(x, y)))
    return found


def inputs(happened: set[Happened]) -> dict[str, list[dict[str, object]]]:
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in ARITIES}
    for name, args, start, end in sorted(happened, key=repr):
        time: dict[str, object] = {"start": start, "end": end} if name == "p" else {"t": start}
        rows[name].append({**dict(zip("vw", args, strict=False)), **time})
    return rows


def translated(text: str) -> bool:
    """Whether the rules can be translated; the few that cannot say so."""
    try:
        ETALIS.parse(text)
    except ProgramError as error:
        if not {diagnostic.code for diagnostic in error.diagnostics} <= {"INK0132"}:
            raise
        return False
    return True


@given(rule_files(), st.lists(happenings(), min_size=4, max_size=4))
def test_rules_derive_what_their_model_holds(text: str, several: list[set[Happened]]) -> None:
    if not translated(text):
        return
    program = parse(text, name="random.ele")
    file = read_rules(SourceText("random.ele", text))
    for happened in several:
        wanted = {event for event in model(file, happened) if event[0] in "xy"}
        assert derived(program.run_local(inputs(happened)).tables) == wanted


@given(rule_files(), happenings())
def test_rules_derive_the_same_from_rows_as_they_come(text: str, happened: set[Happened]) -> None:
    if not translated(text):
        return
    stream = parse(text, name="random.ele").open(unbounded=True)
    rows = sorted(happened, key=lambda event: (event[3], repr(event)))
    found = [derived(stream.push(inputs({event})).tables) for event in rows]
    wanted = {event for event in model(read_rules(SourceText("random.ele", text)), happened) if event[0] in "xy"}
    assert set().union(*found, derived(stream.finish().tables)) == wanted


def derived(tables: Mapping[str, pa.Table]) -> set[Happened]:
    """The events `x` and `y` among results; those beside them unite alternatives."""
    found: set[Happened] = set()
    for name in tables.keys() & {"x", "y"}:
        columns = tables[name].column_names
        values = columns[columns.index("event") + 1 : columns.index("start")]
        for row in tables[name].to_pylist():
            found.add((name, tuple(row[column] for column in values), row["start"], row["end"]))
    return found


@given(rule_files())
def test_rules_print_as_a_program_and_as_rules(text: str) -> None:
    if not translated(text):
        return
    tree = ETALIS.parse(text)
    assert parse_text(format_program(tree)) == tree
    printed = ETALIS.format(text)
    assert ETALIS.parse(printed) == tree
    assert ETALIS.format(printed) == printed
