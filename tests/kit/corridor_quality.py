"""How well visits to a coffee room are found in readings: with uncertainty, without it, and with half of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from inkling.examples.building import corridor
from inkling.examples.building.corridor import COFFEE_ROOM, HALL, LOCATIONS, ROOMS

from inkling.forecasting.calibration import Quality, quality
from inkling.forecasting.calibration.detections import THRESHOLDS
from inkling.infer import Model, Options, filtered, mle, smoothed, viterbi
from inkling.query import parse

EVENT = """
TABLE rooms(room STRING, kind STRING) FROM 'rooms.csv';

EVENT coffee(person) AS
  PATTERN SEQ NEXT(At a, At b, At c)
  HAVING {before} AND rooms(c.room, 'coffee')
  PARTITION BY person
  PER END;
"""
STREAM = "STREAM At(person STRING, room STRING, t BIGINT{}) KEY person TIME t {};"
INDEPENDENT, MARKOV = "PROBABILITY p", "PROBABILITY p GIVEN previous"
ELSEWHERE = "NOT rooms(a.room, 'coffee') AND NOT rooms(b.room, 'coffee')"
HALLWAY = "rooms(a.room, 'hallway') AND rooms(b.room, 'hallway')"
"""Two ways to ask for the two seconds before; of places that really follow each other, both say the same."""

REAL_TIME, ARCHIVE, DROPPED = "filtered, independent", "smoothed, with correlations", "smoothed, independent"
MLE, MAP = "likeliest places (MLE)", "likeliest path (MAP)"
DISTANCE = 30
LOW = tuple(rho for rho in THRESHOLDS if 0 < rho <= 0.12)


def measured(
    *, people: int, seconds: int, seed: int, within: int = DISTANCE, before: str = ELSEWHERE
) -> Mapping[str, tuple[Quality, ...]]:
    """Quality at each threshold, by method; what forgets the uncertainty has one threshold."""
    walked = corridor.walk(people=people, seconds=seconds, seed=seed)
    model = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    options: Options = {"key": "person", "state": "room"}
    archive = smoothed(walked.readings, model, **options)
    happened = coffee(walked.truth().rename_columns(["person", "t", "room"]), before)
    said = {
        MLE: coffee(mle(walked.readings, model, **options), before),
        REAL_TIME: coffee(filtered(walked.readings, model, **options), before, INDEPENDENT),
        MAP: coffee(viterbi(walked.readings, model, **options), before),
        ARCHIVE: coffee(archive, before, MARKOV),
        DROPPED: coffee(without_correlations(archive), before, INDEPENDENT),
    }
    return {
        name: quality(
            found, happened, within=within, on=["person"], thresholds=(0.5,) if name in (MLE, MAP) else THRESHOLDS
        )
        for name, found in said.items()
    }


def coffee(places: pa.Table, before: str = ELSEWHERE, uncertainty: str = "") -> pa.Table:
    """When people come into the coffee room, by a stream that is certain, or as uncertain as its words say."""
    previous = ", previous STRING" if uncertainty == MARKOV else ""
    program = parse(f"{STREAM.format(previous, uncertainty)} {EVENT.format(before=before)}")
    kinds = dict.fromkeys(HALL, "hallway") | dict.fromkeys(ROOMS, "office") | {COFFEE_ROOM: "coffee"}
    rooms = pa.table({"room": list(kinds), "kind": list(kinds.values())})
    return program.run_local({"At": places}, {"rooms": rooms}).tables["coffee"]


def without_correlations(archive: pa.Table) -> pa.Table:
    """The distribution of each step of smoothed chains that all begin at second 1."""
    names = np.array(LOCATIONS)
    number = {name: place for place, name in enumerate(LOCATIONS)}
    people = archive["person"].combine_chunks().dictionary_encode()
    step = archive["t"].to_numpy() - 1
    before = np.array([number.get(name, -1) for name in archive["previous"].to_pylist()])
    after = np.array([number[name] for name in archive["room"].to_pylist()])
    belief = np.zeros((step.max() + 1, len(people.dictionary), len(LOCATIONS)))
    weight, person = archive["p"].to_numpy(), people.indices.to_numpy()
    order = np.argsort(step, kind="stable")
    borders = np.searchsorted(step[order], np.arange(len(belief) + 1))
    for now in range(len(belief)):
        rows = order[borders[now] : borders[now + 1]]
        share = belief[now - 1, person[rows], before[rows]] if now else 1.0
        np.add.at(belief[now], (person[rows], after[rows]), weight[rows] * share)
    t, who, where = np.nonzero(belief > 0)
    return pa.table(
        {"person": people.dictionary.take(pa.array(who)), "room": names[where], "t": t + 1, "p": belief[t, who, where]}
    )


def best(of: tuple[Quality, ...]) -> float:
    """The largest F1 of any threshold."""
    return max(one.f1 for one in of)


def at(of: tuple[Quality, ...], threshold: float) -> Quality:
    return next(one for one in of if one.threshold == threshold)


def orderings(found: Mapping[str, tuple[Quality, ...]]) -> dict[str, bool]:
    """What is found out about uncertainty, whoever walks."""
    return {
        "best F1, filtered > MLE": best(found[REAL_TIME]) > best(found[MLE]),
        "best F1, smoothed > MAP": best(found[ARCHIVE]) > best(found[MAP]),
        "recall above 0.12, smoothed > MAP": (at(found[ARCHIVE], 0.12).recall or 0) > (found[MAP][0].recall or 0),
        "precision at every threshold ≤ 0.12, with correlations > without": all(
            (at(found[ARCHIVE], rho).precision or 0) > (at(found[DROPPED], rho).precision or 0) for rho in LOW
        ),
    }
