"""What `inkling demo` and `inkling bench` need of an example: its program, its rows, inferred streams and models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from inkling.cli.inputs import GivenInputs, given_paths
from inkling.errors import InputError, nearest
from inkling.examples import FOLDER, NAMES
from inkling.query import Program

if TYPE_CHECKING:
    import pyarrow as pa

    from inkling.forecasting.scoring.scorecard import Scores


def require_scenario(name: str) -> None:
    """Rejects a name that no scenario has."""
    if name not in NAMES:
        close = nearest(name, NAMES, n=1)
        raise InputError.of(
            "INK0551",
            f"unknown scenario `{name}`",
            helps=(f"write `{close[0]}`" if close else f"choose one of {', '.join(NAMES)}",),
        )


def example_program(name: str) -> Path:
    """The path of an example's program."""
    paths = [FOLDER / name / f"{name}{suffix}" for suffix in (".ink", ".epsparql")]
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        raise InputError.of("INK0551", f"the program of example `{name}` is not installed")
    return found


FEWER_EVENTS = dict.fromkeys(("traffic", "alarms", "heat", "supply_chain", "flower"), 20_000) | {
    "traffic_rdf": 6_000,
    "building": 500,
    "mixed": 6_000,
    "stocks": 10_000,
    "trades": 20_000,
    "blizzard": 50_000,
    "tsunami": 30_000,
    "approach": 60_000,
    "cluster": 20_000,
    "funnel": 10_000,
    "motorway": 43_200,
    "buses": 12_000,
}
"""The number of rows of examples that are slow per row: they sample worlds, or have several results per row."""


def n_events(name: str, asked: int | None, usual: int) -> int:
    """The number of rows of the main stream: the one on the command line, or the default of the example."""
    return asked or FEWER_EVENTS.get(name, usual)


READINGS = "Reading.parquet"
MODEL = ("movement.csv", "readers.csv", "prior.csv")
PRUNED = 1e-4
FILTERED, SMOOTHED = "At", "Was"


def infer_streams(folder: Path, say: Callable[[str], None]) -> None:
    """Infer the streams of an example from its raw readings, and write them into its folder.

    `At` is the filtered stream and `Was` the smoothed one. The folder `naive` gets the likeliest places instead of
    distributions, the folder `true` the places where everybody really was. A folder without readings and a model of
    movement and readers is left as it is.
    """
    if not all((folder / name).exists() for name in (READINGS, *MODEL)):
        return
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from inkling.infer import Model, Options, filtered, mle, smoothed, viterbi

    say("inferring")
    readings = pq.read_table(folder / READINGS)
    model = Model.of(*(folder / name for name in MODEL))
    span = pc.min_max(readings["t"]).as_py()
    last = span["max"]
    doors = pq.read_table(folder / "Door.parquet")
    first = pc.min(doors["t"]).as_py()
    options: Options = {"key": "person", "state": "room", "start": first, "stop": last}
    true = _places(doors, first, last)
    written = {
        FILTERED: filtered(readings, model, **options),
        SMOOTHED: smoothed(readings, model, prune=PRUNED, **options),
        f"naive/{FILTERED}": mle(readings, model, **options),
        f"naive/{SMOOTHED}": viterbi(readings, model, **options),
        f"true/{FILTERED}": true,
        f"true/{SMOOTHED}": true,
    }
    for name, rows in written.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(rows, path)


def _places(doors: pa.Table, first: int, last: int) -> pa.Table:
    """The place of everybody at each second, from the places that they enter."""
    import numpy as np
    import pyarrow as pa

    doors = doors.sort_by([("person", "ascending"), ("t", "ascending")])
    entered = doors["t"].to_numpy()
    person = doors["person"].combine_chunks().dictionary_encode().indices.to_numpy()
    is_last = np.append(person[1:] != person[:-1], True)
    left = np.where(is_last, last + 1, np.append(entered[1:], last + 1))
    n_seconds = left - entered
    row = np.repeat(np.arange(len(doors)), n_seconds)
    second = np.arange(row.size) - np.repeat(np.cumsum(n_seconds) - n_seconds, n_seconds) + entered[row]
    assert second.min() == first
    taken = doors.take(pa.array(row))
    return pa.table({"person": taken["person"], "room": taken["room"], "t": second})


LEARNED_SHARE = 0.7
ORDERS = (0, 1, 2, 3, 4, 5)
SCORES_PAGE = "scores.html"


def learn_models(program: Program, folder: Path, say: Callable[[str], None]) -> None:
    """Learn the models of a program with forecasts and write them into the folder of its data."""
    if not _forecasts(program):
        return
    from inkling.forecasting.learning.files import save_model
    from inkling.forecasting.learning.settings import FitSettings

    say("learning")
    given = given_paths(program, [str(folder)], [])
    for name, model in program.fit(given.streams, given.tables, settings=FitSettings(share=LEARNED_SHARE)).items():
        save_model(model, folder / f"{name}.parquet")


def score_forecasts(
    program: Program, given: GivenInputs[Path], folder: Path, say: Callable[[str], None]
) -> Mapping[str, Scores]:
    """The scores of all forecasts, also as a page in the folder."""
    if not _forecasts(program):
        return {}
    from inkling.forecasting.backtest import ScoreSettings
    from inkling.forecasting.scoring.scorecard import write_scores

    say("scoring forecasts")
    scores = program.score(given.streams, given.tables, settings=ScoreSettings(order=ORDERS, train_share=LEARNED_SHARE))
    write_scores(scores, folder / SCORES_PAGE, title=f"Forecasts of {program.name}")
    return scores


def _forecasts(program: Program) -> bool:
    return any(event.forecast is not None for event in program.plan.events)
