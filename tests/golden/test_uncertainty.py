"""What `explain` says of programs over uncertain streams, and what they find, as files that are read like code.

A case with a folder of its name has data: its answers come from the definition, the sum over all possible worlds, and
the runner must find the same. `make accept` rewrites the files.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.golden.test_golden import compare, read_rows
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.probable_oracle import ProbableResult, probable_oracle

import inkling
from inkling.analysis.choice import Evaluator
from inkling.logical.plan import EventPlan

CASES = sorted((Path(__file__).parent / "uncertainty").glob("*.ink"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_verdicts_and_plan_are_the_accepted_ones(path: Path, accept: bool) -> None:
    program = inkling.load(path)
    said = f"{program.explain('verdicts')}\n\n{program.explain('physical')}\n"
    golden = path.with_suffix(".txt")
    if accept:
        golden.write_text(said)
    assert program.warnings == ()
    assert said == golden.read_text(), f"{golden} differs; `make accept` rewrites it"


WITH_DATA = [path for path in CASES if path.with_suffix("").is_dir()]


@pytest.mark.parametrize("path", WITH_DATA, ids=lambda path: path.stem)
def test_answers_are_those_of_the_definition(path: Path, accept: bool) -> None:
    program = inkling.load(path)
    streams = {stream.schema.name: stream.schema for stream in program.plan.streams}
    files = {name: path.with_suffix("") / f"{name}.csv" for name in streams}
    rows = {name: read_rows(files[name], schema.columns) for name, schema in streams.items()}
    expected = probable_oracle(program.plan, rows)
    lines = "".join(f"{line}\n" for event in program.plan.events for line in _answers(event, expected[event.name]))
    compare(path.with_suffix(".jsonl"), lines, accept)
    found = program.run_local(files)
    assert found.rejects.num_rows == 0
    shown = found_in(program.plan, found.tables)
    assert not probable_differences(program.plan, rows, expected, shown, tolerance=1e-12)


def test_every_family_has_answers() -> None:
    plans = [inkling.load(path).physical for path in WITH_DATA]
    named = {step.choice.evaluator for plan in plans for step in plan.steps.values()}
    assert {Evaluator.CHAIN, Evaluator.QUERY, Evaluator.RELATION, Evaluator.WORLDS, Evaluator.NETWORK} <= named


def _answers(event: EventPlan, results: Iterable[ProbableResult]) -> list[str]:
    names = [output.name for output in event.head]
    return sorted(
        json.dumps(
            {
                "event": event.name,
                "values": dict(zip(names, one.values, strict=True)),
                "start": one.start,
                "end": one.end,
                "probability": str(one.probability),
            }
        )
        for one in results
    )


def test_settings_show_in_the_verdicts() -> None:
    program = inkling.load(CASES[0].parent / "probable_values.ink")
    said = program.explain("verdicts", sampling=inkling.Sampling(epsilon=0.05, delta=0.1, exact_up_to=7, budget=1))
    assert "at most 7 worlds are enumerated exactly" in said
    assert "± 0.05 with confidence 0.9" in said
    assert "times as many worlds" not in said
