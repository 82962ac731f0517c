"""Published cases, and values counted one by one, through the example programs about intervals and knowledge."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from tests.kit.arrow import arrow_tables

from inkling import Program, load
from inkling.results import Results
from inkling.scenarios import Truth, generate, scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("traffic", "alarms", "heat", "stocks", "supply_chain")
NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
KMH_PER_MPH = 1.609344
HOUR, DAY = 60, 24 * 60
EVENTS, SEED = 4_000, 4

Rows = Sequence[Mapping[str, object]]


@cache
def example(name: str) -> Program:
    return load(EXAMPLES / name / f"{name}.ink")


def told(columns: str, *rows: tuple[object, ...]) -> Rows:
    """Rows from tuples; `t` counts minutes."""
    return [dict(zip(columns.split(), row, strict=True)) for row in rows]


def found(
    name: str, streams: Mapping[str, Rows], tables: Mapping[str, Rows], event: str, columns: str
) -> list[tuple[object, ...]]:
    """Columns of an event's results, in order."""
    program = example(name)
    inputs = {
        stream: pa.Table.from_pylist([_row(stream, n, row) for n, row in enumerate(streams.get(stream, ()))], schema)
        for stream, schema in scenario(name, events=1).streams.items()
    }
    results = program.run_local(inputs, arrow_tables(program.plan, tables))
    assert results.rejects.num_rows == 0
    table = results.tables[event].to_pylist()
    return sorted(tuple(_minutes(row[column]) for column in columns.split()) for row in table)


def _row(stream: str, n: int, row: Mapping[str, object]) -> dict[str, object]:
    id = n if stream in ("Reading", "Observation", "Felt", "Tick", "Quote") else f"{stream}{n}"
    return {**row, "id": id, "t": NOON + timedelta(minutes=float(str(row["t"])))}


def _minutes(value: object) -> object:
    return (value - NOON) / timedelta(minutes=1) if isinstance(value, datetime) else value


def box(left: int, right: int, low: int, high: int) -> str:
    return f"POLYGON(({left} {low}, {right} {low}, {right} {high}, {left} {high}, {left} {low}))"


ROADS = {
    "limits": told("road slow", *((road, KMH_PER_MPH * mph) for road, mph in (("rd1", 40), ("rd2", 30), ("rd3", 50)))),
    "areas": told(
        "area shape",
        ("a1", box(4042, 4045, 7358, 7361)),
        ("a2", box(4045, 4048, 7361, 7363)),
        ("a3", box(4048, 4051, 7363, 7365)),
    ),
    "flows": told("area next", ("a1", "a2"), ("a2", "a3")),
    "subscribers": told("name road", ("radio", "rd1"), ("police", "rd1")),
}


def readings(*rows: tuple[float, str, float, float, float]) -> dict[str, Rows]:
    return {"Reading": told("t road mph x y", *rows)}


PUBLISHED_READINGS = readings(
    (0, "rd1", 35, 4043, 7359),
    (20, "rd1", 30, 4044, 7360),
    (25, "rd1", 45, 4044, 7360),
    (30, "rd1", 20, 4046, 7362),
    (55, "rd1", 20, 4043, 7360),
)


def test_O31_a_bottleneck_is_slow_twice_in_one_area() -> None:
    assert found("traffic", PUBLISHED_READINGS, ROADS, "bottleneck", "area road start end") == [("a1", "rd1", 0, 20)]


def test_a_jam_grows_against_the_traffic_only() -> None:
    onward = found("traffic", PUBLISHED_READINGS, ROADS, "growing", "origin area start end")
    assert onward == [("a2", "a1", 30, 55)]
    back_and_back = readings((0, "rd3", 9, 4049, 7364), (5, "rd3", 9, 4046, 7362), (30, "rd3", 9, 4043, 7359))
    grown = [("a2", "a1", 5, 30), ("a3", "a1", 0, 30), ("a3", "a2", 0, 5)]
    assert found("traffic", back_and_back, ROADS, "growing", "origin area start end") == grown


@pytest.mark.parametrize(("x", "y"), [(4042, 7359), (4045, 7361), (4043, 7361), (4043, 7358)])
def test_borders_of_areas_are_open(x: float, y: float) -> None:
    on_border = readings((0, "rd1", 9, x, y), (1, "rd1", 9, x, y))
    assert found("traffic", on_border, ROADS, "speed", "road") == [("rd1",), ("rd1",)]
    assert found("traffic", on_border, ROADS, "located", "road") == []


def test_a_notice_for_every_subscriber() -> None:
    heard = found("traffic", PUBLISHED_READINGS, ROADS, "notice", "name area end")
    slow = (("a1", 0), ("a1", 20), ("a1", 55), ("a2", 30))
    assert heard == [(name, *one) for name in ("police", "radio") for one in slow]


KINDS = {
    "kinds": told(
        "kind parent",
        *(("diablo", "foehn"), ("sundowner", "foehn"), ("foehn", "wind"), ("wind", "weather"), ("rain", "weather")),
    )
}


def test_O41_wind_by_any_name_fans_a_fire() -> None:
    seen = told(
        "t place kind speed",
        *((120, "l", "diablo", 60.0), (150, "l", "rain", 3.0), (120, "m", "sundowner", 40.0)),
        (240, "l", "sundowner", 40.0),
    )
    streams = {"Fire": told("t place", (0, "l")), "Observation": seen}
    assert found("alarms", streams, KINDS, "fanned_fire", "place start end") == [("l", 0, 120)]


def test_O28_wind_rises_by_more_than_a_tenth() -> None:
    seen = told("t place kind speed", *((n, "k", "rain", speed) for n, speed in ((1, 10.0), (2, 11.0), (3, 11.5))))
    assert found("alarms", {"Observation": seen}, {}, "rising_wind", "place speed start end") == [("k", 11.5, 1, 3)]


def test_O22_the_first_brigade_attends_a_fire() -> None:
    arrivals = told("t place brigade", (4, "l", "b1"), (9, "l", "b2"))
    streams = {"Fire": told("t place", (1, "l")), "Arrival": arrivals}
    assert found("alarms", streams, {}, "attended", "place brigade start end") == [("l", "b1", 1, 4)]


@pytest.mark.parametrize(("arrival", "is_late"), [(89, False), (90, True), (91, True)])
def test_a_fire_is_unattended_after_an_hour_and_a_half(arrival: int, is_late: bool) -> None:
    streams = {"Fire": told("t place", (0, "l")), "Arrival": told("t place brigade", (arrival, "l", "b1"))}
    assert found("alarms", streams, {}, "unattended", "place start end") == [("l", 0, 90)] * is_late


STATIONS = {
    "stations": told("station x y", ("s1", 4045.0, 7360.0), ("s2", 4042.0, 7360.0)),
    "areas": told("area west east south north", ("north", 4042.0, 4049.0, 7358.0, 7370.0)),
    "notes": told(
        "note low high",
        *(("Caution", 80.0, 90.0), ("ExtremeCaution", 90.0, 105.0), ("Danger", 105.0, 130.0)),
        ("ExtremeDanger", 130.0, 1000.0),
    ),
}


def test_O42_notes_of_heat_indexes() -> None:
    felt = told("t station fahrenheit", *((n, "s1", f) for n, f in enumerate((79.9, 80, 89.9, 90, 105, 129, 130))))
    noted = found("heat", {"Felt": felt}, STATIONS, "effect", "fahrenheit note area")
    names = ("Caution", "Caution", "ExtremeCaution", "Danger", "Danger", "ExtremeDanger")
    assert noted == [(f, note, "north") for f, note in zip((80, 89.9, 90, 105, 129, 130), names, strict=True)]


def test_a_station_on_a_border_is_in_no_area() -> None:
    assert found("heat", {"Felt": told("t station fahrenheit", (0, "s2", 95.0))}, STATIONS, "effect", "note") == []


def test_an_index_from_temperature_and_humidity_of_the_same_half_hour() -> None:
    """The table of the National Weather Service says 121 for 96 degrees at 65 percent."""
    streams = {
        "Temperature": told("t station fahrenheit", (0, "s1", 96.0), (100, "s1", 96.0)),
        "Humidity": told("t station percent", (30, "s1", 65.0), (131, "s1", 65.0), (0, "s2", 65.0)),
    }
    ((index, start, end),) = found("heat", streams, STATIONS, "heat_index", "fahrenheit start end")
    assert index == pytest.approx(121.0, abs=0.5)
    assert (start, end) == (0, 30)


def ticks(*prices: float, symbol: str = "goog") -> dict[str, Rows]:
    """A price a day, from day 1 on."""
    return {"Tick": told("t symbol usd", *((day * DAY, symbol, usd) for day, usd in enumerate(prices, start=1)))}


def days(results: Iterable[tuple[object, ...]]) -> list[tuple[float, ...]]:
    return [tuple(float(str(minutes)) / DAY for minutes in one) for one in results]


def test_O35_and_O36_two_ways_to_read_a_tick_shape() -> None:
    streams = ticks(10, 12, 9, 8, 9.5, 13)
    assert days(found("stocks", streams, {}, "tick_shape", "start end")) == [(2, 6), (3, 5)]
    assert days(found("stocks", streams, {}, "tick_shape_from_before", "start end")) == [(1, 6)]


def test_O43_an_offer_for_every_client() -> None:
    clients = told("client symbol money", ("kavx", "goog", 3815.0), ("kblu", "msft", 2995.0), ("kcqt", "goog", 1815.0))
    offers = found("stocks", ticks(515), {"clients": clients}, "offer", "client symbol usd money")
    assert offers == [("kavx", "goog", 515, 3815), ("kcqt", "goog", 515, 1815)]


def test_a_price_in_every_currency() -> None:
    rates = told("currency per_dollar", ("EUR", 0.73039), ("CNY", 6.38296), ("CHF", 0.89208))
    prices = found("stocks", ticks(100), {"rates": rates}, "price", "currency amount")
    assert prices == [("CHF", pytest.approx(89.208)), ("CNY", pytest.approx(638.296)), ("EUR", pytest.approx(73.039))]


@pytest.mark.parametrize(("acquired", "jumps"), [(0, [5]), (4, [5]), (4.5, []), (5, [5])])
def test_a_jump_is_none_if_the_company_was_taken_over_meanwhile(acquired: float, jumps: list[int]) -> None:
    """On day 4 the price of that very day is left to rise from."""
    streams = ticks(10, 10.5, 10.6, 11, 16.6) | {"Acquisition": told("t symbol buyer", (acquired * DAY, "goog", "x"))}
    assert days(found("stocks", streams, {}, "jump", "end")) == [(day,) for day in jumps]


def test_how_rises_of_two_symbols_lie_to_each_other() -> None:
    """The first symbol rises on days 1 to 2, 3 to 4 and 6 to 7, the second on days 4.5 to 5.5 and 5.5 to 6.5."""
    first = told("t symbol usd", *((day * DAY, "S000", usd) for day, usd in enumerate((1, 2, 1, 2, 1, 1, 2), start=1)))
    second = told("t symbol usd", *(((day + 0.5) * DAY, "S001", usd) for day, usd in ((4, 5), (5, 6), (6, 7))))
    streams = {"Tick": [*first, *second]}
    assert days(found("stocks", streams, {}, "rise_together", "start end")) == [(5.5, 7)]
    assert days(found("stocks", streams, {}, "rises_alone", "start end")) == [(1, 4)]
    assert len(found("stocks", streams, {}, "both_rise", "start")) == 6
    assert len(found("stocks", streams, {}, "either_rises", "start")) == 5


LINKS = {"linked": told("place next", (1, 2), (2, 3), (3, 4))}


def test_O40_turbulence_down_the_jet_stream() -> None:
    streams = {
        "Turbulence": told("t place", (0, 4), (9 * HOUR, 2)),
        "Plane": told("t place", (3 * HOUR, 1), (4 * HOUR, 4)),
    }
    warned = found("supply_chain", streams, LINKS, "jet_stream_warning", "turbulence plane start end")
    assert warned == [(4, 1, 0, 3 * HOUR)]


CHAIN = {"supplies": told("supplier customer", ("ore", "steel"), ("steel", "cars"), ("cars", "taxis"))}


def test_a_trend_follows_the_whole_supply_chain() -> None:
    quotes = told(
        "t company change",
        *((0, "ore", 1.0), (60, "cars", 2.0), (90, "steel", 1.0), (100, "taxis", -1.0), (121, "cars", 1.0)),
    )
    trends = found("supply_chain", {"Quote": quotes}, CHAIN, "trend", "supplier customer start end")
    assert trends == [("ore", "cars", 0, 60), ("ore", "steel", 0, 90), ("steel", "cars", 90, 121)]


def test_a_delivery_goes_from_customer_to_customer() -> None:
    shipped = told(
        "t item company",
        *((0, "i1", "ore"), (9, "i1", "steel"), (20, "i1", "cars")),
        *((5, "i2", "ore"), (6, "i2", "cars"), (DAY + 6, "i2", "taxis")),
    )
    deliveries = found("supply_chain", {"Shipment": shipped}, CHAIN, "delivery", "item origin company start end")
    longer = [one for one in deliveries if one[1] != one[2]]
    assert longer == [
        ("i1", "ore", "cars", 0, 20),
        ("i1", "ore", "steel", 0, 9),
        ("i1", "steel", "cars", 9, 20),
        ("i2", "cars", "taxis", 6, DAY + 6),
    ]
    assert len(deliveries) - len(longer) == 6


@cache
def drawn(name: str) -> tuple[Results, Truth, dict[str, pa.Table], dict[str, pa.Table]]:
    """The results of an example over generated data, what they hold by construction, the streams and the tables."""
    source = scenario(name, events=EVENTS, seed=SEED)
    blocks = list(source.blocks())
    streams = {
        stream: pa.Table.from_batches([block[stream] for block in blocks], schema)
        for stream, schema in source.streams.items()
    }
    return example(name).run_local(streams, source.tables()), source.truth(), streams, source.tables()


@pytest.mark.parametrize("name", NAMES)
def test_every_event_of_the_example_is_counted_by_its_generator(name: str) -> None:
    results, truth, _, _ = drawn(name)
    assert {event: table.num_rows for event, table in results.tables.items()} == dict(truth.matches)
    assert all(count > 0 for count in truth.matches.values())


@pytest.mark.parametrize("name", NAMES)
def test_examples_say_the_same_when_their_rows_keep_coming(name: str) -> None:
    results, _, _, tables = drawn(name)
    stream = example(name).open(tables)
    pushed: dict[str, Counter[str]] = defaultdict(Counter)
    pieces = [stream.push(chunk) for chunk in _chunks(name)] + [stream.finish()]
    for piece in pieces:
        assert not len(piece.late)
        for event, table in piece.tables.items():
            pushed[event].update(_identities(table))
    assert pushed == {event: Counter(_identities(table)) for event, table in results.tables.items()}


def _chunks(name: str) -> Iterable[dict[str, pa.Table]]:
    for chunk in generate(name, events=EVENTS, seed=SEED, chunk_rows=900):
        yield {stream: pa.table(rows) for stream, rows in chunk.items()}


def _identities(results: pa.Table) -> list[str]:
    kept = [column for column in results.column_names if column not in ("detected_at", "lineage")]
    return [str(list(row.values())) for row in results.select(kept).to_pylist()]


@pytest.mark.parametrize("name", ["alarms", "supply_chain"])
def test_rules_of_etalis_say_the_same(name: str) -> None:
    results, _, streams, tables = drawn(name)
    rules = load(EXAMPLES / name / f"{name}.ele")
    same = rules.run_local({stream.lower(): rows for stream, rows in streams.items()}, tables)
    assert len(same.tables) >= 4
    for event, table in same.tables.items():
        n_values = table.column_names.index("start")
        assert Counter(_values(table, n_values)) == Counter(_values(results.tables[event], n_values)), event


def _values(results: pa.Table, n_values: int) -> list[str]:
    """The columns of the head, and the interval; their names may differ."""
    columns = [results.column(place).to_pylist() for place in range(1, n_values + 2)]
    return [str(row) for row in zip(*columns, strict=True)]


def test_mean_speeds_of_the_last_hour() -> None:
    results, _, streams, _ = drawn("traffic")
    last: dict[str, deque[tuple[datetime, float]]] = defaultdict(deque)
    expected = []
    for row in streams["Reading"].to_pylist():
        if row["mph"] < 0:
            continue
        recent = last[row["road"]]
        recent.append((row["t"], KMH_PER_MPH * row["mph"]))
        while recent[0][0] < row["t"] - timedelta(hours=1):
            recent.popleft()
        expected.append((row["road"], recent[0][0], row["t"], sum(kmh for _, kmh in recent) / len(recent)))
    told_means = [(row["road"], row["start"], row["end"], row["kmh"]) for row in results.tables["hourly"].to_pylist()]
    for mean, wanted in zip(sorted(told_means), sorted(expected), strict=True):
        assert mean[:3] == wanted[:3]
        assert mean[3] == pytest.approx(wanted[3])


def test_moving_averages_and_running_maxima_of_prices() -> None:
    results, _, streams, _ = drawn("stocks")
    prices: dict[str, list[tuple[datetime, float]]] = defaultdict(list)
    means, highs = {}, {}
    for row in streams["Tick"].to_pylist():
        own = prices[row["symbol"]]
        own.append((row["t"], row["usd"]))
        recent = [usd for t, usd in own[-11:] if t >= row["t"] - timedelta(days=10)]
        means[row["symbol"], row["t"]] = sum(recent) / len(recent)
        for n in range(1, min(5, len(own)) + 1):
            highs[row["symbol"], own[-n][0], row["t"]] = max(usd for _, usd in own[-n:])
    found_means = {(r["symbol"], r["end"]): r["usd"] for r in results.tables["moving_average"].to_pylist()}
    assert found_means == pytest.approx(means)
    found_highs = {(r["symbol"], r["start"], r["end"]): r["usd"] for r in results.tables["high"].to_pylist()}
    assert found_highs == highs


def test_notes_of_all_hours() -> None:
    results, _, streams, tables = drawn("heat")
    notes = tables["notes"].to_pylist()
    placed = {
        station["station"]: area["area"]
        for station in tables["stations"].to_pylist()
        for area in tables["areas"].to_pylist()
        if area["west"] < station["x"] < area["east"] and area["south"] < station["y"] < area["north"]
    }
    assert 0 < len(placed) < tables["stations"].num_rows
    wanted = Counter(
        (row["station"], placed[row["station"]], row["t"], note["note"])
        for row in streams["Felt"].to_pylist()
        for note in notes
        if row["station"] in placed and note["low"] <= row["fahrenheit"] < note["high"]
    )
    humid = Counter(
        (row["station"], placed[row["station"]], row["t"], "Danger")
        for row in streams["Humidity"].to_pylist()
        if row["station"] in placed and row["percent"] > 60
    )
    told_notes = Counter((r["station"], r["area"], r["end"], r["note"]) for r in results.tables["effect"].to_pylist())
    assert told_notes == wanted + humid
