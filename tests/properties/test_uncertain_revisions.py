"""Random programs over uncertain streams whose past changes: what stands is what the rows that are left say.

After every push that is what worlds say that begin with these rows only and go as far; in the end, what one run over
them says, and by the definition. A run over rows and withdrawals at once says the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from tests.conformance.cases import MIXED_STREAMS, mixed_rows
from tests.kit.arrow import arrow_tables
from tests.kit.chains import chain_cases
from tests.kit.coverage import program_features
from tests.kit.episodes import one_after_the_other, that_fit_together
from tests.kit.lost_programs import lost_case
from tests.kit.oracle import probable_oracle
from tests.kit.programs import Options
from tests.kit.queries import QueryCase, random_query
from tests.kit.regular_queries import declaration, random_pattern, random_rows
from tests.kit.seeds import at_length, first_of
from tests.kit.uncertain import Uncertainties, random_uncertain_cases
from tests.kit.uncertain_revisions import (
    Question,
    Revision,
    Rows,
    difference,
    followed,
    lines,
    named,
    random_modes,
    random_script,
    together,
)
from tests.kit.universe import MORE_ABOUT_LOSSES, Kind, Uncertain
from tests.properties.test_imprecise_streams import together as keys_together
from tests.properties.test_lost_streams import early
from tests.properties.test_probable_queries import differences

import inkling
from inkling.errors import ProgramError
from inkling.evaluators.sampling import Sampling
from inkling.io.tables import read_tables
from inkling.runtime.revision.machine import Owners
from inkling.runtime.uncertain import BufferedState, UncertainProgram

pytestmark = pytest.mark.long

SCRIPTS_PER_PROGRAM = 4
SAMPLING = Sampling(epsilon=0.15, delta=0.1, seed=3, exact_up_to=0, budget=1)
LOSSES = (*MORE_ABOUT_LOSSES, *MORE_ABOUT_LOSSES, Uncertain.NOTHING, Uncertain.VALUE)
POINTS = Options((Kind.POINTS, Kind.ORDERED), bad_rows=False)


def in_worlds(rng: random.Random) -> Question:
    return _in_worlds(rng, Uncertainties(most_worlds=(300,), lengths=rng.random() < 0.4))


def of_losses(rng: random.Random) -> Question:
    return _in_worlds(rng, Uncertainties(most_worlds=(300,), uncertain=LOSSES, options=POINTS))


def _in_worlds(rng: random.Random, uncertainties: Uncertainties) -> Question:
    while True:
        case = one_after_the_other(rng, that_fit_together(random_uncertain_cases(rng, 2, uncertainties)))
        has_ids = all(stream.schema.id is not None for stream in case.plan.streams)
        if has_ids or "ID" not in program_features(case.plan):
            return named(case.program.plan, case.rows, arrow_tables(case.plan, case.tables), SAMPLING)


def of_relations(rng: random.Random) -> Question:
    """Most of them tell before the end what is certain: only that can be withdrawn, and few relations ever are."""
    case = lost_case(rng, n_events=5)
    return named(inkling.parse(early(case) if rng.random() < 0.75 else case.text).plan, case.rows)


def of_chains(rng: random.Random) -> Question:
    (case,) = chain_cases(rng.randrange(10**9), 1, 4)
    return named(case.plan, keys_together(case))


def of_forecasts(rng: random.Random) -> Question:
    while True:
        event = f"\nEVENT q AS PATTERN {random_pattern(rng)} PARTITION BY k PER END;\n"
        forecast = f"{event}FORECAST f OF q WITHIN 3 EVENTS INCLUDING FINAL;"
        try:
            certain = inkling.parse(f"STREAM S(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t ORDER BY k;{forecast}")
            program = inkling.parse(declaration(chained=False, ordered="COMPLEMENT" in event) + forecast)
        except ProgramError:
            continue
        break
    past = [{"t": t, "k": k, "v": rng.choice((1, 1, 2, 3))} for k in (1, 2) for t in range(40)]
    models = certain.fit({"S": past}, settings=inkling.FitSettings(order=1))
    rows = [row for key in (1, 2) for row in random_rows(rng, key, 16, chained=False)]
    return named(program.plan, {"S": rows}, read_tables(program.plan.tables, models, program.files))


OF_KEYS = """
EVENT rise(k, a.v AS v) AS PATTERN SEQ(Vague a[v < 2], Vague b[v > 0]) WITHIN 6 TICKS PARTITION BY k;
EVENT quiet(k) AS PATTERN SEQ(Vague a, NOT Sure) WITHIN 5 TICKS PARTITION BY k;
EVENT moved(k) AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[room = 'lab']) PARTITION BY k PER END;
EVENT ever(k) AS PATTERN SEQ(At a[room = 'hall'], At b[room = 'lab']) PARTITION BY k PER VALUES;
EVENT walked(k) AS PATTERN SEQ NEXT(Walk a[room = 'hall'], Walk b) HAVING b.room = 'lab' PARTITION BY k PER END;
"""


def of_keys(rng: random.Random) -> Question:
    pieces = [mixed_rows(rng, f"k{key}") for key in range(12)]
    rows = {name: [row for piece in pieces for row in piece[name]] for name in pieces[0]}
    return named(inkling.parse(MIXED_STREAMS.partition("TABLE")[0] + OF_KEYS).plan, rows)


KINDS: dict[str, tuple[Callable[[random.Random], Question], int]] = {
    "worlds": (in_worlds, 9),
    "losses": (of_losses, 6),
    "relations": (of_relations, 7),
    "chains": (of_chains, 9),
    "forecasts": (of_forecasts, 6),
}


def agree(
    rng: random.Random, question: Question, tally: Counter[str], definition: Callable[[Revision], None] | None = None
) -> None:
    """Some scripts, each compared at every step; in the end with one run, and with the definition."""
    revision = Revision(question, random_modes(rng, question.plan))
    for _ in range(SCRIPTS_PER_PROGRAM):
        script = random_script(rng, question, revision.modes)
        for _ in followed(rng, revision, script):
            distinguished(revision, script, difference(revision.expected(), revision.net.said))
            tally["steps"] += 1
        tally["cases"] += 1
        tally["withdrawn"] += revision.net.n_withdrawn
        tally["idle"] += revision.net.n_idle
        whole = question.run(revision.standing.rows)
        if revision.rejects or len(whole.rejects):  # rows that do not fit what is left of their key
            continue
        distinguished(revision, script, difference(lines(whole.tables), revision.net.said))
        tally["whole"] += 1
        if definition is not None:
            definition(revision)
        if not revision.n_late:
            changes = revision.revising.run(together(question, script))
            distinguished(revision, script, difference(lines(whole.tables), lines(changes.tables)))
            tally["changes"] += 1


def distinguished(revision: Revision, script: list[Rows], wrong: list[str]) -> None:
    events = map(str, revision.question.plan.events)
    assert not wrong, "\n".join([*events, str(revision.modes), *map(str, script), *wrong])


def test_what_stands_where_only_some_keys_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, tally, split = random.Random("revisions by key"), Counter[str](), UncertainProgram.split

    def counted(machine: UncertainProgram, state: BufferedState, owners: Owners) -> tuple[BufferedState, BufferedState]:
        tally["by key"] += 1
        return split(machine, state, owners)

    monkeypatch.setattr(UncertainProgram, "split", counted)
    for _ in range(3):
        agree(rng, of_keys(rng), tally)
    assert tally["by key"] > 5, tally
    assert tally["withdrawn"] > 0


@pytest.mark.parametrize("kind", first_of(KINDS, 1))
def test_what_stands_is_what_is_left(kind: str) -> None:
    ask, n_programs = KINDS[kind]
    rng, tally = random.Random(f"left of {kind}"), Counter[str]()
    for _ in range(n_programs):
        agree(rng, ask(rng), tally)
    assert_enough(tally, n_programs)


@pytest.mark.long
@pytest.mark.parametrize("seed", at_length(range(10)))
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_is_what_is_left_of_many(kind: str, seed: int) -> None:
    ask, n_programs = KINDS[kind]
    rng, tally = random.Random(f"revisions {kind} {seed}"), Counter[str]()
    for _ in range(2 * n_programs):
        agree(rng, ask(rng), tally)
    assert_enough(tally, 2 * n_programs)


N_QUERIES = 50


@pytest.mark.long
def test_queries_say_what_the_definition_says_of_what_is_left() -> None:
    rng, tally = random.Random("revisions queries"), Counter[str]()
    for _ in range(N_QUERIES):
        ask(rng, random_query(rng), tally)
    assert_enough(tally, N_QUERIES)


@pytest.mark.long
@pytest.mark.parametrize("seed", at_length(range(10)))
def test_many_queries_say_what_the_definition_says_of_what_is_left(seed: int) -> None:
    rng, tally = random.Random(f"revisions queries {seed}"), Counter[str]()
    for _ in range(2 * N_QUERIES):
        ask(rng, random_query(rng), tally)


def ask(rng: random.Random, case: QueryCase, tally: Counter[str]) -> None:
    program = inkling.parse(case.text)

    def by_definition(revision: Revision) -> None:
        left = QueryCase(case.shape, case.text, revision.standing.rows)
        expected = probable_oracle(revision.question.plan, left.rows)
        wrong = differences(program, left, expected, revision.net.tables())
        assert not wrong, "\n".join([case.text, str(left.rows), *wrong])
        tally["by definition"] += 1

    agree(rng, named(program.plan, case.rows), tally, by_definition)


def assert_enough(tally: Counter[str], n_programs: int) -> None:
    assert tally["cases"] == n_programs * SCRIPTS_PER_PROGRAM
    assert tally["whole"] > tally["cases"] / 2
    assert tally["changes"] > 0
    assert tally["withdrawn"] > 0
    assert tally["idle"] <= tally["withdrawn"] / 50
