"""Messages about congestion are those that reports make necessary; what is lost of them can be counted."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from inkling.examples.motorway.scenario import LOSS, Motorway

from inkling import load
from inkling.scenarios import scenario

EXAMPLE = Path(__file__).parents[3] / "examples" / "motorway"
EVENTS, KEYS, SEED = 30_000, 40, 4  # the last morning is cut short
SECTOR = ["day", "sector"]


def drawn(source: Motorway) -> dict[str, pa.Table]:
    blocks = list(source.blocks())
    return {name: pa.Table.from_batches([block[name] for block in blocks]) for name in source.streams}


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, pa.Table]]:
    source = scenario("motorway", events=EVENTS, keys=KEYS, seed=SEED)
    assert isinstance(source, Motorway)
    return {"recorded": drawn(source)} | {name: drawn(view) for name, view in source.variants().items()}


def rows(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas().sort_values([*SECTOR, "t"], kind="stable")


def test_all_messages_are_what_three_reports_in_a_row_say(told: dict[str, dict[str, pa.Table]]) -> None:
    expected: list[tuple[object, ...]] = []
    for (day, sector), some in rows(told["recorded"]["Report"]).groupby(SECTOR):
        is_open = (some["speed"].rolling(3).mean() < 20).tolist()
        moments = list(zip(some["t"], [False, *is_open], is_open, strict=False))
        turns = [(t, "open" if now else "close") for t, before, now in moments if now != before]
        turns = turns[: len(turns) // 2 * 2]  # what continues at the end is left out
        expected += [(day, sector, role, t) for t, role in turns]
    found = rows(told["true"]["Congestion"])[[*SECTOR, "role", "t"]]
    assert [tuple(row) for row in found.itertuples(index=False)] == expected
    assert len(expected) > 100


def test_numbers_show_what_was_lost(told: dict[str, dict[str, pa.Table]]) -> None:
    every = rows(told["true"]["Congestion"])
    every["n"] = every.groupby(SECTOR).cumcount() + 1
    recorded = rows(told["recorded"]["Congestion"])
    came = recorded[recorded["role"] != "mark"]
    both = every.merge(came, on=[*SECTOR, "role", "t", "n"])
    assert len(both) == len(came)
    share = 1 - len(came) / len(every)
    assert abs(share - LOSS) < 4 * np.sqrt(LOSS * (1 - LOSS) / len(every))
    columns = [*SECTOR, "role", "t"]
    assert (
        rows(told["naive"]["Congestion"])[columns].reset_index(drop=True).equals(came[columns].reset_index(drop=True))
    )


def test_marks_count_the_messages_so_far(told: dict[str, dict[str, pa.Table]]) -> None:
    every = rows(told["true"]["Congestion"])
    recorded = rows(told["recorded"]["Congestion"])
    marks = recorded[recorded["role"] == "mark"]
    assert (marks.groupby(SECTOR).size() >= 2).all()
    assert marks.groupby("day")["sector"].nunique().tolist() == [KEYS] * marks["day"].nunique()
    for (day, sector), some in marks.groupby(SECTOR):
        times = every[(every["day"] == day) & (every["sector"] == sector)]["t"]
        assert [(times <= t).sum() for t in some["t"]] == some["n"].tolist()
        assert some["n"].iloc[0] == 0
        assert some["n"].iloc[-1] == len(times)
        assert some["t"].diff().dropna().max() <= pd.Timedelta(minutes=20)


def test_reports_give_the_segments_that_messages_tell(told: dict[str, dict[str, pa.Table]]) -> None:
    """What the program derives from raw reports is what the controllers say of it."""
    derived = load(EXAMPLE / "reports.ink").run_local({"Report": told["recorded"]["Report"]}).tables["congested"]
    found = derived.to_pandas().sort_values([*SECTOR, "start"])
    every = rows(told["true"]["Congestion"])
    assert found["start"].tolist() == every[every["role"] == "open"]["t"].tolist()
    assert found["end"].tolist() == every[every["role"] == "close"]["t"].tolist()


def test_both_programs_ask_for_the_same_events() -> None:
    texts = [(EXAMPLE / name).read_text() for name in ("motorway.ink", "certain.ink")]
    first, second = (text[text.index("-- How many") :] for text in texts)
    assert first == second


def test_every_event_really_happens_and_is_not_all_there_is(told: dict[str, dict[str, pa.Table]]) -> None:
    program = load(EXAMPLE / "certain.ink")
    true, naive = (program.run_local(told[view]).tables for view in ("true", "naive"))
    for event in program.plan.events:
        columns = [output.name for output in event.head]
        happened, seems = (tables[event.name].select(columns).to_pylist() for tables in (true, naive))
        assert len(happened) > 20, event.name
        assert any(one not in seems for one in happened), event.name
    assert set(true["shared"]["k"].to_pylist()) >= {1, 2, 3}
