"""How well relations between segments are told although ends were lost: `python -m benchmarks.lost_quality`.

Measures accuracy, calibration and speed by method and share of losses, and writes the page of the reference and its
pictures. `--quick` takes fewer pairs and writes nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inkling.examples.generators.segments import pairs_of
from tests.kit.lost_quality import (
    DISCRETE,
    IGNORED,
    LOSSES,
    STATIC,
    THRESHOLDS,
    WORLDS,
    Calibrated,
    Judged,
    Workload,
    calibrated,
    congested_pairs,
    judged,
    swept,
    synthetic,
    with_shape,
)
from tests.kit.lost_workloads import BELOW_15, BELOW_20, LAWS, Congestion, Start, lost

from benchmarks.curves import Axis, svg
from benchmarks.harness import ROOT
from benchmarks.lost_speed import SHARES, beside_the_tree, speed_of_methods
from benchmarks.meter import on_one_core
from benchmarks.results import machine, quantity
from inkling.evaluators.relation.regularity import regularity

PAGE = ROOT / "docs" / "reference" / "lost-events-quality.md"
PICTURES = PAGE.with_suffix("")
DATA: dict[str, tuple[int, Start]] = {
    "10 segments, aligned": (10, "aligned"),
    "10 segments, zero": (10, "zero"),
    "20 segments, zero": (20, "zero"),
}
SECTORS: dict[str, Congestion] = {"sectors (15)": BELOW_15, "sectors (20)": BELOW_20}
SEEDS = range(10)
AT_WHICH_K = 0.2
ERLANG = {"gamma 4": 4, "near periodic": 20}


@dataclass(frozen=True, slots=True)
class Sizes:
    pairs: int
    calibration_pairs: int
    selectivity_pairs: int
    speed_pairs: int
    repeats: int


FULL = Sizes(500, 4_000, 20_000, 2_000, 5)
QUICK = Sizes(60, 200, 500, 100, 1)


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def share(number: float) -> str:
    """Three digits after the point, without the zero before it.

    >>> share(0.9), share(1)
    ('.900', '1.000')
    """
    text = f"{number:.3f}"
    return text.removeprefix("0")


def percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def page(sizes: Sizes) -> tuple[str, dict[str, str]]:
    """The page, and its pictures by file name."""
    workloads = {
        name: synthetic(sizes.pairs, n_segments=n_segments, start=start) for name, (n_segments, start) in DATA.items()
    }
    levels = {name: [judged(one, loss, discrete=True) for loss in LOSSES] for name, one in workloads.items()}
    on_roads = {name: [judged(congested_pairs(given), loss) for loss in LOSSES] for name, given in SECTORS.items()}
    speeds = speed_of_methods(sizes.speed_pairs, sizes.repeats)
    (beside_tree,) = beside_the_tree(sizes.speed_pairs, sizes.repeats, 0)
    first = levels["10 segments, aligned"]
    pictures = {
        "accuracy.svg": _accuracy_picture(first),
        "by_k.svg": _picture_by_k(first[LOSSES.index(AT_WHICH_K)]),
        "thresholds.svg": _threshold_picture(levels),
        "speed.svg": _speed_picture(speeds),
    }
    parts = [
        _introduction(sizes),
        "## Accuracy over losses\n\n" + _accuracy(levels, on_roads),
        "## Over k\n\n" + _by_k(first[LOSSES.index(AT_WHICH_K)]),
        "## Thresholds\n\n" + _thresholds(levels),
        "## Squared errors\n\n" + _briers(levels),
        "## Are the probabilities correct?\n\n" + _calibration(sizes),
        "## Arrivals that are not random\n\n" + _laws(sizes),
        "## Other seeds\n\n" + _seeds(sizes),
        "## How often segments meet\n\n" + _selectivity(sizes),
        "## Speed\n\n" + _speed(speeds, beside_tree.goals[0].value, beside_tree.found),
    ]
    return "\n\n".join(parts) + "\n", pictures


def _introduction(sizes: Sizes) -> str:
    return f"""# Lost events: quality

Two keys open and close segments in turn, and some of these events were lost. Do at least k segments of one key meet a
segment of the other? Written by `python -m benchmarks.lost_quality`, which repeats all measurements. The workloads are
defined in `tests.kit.lost_workloads`, the measures in `tests.kit.lost_quality`.

| method | answer |
|---|---|
| {WORLDS} | the exact probability, summed over all orders of the lost events |
| {STATIC} | yes or no: a segment that lost one end gets the mean length of the others, one that lost both is left out |
| {IGNORED} | yes or no: lost events are left out, and neighbors of one kind are merged |
| discrete, δ | a probability, if a lost event lies up to δ units of time before or after its *true* time |
| …, raw | the same, without normalization for impossible choices |

An answer is *yes* if its probability is larger than a threshold, 0.5 unless stated otherwise, and correct if it is the
answer without losses. Each event is lost with the stated probability, independently, except the first and the last one
of a key. {sizes.pairs} pairs, seed 0; gaps between events are exponential with mean 5, unless others are named.
*Aligned* means that both keys begin and end together, *zero* that they begin together. The *worst k* is the one with
the lowest accuracy of possible worlds, so numbers at it are slightly too low; all methods are compared at that k."""


def _accuracy(levels: Mapping[str, list[Judged]], on_roads: Mapping[str, list[Judged]]) -> str:
    head = ["at the worst k", *(percent(loss) for loss in LOSSES[1:])]
    rows: list[list[object]] = []
    for name, by_loss in levels.items():
        methods = [WORLDS, STATIC, IGNORED]
        if name == "10 segments, aligned":
            methods += [one for delta in DISCRETE for one in (delta, f"{delta}, raw")]
        rows += [[f"{name}: {method}", *(share(one.right[method]) for one in by_loss[1:])] for method in methods]
        rows.append([f"{name}: k", *(one.k for one in by_loss[1:])])
    for name, by_loss in on_roads.items():
        rows += [
            [f"{name}: {method}", *(share(one.right[method]) for one in by_loss[1:])]
            for method in (WORLDS, STATIC, IGNORED)
        ]
        rows.append([f"{name}: k", *(one.k for one in by_loss[1:])])
    return f"""{table(head, rows)}

![accuracy over losses](lost-events-quality/accuracy.svg)

Without losses every method is correct. *Sectors* are pairs of congested sectors of a motorway, `BELOW_15` and
`BELOW_20`, for k up to 12; most of them never meet, or very often, and are easy to decide.

The discrete method has more information than the others: intervals around the true times. If δ is larger than the gaps,
as here, little of it remains. Normalized, its answers are close to those of possible worlds, because choices that
violate the order are removed and the rest is again spread uniformly over the window. Raw, nearly all mass is impossible
and almost nothing is detected."""


def _accuracy_picture(by_loss: list[Judged]) -> str:
    methods = (WORLDS, STATIC, IGNORED, "discrete, 30", "discrete, 30, raw")
    curves = {name: [(100 * one.share, one.right[name]) for one in by_loss] for name in methods}
    x = Axis("lost, %", 0, 40, tuple(range(0, 45, 10)))
    y = Axis("accuracy at the worst k", 0.4, 1.0, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    return svg("10 segments, aligned", x, y, curves)


def _by_k(one: Judged) -> str:
    methods = (WORLDS, STATIC, IGNORED, *DISCRETE)
    rows = [[method, *(share(number) for number in one.every_k[method])] for method in methods]
    k = range(1, len(one.every_k[WORLDS]) + 1)
    return f"""10 segments, aligned, {percent(one.share)} lost:

{table(["k", *k], rows)}

![accuracy over k](lost-events-quality/by_k.svg)

If nearly all pairs meet that often, or hardly any do, a method that errs in one direction is correct by accident."""


def _picture_by_k(one: Judged) -> str:
    curves = {method: list(enumerate(one.every_k[method].tolist(), start=1)) for method in (WORLDS, STATIC, IGNORED)}
    x = Axis("k", 1, 10, tuple(range(1, 11)))
    y = Axis("accuracy", 0.4, 1.0, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    return svg(f"10 segments, aligned, {percent(one.share)} lost", x, y, curves)


def _thresholds(levels: Mapping[str, list[Judged]]) -> str:
    rows = [[name, *(share(number) for number in swept(by_loss))] for name, by_loss in levels.items()]
    return f"""Accuracy of possible worlds by threshold, the mean over losses from 0 to 40 %, at the worst k of each:

{table(["threshold", *(f"{one:.1f}" for one in THRESHOLDS)], rows)}

![accuracy over thresholds](lost-events-quality/thresholds.svg)

Detected means above the threshold, so nothing is detected at 1.0."""


def _threshold_picture(levels: Mapping[str, list[Judged]]) -> str:
    curves = {name: list(zip(THRESHOLDS, swept(by_loss).tolist(), strict=True)) for name, by_loss in levels.items()}
    x = Axis("threshold", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1.0))
    y = Axis("mean accuracy at the worst k", 0.4, 1.0, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    return svg("Possible worlds", x, y, curves)


def _briers(levels: Mapping[str, list[Judged]]) -> str:
    head = ["Brier score at the worst k", *(percent(loss) for loss in LOSSES[1:])]
    rows = [
        [f"{name}: {method}", *(share(one.brier[method]) for one in by_loss[1:])]
        for name, by_loss in levels.items()
        for method in (WORLDS, STATIC, IGNORED)
    ]
    return table(head, rows)


def _calibration(sizes: Sizes) -> str:
    rows = []
    for loss in (0.1, 0.2, 0.4):
        found = calibrated(synthetic(sizes.calibration_pairs, n_segments=10, start="zero", seed=3), loss, seed=3)
        rows.append(_calibration_row(percent(loss), found))
    head = ["lost", "mean expected count", "true", "z", "k", "predicted → observed probability, in fifths (pairs)"]
    return f"""{sizes.calibration_pairs:,} pairs of 10 segments, zero, seed 3. The mean number of meetings by
probabilities and the true one, and the worst k in bins of probability; certain results are left out:

{table(head, rows)}

z is the difference in standard errors."""


def _calibration_row(name: str, found: Calibrated) -> list[object]:
    bins = ", ".join(f"{share(one.said)} → {share(one.happened)} ({one.n})" for one in found.bins)
    return [name, f"{found.predicted:.3f}", f"{found.true:.3f}", f"{found.z:+.1f}", found.k, bins]


def _laws(sizes: Sizes) -> str:
    rows: list[list[object]] = []
    for law in LAWS:
        workload = synthetic(sizes.calibration_pairs, n_segments=10, start="zero", gaps=law, seed=3)
        rows.append([law, *_under_law(workload, lambda loss, of=workload: calibrated_and_judged(of, loss))])
        if law in ERLANG:
            shape = ERLANG[law]
            few = synthetic(max(50, sizes.calibration_pairs // 8), n_segments=10, start="zero", gaps=law, seed=3)
            rows.append(
                [
                    f"{law}, declared `GAPS ERLANG {shape}`",
                    *_under_law(few, lambda loss, of=few, shape=shape: with_shape(of, loss, shape, seed=3)),
                ]
            )
    head = ["gaps", "squared variation found", "accuracy at 10/20/40 %", "mean expected count at 40 %", "true", "z"]
    n_few = max(50, sizes.calibration_pairs // 8)
    return f"""Lost events are distributed like arrivals of a Poisson process of any rate. What if arrivals are not?
10 segments, zero, {sizes.calibration_pairs:,} pairs, {n_few:,} where gaps are declared, seed 3, at the worst k of each:

{table(head, rows)}

Irregular gaps do little harm. Regular ones do: if events are nearly periodic, most answers are wrong at 40 %. The gaps
between recorded neighbors show it: `inkling.evaluators.relation.evaluator` warns if they vary clearly less than random
ones, and `GAPS ERLANG h` declares how regular they are."""


def calibrated_and_judged(workload: Workload, loss: float) -> tuple[float, Calibrated]:
    return judged(workload, loss, seed=3).right[WORLDS], calibrated(workload, loss, seed=3)


def _under_law(workload: Workload, measure: Callable[[float], tuple[float, Calibrated]]) -> list[object]:
    found = [measure(loss) for loss in (0.1, 0.2, 0.4)]
    kept = ~lost(workload.left, 0.4, seed=6)
    gaps = regularity(workload.left.key[kept], workload.left.number[kept], workload.left.time[kept])
    last = found[-1][1]
    return [
        "–" if gaps is None else f"{gaps.variation:.2f}",
        " / ".join(share(right) for right, _ in found),
        f"{last.predicted:.3f}",
        f"{last.true:.3f}",
        f"{last.z:+.0f}",
    ]


def _seeds(sizes: Sizes) -> str:
    rows = []
    for name, (n_segments, start) in DATA.items():
        found = {
            loss: [
                judged(synthetic(sizes.pairs, n_segments=n_segments, start=start, seed=seed), loss, seed=seed)
                for seed in SEEDS
            ]
            for loss in LOSSES[1:]
        }
        right = {loss: [one.right[WORLDS] for one in some] for loss, some in found.items()}
        ahead = {
            method: sum(
                one.right[WORLDS] > one.right[method] for loss, some in found.items() if loss >= least for one in some
            )
            for method, least in ((IGNORED, 0.05), (STATIC, 0.15))
        }
        n_ignored, n_static = (sum(loss >= least for loss in LOSSES[1:]) * len(SEEDS) for least in (0.05, 0.15))
        rows.append(
            [
                name,
                f"{share(min(right[0.1]))} – {share(max(right[0.1]))}",
                f"{share(min(right[0.4]))} – {share(max(right[0.4]))}",
                f"{ahead[IGNORED]} of {n_ignored}",
                f"{ahead[STATIC]} of {n_static}",
            ]
        )
    head = [
        "possible worlds",
        "at 10 %",
        "at 40 %",
        "better than ignored, from 5 % on",
        "better than static, from 15 % on",
    ]
    return f"""{len(SEEDS)} seeds, {sizes.pairs} pairs each, at the worst k:

{table(head, rows)}"""


def _selectivity(sizes: Sizes) -> str:
    rows: list[list[object]] = []
    for name, (n_segments, start) in DATA.items():
        counts = synthetic(sizes.selectivity_pairs, n_segments=n_segments, start=start, seed=1).counts
        rows.append([name, *(f"{100 * (counts >= k).mean():.1f}" for k in range(1, 13))])
    for name, given in SECTORS.items():
        counts = congested_pairs(given).counts
        n_all = len(pairs_of(given.n_sectors)[0])
        met = [(counts >= k).sum() for k in range(1, 13)]
        rows.append([f"{name}, of pairs of congested sectors", *(f"{100 * n / len(counts):.1f}" for n in met)])
        rows.append([f"{name}, of all pairs", *(f"{100 * n / n_all:.1f}" for n in met)])
    n_congested = [given.n_sectors - given.n_never for given in SECTORS.values()]
    n_pairs = " and ".join(f"{n * (n - 1) // 2:,}" for n in n_congested)
    return f"""Percent of pairs with at least k meetings without losses; {sizes.selectivity_pairs:,}
synthetic pairs, seed 1:

{table(["k", *range(1, 13)], rows)}

Of 19,900 pairs of sectors, {n_pairs} are pairs of congested ones."""


def _speed(speeds: Mapping[str, Mapping[float, float]], times_tree: float, tree_note: str) -> str:
    rows = [[name, *(quantity(by_loss[loss]) for loss in SHARES)] for name, by_loss in speeds.items()]
    here = machine()
    on = f"{here['processor'].split(',')[0]}; python {here['python']}, numba {here['numba']}"
    return f"""Events a second on one core: all events of both keys of every pair, lost or not. 10 segments, zero;
possible worlds answer all k at once. {on}.

{table(["lost", *(percent(loss) for loss in SHARES)], rows)}

![events a second over losses](lost-events-quality/speed.svg)

At 25 %, possible worlds take {quantity(times_tree)} times less time for all k than the tree of worlds, which enumerates
them, for one ({tree_note}). [Benchmarks](benchmarks.md) has goals, other sizes, and how cost grows with the events that
are lost at once."""


def _speed_picture(speeds: Mapping[str, Mapping[float, float]]) -> str:
    curves = {name: [(100 * loss, rate) for loss, rate in by_loss.items()] for name, by_loss in speeds.items()}
    x = Axis("lost, %", 0, 40, tuple(range(0, 45, 10)))
    y = Axis.of_powers("events/s", [rate for by_loss in speeds.values() for rate in by_loss.values()])
    return svg("10 segments, zero, one core", x, y, curves)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lost_quality", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few pairs; nothing is written down")
    quick = parser.parse_args().quick
    text, pictures = on_one_core(lambda: page(QUICK if quick else FULL))
    if quick:
        print(text)
        return
    PAGE.write_text(text)
    PICTURES.mkdir(exist_ok=True)
    for name, picture in pictures.items():
        (PICTURES / name).write_text(picture)
    print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
