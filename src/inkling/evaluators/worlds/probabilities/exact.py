"""Components of independent rows, and the enumeration of all worlds of components that have few.

A component is a set of rows of one key that can share a match. Different components are independent, so worlds are
enumerated per component: all combinations of the alternatives of its choices. The worlds of a component are numbered in
mixed radix: choice i takes alternative (w // stride[i]) % size[i] in world w. Lost events are enumerated by their order
among each other and the known times (Busany et al., SimpMatch, sections 3.1 and 3.2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa

from inkling.evaluators.worlds.streams.assignment import (
    OWN_TIME,
    Alternative,
    Alternatives,
    Weights,
    WeightType,
    WorldAssignment,
    listed,
)
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.evaluators.worlds.streams.world_stream import WorldStream
from inkling.io.normalize import END, START
from inkling.kernels.worlds.components import islands, multiply_weights, spread, strides
from inkling.meaning.lost_worlds import ALWAYS_THE_SAME, Gap, Intensity, Loss, cells_of, fill, with_hidden
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, row_hashes
from inkling.model.runs import ranges
from inkling.model.uncertainty import exact


@dataclass(frozen=True, slots=True)
class Components:
    """The component of each row, by stream; components are sorted by the hash of their key, then by time."""

    count: int
    of_rows: tuple[Ints, ...]
    keys: Hashes  # per component


def components_of(streams: Sequence[WorldStream], key: Sequence[str], reach: int | None) -> Components:
    """Connects rows of one key whose possible times lie within `reach` (None: no limit) of each other, transitively."""
    codes = [row_hashes((stream.rows[name] for name in key), len(stream.rows)) for stream in streams]
    extents = [stream.extents for stream in streams]
    code = np.concatenate(codes)
    low = np.concatenate([low for low, _ in extents])
    high = np.concatenate([high for _, high in extents])
    order = np.lexsort((low, code))
    number = np.empty(len(code), np.int64)
    number[order] = islands(code[order], low[order], high[order], -1 if reach is None else reach)
    borders = np.cumsum([len(one) for one in codes])[:-1]
    _, first = np.unique(number, return_index=True)
    return Components(len(first), tuple(np.split(number, borders)), code[first])


ORDERS_PER_WORLD = 16
"""The limit on orders of points that are looked at, hidden ones included, per world that may be enumerated."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Per component, the number of its worlds (infinite: too many to enumerate), and the orders of its lost events."""

    n_worlds: np.ndarray
    lost: dict[int, list[Alternative]]  # by component, where lost events are enumerated


@dataclass(frozen=True, slots=True)
class Enumerated:
    """The worlds of all enumerated components, numbered consecutively: their rows and probabilities."""

    assignment: tuple[WorldAssignment, ...]  # per stream
    weights: Weights
    components: Ints  # of each world


def count_worlds(
    streams: Sequence[WorldStream], parts: Components, limit: int, scale: int, *, order_only: bool
) -> Choices:
    """The number of worlds of each component.

    Lost events are enumerated only if results depend on their order alone.
    """
    n_worlds = np.ones(parts.count)
    for stream, component in zip(streams, parts.of_rows, strict=True):
        if isinstance(stream, ImpreciseStream | ProbableStream) and len(stream.rows):
            with np.errstate(over="ignore"):  # an overflow to infinity is too many
                np.multiply.at(n_worlds, _component_of_factors(stream, component), stream.n_alternatives(limit))
    n_worlds[n_worlds > limit] = np.inf
    lost: dict[int, list[Alternative]] = {}
    endless = _components_without_borders(streams, parts)
    for number in _components_with_losses(streams, parts):
        if not order_only or not np.isfinite(n_worlds[number]) or number in endless:
            n_worlds[number] = np.inf
            continue
        most = int(limit // n_worlds[number])
        found = _at_most(most, _lost_alternatives(streams, parts, number, scale))
        if found is None:
            n_worlds[number] = np.inf
        else:
            n_worlds[number] *= len(found)
            lost[number] = found
    return Choices(n_worlds, lost)


def enumerate_worlds(
    streams: Sequence[WorldStream], parts: Components, choices: Choices, scale: int, numbers: WeightType
) -> Enumerated:
    """All worlds of the components that have finitely many."""
    chosen = np.isfinite(choices.n_worlds)
    drawn = [
        _of_stream(stream, number, parts, choices, chosen, scale, numbers) for number, stream in enumerate(streams)
    ]
    lossy = _of_losses(streams, choices, numbers)
    component = np.concatenate([*(one for one, _ in drawn), np.array(sorted(choices.lost), np.int64)])
    sizes = np.concatenate([*(found.sizes for _, found in drawn), lossy[0].sizes])
    stride = strides(component, sizes, parts.count)
    n_worlds = chosen.astype(np.int64)
    np.multiply.at(n_worlds, component, sizes)
    first = np.cumsum(n_worlds) - n_worlds
    weights = _weights([*(found for _, found in drawn), lossy[0]], component, stride, sizes, first, n_worlds, numbers)
    assignment, passed = [], 0
    offset = sum(len(one) for one, _ in drawn)
    for number, (stream, (own, found)) in enumerate(zip(streams, drawn, strict=True)):
        here = stride[passed : passed + len(own)]
        passed += len(own)
        rows = [_spread(found, own, here, first, n_worlds), _always(stream, parts.of_rows[number], first, n_worlds)]
        if isinstance(stream, LossyStream):
            mine = lossy[0] if len(lossy[1]) == 0 else _only(lossy[0], lossy[1] == number)
            rows.append(_spread(mine, component[offset:], stride[offset:], first, n_worlds))
        assignment.append(_joined(rows))
    return Enumerated(tuple(assignment), weights, np.repeat(np.arange(parts.count), n_worlds))


def _component_of_factors(stream: WorldStream, component: Ints) -> Ints:
    factors = stream.factors
    mine = factors >= 0
    found = np.empty(int(factors.max()) + 1 if mine.any() else 0, np.int64)
    found[factors[mine]] = component[mine]
    return found


def _components_with_losses(streams: Sequence[WorldStream], parts: Components) -> list[int]:
    lost = [
        component[stream.n_recorded :]
        for stream, component in zip(streams, parts.of_rows, strict=True)
        if isinstance(stream, LossyStream)
    ]
    return np.unique(np.concatenate(lost)).tolist() if lost else []


def _components_without_borders(streams: Sequence[WorldStream], parts: Components) -> set[int]:
    """Components with gaps that only a rate limits: the orders of their lost events are infinite in number."""
    found: set[int] = set()
    for stream, component in zip(streams, parts.of_rows, strict=True):
        if isinstance(stream, LossyStream):
            found.update(component[stream.gaps[:-1][~stream.is_limited]].tolist())
    return found


def _at_most(most: int, orders: Iterator[Alternative | None]) -> list[Alternative] | None:
    """The distinct assignments with their total probabilities; None if there are more than `most`.

    Orders that differ only in hidden points have the same assignment, so more orders than assignments are looked at.
    """
    found: dict[tuple[tuple[int, int], ...], Fraction] = {}
    for n_orders, one in enumerate(orders):
        if one is None or n_orders >= ORDERS_PER_WORLD * most:
            return None
        found[one.assignment] = found.get(one.assignment, Fraction(0)) + one.weight
        if len(found) > most:
            return None
    return [Alternative(weight, assignment) for assignment, weight in found.items()]


def _of_stream(
    stream: WorldStream,
    number: int,
    parts: Components,
    choices: Choices,
    chosen: np.ndarray,
    scale: int,
    numbers: WeightType,
) -> tuple[Ints, Alternatives]:
    """The component of each choice of a stream in the chosen components, and the alternatives of these choices."""
    if not isinstance(stream, ImpreciseStream | ProbableStream) or not len(stream.rows):
        return np.empty(0, np.int64), listed([], numbers)
    component = _component_of_factors(stream, parts.of_rows[number])
    factors = np.flatnonzero(chosen[component])
    return component[factors], stream.alternatives(factors, scale, numbers)


def _lost_alternatives(
    streams: Sequence[WorldStream], parts: Components, component: int, scale: int
) -> Iterator[Alternative | None]:
    """All orders of the lost events of a component among each other and the possible times of its other events.

    Rows are numbered over all streams. None: an order with more events between two times than there are moments.
    """
    gaps: list[Gap] = []
    times: set[int] = set()
    before = 0
    for stream, mine in zip(streams, parts.of_rows, strict=True):
        here = np.flatnonzero(mine == component)
        if isinstance(stream, LossyStream):
            recorded = here[here < stream.n_recorded]
            for gap in np.unique(stream.factors[here[here >= stream.n_recorded]]).tolist():
                lost = range(int(stream.gaps[gap]), int(stream.gaps[gap + 1]))
                losses = with_hidden((Loss(0, {"row": before + row}) for row in lost), stream.shape)
                lo, hi = Fraction(int(stream.low[gap])), Fraction(int(stream.high[gap]))
                gaps.append(Gap(lo, hi, losses, _intensity(stream)))
            times |= _times(stream.rows, recorded)
        elif isinstance(stream, ImpreciseStream):
            low, high = stream.extents
            times |= {tick for row in here for tick in range(int(low[row]), int(high[row]) + 1, stream.step)}
        else:
            times |= _times(stream.rows, here)
        before += len(stream.rows)
    cells = cells_of(gaps, map(Fraction, times))
    density = prod((gap.density for gap in gaps), start=Fraction(1))
    taken = {time * scale for time in times}
    for volume, assignment in fill(cells, gaps):
        rows = tuple((_row(loss), int(time * scale)) for time, loss in assignment)
        moments = {moment for _, moment in rows}
        is_crowded = len(moments) < len(rows) or not moments.isdisjoint(taken)
        yield None if is_crowded else Alternative(density * volume, rows)


def _intensity(stream: LossyStream) -> Intensity:
    """The rates of a stream as fractions."""
    if stream.axis is None:
        return ALWAYS_THE_SAME
    rates = zip(stream.axis.since.tolist(), stream.axis.rate.tolist(), strict=True)
    return Intensity(tuple((Fraction(since), exact(rate)) for since, rate in rates))


def _row(loss: Loss) -> int:
    row = loss.row["row"]
    assert isinstance(row, int)
    return row


def _times(rows: pa.Table, here: Ints) -> set[int]:
    return {int(time) for name in (START, END) for time in rows[name].to_numpy()[here]}


def _of_losses(streams: Sequence[WorldStream], choices: Choices, numbers: WeightType) -> tuple[Alternatives, Ints]:
    """The alternatives of lost events, with row numbers within their stream, and the stream of each row."""
    found = listed((choices.lost[component] for component in sorted(choices.lost)), numbers)
    borders = np.cumsum([len(stream.rows) for stream in streams])
    stream = np.searchsorted(borders, found.rows, side="right")
    own = found.rows - np.concatenate([[0], borders])[stream]
    return Alternatives(found.sizes, found.weights, found.n_placed, own, found.times), stream


def _only(found: Alternatives, kept: np.ndarray) -> Alternatives:
    """The alternatives with only some of their rows."""
    alternative = np.repeat(np.arange(len(found.n_placed)), found.n_placed)[kept]
    n_placed = np.bincount(alternative, minlength=len(found.n_placed))
    return Alternatives(found.sizes, found.weights, n_placed, found.rows[kept], found.times[kept])


def _weights(
    found: Sequence[Alternatives],
    component: Ints,
    stride: Ints,
    sizes: Ints,
    first: Ints,
    n_worlds: Ints,
    numbers: WeightType,
) -> Weights:
    chances = np.concatenate([one.weights for one in found])
    alternatives = np.cumsum(sizes) - sizes
    total = int(n_worlds.sum())
    if numbers is WeightType.FLOAT:
        weights = np.ones(total)
        multiply_weights(weights, component, stride, sizes, alternatives, chances.astype(np.float64), first, n_worlds)
        return weights
    exact = np.empty(total, object)
    exact[:] = Fraction(1)
    for i, c in enumerate(component):
        for w in range(n_worlds[c]):
            exact[first[c] + w] *= chances[alternatives[i] + (w // stride[i]) % sizes[i]]
    return exact


def _spread(found: Alternatives, component: Ints, stride: Ints, first: Ints, n_worlds: Ints) -> WorldAssignment:
    alternatives = np.cumsum(found.sizes) - found.sizes
    assignment = np.concatenate([[0], np.cumsum(found.n_placed)])
    return WorldAssignment(
        *spread(component, stride, found.sizes, alternatives, assignment, found.rows, found.times, first, n_worlds)
    )


def _always(stream: WorldStream, component: Ints, first: Ints, n_worlds: Ints) -> WorldAssignment:
    """Certain rows, in all worlds of their component."""
    rows = np.flatnonzero(stream.factors < 0)
    times = n_worlds[component[rows]]
    world = ranges(first[component[rows]], times)
    return WorldAssignment(np.repeat(rows, times), world, np.full(len(world), OWN_TIME))


def _joined(parts: Sequence[WorldAssignment]) -> WorldAssignment:
    return WorldAssignment(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.worlds for part in parts]),
        np.concatenate([part.times for part in parts if part.times is not None]),
    )
