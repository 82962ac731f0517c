"""Random queries of SASE find what the strategies of the paper say: by the definition, in batch and on streams."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import oracle
from tests.kit.sase import Event, Meaning, random_events, random_query
from tests.kit.seeds import at_length

import inkling
from inkling.language import format_program, parse
from inkling.language.sase.reader import read_queries
from inkling.source import SourceText

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, *at_length(range(3, 27))))]
STREAMS = "".join(f"STREAM {name}(id STRING, k BIGINT, v BIGINT, t BIGINT) ID id TIME t;\n" for name in "ABCD")


def rows_of(events: tuple[Event, ...]) -> dict[str, list[dict[str, object]]]:
    return {
        name: [
            {"id": one.id, "t": one.time, **dict(one.values)}
            for one in sorted(events, key=lambda one: one.time)
            if one.type == name
        ]
        for name in "ABCD"
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_strategies(seed: int) -> None:
    rng = random.Random(seed)
    n_found = n_repeated = 0
    for _ in range(60):
        text = STREAMS + random_query(rng)
        file = read_queries(SourceText("q.sase", text))
        program = inkling.parse(text, name="q.sase")
        assert parse(format_program(program.syntax)) == program.syntax
        for _ in range(3):
            events = random_events(rng, 11, 12)
            wanted = Meaning(file.queries[0], events).matches()
            rows = rows_of(events)
            assert {tuple(one.lineage) for one in oracle(program.plan, rows)["query1"]} == wanted, (text, events)
            found = program.run_local(rows)["query1"]["lineage"].to_pylist()
            assert {tuple(one) for one in found} == wanted, (text, events)
            stream = program.open(unbounded=True)
            pushed = [stream.push({event.type: rows_of((event,))[event.type]}) for event in sorted(events, key=_time)]
            tables = [one.tables["query1"] for one in (*pushed, stream.finish())]
            assert {tuple(one) for table in tables for one in table["lineage"].to_pylist()} == wanted, (text, events)
            n_found += len(wanted)
            n_happening = sum(not one.negated for one in file.queries[0].components)
            n_repeated += any(len(one) > n_happening for one in wanted)
    assert n_found > 100
    assert n_repeated > 1


def _time(event: Event) -> int:
    return event.time
