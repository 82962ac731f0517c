"""Streams whose past changes, in this process: what it costs to be able to revise, and what a revision costs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tests.kit.revision_streams import (
    Arrivals,
    Disorder,
    arrivals,
    chain,
    corrected_prices,
    pairs,
    prices,
    rises_and_links,
)

import inkling
from benchmarks.meter import Measured, best_of, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes

LEAST_WITH_REVISION = 0.6
LEAST_WHEN_LATE = 0.4
MOST_WITHDRAWING_S = 0.5
MOST_GROWTH = 1.25

LATENESS, KEPT = 1_000, 50_000
LEVELS, LINKS = 10, 50_000
FOR_EVER = 1 << 40
NEVER_SENT = "the rows that stand in the end, revision off"
OFF, IN_ORDER = "revision off", "rows in order"

PATTERNS = {
    "SEQ": "PATTERN SEQ(A a, B b) WITHIN 100 TICKS PARTITION BY k",
    "AND": "PATTERN A a AND B b WITHIN 100 TICKS PARTITION BY k",
    "OR": "PATTERN A a OR B b PARTITION BY k",
    "NOT": "PATTERN SEQ(A a, NOT C c, B b) WITHIN 100 TICKS PARTITION BY k",
    "automaton": "PATTERN SEQ NEXT(A a, B b) PARTITION BY k PER END",
}
PER_ID, SHARE_C = 4, 0.1

Pushes = list[dict[str, pa.Table]]


def able_to_revise(sizes: Sizes) -> Iterator[Row]:
    """W10 without withdrawals: the same rows, to programs that could take them back and to programs that could not."""
    data = pairs(sizes.push_events, sizes.seed, SHARE_C, PER_ID)
    for name, pattern in PATTERNS.items():
        for size in (sizes.push_events // 100, sizes.push_events // 10):
            sent = _pushes({one: arrivals(rows, Disorder(), sizes.seed, one) for one, rows in data.items()}, size)
            own, off = _both(_pairs(pattern, f"OP op FOR {KEPT} TICKS"), sent, _pairs(pattern), sent, sizes)
            yield _row(
                f"W10, {name}, no withdrawals, pushes of {quantity(size)}",
                f"{quantity(sizes.push_events)} events, {PER_ID} per key",
                own,
                sizes.push_events,
                Baseline.of(OFF, off),
                Goal("share of its throughput", off.cpu_seconds / own.cpu_seconds, least=LEAST_WITH_REVISION),
            )


def withdrawals(sizes: Sizes) -> Iterator[Row]:
    """W10 with withdrawals of one operand."""
    data = pairs(sizes.push_events, sizes.seed, SHARE_C, PER_ID)
    for name, stream in (("SEQ", "A"), ("SEQ", "B"), ("AND", "A"), ("NOT", "C")):
        for share in (0.05, 0.2):
            disorder = {stream: Disorder(withdrawn=share, most_kept=KEPT // 2)}
            found = {one: arrivals(rows, disorder.get(one, Disorder()), sizes.seed, one) for one, rows in data.items()}
            size = sizes.push_events // 100
            pattern = PATTERNS[name]
            own, off = _both(
                _pairs(pattern, f"OP op FOR {KEPT} TICKS"),
                _pushes(found, size),
                _pairs(pattern),
                _standing(found, size),
                sizes,
            )
            yield _row(
                f"W10, {name}, {share:.0%} of {stream} withdrawn",
                f"{quantity(sizes.push_events)} events, {PER_ID} per key, pushes of {quantity(size)}",
                own,
                sizes.push_events,
                Baseline.of(NEVER_SENT, off),
            )


def chains(sizes: Sizes) -> Iterator[Row]:
    """W11: everything that depends on one event is withdrawn with it."""
    links = min(LINKS, sizes.push_events // 20)
    program = _chain()
    for others in (0, sizes.push_events):
        n = links // LEVELS * LEVELS
        _withdrawn(program, 10, 10)
        runs = [_withdrawn(program, links // LEVELS, others) for _ in range(sizes.repeats)]
        derived, gone = (min(some, key=lambda one: one.seconds) for some in zip(*runs, strict=True))
        stored = f", among {quantity(others)} events of other keys" if others else ""
        yield Row(
            f"W11, {quantity(n)} derived events withdrawn{stored}",
            f"{LEVELS} levels of events on one event",
            gone.seconds,
            gone.cpu_seconds,
            n,
            f"{quantity(n)} withdrawn",
            (Baseline.of("deriving them", derived),),
            (Goal("seconds", gone.seconds, most=MOST_WITHDRAWING_S),),
        )


def revision_windows(sizes: Sizes) -> Iterator[Row]:
    """W12: a hundredth of the events is withdrawn, from programs that remember them longer and longer."""
    events = min(50_000, sizes.push_events)
    data = pairs(events, sizes.seed, per_id=PER_ID)
    size = max(100, events // 100)
    first: Measured[int] | None = None
    for kept in (LATENESS, 5_000, 20_000, 50_000, FOR_EVER):
        disorder = Disorder(withdrawn=0.01, most_kept=LATENESS // 2)
        found = {name: arrivals(rows, disorder, sizes.seed, name) for name, rows in data.items()}
        sent = _pushes(found, size)
        (own,) = best_of(sizes.repeats, partial(_push_all, _pairs(PATTERNS["SEQ"], f"OP op FOR {kept} TICKS"), sent))
        first = first or own
        if own.answer != first.answer:
            raise AssertionError(f"windows disagree: {own.answer} and {first.answer}")
        yield _row(
            "W12, events are kept " + (f"for {quantity(kept)} ticks" if kept < FOR_EVER else "for ever"),
            f"{quantity(events)} events, 1 % withdrawn, pushes of {quantity(size)}",
            own,
            events,
            Baseline.of(f"for {quantity(LATENESS)} ticks", first),
        )


def price_pairs(sizes: Sizes) -> Iterator[Row]:
    """W13: prices that are corrected, each by a withdrawal and a row with a new id; then late as well."""
    events = min(20_000, sizes.push_events)
    rows = prices(events, sizes.seed)
    pattern = "PATTERN SEQ(Stock a, Stock b[price > 1.05 * a.price]) WITHIN 20 TICKS PARTITION BY symbol"
    for late in (0.0, 0.1):
        first = arrivals(rows, Disorder(late, LATENESS // 2, 0.05, LATENESS // 2), sizes.seed)
        news = corrected_prices(rows, 0.05, sizes.seed)
        second = arrivals(news, Disorder(1.0, LATENESS // 2), sizes.seed, "corrected")
        both = _merged(first, second)
        own, off = _both(
            _prices(pattern, f"SPECULATIVE OP op FOR {KEPT} TICKS"),
            _pushes({"Stock": both}, 1_000),
            _prices(pattern),
            _standing({"Stock": both}, 1_000),
            sizes,
        )
        yield _row(
            f"W13, prices of which 5 % are corrected{', 10 % late' if late else ''}",
            f"{quantity(events)} prices of one key, pushes of 1 k",
            own,
            events,
            Baseline.of(NEVER_SENT, off),
        )


def late_rows(sizes: Sizes) -> Iterator[Row]:
    """W14: price rises of more than a fifth, told at once; a share of the rows comes late."""
    events = min(100_000, sizes.push_events)
    symbols = 100
    rows = prices(events, sizes.seed, symbols, step=0.05)
    window = 20 * symbols
    pattern = f"PATTERN SEQ(Stock a, Stock b[price > 1.2 * a.price]) WITHIN {window} TICKS PARTITION BY symbol"
    for share, size in itertools.product((0.1, 0.33), (events // 100, events // 10)):
        late = arrivals(rows, Disorder(share, LATENESS), sizes.seed)
        program = _prices(pattern, "SPECULATIVE")
        calls = {
            "": partial(_push_all, program, _pushes({"Stock": late}, size)),
            IN_ORDER: partial(_push_all, program, _standing({"Stock": late}, size)),
            f"{IN_ORDER}, {OFF}": partial(_push_all, _prices(pattern), _standing({"Stock": late}, size)),
        }
        own, *others = best_of(sizes.repeats, *calls.values())
        _require_same(own, *others)
        ratio = others[0].cpu_seconds / own.cpu_seconds
        yield Row(
            f"W14, {share:.0%} of prices late, pushes of {quantity(size)}",
            f"{quantity(events)} prices of {symbols} keys, up to {LATENESS} ticks late",
            own.seconds,
            own.cpu_seconds,
            events,
            f"{quantity(own.answer)} results",
            tuple(Baseline.of(name, one) for name, one in zip(list(calls)[1:], others, strict=True)),
            (Goal("share of the throughput in order", ratio, least=LEAST_WHEN_LATE),) if share > 0.3 else (),
        )


def links_as_events(sizes: Sizes) -> Iterator[Row]:
    """W15: rises along links that are events themselves, a fifth of everything late; no key divides them."""
    events = min(20_000, sizes.push_events)
    for links in (100, 1_000):
        data = rises_and_links(events, links, sizes.seed)
        found = {name: arrivals(rows, Disorder(0.2, LATENESS), sizes.seed, name) for name, rows in data.items()}
        program = _linked("SPECULATIVE")
        own, ordered = _both(program, _pushes(found, 1_000), program, _standing(found, 1_000), sizes)
        yield _row(
            f"W15, {quantity(links)} links as events, 20 % late",
            f"{quantity(events)} rises, pushes of 1 k",
            own,
            events,
            Baseline.of(IN_ORDER, ordered),
        )


def memory(sizes: Sizes) -> Iterator[Row]:
    """What is kept for revisions after a quarter of a long stream, and at its end."""
    events = sizes.push_events
    data = pairs(events, sizes.seed, SHARE_C, PER_ID)
    disorder = Disorder(0.1, LATENESS, 0.02, KEPT // 10)
    found = {name: arrivals(rows, disorder, sizes.seed, name) for name, rows in data.items()}
    kept = max(LATENESS, events // 20)
    sent = _pushes(found, events // 100)
    stream = _pairs(PATTERNS["NOT"], f"SPECULATIVE OP op FOR {kept} TICKS").open()
    held = []

    def push_all() -> int:
        for push in sent:
            stream.push(push)
            held.append(len(stream.snapshot()))
        return len(held)

    cost = measured(push_all)
    quarter = len(held) // 4
    early, late = max(held[quarter // 2 : quarter]), max(held[-quarter:])
    yield Row(
        "bytes kept for revisions on a long stream",
        f"{quantity(events)} events, kept for {quantity(kept)} ticks",
        cost.seconds,
        cost.cpu_seconds,
        events,
        f"{quantity(late)}B at the end",
        goals=(Goal("× those in the first quarter", late / early, most=MOST_GROWTH),),
    )


def _row(name: str, data: str, own: Measured[int], events: int, baseline: Baseline, *goals: Goal) -> Row:
    found = f"{quantity(own.answer)} results"
    return Row(name, data, own.seconds, own.cpu_seconds, events, found, (baseline,), goals)


def _both(
    program: inkling.Program, pushes: Pushes, other: inkling.Program, others: Pushes, sizes: Sizes
) -> list[Measured[int]]:
    found = best_of(sizes.repeats, partial(_push_all, program, pushes), partial(_push_all, other, others))
    _require_same(*found)
    return found


def _require_same(*found: Measured[int]) -> None:
    if len({one.answer for one in found}) != 1:
        raise AssertionError(f"the ways to the results disagree: {[one.answer for one in found]}")


def _push_all(program: inkling.Program, pushes: Pushes) -> int:
    """Results that stand in the end."""
    stream = program.open(unbounded=True)
    return sum(_net(stream.push(push)) for push in pushes) + _net(stream.finish())


def _net(found: inkling.Found) -> int:
    """Results that were told, less those that were taken back."""
    return sum(2 * _n_added(table) - len(table) for table in found.tables.values())


def _n_added(table: pa.Table) -> int:
    return int(pc.sum(pc.equal(table["op"], "+")).as_py() or 0)


def _pushes(streams: Mapping[str, Arrivals], size: int) -> Pushes:
    """What arrives in each stretch of as many ticks."""
    last = max(int(one.moments.max(initial=0)) for one in streams.values())
    borders = np.arange(0, last + size, size)
    cuts = {name: np.searchsorted(one.moments, borders) for name, one in streams.items()}
    return [
        {name: one.rows.slice(cuts[name][n], cuts[name][n + 1] - cuts[name][n]) for name, one in streams.items()}
        for n in range(len(borders) - 1)
    ]


def _standing(streams: Mapping[str, Arrivals], size: int) -> Pushes:
    """The rows that stand in the end, in the order of their times."""
    calm = {name: arrivals(one.standing, Disorder(), 0) for name, one in streams.items()}
    return _pushes(calm, size)


def _merged(one: Arrivals, other: Arrivals) -> Arrivals:
    moments = np.concatenate([one.moments, other.moments])
    order = np.argsort(moments, kind="stable")
    rows = pa.concat_tables([one.rows, other.rows]).take(pa.array(order)).combine_chunks()
    standing = pa.concat_tables([one.standing, other.standing]).sort_by("t")
    return Arrivals(rows, moments[order], standing)


def _pairs(pattern: str, option: str = "") -> inkling.Program:
    streams = (f"STREAM {name}(id BIGINT, k BIGINT, t BIGINT, op STRING) {_options('k', option)}" for name in "ABC")
    return inkling.parse("\n".join([*streams, f"EVENT found(k) AS {pattern};"]))


def _prices(pattern: str, option: str = "") -> inkling.Program:
    stream = "STREAM Stock(id BIGINT, symbol BIGINT, t BIGINT, price DOUBLE, op STRING)"
    return inkling.parse(f"{stream} {_options('symbol', option)}\nEVENT found(symbol) AS {pattern};")


def _linked(option: str) -> inkling.Program:
    return inkling.parse(
        f"STREAM Rise(id BIGINT, company BIGINT, t BIGINT, op STRING) {_options('', option)}"
        f"STREAM Link(id BIGINT, supplier BIGINT, customer BIGINT, t BIGINT, op STRING) {_options('', option)}"
        "EVENT found AS PATTERN SEQ(Link l, Rise a[company = l.supplier], Rise b[company = l.customer])"
        " WITHIN 500 TICKS;"
    )


def _options(key: str, option: str) -> str:
    by = f"KEY {key} " if key else ""
    return f"ID id {by}TIME t LATENESS {LATENESS} TICKS {option};"


def _chain() -> inkling.Program:
    options = _options("k", f"SPECULATIVE OP op FOR {FOR_EVER} TICKS")
    streams = (f"STREAM {name}(id BIGINT, k BIGINT, t BIGINT, op STRING) {options}" for name in ("Start", "Tick"))
    first = "EVENT e0(k) AS PATTERN SEQ(Start s, Tick y) PARTITION BY k;"
    rest = (f"EVENT e{level}(k) AS PATTERN e{level - 1} x PARTITION BY k;" for level in range(1, LEVELS))
    return inkling.parse("\n".join([*streams, first, *rest]))


def _withdrawn(program: inkling.Program, links: int, others: int) -> tuple[Measured[int], Measured[int]]:
    """What it costs to derive events, and to withdraw them after the others have come."""
    stream = program.open(unbounded=True)
    rows = {name: arrivals(one, Disorder(), 0).rows for name, one in chain(links, others).items()}
    derived = measured(partial(_pushed, stream, {"Start": rows["Start"], "Tick": rows["Tick"]}))
    for first in range(0, others, 100_000):
        stream.push({"Tick": rows["Other"].slice(first, 100_000)})
    back = rows["Start"].set_column(rows["Start"].column_names.index("op"), "op", pa.array(["-"]))
    gone = measured(partial(_pushed, stream, {"Start": back}))
    if derived.answer != links * LEVELS or gone.answer != -links * LEVELS:
        raise AssertionError(f"{derived.answer} derived, {gone.answer} withdrawn")
    return derived, gone


def _pushed(stream: inkling.LocalStream, rows: dict[str, pa.Table]) -> int:
    return _net(stream.push(rows))


BENCHMARKS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "revision: able to revise": able_to_revise,
    "revision: withdrawals": withdrawals,
    "revision: chains": chains,
    "revision: windows": revision_windows,
    "revision: price pairs": price_pairs,
    "revision: late rows": late_rows,
    "revision: links": links_as_events,
    "revision: memory": memory,
}
