"""Examples with forecasts: their models are learned from the first part of the data, and tried on the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from inkling.cli.inputs import Given, given_paths
from inkling.query import Program

if TYPE_CHECKING:
    from inkling.scoring.scorecard import Scores

LEARNED_SHARE = 0.7
ORDERS = (0, 1, 2, 3, 4, 5)
SCORES_PAGE = "scores.html"


def learn_models(program: Program, folder: Path, say: Callable[[str], None]) -> None:
    """Put the models of a program beside its data; a program without forecasts has none."""
    if not _forecasts(program):
        return
    from inkling.fitting.files import save_model

    say("learning")
    given = given_paths(program, [str(folder)], [])
    for name, model in program.fit(given.streams, given.tables, share=LEARNED_SHARE).items():
        save_model(model, folder / f"{name}.parquet")


def try_forecasts(program: Program, given: Given, folder: Path, say: Callable[[str], None]) -> Mapping[str, Scores]:
    """Scores of all forecasts, also as a page in the folder."""
    if not _forecasts(program):
        return {}
    from inkling.scoring.scorecard import write_scores

    say("judging forecasts")
    scores = program.score(given.streams, given.tables, orders=ORDERS, share=LEARNED_SHARE)
    write_scores(scores, folder / SCORES_PAGE, title=f"Forecasts of {program.name}")
    return scores


def _forecasts(program: Program) -> bool:
    return any(event.forecast is not None for event in program.plan.events)
