"""States of stages that are copied, divided by keys and put together continue as if nothing had happened."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import pyarrow as pa
import pytest
from tests.kit.arrival import arrivals, with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.naive_forecasts import learned, program_of, some_asked, some_rows
from tests.kit.oracle import oracle
from tests.kit.programs import Case, Options, seeded_cases
from tests.kit.rows import Rows
from tests.kit.rulesets import packed_rule_sets
from tests.kit.streams import is_packable, pack
from tests.properties.parted import Trial, Tried

import inkling
from inkling.analysis.choice import Evaluator
from inkling.evaluators.automaton import evaluator as automata
from inkling.evaluators.stage import member
from inkling.io.tables import read_tables
from inkling.query import Program

pytestmark = pytest.mark.long

IN_ORDER = frozenset({"ties with order", "row numbers as ids"})
KINDS = {
    # what programs need, and what their states must have held
    "anything": ((), ("rows", "pending")),
    "windows": (("WINDOW",), ("windows",)),
    "windows on change": (("WINDOW", "ON CHANGE"), ("windows", "said")),
    "recent": (("CONSUME RECENT",), ("waiting",)),
    "chronological": (("CONSUME CHRONOLOGICAL",), ("waiting",)),
    "looking back": (("PREV",), ("last", "raw")),
    "events of events": (("derived event as input",), ("rows",)),
}
N_PROGRAMS = 6
MOST_CANDIDATES = 400


@pytest.fixture(autouse=True)
def _small_streams_are_trimmed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "SPARE_ROWS", 0)
    monkeypatch.setattr(automata, "SPARE_KEYS", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_go_on_like_the_whole(kind: str) -> None:
    rng, tried = random.Random(kind), Tried()
    needing, held = KINDS[kind]
    options = Options(partitioned=True, without=IN_ORDER, needing=frozenset(needing))
    for case in islice(_fruitful(seeded_cases(40, MOST_CANDIDATES, options)), N_PROGRAMS):
        rows = _under_many_keys(rng, case.rows)
        lateness = rng.choice((0, 2))
        program = inkling.parse(with_lateness(case.text, lateness))
        tables = arrow_tables(case.plan, case.tables)
        Trial(rng, program, tables, tried).run(_pushes(rng, program, rows, lateness))
        wrong = differences(case.plan, oracle(case.plan, rows, case.tables), tried.results)
        assert not wrong, "\n".join([case.text, *wrong])
    assert tried.n_parted > 1
    assert all(tried.held[what] > 3 for what in held), tried.held


REGULAR = """
STREAM V(id STRING, k STRING, t INT, seq INT, s STRING) ID id KEY k TIME t ORDER BY {order};
STREAM W(id STRING, k STRING, t INT, seq INT, s STRING) ID id KEY k TIME t ORDER BY {order};
"""
PARTS = ("V[s = 'a']", "V[s = 'b']", "W", "W[s = 'a']+", "V[s = 'c']?", "(V | W)", "V[s = 'b']{1,2}")


@pytest.mark.parametrize("order", ["seq", "id"])
def test_parts_of_open_runs_go_on_like_the_whole(order: str) -> None:
    """Regular events, some of them over what others found."""
    rng, tried = random.Random(order), Tried()
    for _ in range(N_PROGRAMS):
        program = inkling.parse(REGULAR.format(order=order) + "".join(_regular(rng, number) for number in range(4)))
        evaluators = [step.evaluator for stage in program.physical.stages for step in stage.steps]
        assert evaluators.count(Evaluator.AUTOMATON) >= 3
        rows: Rows = {"V": [], "W": []}
        for number in range(48):
            row = {
                "id": f"{number:02}",
                "k": rng.choice("pqrs"),
                "t": number // 5,
                "seq": number,
                "s": rng.choice("abc"),
            }
            rows[rng.choice("VVW")].append(row)
        Trial(rng, program, {}, tried).run(_pushes(rng, program, rows, 0))
        wrong = differences(program.plan, oracle(program.plan, rows, {}), tried.results)
        assert not wrong, "\n".join([program.to_ink(), *wrong])
    assert tried.n_parted > 3
    assert tried.held["automata"] > N_PROGRAMS


def _regular(rng: random.Random, number: int) -> str:
    parts = [rng.choice(PARTS[:2]), *rng.choices(PARTS, k=rng.randint(0, 2)), rng.choice(PARTS[:3])]
    if number == 3:
        parts[0] = "e0"
    restart = rng.choice(("", "CONSUME RESTART"))
    policy = rng.choice(("STRICT", "NEXT", "ANY"))
    return f"EVENT e{number}(k) AS PATTERN SEQ {policy} ({', '.join(parts)}) PARTITION BY k {restart} PER END;\n"


def test_parts_of_recursive_events_go_on_like_the_whole() -> None:
    rng, tried = random.Random(5), Tried()
    n_results = 0
    for case in packed_rule_sets(7, 6, 3):
        program = inkling.parse(case.text)
        tables = arrow_tables(case.plan, case.tables)
        Trial(rng, program, tables, tried).run(_pushes(rng, program, case.rows, 0))
        expected = case.expected()
        n_results += sum(map(len, expected.values()))
        wrong = differences(case.plan, expected, tried.results)
        assert not wrong, "\n".join([case.text, *wrong])
    assert n_results > 40
    assert tried.n_parted > 3


def test_parts_of_forecasts_go_on_like_the_whole() -> None:
    tried, n_results = Tried(), 0
    for seed in range(6):
        rng, resets = random.Random(seed), seed % 2 == 1
        asked = [replace(some_asked(rng, number, resets=resets), keyed=True) for number in range(3)]
        program = program_of(asked, resets=resets)
        models = learned(program, asked, some_rows(rng, 40, resets=resets))
        rows = some_rows(rng, 60, resets=resets)
        tables = read_tables(program.plan.tables, models, program.files)
        Trial(rng, program, tables, tried).run(_pushes(rng, program, {"V": rows}, 0))
        for name, table in program.run_local({"V": rows}, models).tables.items():
            assert sorted(map(repr, tried.results[name])) == sorted(map(repr, table.to_pylist()))
        n_results += sum(len(tried.results[f"f{one.number}"]) for one in asked)
    assert n_results > 100
    assert tried.held["forecasts"] > 6
    assert tried.n_parted > 3


LOOKING_BACK = """
STREAM V(id STRING, k STRING, t INT, s STRING, x INT) ID id KEY k TIME t
  DERIVE grown = x - PREV(x), same = SINCE_CHANGE(s);
EVENT each(k, v.grown AS grown, v.same AS same) AS PATTERN V v PARTITION BY k;
"""


def test_parts_look_back_at_the_last_row_of_each_key() -> None:
    rng, tried = random.Random(11), Tried()
    program = inkling.parse(LOOKING_BACK)
    rows: Rows = {
        "V": [
            {"id": f"v{n}", "k": rng.choice("pqrs"), "t": n, "s": rng.choice("ab"), "x": rng.randint(0, 9)}
            for n in range(60)
        ]
    }
    Trial(rng, program, {}, tried).run(_pushes(rng, program, rows, 0))
    assert not differences(program.plan, oracle(program.plan, rows, {}), tried.results)
    assert tried.held["last"] > 1
    assert tried.n_parted > 1


REPLACED = """
STREAM V(id STRING, k {type}, t INT, s STRING) ID id KEY k TIME t ORDER BY t;
EVENT old(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;
EVENT new(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k CONSUME RESTART PER END;
"""


@pytest.mark.parametrize("kind", ["BIGINT", "DOUBLE", "STRING", "BOOLEAN"])
def test_parts_go_on_where_an_event_does_not_see_everything(kind: str) -> None:
    """As after a replacement: the automata of both events read different rows in one step."""
    rng, tried = random.Random(kind), Tried()
    program = inkling.parse(REPLACED.format(type=kind))
    of_kind = {"BIGINT": int, "DOUBLE": lambda n: n / 2, "STRING": str, "BOOLEAN": lambda n: n % 2 > 0}[kind]
    n_keys = 2 if kind == "BOOLEAN" else 7
    rows: Rows = {
        "V": [
            {"id": f"v{number}", "k": of_kind(number % n_keys), "t": number // n_keys, "s": rng.choice("ab")}
            for number in range(20 * n_keys)
        ]
    }
    trial = Trial(rng, program, {}, tried)
    trial.have_begun({"new": 9})
    trial.run(_pushes(rng, program, rows, 0))
    seen = [row for row in rows["V"] if row["t"] in range(10, 20)]
    expected = oracle(program.plan, rows, {}) | {"new": oracle(program.plan, {"V": seen}, {})["new"]}
    assert not differences(program.plan, expected, tried.results)
    assert len(expected["old"]) > len(expected["new"]) > 3
    assert tried.held["automata"]


def _fruitful(cases: Iterable[Case]) -> Iterator[Case]:
    """Those with results whose keys never meet."""
    for case in cases:
        if is_packable(case.plan) and any(case.expected().values()):
            yield case


def _under_many_keys(rng: random.Random, rows: Rows) -> Rows:
    """The rows three times under different keys, without some of them the second and third time."""
    some = [{name: [row for row in given if rng.random() < 0.8] for name, given in rows.items()} for _ in range(2)]
    return pack([rows, *some])


def _pushes(rng: random.Random, program: Program, rows: Rows, lateness: int) -> list[dict[str, pa.Table]]:
    given, n_pieces = arrow_streams(program.plan, rows), rng.choice([3, 4, 6])
    pieces = arrivals(rng, program.plan, given, n_pieces, lateness=lateness, in_step=rng.random() < 0.8)
    return [{name: parts[number] for name, parts in pieces.items()} for number in range(n_pieces)]
