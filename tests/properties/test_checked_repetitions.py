"""CHECK on repetitions: the definition is a walk that stops where a condition fails, and all runners agree with it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.properties.pushing import pushed, pushes_of

import inkling
from inkling.model.event import Value

LETTERS = "\n".join(f"STREAM {name}(id STRING, x BIGINT, t BIGINT) ID id TIME t;" for name in "ABC")
OFTEN: dict[str, tuple[int, int | None]] = {"": (1, 1), "+": (1, None), "*": (0, None), "?": (0, 1), "{2,3}": (2, 3)}


@dataclass(frozen=True, slots=True)
class Step:
    """Events of a letter, those with x = `skipped` left out, of which one with x = `fatal` breaks the walk off."""

    letter: str
    often: str
    skipped: int
    fatal: int

    def text(self, name: str) -> str:
        check = f" CHECK ({name}.x <> {self.fatal})" if self.often else ""
        return f"{self.letter} {name}[x <> {self.skipped}]{self.often}{check}"


Moment = tuple[int, str, int]
"""A time, a letter and x."""


def walk(steps: list[Step], events: list[Moment], taken: tuple[Moment, ...], place: int, count: int) -> Iterator[str]:
    """Every way to continue, when the step at `place` has been taken `count` times."""
    if place == len(steps):
        if taken:
            yield " ".join(f"{letter}{time}" for time, letter, _ in taken)
        return
    step = steps[place]
    low, high = OFTEN[step.often]
    if count >= low:
        yield from walk(steps, events, taken, place + 1, 0)
    if high is not None and count == high:
        return
    later = [
        one
        for one in events
        if one[1] == step.letter and one[2] != step.skipped and (not taken or one[0] > taken[-1][0])
    ]
    for one in later if not taken else [one for one in later if one[0] == min(time for time, _, _ in later)]:
        if not (step.often and one[2] == step.fatal):
            yield from walk(steps, events, (*taken, one), place, count + 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_definition_stops_where_a_check_fails(seed: int) -> None:
    rng = random.Random(seed)
    n_found = 0
    for _ in range(60):
        steps = [
            Step(rng.choice("ABC"), rng.choice(list(OFTEN)), rng.randrange(4), rng.randrange(4))
            for _ in range(rng.randint(2, 3))
        ]
        places = {(rng.randint(1, 9), rng.choice("ABC")) for _ in range(14)}
        events = [(time, letter, rng.randrange(4)) for time, letter in sorted(places)]
        wanted = set(walk(steps, events, (), 0, 0))
        text = ", ".join(step.text(f"v{number}") for number, step in enumerate(steps))
        rows: Rows = {name: [] for name in "ABC"}
        for time, letter, x in events:
            rows[letter].append({"id": f"{letter}{time}", "x": x, "t": time})
        found = oracle(bound(f"{LETTERS} EVENT e AS PATTERN SEQ NEXT({text});"), rows)["e"]
        assert {" ".join(map(str, one.lineage)) for one in found} == wanted, (text, events)
        n_found += len(wanted)
    assert n_found > 100


def sequences(rng: random.Random, local: bool) -> tuple[str, str, str]:
    """A sequence with CHECK, one that continues with another part, and the first with a condition instead.

    With `local` conditions, which look at one event each, an automaton can find it.
    """
    first = rng.choice(("A a", "A a", "A | D a", "A a[x > 0]"))
    events = ["B b", "B b", "B | C b"]
    checks = ["b.x > 0", "b.x <> 1"]
    following = ["C c", "C c", "B | C c", "C c+", "NOT D, C c", "C c+ CHECK (c.x <> 2)"]
    if not local:
        events += ["B b[x >= a.x]", "B b[x <> LAST(b).x]"]
        checks += ["b.x <> LAST(b).x", "b.x >= a.x", "b.x > 0 AND b.x <> a.x"]
        following += ["C c[x = a.x]", "C c+ CHECK (c.x <> LAST(b).x)"]
    repeated, check = rng.choice(events), rng.choice(checks)
    one, other = rng.sample(following, 2)
    rest = rng.choice(("", "", "", ", D d"))
    often = rng.choice(("+", "+", "*", "?", "{2,}", "{1,2}"))
    eager = rng.choice(("", "", " EAGER")) if often in ("+", "{2,}", "{1,2}") and not local else ""
    texts = [f"SEQ NEXT({first}, {repeated}{often}{eager} CHECK ({check}), {part}{rest})" for part in (one, other)]
    joined = repeated.replace("]", f" AND {check}]") if "]" in repeated else f"{repeated}[{check}]"
    return texts[0], texts[1], f"SEQ NEXT({first}, {joined}{often}{eager}, {one}{rest})"


def random_case(rng: random.Random) -> Case:
    kind = rng.choice(("points", "points", "ordered", "intervals"))
    time, ends = ("since BIGINT, until BIGINT", "FROM since TO until") if kind == "intervals" else ("t BIGINT", "t")
    order = " ORDER BY n" if kind == "ordered" else ""
    lines = [
        f"STREAM {name}(id STRING, k BIGINT, x BIGINT, n BIGINT, {time}) ID id KEY k TIME {ends}{order};"
        for name in "ABCD"
    ]
    clauses = rng.choice(("", "", " WITHIN 12 TICKS", " WITHIN 10 POINTS")) if kind != "ordered" else ""
    clauses += rng.choice(("", "", "", " PARTITION BY k"))
    per = " PER END" if kind == "ordered" else rng.choice(("", "", "", " PER END", " PER INTERVAL"))
    for name, text in zip(("one", "other", "instead"), sequences(rng, kind == "ordered"), strict=True):
        lines.append(f"EVENT {name} AS PATTERN {text}{clauses}{per};")
    text = "\n".join(lines)
    rows: Rows = {name: [] for name in "ABCD"}
    for number in range(20):
        begun = rng.randint(1, 18)
        when = {"since": begun, "until": begun + rng.choice((0, 0, 1, 2))} if kind == "intervals" else {"t": begun}
        x: Value = rng.choice((0, 1, 1, 2, 2, 2, None))
        row = {"id": f"e{number}", "k": rng.randint(0, 1), "x": x, "n": number, **when}
        rows[rng.choice("AAABBBBBCCCD")].append(row)
    return Case(text, bound(text), rows, {})


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_different = 0
    for _ in range(60):
        case = random_case(rng)
        expected = case.expected()
        tables = inkling.parse(case.text).run_local(arrow_streams(case.plan, case.rows)).tables
        wrong = differences(case.plan, expected, {name: table.to_pylist() for name, table in tables.items()})
        assert not wrong, "\n".join([str(case), *wrong])
        n_different += len(expected["one"]) != len(expected["instead"])
    assert n_different > 8, "most repetitions would give the same results with a condition"


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for _ in range(25):
        case = random_case(rng)
        found = pushed(rng, inkling.parse(case.text), case, pushes_of(rng, case, 0))
        wrong = differences(case.plan, case.expected(), found)
        assert not wrong, "\n".join([str(case), *wrong])
