"""Errors in events that use themselves are reported as in events that do not: all of them, each once."""

import re
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.oracle import bound
from tests.unit.logical.test_bind_anything import DECLARATIONS, RandomEvent

from inkling.errors import Diagnostic, ProgramError
from inkling.language import parse
from inkling.logical import bind
from inkling.model.types import Type
from inkling.source import SourceText

KNOWN = """
STREAM A(id STRING, x INT, k STRING, y DOUBLE, on BOOLEAN) ID id TIME t;
STREAM B(id STRING, x INT, k INT, y DOUBLE) ID id TIME t;
TABLE limits(k STRING, top INT) FROM 'limits.csv';
RULE near(k, other) IF limits(k, top) AND limits(other, top);
RULE above(n, least) IF n > least;
EVENT prior(a.x AS v, a.k AS k) AS PATTERN SEQ(A a, A b) PER INTERVAL;
"""
"""`prior` has the columns of every event below, and a name as long as theirs: whoever uses it does not use itself."""

ONLY_OF_RECURSION = {"INK0333", "INK0335", "INK0336", "INK0337", "INK0425"}


@dataclass(frozen=True)
class Recursion:
    """A program in which `chain` uses itself; `{used}` is what its second declaration reads."""

    program: str
    used: str

    def reported(self, step: str, clauses: str, used: str) -> list[tuple[str, int, str]]:
        program = self.program.format(step=step, clauses=clauses).replace("USED", used)
        return _reported(KNOWN + program)

    def check(self, step: str, clauses: str = "") -> None:
        expected = self.reported(step, clauses, "prior")
        assert expected, "there is no error"
        assert self.reported(step, clauses, self.used) == expected


RECURSIONS = {
    "of itself": Recursion(
        "EVENT chain(a.x AS v, a.k AS k) AS PATTERN SEQ(A a, A b) {clauses} PER INTERVAL;\n{step}", "chain"
    ),
    "by way of another event": Recursion(
        "EVENT chain(a.x AS v, a.k AS k) AS PATTERN SEQ(A a, A b) {clauses} PER INTERVAL;\n{step}\n"
        "EVENT other(c.v, c.k) AS PATTERN SEQ(chain c, A a) PER INTERVAL;",
        "other",
    ),
    "that begins in another event": Recursion(
        "EVENT other(a.x AS v, a.k AS k) AS PATTERN SEQ(A a, A b) PER INTERVAL;\n{step}\n"
        "EVENT other(c.v, c.k) AS PATTERN SEQ(chain c, A a) PER INTERVAL;",
        "other",
    ),
}


def _reported(text: str) -> list[tuple[str, int, str]]:
    """Code, place and message of all errors; the events that a message names are left out of it."""
    return [
        (finding.code, finding.span.start, re.sub("`(prior|chain|other|base|loop)`", "`…`", finding.message))
        for finding in _errors(text)
        if finding.span is not None
    ]


def _errors(text: str) -> list[Diagnostic]:
    try:
        bind(parse(text), SourceText("program.ink", text))
    except ProgramError as error:
        return [finding for finding in error.diagnostics if finding.severity == "error"]
    return []


CONDITIONS = [
    "nosuch(p.v)",
    "nosuch(b.x, w) AND w > 3",
    "NOT nosuch(b.k)",
    "nosuch(p.v) OR b.x = 1",
    "A(b.x) OR b.x = 1",
    "USED(p.v) OR b.x = 1",
    "USED(1, 'q', 3)",
    "nofn(b.x) > 1",
    "w = nofn(b.x) AND w > 1",
    "limits(b.k, nofn(b.x))",
    "b.nocol = 1",
    "p.nocol = 1",
    "COUNT(b.nocol) > 3",
    "q.x = 1",
    "START(q) = 3",
    "MIN(q.x) > 3",
    "nobody > 1",
    "nobody IS NULL",
    "near(b.k, nobody + 1)",
    "A > 3",
    "USED > 3",
    "limits > 1",
    "p.k > 1",
    "b.x = 'q'",
    "b.x IN (1, 'q')",
    "b.x = NULL",
    "b.on > TRUE",
    "b.x + 1",
    "p.k + 1 > 2",
    "limits(b.k)",
    "NOT limits(b.k)",
    "limits(b.x, 3)",
    "near(b.k)",
    "near(_, _, _)",
    "near(b.x, w)",
    "above(b.x)",
    "above(b.k, 1)",
    "above(w, 3)",
    "abs() > 1",
    "abs(b.x, 1) > 1",
    "abs(b.k) > 1",
    "SUM(b) > 3",
    "LAST(p).x = 1",
    "p > 1",
    "ID(p) = 'x'",
    "PREV(x) = 1",
]

PLACES = {
    "WHERE": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(USED p, A b) WHERE {} PER INTERVAL;",
    "brackets": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(USED p, A b[{}]) PER INTERVAL;",
    "brackets of itself": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(A b, USED p[{}]) PER INTERVAL;",
    "HAVING": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(USED p, A b) HAVING {} PER INTERVAL;",
    "CHECK": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(USED p, A b CHECK ({})) PER INTERVAL;",
    "CHECK of a repetition": "EVENT chain(p.v, p.k) AS PATTERN SEQ(USED p, A b+ CHECK ({})) PER INTERVAL;",
    "NOT": "EVENT chain(p.v, p.k) AS PATTERN SEQ(USED p, NOT A b[{}], A z) PER INTERVAL;",
    "NOT itself": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(A b, NOT USED p[{}], A z) PER INTERVAL;",
    "EXCEPT": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(USED p, A b) EXCEPT (A z WHERE {}) PER INTERVAL;",
    "OR": "EVENT chain(3 AS v, 'q' AS k) AS PATTERN SEQ(A z, USED p OR A b) WHERE {} PER INTERVAL;",
    "nested WHERE": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(A z, (SEQ(USED p, A b) WHERE {})) PER INTERVAL;",
    "WHERE of a repetition": "EVENT chain(p.v, p.k) AS PATTERN SEQ(USED p, A b+) WHERE {} PER INTERVAL;",
    "HAVING of a repetition": "EVENT chain(b.x AS v, b.k) AS PATTERN SEQ(A b, USED p+) HAVING {} PER INTERVAL;",
}


@pytest.mark.parametrize("place", PLACES)
def test_conditions(place: str) -> None:
    for condition in CONDITIONS:
        RECURSIONS["of itself"].check(PLACES[place].format(condition))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("recursion", ["by way of another event", "that begins in another event"])
def test_conditions_of_longer_recursions(recursion: str, place: str) -> None:
    for condition in CONDITIONS[list(PLACES).index(place) % 5 :: 5]:
        RECURSIONS[recursion].check(PLACES[place].format(condition))


@pytest.mark.parametrize("recursion", RECURSIONS)
@pytest.mark.parametrize(
    "head",
    [
        "nofn(b.x) AS v, b.k",
        "b.x AS v, nofn(b.k) AS k",
        "nofn(b.x) AS v, nofn(b.k) AS k",
        "nosuch(b.k, 1), b.k",
        "nobody, nofn(b.x)",
        "nobody AS v, b.k",
        "v, b.k",
        "b.nocol AS v, b.k",
        "p.nocol, b.k",
        "q.x AS v, b.k",
        "p AS v, b.k",
        "ID(p) AS v, b.k",
        "A AS v, b.k",
        "USED AS v, b.k",
        "limits AS v, b.k",
        "COUNT(p) AS v, b.k",
        "SUM(p.v) AS v, b.k",
        "LAST(b).x AS v, b.k",
        "abs(b.x, 1) AS v, b.k",
        "abs(b.k) AS v, b.k",
        "b.k + 1 AS v, b.k",
        "b.x AS start, b.x AS start",
    ],
)
def test_heads(recursion: str, head: str) -> None:
    RECURSIONS[recursion].check(f"EVENT chain({head}) AS PATTERN SEQ(USED p, A b) PER INTERVAL;")


@pytest.mark.parametrize("recursion", RECURSIONS)
@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(USED p, Nosuch s, A b)",
        "SEQ(USED p, Nosuch b)",
        "SEQ(USED p, A | Nosuch b)",
        "SEQ(USED p, Nosuch b+ CHECK (b.x > 3))",
        "SEQ(USED p, (SEQ(A b, Nosuch s)))",
        "SEQ(USED p, NOT Nosuch n[x > p.v], A b)",
        "NOT Nosuch n BETWEEN USED p AND A b",
        "SEQ(USED p, A b) EXCEPT Nosuch s",
        "USED p AND Nosuch b",
        "USED p OR Nosuch b",
        "USED p PAR Nosuch b",
        "USED p DURING Nosuch b",
        "SEQ(USED p, SOME Nosuch x INTERSECTS SOME A b)",
        "SEQ(USED p, limits s, A b)",
        "SEQ(USED p, near s, A b)",
        "SEQ(USED p, A b) OVER (A, Nosuch)",
        "SEQ STRICT(USED p, A b) OVER (A, Nosuch)",
        "SEQ STRICT(USED p, A b) OVER (A, limits)",
        "SEQ(USED p, NOT Nosuch n, A b) OVER (A, Nosuch)",
        "SEQ(USED p, A p, A b)",
        "SEQ(USED p, A b, NOT A c)",
        "SEQ(NOT A c, USED p, A b)",
        "SEQ(NOT USED p)",
        "SEQ(A b, AT START, USED p)",
        "COMPLEMENT(USED p)",
        "SEQ STRICT(USED p, COMPLEMENT(A c), A b)",
        "SEQ(USED p, A b, OPTIONAL A c)",
        "SEQ(USED p, A b, A c+ MAXIMAL)",
        "SEQ(USED p, A c+ EAGER, A b)",
        "SEQ(USED p, A b) CONFIDENCE > 1",
        "SEQ(USED p, A b) TOP 3",
        "SEQ(USED p, AFTER 3 TICKS, A b) WITHIN 3 SECONDS HAVING nosuch(b.x)",
    ],
)
def test_patterns(recursion: str, pattern: str) -> None:
    RECURSIONS[recursion].check(f"EVENT chain(3 AS v, 'q' AS k) AS PATTERN {pattern} PER INTERVAL;")


@pytest.mark.parametrize("recursion", RECURSIONS)
@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("SEQ(USED p, A b) PARTITION BY y", "PARTITION BY y"),
        ("SEQ(USED p, A b, B c) PARTITION BY k", "PARTITION BY k"),
        ("SEQ(USED p, Nosuch b) PARTITION BY k", "PARTITION BY k"),
        ("SEQ(USED p, A b) WHERE nosuch(k) PARTITION BY k", "PARTITION BY k"),
        ("SEQ(USED p, A b) RETURN b.nocol AS r", "RETURN a.x AS r"),
        ("SEQ(USED p, A b) RETURN nofn(b.x) AS r", "RETURN a.x AS r"),
        ("SEQ(USED p, A b) RETURN SUM(p.v) AS r", "RETURN a.x AS r"),
    ],
)
def test_clauses(recursion: str, pattern: str, clauses: str) -> None:
    RECURSIONS[recursion].check(f"EVENT chain(3 AS v, 'q' AS k) AS PATTERN {pattern} PER INTERVAL;", clauses)


@given(st.integers(0, 2**32))
def test_random_events(seed: int) -> None:
    event = RandomEvent(Random(seed))
    pattern, clauses = event.pattern(), event.clauses()
    head = event.rng.choice(["3", "w", "v0.x", "LAST(v1).x", "COUNT(v0)", "nofn(v0.x)"])
    program = (
        f"{DECLARATIONS} EVENT loop(a.x, a.k) AS PATTERN SEQ(A a, B b) PER INTERVAL;\n"
        f"EVENT loop({head} AS x, 'q' AS k) AS PATTERN SEQ(USED first, ({pattern})) {clauses} PER INTERVAL;"
    )
    apart, recursive = (_reported(program.replace("USED", used)) for used in ("base", "loop"))
    if apart:
        assert recursive == apart
    else:
        assert {code for code, _, _ in recursive} <= ONLY_OF_RECURSION


def test_errors_of_all_members() -> None:
    text = KNOWN + (
        "EVENT chain(a.x AS v, nofn(a.k) AS k) AS PATTERN A a WHERE nosuch(a.x) PER INTERVAL;\n"
        "EVENT chain(p.v, p.k) AS PATTERN SEQ(other p, A b[nosuch(x)]) HAVING b.k > 1 PER INTERVAL;\n"
        "EVENT other(p.v, p.k) AS PATTERN SEQ(chain p, A n) OVER (A, Nosuch) PER INTERVAL;\n"
        "EVENT third(p.v, p.k) AS PATTERN SEQ(other p, chain q) WHERE nobody = 3 AND nofn(p.v) > 1 PER INTERVAL;\n"
        "EVENT chain(p.v, p.k) AS PATTERN SEQ(third p, Nosuch s) PER INTERVAL;\n"
    )
    found = [(code, text[start:].split()[0]) for code, start, _ in _reported(text)]
    assert found == [
        ("INK0206", "nofn(a.k)"),
        ("INK0206", "nosuch(a.x)"),
        ("INK0210", "b.k"),
        ("INK0205", "Nosuch)"),
        ("INK0207", "nobody"),
    ]


def test_an_event_whose_declarations_differ_hides_no_error_of_another() -> None:
    text = KNOWN + (
        "EVENT chain(a.x AS v) AS PATTERN A a PER INTERVAL;\n"
        "EVENT chain(p.v, p.k) AS PATTERN SEQ(other p, A b) PER INTERVAL;\n"
        "EVENT other(p.v, p.nocol) AS PATTERN SEQ(chain p, A b) WHERE nosuch(b.k) PER INTERVAL;\n"
    )
    assert [code for code, _, _ in _reported(text)] == ["INK0334", "INK0206"]


def test_an_event_without_a_beginning_hides_no_error() -> None:
    text = KNOWN + "EVENT chain(p.v) AS PATTERN SEQ(chain p, A b) WHERE nosuch(b.k) PER INTERVAL;"
    assert [code for code, _, _ in _reported(text)] == ["INK0333", "INK0206"]


@pytest.mark.parametrize("used", ["prior", "chain"])
def test_what_another_event_reported_is_an_error_here_too(used: str) -> None:
    text = KNOWN + (
        "EVENT early(nofn(a.x) AS v) AS PATTERN A a;\n"
        "EVENT chain(a.x AS v, a.k AS k) AS PATTERN A a PER INTERVAL;\n"
        f"EVENT chain(nofn(b.x) AS v, b.k) AS PATTERN SEQ({used} p, A b) PER INTERVAL;\n"
    )
    assert [code for code, _, _ in _reported(text)] == ["INK0206"]


@pytest.mark.parametrize("n_events", [1, 2, 3, 9])
def test_types_reach_every_event_of_a_recursion(n_events: int) -> None:
    """A double enters the first event and is handed on from event to event."""
    text = KNOWN + "EVENT e0(a.y AS v) AS PATTERN A a PER INTERVAL;\n"
    for number in range(n_events):
        text += f"EVENT e{number}(a.x AS v) AS PATTERN A a PER INTERVAL;\n"
        text += f"EVENT e{number}(p.v AS v) AS PATTERN SEQ(e{(number + 1) % n_events} p, A a) PER INTERVAL;\n"
    events = {event.name: event for event in bound(text).events}
    assert {events[f"e{number}"].schema.columns[0].type for number in range(n_events)} == {Type.DOUBLE}
