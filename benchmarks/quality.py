"""How well visits to a coffee room are found in readings that miss much: `python -m benchmarks.quality`.

Precision and recall of each method, for several crowds of people, as a table for the documentation.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence

from tests.kit.corridor_quality import (
    ARCHIVE,
    DROPPED,
    ELSEWHERE,
    HALLWAY,
    MAP,
    MLE,
    REAL_TIME,
    at,
    best,
    measured,
    orderings,
)

from inkling.forecasting.calibration import Quality

SEEDS = (1, 2, 3, 4, 5, 7)
SHOWN = ((MLE, 0.5), (REAL_TIME, 0.12), (MAP, 0.5), (ARCHIVE, 0.05), (ARCHIVE, 0.12), (DROPPED, 0.05), (DROPPED, 0.12))
Found = Mapping[str, tuple[Quality, ...]]


def lines(found: Mapping[int, Found]) -> Iterator[str]:
    yield "| " + " | ".join(["places", "above", *(f"seed {seed}" for seed in found)]) + " |"
    yield "|---" * (2 + len(found)) + "|"
    for method, threshold in SHOWN:
        cells = [told(at(one[method], threshold)) for one in found.values()]
        yield "| " + " | ".join([method, "–" if method in (MLE, MAP) else f"{threshold:g}", *cells]) + " |"
    for better, worse in ((REAL_TIME, MLE), (ARCHIVE, MAP)):
        gains = [f"+{best(one[better]) - best(one[worse]):.2f}" for one in found.values()]
        yield "| " + " | ".join([f"best F1: {better}, over {worse}", "", *gains]) + " |"


def told(one: Quality) -> str:
    return "/".join(f"{number or 0:.2f}".lstrip("0") for number in (one.precision, one.recall, one.f1))


def held(found: Mapping[int, Found]) -> Iterator[str]:
    each = {seed: orderings(one) for seed, one in found.items()}
    for name in next(iter(each.values())):
        yield f"- {name}: {sum(one[name] for one in each.values())} of {len(each)}"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=900)
    parser.add_argument("--within", type=int, default=30)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    asked = parser.parse_args(words)
    for title, before in (("two seconds elsewhere", ELSEWHERE), ("two seconds in the hallway", HALLWAY)):
        found = {
            seed: measured(people=asked.people, seconds=asked.seconds, seed=seed, within=asked.within, before=before)
            for seed in asked.seeds
        }
        print(f"### {title}, then the coffee room\n")
        print("\n".join(lines(found)), end="\n\n")
        print("\n".join(held(found)), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
