"""Sets of conditions that hold together: none that can be is missing, and few others are there."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import inkling
from inkling import parse
from inkling.analysis.joint_conditions import joint_conditions
from inkling.automata.compiled import CompiledPattern
from inkling.automata.guards import Alphabet, Guard, Joint
from inkling.automata.policies import strict
from inkling.automata.regex import Counting, RegexPattern, Symbol
from inkling.automata.run.cells import cell_groups
from inkling.automata.run.rows import AutomatonRows
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.logical import expr as e
from inkling.logical.evaluate import Bindings, ExpressionContext, holds
from inkling.model.event import Value
from inkling.model.types import Type

KINDS = {"x": Type.INTEGER, "y": Type.DOUBLE, "s": Type.STRING, "b": Type.BOOLEAN}
WORLD: dict[str, list[Value]] = {
    "x": [None, *range(-2, 9)],
    "y": [None, *(step / 4 for step in range(-8, 33))],
    "s": [None, "a", "b", "c", "", "abc"],
    "b": [None, False, True],
}
CONSTANTS: dict[str, list[Value]] = {
    "x": [0, 1, 2, 5, 2.5, 5.0, None],
    "y": [0, 1, 1.5, 2, 5.0, 1e300, None],
    "s": ["a", "b", "c", None],
    "b": [True, False],
}


def random_condition(rnd: random.Random, name: str, depth: int = 2) -> e.Expr:
    column = e.ColumnOf(e.ROW, name, KINDS[name])
    match rnd.choice(["not", "and", "or", "null", "in", *["compare"] * 5] if depth else ["compare"]):
        case "not":
            return e.Not(random_condition(rnd, name, depth - 1))
        case "and":
            return e.AllOf(tuple(random_condition(rnd, name, depth - 1) for _ in range(2)))
        case "or":
            return e.AnyOf(tuple(random_condition(rnd, name, depth - 1) for _ in range(2)))
        case "null":
            return e.IsNull(column, rnd.random() < 0.5)
        case "in":
            return e.InList(column, tuple(literal(rnd, name) for _ in range(2)))
    sides: list[e.Expr] = [column, literal(rnd, name)]
    rnd.shuffle(sides)
    operators = ["=", "<>"] if name in "sb" else ["=", "<>", "<", "<=", ">", ">="]
    return e.Compare(rnd.choice(operators), sides[0], sides[1])


def literal(rnd: random.Random, name: str) -> e.Literal:
    return e.Literal(rnd.choice(CONSTANTS[name]), KINDS[name])


def true_bits(conditions: Sequence[e.Expr], row: dict[str, Value]) -> int:
    def filled(expr: e.Expr) -> e.Expr:
        return e.Literal(row[expr.column], expr.type) if isinstance(expr, e.ColumnOf) else e.rebuilt(expr, filled)

    context = ExpressionContext({}, lambda span: 0)
    return sum(1 << number for number, one in enumerate(conditions) if holds(filled(one), Bindings(), context))


def random_rows(rnd: random.Random, n_rows: int) -> list[dict[str, Value]]:
    return [{name: rnd.choice(values) for name, values in WORLD.items()} for _ in range(n_rows)]


def numbered(conditions: Iterable[e.Expr]) -> dict[int, e.Expr]:
    return dict(enumerate(conditions))


@pytest.mark.parametrize("name", KINDS)
def test_the_sets_are_those_of_all_values(name: str) -> None:
    rnd = random.Random(7)
    for _ in range(60):
        conditions = [random_condition(rnd, name) for _ in range(4)]
        found = joint_conditions(numbered(conditions))
        seen = {true_bits(conditions, {name: value}) for value in WORLD[name]}
        n_large = sum(isinstance(one, e.Literal) and one.value == 1e300 for c in conditions for one in e.walk(c))
        grouped = found[0].mask if found else 0
        assert {bits & grouped for bits in seen} == (found[0].sets if found else {0})
        assert grouped == 0b1111 or (name == "y" and n_large)


def random_row_condition(rnd: random.Random, depth: int = 2) -> e.Expr:
    """A condition on one or several columns, some of them compared with each other."""
    match rnd.choice(["text", "numbers", *["not", "and", "or"][: 3 * depth]]):
        case "not":
            return e.Not(random_row_condition(rnd, depth - 1))
        case "and":
            return e.AllOf(tuple(random_row_condition(rnd, depth - 1) for _ in range(2)))
        case "or":
            return e.AnyOf(tuple(random_row_condition(rnd, depth - 1) for _ in range(2)))
        case "text":
            return random_condition(rnd, rnd.choice("sb"), 0)
    sides: list[e.Expr] = [e.ColumnOf(e.ROW, name, Type.DOUBLE) for name in rnd.sample("yzw", 2)]
    if rnd.random() < 0.5:
        sides[rnd.randrange(2)] = e.Literal(rnd.choice([0.0, 1.0, 2.0, None]), Type.DOUBLE)
    return e.Compare(rnd.choice(["=", "<>", "<", "<=", ">", ">="]), sides[0], sides[1])


def test_the_sets_are_those_of_all_rows() -> None:
    """Numbers are compared with 0, 1 and 2, and rows have three values between and beside them."""
    rnd = random.Random(11)
    numbers: list[Value] = [None, *(step / 4 for step in range(-4, 13))]
    world = {name: WORLD.get(name, numbers) for name in "sb"} | dict.fromkeys("yzw", numbers)
    n_together = 0
    for _ in range(40):
        conditions = [random_row_condition(rnd) for _ in range(4)]
        found = joint_conditions(numbered(conditions))
        for joint in found:
            members = [one for number, one in enumerate(conditions) if joint.mask >> number & 1]
            own = {number for number in range(4) if joint.mask >> number & 1}
            names = sorted({part.column for one in members for part in e.walk(one) if isinstance(part, e.ColumnOf)})
            n_together += len(names) > 1
            rows = (dict(zip(names, values, strict=True)) for values in product(*(world[name] for name in names)))
            some = rnd.sample(list(rows), 400) if len(names) > 2 else rows
            seen = {sum(1 << number for number in own if true_bits([conditions[number]], row)) for row in some}
            assert seen <= joint.sets
            if len(names) <= 2:
                assert seen == joint.sets
    assert n_together > 10


def test_subjects_that_are_left_out_are_known_by_themselves() -> None:
    """Too many values together: conditions on one column are grouped, and the condition on all of them is not."""
    columns = [e.ColumnOf(e.ROW, f"c{number}", Type.DOUBLE) for number in range(8)]
    fast = [e.Compare(">", column, e.Literal(bound, Type.DOUBLE)) for column in columns for bound in (1.0, 2.0)]
    found = joint_conditions(numbered([*fast, e.AnyOf(tuple(fast))]))
    assert sorted((one.mask, one.sets) for one in found) == [
        (0b11 << 2 * number, frozenset({0, 0b01 << 2 * number, 0b11 << 2 * number})) for number in range(8)
    ]


def test_random_events_have_one_symbol_and_patterns_the_same_detections() -> None:
    rnd = random.Random(6)
    n_symbols = [0, 0]
    for _ in range(25):
        conditions = [random_condition(rnd, rnd.choice("xysb")) for _ in range(5)]
        conditions += [e.AnyOf((random_condition(rnd, "x"), random_condition(rnd, "s"))) for _ in range(2)]
        joint = joint_conditions(numbered(conditions))
        guards = [Guard(bits=frozenset(rnd.sample(range(7), rnd.randint(1, 2)))) for _ in range(5)]
        steps = strict([Symbol(guard, 0) for guard in guards[:2]])
        pattern = RegexPattern(steps, rnd.choice([Counting.RESTART, Counting.OVERLAP]))
        bits = np.array([true_bits(conditions, row) for row in random_rows(rnd, 150)], np.uint64)
        zeros = np.zeros(len(bits), np.int16)
        ends = []
        for number, known in enumerate((joint, ())):
            compiled = CompiledPattern.of(pattern, 1, extras=guards, joint=known)
            (group,) = cell_groups([compiled.alphabet])
            symbols = group.symbols[0][AutomatonRows.of(zeros, zeros, bits).cells([group])[0]]
            for row, symbol in zip(bits.tolist(), symbols.tolist(), strict=True):
                held = [guard.admits(0, row) for guard in compiled.alphabet.guards]
                assert symbol == compiled.alphabet.symbol(0, row)
                assert held == [bool(compiled.alphabet.truths[symbol] >> i & 1) for i in range(len(held))]
            dfa, state = compiled.dfa(), 0
            ends.append([bool(dfa.final[state := int(dfa.delta[state, dfa.columns[one]])]) for one in symbols])
            n_symbols[number] += compiled.alphabet.n_symbols - 1
        assert ends[0] == ends[1]
    assert n_symbols[0] < n_symbols[1]


RINGS = [f"V[d >= {low} AND d < {low + 2}]" for low in range(5, 15, 2)]


def reader(leaves: list[str], columns: str = "d DOUBLE") -> SymbolReader:
    program = parse(
        f"STREAM V({columns}, t BIGINT) TIME t ORDER BY t;"
        f"EVENT e AS PATTERN SEQ STRICT({', '.join(leaves)}) PER END; FORECAST e WITHIN 1 EVENTS;"
    )
    stage = program.physical.stages[0]
    return SymbolReader.of(next(step for step in stage.steps if step.event.forecast), 1, (None,))


def test_O6_port_workload_by_reasoning() -> None:
    """A row without a distance resets; it is in the port, in one of five rings, or farther away."""
    assert reader(["V[d IS NULL]", "V[d < 5]", "V[d >= 5]", *RINGS]).n_symbols == 8


def test_a_row_without_a_distance_is_not_forgotten() -> None:
    assert reader(["V[d < 5]", "V[d >= 5]", *RINGS]).n_symbols == 8
    # it is not below 5, so that `NOT` holds on it as on what is farther away
    assert reader(["V[d < 5]", "V[NOT d < 5]", *RINGS]).n_symbols == 7


@pytest.mark.parametrize(
    ("leaves", "n_symbols"),
    [
        (["V[x > 5]", "V[x > 3]"], 3),
        (["V[x > 5]", "V[x > 3]", "V[NOT x > 3]"], 3),
        (["V[x > 5]", "V[x <= 5]"], 3),
        (["V[x > 2]", "V[x < 3]"], 3),
        (["V[x > 2]", "V[x < 3.5]"], 4),
        (["V[s = 'a']", "V[s = 'b']", "V[s <> 'a']"], 4),
        (["V[s IN ('a', 'b')]", "V[s = 'b']"], 3),
        (["V[x > 5]", "V[s = 'a']"], 4),
        (["V[x > 5]", "V[x > 9007199254740993]"], 4),
        (["V[s < 'b']", "V[s < 'a']"], 4),
    ],
)
def test_numbers_of_symbols(leaves: list[str], n_symbols: int) -> None:
    assert reader(leaves, "x BIGINT, s STRING").n_symbols == n_symbols


PORT, BUOY = "haversine(lat, lon, 48.4, -4.5)", "haversine(lat, lon, 48.3, -4.6)"


@pytest.mark.parametrize(
    ("leaves", "n_symbols"),
    [
        # in the inner circle, in the ring around it, outside of both
        ([f"V[{PORT} < 1]", f"V[{PORT} < 2]"], 3),
        ([f"V[{PORT} < {km}]" for km in range(1, 8)], 8),
        # two circles around different places may overlap
        ([f"V[{PORT} < 1]", f"V[{BUOY} < 2]"], 4),
        # without a position neither holds
        ([f"V[{PORT} < 1]", f"V[{PORT} >= 1]"], 3),
        (["V[x > 5 OR y > 5]", "V[y > 3]"], 4),
        (["V[x > 5 OR y > 5]", "V[x > 5]", "V[y > 5]"], 4),
        (["V[x < y]", "V[x = y]", "V[x > y]"], 4),
        (["V[x < y]", "V[x < 3]", "V[y < 3]"], 7),
        (["V[x - y > 5]", "V[x - y > 3]"], 3),
        (["V[t IS NULL]", "V[t IS NOT NULL]"], 2),
    ],
)
def test_numbers_of_symbols_of_several_columns(leaves: list[str], n_symbols: int) -> None:
    assert reader(leaves, "lat DOUBLE, lon DOUBLE, x DOUBLE, y DOUBLE").n_symbols == n_symbols


def test_a_program_learns_from_all_rows() -> None:
    rnd = random.Random(1)
    program = parse(
        "STREAM V(d DOUBLE, s STRING, t BIGINT) TIME t ORDER BY t;"
        f"EVENT e AS PATTERN SEQ STRICT(V[d >= 5 AND s = 'a'], V[d < 5 OR s = 'b'], {RINGS[1]}) PER END;"
        "FORECAST e WITHIN 2 EVENTS;"
    )
    rows = [
        {"d": rnd.choice([None, 1.0, 5.0, 8.0, 30.0]), "s": rnd.choice([None, "a", "b", "c"]), "t": t}
        for t in range(400)
    ]
    model = program.fit({"V": rows}, settings=inkling.FitSettings(order=1))["e_model"]
    assert model.counts.count.sum() == 400


def test_groups_must_not_share_predicates() -> None:
    both, one = Joint(0b11, frozenset({0b01})), Joint(0b01, frozenset({0}))
    with pytest.raises(ValueError, match="one group only"):
        Alphabet.of([Guard(bits=frozenset({0}))], 1, joint=[both, one])
    with pytest.raises(ValueError, match="sets of the predicates 0x1 are needed"):
        replace(one, sets=frozenset({2}))
