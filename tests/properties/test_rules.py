"""Random rules answer what their text says, however they are answered."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.kit.arrow import arrow_tables
from tests.kit.derived_facts import with_rules
from tests.kit.rule_oracle import FREE, RuleOracle, UnboundError
from tests.kit.rules import RuleCase, rule_case, value_of_kind

import inkling
from inkling import language
from inkling.errors import InklingError
from inkling.knowledge.materialize import known
from inkling.logical.evaluate import ExpressionContext
from inkling.model.event import Value
from inkling.model.time import Clock, TimeUnit

N_SEEDS = 2400
N_PARTS = 8
PARTS = [part if part < 6 else pytest.param(part, marks=pytest.mark.long) for part in range(N_PARTS)]
COLUMNS = {"edge": ("a", "b"), "label": ("a", "s"), "worth": ("a", "d")}
REFUSED = {"INK0340", "INK0342", "INK0346", "INK0347"}
TICKS = TimeUnit(Clock.TICKS)

Rows = list[dict[str, Value]]


@pytest.mark.parametrize("part", PARTS)
def test_rules_derive_the_facts_of_the_definition(part: int) -> None:
    n_programs = n_facts = 0
    for seed in range(part, N_SEEDS, N_PARTS):
        case = rule_case(seed)
        program = _program(case)
        if program is None:
            continue
        tables = _tables(case)
        defined = with_rules(program.plan.rules, ExpressionContext(tables, TICKS)).tables
        derived = known(program.plan, arrow_tables(program.plan, tables), TICKS)
        for rule in program.plan.rules:
            have = Counter(tuple(row.values()) for row in derived[rule.name].to_pylist())
            assert have == Counter(tuple(row.values()) for row in defined[rule.name]), f"{seed}: {rule.name}\n{case}"
            n_facts += len(have)
        n_programs += 1
    assert n_programs > 60
    assert n_facts > 200


@pytest.mark.parametrize("part", range(4))
def test_rules_answer_events_as_their_text_says(part: int) -> None:
    n_asked = n_found = 0
    for seed in range(part, 600, 4):
        case = rule_case(seed)
        program = _program(case)
        if program is None:
            continue
        rows = _rows(seed)
        try:
            wanted = _answers(case, rows)
        except UnboundError:
            continue  # two arguments that are one variable bind each other, which the oracle does not see
        results = program.run_local({"S": rows}, arrow_tables(program.plan, _tables(case))).tables["hit"]
        found = [arg for arg in case.args if arg[0] == "v"]
        got = Counter((row["lineage"][0], *(row[name] for name in found)) for row in results.to_pylist())
        assert got == wanted, f"{seed}\n{case.text}\n{case.tables}\n{rows}"
        n_asked += 1
        n_found += len(wanted)
    assert n_asked > 25
    assert n_found > 40


def _program(case: RuleCase) -> inkling.Program | None:
    try:
        return inkling.parse(case.text)
    except InklingError as rejected:
        if {finding.code for finding in rejected.diagnostics if finding.severity == "error"} <= REFUSED:
            return None
        raise


def _tables(case: RuleCase) -> dict[str, Rows]:
    return {
        name: [dict(zip(COLUMNS[name], fact, strict=True)) for fact in facts] for name, facts in case.tables.items()
    }


def _rows(seed: int) -> Rows:
    rng = random.Random(seed)
    kinds = {"i": "i", "j": "i", "s": "s", "d": "d"}
    return [{**{name: value_of_kind(rng, kind) for name, kind in kinds.items()}, "t": time} for time in range(6)]


def _answers(case: RuleCase, rows: Rows) -> Counter[tuple[Value, ...]]:
    """Results by the number of their event and the values that the rule found."""
    oracle = RuleOracle(language.parse(case.text, "rules.ink"), case.tables)
    is_denied = f"NOT {case.rule}(" in case.text.rsplit("WHERE", 1)[1]
    found: Counter[tuple[Value, ...]] = Counter()
    for number, row in enumerate(rows, 1):
        answers = oracle.answers(case.rule, [_given(arg, row) for arg in case.args])
        chosen = {tuple(have for have, arg in zip(fact, case.args, strict=True) if arg[0] == "v") for fact in answers}
        if is_denied:
            chosen = set() if answers else {()}
        found.update((number, *values) for values in chosen)
    return found


def _given(arg: str, row: dict[str, Value]) -> object:
    if arg.startswith("v"):
        return FREE
    if arg.startswith("p."):
        return row[arg[2:]]
    return arg.strip("'") if arg.startswith("'") else float(arg) if "." in arg else int(arg)
