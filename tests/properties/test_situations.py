"""Random events over numbered streams: one that is said to find segments of its stream finds them in every world."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tests.kit.oracle import bound, expression_context

from inkling.analysis.derived_segments import DerivedSegments, derived_segments_of
from inkling.analysis.relation import over_streams
from inkling.language.syntax import RELATIONS
from inkling.logical import plan as p
from inkling.meaning.quantified import KeySegments, keys_of
from inkling.meaning.semantics import Result, semantics
from inkling.meaning.streams import RawRow, world_of
from inkling.meaning.worlds import joint_worlds
from inkling.model.event import Value
from inkling.model.schema import certain
from inkling.model.time import Clock

N_EVENTS = 400
STREAM = (
    "STREAM S(k STRING, n BIGINT, r STRING, x BIGINT, t BIGINT, c BIGINT, lo BIGINT, hi BIGINT)"
    " KEY k TIME t NUMBERED BY n SEGMENTS ROLE r COUNT c BOUNDS lo TO hi;\n"
)
CONDITIONS = (
    *("", "[n % 2 = 1]", "[n % 2 = 0]", "[n % 2 <> 1]", "[NOT n % 2 = 0]", "[n % 3 = 1]", "[n > 1]", "[x = 1]"),
    *(
        "[r = 'open']",
        "[r = 'close']",
        "[r <> 'close']",
        "[lower(r) IN ('open', 'start')]",
        "[r IS NULL OR r <> 'open']",
    ),
)
USUAL = (("[n % 2 = 1]", "[n % 2 = 0]"), ("[n % 2 = 1]", ""), ("", "[n % 2 = 0]"), ("[r = 'open']", "[r = 'close']"))
CLAUSES = ("", "", "", "", " PER VALUES", " CONSUME RESTART")
ENDS = ("", "", "", "", " WITHIN 3 TICKS", " HAVING a.x = b.x")
OFTEN = ("INTERSECTS", "STARTS_BEFORE")
ROLES = (("open", "close"), ("open", "close"), ("Open", "close"), ("open", None), ("up", "down"), ("OPEN", "CLOSE"))

World = Mapping[str, Sequence[RawRow]]


def a_program(rng: random.Random) -> str:
    policy = rng.choice(("STRICT", "STRICT", "NEXT", "ANY"))
    first, second = rng.choice(USUAL) if rng.random() < 0.4 else rng.choices(CONDITIONS, k=2)
    pattern = f"SEQ {policy}(S a{first}, S b{second}){rng.choice(ENDS)}"
    event = f"EVENT e(k AS key, a.x AS x) AS PATTERN {pattern} PARTITION BY k{rng.choice(CLAUSES)};\n"
    left, right = rng.choices(("ALL", "SOME", "SOME", "SOME", "AT LEAST 2", "AT LEAST 0"), k=2)
    where = rng.choice(("", "", " WHERE x.x = 1", " WHERE y.x IS NULL"))
    related = f"{left} e x {rng.choice((*OFTEN, rng.choice(RELATIONS)))} {right} e y{where}"
    return STREAM + event + f"EVENT related(x.key AS one, y.key AS other) AS PATTERN {related};\n"


def some_rows(rng: random.Random) -> dict[str, list[RawRow]]:
    """Two keys with a few events each, some of them lost."""
    opens, closes = rng.choice(ROLES)
    rows: list[RawRow] = []
    for key in "pq":
        n_events = rng.choice((2, 3, 4, 4))
        times = sorted(rng.sample(range(1, 12), n_events))
        lost = rng.sample(range(n_events), rng.choice((0, 1, 1, 2, 2)))
        for place, time in enumerate(times):
            if place not in lost or len(lost) == n_events:
                role = closes if place % 2 else opens
                row: dict[str, Value] = {"k": key, "n": place + 1, "r": role, "x": rng.choice((1, 2)), "t": time}
                rows.append({**row, "c": None if n_events % 2 else n_events, "lo": 0, "hi": 12})
        if rng.random() < 0.3:
            rows.append({"k": key, "n": n_events, "r": "mark", "t": 12})
    return {"S": rows}


def in_worlds(plan: p.ProgramPlan, rows: World) -> Iterator[tuple[p.ProgramPlan, World]]:
    """Every world, and the program over the certain streams of one."""
    sure = replace(plan, streams=tuple(replace(one, schema=certain(one.schema)) for one in plan.streams))
    for _, world in joint_worlds(rows, (one.schema for one in plan.streams)):
        yield sure, world


def found_in(plan: p.ProgramPlan, world: World) -> tuple[dict[str, tuple[Result, ...]], list[KeySegments]]:
    """The results of all events, and the segments of the stream."""
    context = expression_context(plan, {}, Clock.TICKS)
    happened = world_of(plan, world, context)
    columns = {column.name: column for column in plan.streams[0].schema.columns}
    operand = p.Operand(p.Leaf(0, ("S",)), (columns["k"],), None, p.Pairing(number=columns["n"]))
    return semantics(plan, happened, context), keys_of(operand, happened.events, lambda _: True)


def fits(derived: DerivedSegments, world: World) -> bool:
    return derived.fits((row.get("r"), number) for row in world["S"] if isinstance(number := row["n"], int))


def test_situations_are_the_segments_of_their_stream() -> None:
    rng = random.Random(5)
    seen: Counter[str] = Counter()
    for _ in range(N_EVENTS):
        text, rows = a_program(rng), some_rows(rng)
        plan = bound(text)
        derived = derived_segments_of(plan.events[0], plan).conclusion
        related = over_streams(plan.events[1], plan).conclusion
        if derived is None:
            assert related is None
            continue
        seen["asks for roles" if derived.asks_for_roles else "by numbers"] += 1
        for sure, world in in_worlds(plan, rows):
            if derived.asks_for_roles and not fits(derived, world):
                seen["other roles"] += 1
                continue
            seen["worlds"] += 1
            results, keys = found_in(sure, world)
            found = [(one.values, one.start, one.end) for one in results["e"]]
            segments = [
                ((one.key[0], segment.events[0].values["x"]), segment.start.time, segment.end.time)
                for one in keys
                for segment in one.segments
            ]
            assert sorted(found, key=repr) == sorted(segments, key=repr), f"{text}\n{world}"
            if related is not None:
                over = found_in(replace(sure, events=(related.event,)), world)[0]["related"]
                with_segments = {one.key[0] for one in keys if one.segments}
                kept = [one for one in over if set(one.values) <= with_segments]
                assert told(kept) == told(results["related"]), f"{text}\n{world}"
                seen["related"] += bool(kept)
    assert seen["by numbers"] > 20
    assert seen["asks for roles"] > 20
    assert seen["other roles"] > 20
    assert seen["related"] > 60


def told(results: Sequence[Result]) -> list[tuple[object, ...]]:
    return sorted(((one.values, one.start, one.end, one.detected_at, one.lineage) for one in results), key=repr)


def test_wherever_roles_do_not_fit_there_is_a_difference_somewhere() -> None:
    """A yes is worth something only if what is rejected for the roles of the data can differ."""
    rng = random.Random(6)
    differs = 0
    for _ in range(60):
        plan, rows = bound(a_program(rng)), some_rows(rng)
        derived = derived_segments_of(plan.events[0], plan).conclusion
        if derived is None:
            continue
        for sure, world in in_worlds(plan, rows):
            results, keys = found_in(sure, world)
            if not fits(derived, world):
                differs += len(results["e"]) != sum(len(one.segments) for one in keys)
    assert differs > 10
