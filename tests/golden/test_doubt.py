"""What `explain` says of programs over uncertain streams, as files that are read like code.

What such programs find is compared with the sum over all worlds elsewhere; `make accept` rewrites the files.
"""

from pathlib import Path

import pytest

import inkling

CASES = sorted((Path(__file__).parent / "doubt").glob("*.ink"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_verdicts_and_plan_are_the_accepted_ones(path: Path, accept: bool) -> None:
    program = inkling.load(path)
    said = f"{program.explain('verdicts')}\n\n{program.explain('physical')}\n"
    golden = path.with_suffix(".txt")
    if accept:
        golden.write_text(said)
    assert program.warnings == ()
    assert said == golden.read_text(), f"{golden} differs; `make accept` rewrites it"


def test_settings_show_in_the_verdicts() -> None:
    program = inkling.load(CASES[0].parent / "probable_values.ink")
    said = program.explain("verdicts", sampling=inkling.Sampling(epsilon=0.05, delta=0.1, exact_up_to=7, budget=1))
    assert "at most 7, which makes it exact" in said
    assert "± 0.05 with confidence 0.9" in said
    assert "times as many worlds" not in said
