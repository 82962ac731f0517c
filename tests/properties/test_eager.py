"""Eager repetitions: the definition is a walk that always takes the earliest event, and all runners agree with it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle
from tests.kit.programs import Case
from tests.kit.rows import Rows, points
from tests.properties.pushing import pushed, pushes_of

import inkling

pytestmark = pytest.mark.long

TIMES = ("+", "{2}", "{2,}", "{1,2}", "{2,3}")
BOUNDS: dict[str, tuple[int, int | None]] = {
    "": (1, 1), "+": (1, None), "{2}": (2, 2), "{2,}": (2, None), "{1,2}": (1, 2), "{2,3}": (2, 3),
}  # fmt: skip
"""How often a part that is written so happens, at least and at most."""

LETTERS = "\n".join(f"STREAM {name}(id STRING, t BIGINT) ID id TIME t;" for name in "ABC")


@dataclass(frozen=True, slots=True)
class Step:
    letter: str
    often: str

    def __str__(self) -> str:
        return f"{self.letter}{self.often}{' EAGER' if self.often else ''}"


def walk(steps: list[Step], events: list[str], place: int, count: int, taken: tuple[str, ...]) -> Iterator[str]:
    """Every way to continue from the last event that was taken, which is the `count`-th of a step."""
    low, high = BOUNDS[steps[place].often]
    is_last = place + 1 == len(steps)
    if count >= low and is_last:
        yield " ".join(taken)
    wanted = []
    if high is None or count < high:
        wanted.append((place, count + 1))
    if count >= low and not is_last:
        wanted.append((place + 1, 1))
    now = int(taken[-1][1:])
    later = [
        (one, to) for one in events if int(one[1:]) > now for to in wanted if steps[to[0]].letter.lower() == one[0]
    ]
    first = min((int(one[1:]) for one, _ in later), default=None)
    for one, to in later:
        if int(one[1:]) == first:
            yield from walk(steps, events, *to, (*taken, one))


@pytest.mark.parametrize("seed", range(4))
def test_the_definition_takes_the_earliest_event(seed: int) -> None:
    rng = random.Random(seed)
    n_found = 0
    for _ in range(75):
        steps = [Step(rng.choice("ABC"), rng.choice(("", *TIMES))) for _ in range(rng.randint(2, 4))]
        events = sorted({f"{rng.choice('abc')}{rng.randint(1, 9)}" for _ in range(18)})
        starts = [one for one in events if one[0] == steps[0].letter.lower()]
        wanted = {found for one in starts for found in walk(steps, events, 0, 1, (one,))}
        plan = bound(f"{LETTERS} EVENT e AS PATTERN SEQ NEXT({', '.join(map(str, steps))});")
        rows = {"A": [], "B": [], "C": [], **points(" ".join(events))}
        assert {" ".join(map(str, one.lineage)) for one in oracle(plan, rows)["e"]} == wanted, (steps, events)
        n_found += len(wanted)
    assert n_found > 100


def sequences(rng: random.Random) -> tuple[str, str, str]:
    """A sequence with an eager repetition, one that continues with another part, and the same without EAGER."""
    first = rng.choice(("A a", "A a", "A a", "A | D a"))
    repeated = rng.choice(
        ("B b", "B b", "B | C b", "B b[x >= a.x]", "B b[x <> LAST(b).x]", "(SEQ(B b, C c0))", "(B b OR C c0)")
    )
    gap = rng.choice(("", "", "", "NOT D, ", "NOT D[x = a.x], "))
    can_look_back = "c0" not in repeated
    following = ["C c", "C c", "B | C c", "C c[x = a.x]", "C c+", "C c+ EAGER", "C c{2} EAGER", "(SEQ(C c, A e))"]
    following += ["(C c OR A e)", "(C c AND A e)", "AT 5", *(["C c[x > LAST(b).x]"] if can_look_back else [])]
    one, other = rng.sample(following, 2)
    rest = rng.choice(("", "", "", ", D d"))
    begun = f"{first}, {repeated}{rng.choice(('+', '+', *TIMES))} EAGER, {gap}"
    texts = [f"SEQ NEXT({begun}{part}{rest})" for part in (one, other)]
    return texts[0], texts[1], texts[0].replace(" EAGER", "")


def random_case(rng: random.Random) -> Case:
    lasts = rng.random() < 0.4
    time, ends = ("since BIGINT, until BIGINT", "FROM since TO until") if lasts else ("t BIGINT", "t")
    lines = [f"STREAM {name}(id STRING, k BIGINT, x BIGINT, {time}) ID id KEY k TIME {ends};" for name in "ABCD"]
    clauses = rng.choice(("", "", " WITHIN 12 TICKS", " WITHIN 10 POINTS"))
    clauses += rng.choice(("", "", "", " PARTITION BY k"))
    per = rng.choice(("", "", "", " PER END", " PER INTERVAL"))
    for name, text in zip(("one", "other", "plain"), sequences(rng), strict=True):
        lines.append(f"EVENT {name} AS PATTERN {text}{clauses}{per};")
    text = "\n".join(lines)
    rows: Rows = {name: [] for name in "ABCD"}
    for number in range(20):
        begun = rng.randint(1, 18)
        when = {"since": begun, "until": begun + rng.choice((0, 0, 1, 2))} if lasts else {"t": begun}
        row = {"id": f"e{number}", "k": rng.randint(0, 1), "x": rng.randint(0, 2), **when}
        rows[rng.choice("AAABBBBBCCCD")].append(row)
    return Case(text, bound(text), rows, {})


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_different = 0
    for _ in range(70):
        case = random_case(rng)
        expected = case.expected()
        program = inkling.parse(case.text)
        tables = program.run_local(arrow_streams(case.plan, case.rows)).tables
        wrong = differences(case.plan, expected, {name: table.to_pylist() for name, table in tables.items()})
        assert not wrong, "\n".join([str(case), *wrong])
        n_different += len(expected["one"]) != len(expected["plain"])
    assert n_different > 8, "most repetitions would give the same results without EAGER"


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for _ in range(30):
        case = random_case(rng)
        found = pushed(rng, inkling.parse(case.text), case, pushes_of(rng, case, 0))
        wrong = differences(case.plan, case.expected(), found)
        assert not wrong, "\n".join([str(case), *wrong])
