"""Whatever the program, the binder gives a sound plan that the definition can run, or says what is wrong."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.kit.invariants import violations
from tests.kit.oracle import oracle
from tests.kit.rows import Rows
from tests.kit.syntax_strategies import programs

from inkling.errors import ProgramError, render
from inkling.language import format_program, parse
from inkling.language.syntax import Program
from inkling.logical import bind
from inkling.logical.plan import ProgramPlan
from inkling.logical.printing.explain import explain
from inkling.source import SourceText

DECLARATIONS = """
STREAM A(id STRING, x INT, k STRING, on BOOLEAN) ID id TIME t;
STREAM B(id STRING, x INT, k STRING, y DOUBLE) ID id TIME t;
STREAM V(id INT, k STRING, x INT) ID id TIME t ORDER BY id;
STREAM I(k STRING, x INT) TIME FROM s TO e;
TABLE m(k STRING, z INT) FROM 'm.csv';
TABLE n(z INT) FROM 'n.csv';
EVENT base(a.x, a.k) AS PATTERN SEQ(A a, B b) PER INTERVAL;
"""
TABLES = {"m": [{"k": "p", "z": 1}, {"k": "q", "z": 2}], "n": [{"z": 1}, {"z": 2}]}


def bound_or_explained(text: str) -> ProgramPlan | None:
    """The plan of a program; None when the binder explains what is wrong, which it always can."""
    try:
        plan = bind(parse(text), SourceText("random.ink", text)).plan
    except ProgramError as error:
        render(error.diagnostics)
        return None
    assert violations(plan) == ()
    explain(plan)
    return plan


@given(programs())
def test_random_syntax_is_bound_or_explained(program: Program) -> None:
    bound_or_explained(format_program(program))


@given(st.integers(0, 2**32))
def test_random_events_are_sound_or_explained(seed: int) -> None:
    plan = bound_or_explained(DECLARATIONS + RandomEvent(Random(seed)).event())
    if plan is not None:
        oracle(plan, random_rows(Random(seed)), TABLES)


def random_rows(rng: Random) -> Rows:
    def row(**values: int | str | float) -> dict[str, int | str | float | bool | None]:
        return {"x": rng.randint(1, 3), "k": rng.choice("pq"), "t": rng.randint(1, 6), **values}

    return {
        "A": [row(id=f"a{i}", on=True) for i in range(2)],
        "B": [row(id=f"b{i}", y=1.5) for i in range(2)],
        "V": [row(id=i) for i in range(2)],
        "I": [row(s=2, e=4)],
    }


class RandomEvent:
    """Writes an event over the declarations above, mostly with names that exist."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.variables: list[str] = []

    def event(self) -> str:
        pattern, clauses = self.pattern(), self.clauses()
        head = self.rng.choice(["", "(w)", f"({self.value()} AS h)", f"({self.variable()})"])
        tail = ["", "PARTITION BY k PER END", "OVER (A, B, V)", "CONSUME RESTART", f"RETURN {self.value()} AS r"]
        return f"EVENT e{head} AS PATTERN {pattern} {clauses} {self.rng.choice(tail)};"

    def variable(self) -> str:
        return self.rng.choice(self.variables) if self.variables and self.rng.random() < 0.95 else "nobody"

    def new_variable(self) -> str:
        if self.rng.random() < 0.3:
            return ""
        self.variables.append(f"v{len(self.variables)}")
        return self.variables[-1]

    def pattern(self, depth: int = 0) -> str:
        kind = 1.0 if depth > 2 else self.rng.random()
        if kind < 0.35:
            parts = ", ".join(self.component(depth) for _ in range(self.rng.randint(1, 4)))
            return f"SEQ {self.rng.choice(['ANY', 'NEXT', 'STRICT'])}({parts})"
        if kind < 0.45:
            return f"({self.pattern(depth + 1)}){self.rng.choice(['+', '*', '?', '{2,3}'])}"
        if kind < 0.55:
            return f"({self.pattern(depth + 1)} {self.clauses()}) {self.new_variable()}"
        if kind < 0.65:
            word = self.rng.choice(["AND", "OR", "PAR", "DURING"])
            return f"({self.pattern(depth + 1)}) {word} ({self.pattern(depth + 1)})"
        if kind < 0.7:
            return f"({self.pattern(depth + 1)}) CHECK ({self.condition()})"
        source = self.rng.choice(["A", "B", "V", "I", "base", "A | B", "_"])
        condition = f"[{self.condition()}]" if self.rng.random() < 0.4 else ""
        return f"{source} {self.new_variable()}{condition}"

    def component(self, depth: int) -> str:
        kind = self.rng.random()
        if kind < 0.15:
            return f"NOT ({self.pattern(depth + 1)})"
        if kind < 0.25:
            return self.rng.choice(["AFTER 5 TICKS", "AT START", f"COMPLEMENT({self.pattern(depth + 1)})"])
        return self.pattern(depth + 1)

    def clauses(self) -> str:
        where = f"WHERE {self.condition()}" if self.rng.random() < 0.5 else ""
        within = self.rng.choice(["", "WITHIN 5 TICKS", "WITHIN 3 POINTS", "WITHIN 4 EVENTS"])
        having = f"HAVING {self.condition()}" if self.rng.random() < 0.3 else ""
        return f"{where} {within} {having}"

    def condition(self, depth: int = 0) -> str:
        if depth < 2 and self.rng.random() < 0.3:
            left, right = self.condition(depth + 1), self.condition(depth + 1)
            return self.rng.choice([f"{left} AND {right}", f"({left} OR {right})", f"NOT ({left})"])
        value, other, free = self.value(), self.value(), self.rng.choice("uw")
        operator = self.rng.choice(["=", "<", "<>", ">="])
        return self.rng.choice(
            [
                *[f"{value} {operator} {other}"] * 3,
                f"m({value}, {free})",
                f"n({free})",
                f"n({value})",
                f"{free} = {value}",
                f"{value} IN (1, 2)",
                f"{value} IS NULL",
            ]
        )

    def value(self, depth: int = 0) -> str:
        var = self.variable()
        simple = ["x", "k", "w", "u", "1", "2.5", "'q'", "NULL", f"{var}.k", *[f"{var}.x"] * 5]
        listed = [f"LAST({var}).x", f"FIRST({var}).x", f"COUNT({var})", f"SUM({var}.x)"]
        timed = [f"START({var})", f"END({var})", f"ID({var})"]
        if depth < 2 and self.rng.random() < 0.15:
            return f"{self.value(depth + 1)} {self.rng.choice('+-*/%')} {self.value(depth + 1)}"
        return self.rng.choice(simple + listed + timed)
