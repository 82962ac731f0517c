"""TOP on streams: the most probable results of all are emitted when the streams end, those of a run over all rows."""

from __future__ import annotations

import random
import re

import pytest
from tests.conformance.case import Case
from tests.conformance.cases import FAMILIES, family_cases
from tests.conformance.comparison import against_run
from tests.conformance.runners import SAMPLED, Inputs, LocalBatch, Pushed, pieces_of

import inkling
from inkling.local_stream import LocalStream
from inkling.query import Program

FEW = 2


def with_tops(case: Case) -> Program:
    """The program of a case with TOP for each event over uncertain streams."""
    uncertain = case.program.physical.uncertain

    def topped(found: re.Match[str]) -> str:
        return f"{found[1]} TOP {FEW};" if found[2] in uncertain else found[0]

    return inkling.parse(re.sub(r"(EVENT (\w+)[^;]*);", topped, case.text))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_pushed_rows_leave_the_results_of_one_run(family: str) -> None:
    for case in family_cases(family, 0)[:1]:
        program = with_tops(case)
        inputs = Inputs(case.given(), case.given_tables())
        expected = LocalBatch(SAMPLED).run(program, inputs)
        assert all(len(expected[event.name]) <= FEW for event in program.plan.events if event.top is not None)
        wrong = against_run(case, expected, Pushed(1).run(program, inputs))
        assert not wrong, "\n".join([program.text, *wrong])


def test_nothing_is_emitted_before_the_end() -> None:
    (case,) = family_cases("chain", 0)
    program = with_tops(case)
    stream = LocalStream(program, case.given_tables(), sampling=SAMPLED)
    for piece in pieces_of(random.Random(1), program, case.given(), 4):
        assert stream.push(piece).n_results == 0
    assert stream.finish().n_results > FEW
    assert stream.finish().n_results == 0
