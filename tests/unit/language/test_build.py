"""Programs built in Python equal the same programs parsed from text."""

from fractions import Fraction
from pathlib import Path

import pytest

from inkling.language import build as b
from inkling.language import format_program, parse
from inkling.language.build import anything, call, col, event, leaf, program, seq, stream, v
from inkling.language.syntax import Duration, Program

PROGRAMS = Path(__file__).parent / "programs"


def values_stream(name: str) -> b.StreamBuilder:
    return stream(name).column("x", "int").time("t")


def letter(text: str) -> b.PatternValue:
    return leaf("V", where=col("s") == text)


def room(var: str, text: str) -> b.PatternValue:
    return leaf("At", var, where=col("room") == text)


BUILT: dict[str, Program] = {
    "six": program(
        values_stream("A"),
        values_stream("B"),
        values_stream("C"),
        event("six").pattern(seq(leaf("A", "a"), leaf("B", "b"), leaf("C", "c"))),
    ),
    "alarm": program(
        stream("Req").column("id", "INT").time("t"),
        stream("Rep").column("id", "INT").time("t"),
        event("alarm")
        .head(v("r"))
        .pattern(seq(leaf("Req", "r"), b.absent(leaf("Rep", where=col("id") == v("r").id)), b.after(b.ticks(10)))),
    ),
    "rising": program(
        stream("Temp").column("v", "DOUBLE").time("t"),
        event("m").head(v("v")).pattern(leaf("Temp", "t")).where(v("v") == v("t").v).per("INTERVAL"),
        event("m")
        .head(v("v"))
        .pattern(seq(leaf("m", "p"), leaf("Temp", "t")))
        .where((v("t").v > v("p").v) & (v("v") == v("t").v))
        .per("INTERVAL"),
    ),
    "pure": program(
        event("pure")
        .pattern(
            seq(leaf("A"), leaf("B"), leaf("C")).relates(
                "EQUALS", b.not_between(leaf("A") | leaf("C"), leaf("A"), leaf("C"))
            )
        )
        .per("INTERVAL")
    ),
    "near": program(
        b.rule("area_of", "harbor", v("lat"), v("lon")).when((v("lat") > 50.5) & (v("lat") < 51) & (v("lon") > -1.5)),
        event("near").head(v("z")).pattern(leaf("Fix", "f")).where(call("area_of", v("z"), v("f").lat, v("f").lon)),
    ),
    "moving_average": program(
        event("avg3")
        .head(v("m"))
        .pattern(b.window_of("Temp", "w", b.events(3)))
        .returns(b.named(b.avg_of(v("w").v), "m"))
    ),
    "theft": program(
        stream("V")
        .column("k", "STRING")
        .column("engine", "STRING")
        .column("distance", "DOUBLE")
        .key("k")
        .time("t")
        .order_by("seq"),
        event("theft")
        .pattern(seq("STRICT", leaf("V", where=(col("engine") == "parked") & (col("distance") > 30)).at_least(3)))
        .partition_by("k")
        .per("END")
        .consume("RESTART"),
    ),
    "gapless": program(
        event("gapless")
        .pattern(
            seq(
                "STRICT",
                letter("A"),
                b.complement(seq("STRICT", anything().star(), letter("B"), anything().star())),
                letter("C"),
            )
        )
        .partition_by("k")
        .per("END")
    ),
    "mixed": program(
        event("mixed")
        .pattern(seq("NEXT", letter("A"), seq("STRICT", letter("B"), letter("C")), letter("D")))
        .partition_by("k")
        .per("END")
    ),
    "faster": program(
        event("faster")
        .pattern(
            seq(
                "STRICT",
                leaf("V", "x", where=col("s") == "A"),
                anything().star(),
                leaf("V", "y", where=col("speed") > v("x").speed),
            )
        )
        .within(b.events(4))
        .partition_by("k")
        .per("END")
    ),
    "theft_forecast": program(
        b.forecast("theft")
        .interval("SHORTEST")
        .confidence(0.5)
        .spread(5)
        .horizon(200)
        .order(3)
        .features(call("near_port", col("lat"), col("lon")))
    ),
    "any": program(
        stream("A").column("x", "INT").time_between("lo", "hi"),
        stream("B").column("x", "INT").time_between("lo", "hi", weights="w"),
        event("any").pattern(seq("ANY", leaf("A", "a"), leaf("B", "b"), leaf("C", "c"), leaf("D", "d"))),
    ),
    "after": program(
        event("after").pattern(seq(leaf("A", "a"), leaf("B", "b"), b.absent(leaf("C")))).within(b.points(5))
    ),
    "eager": program(
        event("eager").pattern(seq("NEXT", leaf("A", "a"), leaf("B", "b").plus(mode="EAGER"), leaf("C", "c")))
    ),
    "contiguous": program(
        event("contig").pattern(seq("STRICT", leaf("A", "a"), leaf("C", "c"))).partition_by("k").over("A", "B", "C")
    ),
    "pre": program(
        stream("At").column("person", "STRING").column("room", "STRING").key("person").time("t").probability("p"),
        event("pre")
        .head(v("person"))
        .pattern(seq("NEXT", room("a", "a"), room("c", "c")))
        .partition_by("person")
        .per("END"),
    ),
    "hall": program(
        event("hall")
        .head(v("person"))
        .pattern(
            seq("NEXT", room("a", "a"), leaf("At", "h").plus().check(call("hallway", v("h").room)), leaf("At", "c"))
        )
        .having(v("c").room == "c")
        .partition_by("person")
        .per("END")
    ),
    "talk": program(
        event("talk")
        .head()
        .pattern(
            seq(
                "NEXT",
                leaf("Carries", "x"),
                leaf("Carries", "y", where=(col("person") == v("x").person) & (col("object") == v("x").object)).plus(),
                leaf("At", "u", where=col("person") == v("x").person),
            )
        )
        .per("END")
    ),
    "share": program(
        stream("Congestion")
        .column("sector", "STRING")
        .column("role", "STRING")
        .key("sector")
        .time("t")
        .numbered_by("seq")
        .segments(role="role"),
        event("share")
        .head(v("x").sector, v("y").sector)
        .pattern(
            b.quantified(b.at_least_segments(2, "Congestion", "x"), "INTERSECTS", b.some_segment("Congestion", "y"))
        )
        .confidence(0.5, strictly=True),
    ),
    "cover": program(
        event("cover")
        .head(v("x").k, v("y").k)
        .pattern(
            b.quantified(b.all_segments("Duty", "x"), ("DURING", "EQUALS"), b.some_segment("Shift", "y"), same="site")
        )
    ),
    "every_option": program(
        stream("order")
        .column("id", "INT")
        .column("key", "STRING")
        .column("time", "TIMESTAMP")
        .column("start", "INT")
        .column("end", "INT")
        .column("count", "INT")
        .column("select", "BOOLEAN")
        .id("id")
        .key("key", "start")
        .time_from("start", "end")
        .order_by("order")
        .tick(b.seconds(0.5))
        .segments(role="role", count="count", bounds=("lo", "hi"))
        .derive("gap", col("start") - b.prev("end"))
        .derive("still", (b.since_change("key") > 5) & ~b.is_null(col("key")))
        .reset_when((col("key") == "new") | b.is_not_null(col("start")))
        .late(b.hours(1.25), speculative=True)
        .op("op", how_long=b.days(2)),
        event("everything")
        .head(b.named(v("a").x, "first_x"), v("y"))
        .pattern(
            b.par(
                seq(
                    b.at_start(),
                    leaf(("A", "B"), "a", where=b.is_in(col("x"), 1, 2) & b.is_not_in(col("y"), "it's")),
                    b.optional(leaf("C", "c")),
                    b.nested(leaf("D", "d"), "e", where=v("d").x == v("a").x, within=b.days(1)),
                    leaf("F", "f").repeat(2, 4, mode="MAXIMAL").check(b.sum_of(v("f").v) > 10),
                    b.after(b.weeks(2)),
                ),
                leaf("E").except_(leaf("F")).optional(leaf("I", "i"), ("EQUALS", "MET_BY")),
            )
            | b.at("2024-05-01 10:00:00").relates("MEETS", leaf("G"))
            & b.window_of("H", "h", b.minutes(10), where=col("v") > 0, since="a")
        )
        .returns(
            b.named(b.count_of(v("f")), "n"),
            b.last("f").v - b.first("f").v,
            b.end_of("a") - b.start_of("c"),
            b.id_of("a"),
            -(v("a").x + 1) * 2 % 3,
        )
        .having((b.count_of(v("f")) > 2) & ((v("a").x > 1) | ~(v("b") == True)))  # noqa: E712
        .per("MATCH")
        .within(b.events(100))
        .where(v("v") == v("a").x + 1e3)
        .partition_by("key", "site")
        .over("A", "B")
        .consume("CHRONOLOGICAL", keeping=True, prefer=v("a").weight * 2)
        .top(5)
        .keep_for(b.days(3))
        .on_timeout("unfinished")
        .on_retract("undone")
        .sampled(),
        b.forecast("everything").around(5).model("best").remaining(0.1, 0.5).including_final(),
        b.forecast("everything").point(),
        b.forecast("everything").interval("FIXED", 7),
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_built_equals_parsed(name: str) -> None:
    assert BUILT[name] == parse(PROGRAMS.joinpath(f"{name}.ink").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BUILT)
def test_built_prints_and_parses(name: str) -> None:
    assert parse(format_program(BUILT[name])) == BUILT[name]


def test_statements_of_every_kind() -> None:
    text = """
    -- from the road office
    TABLE threshold(road STRING, top DOUBLE) FROM 'thresholds.csv';
    STREAM Seen(person STRING) TIME t PROBABILITY p GIVEN room, floor;
    RULE edge('a', 1);
    EVENT e AS PATTERN A a CONSUME RECENT PREFER LONGER EXACT;
    FORECAST e WITHIN 10 EVENTS CONFIDENCE > 0.7;
    """
    built = program(
        b.table("threshold", "thresholds.csv")
        .column("road", "string")
        .column("top", "double")
        .comment("from the road office"),
        stream("Seen").column("person", "STRING").time("t").probability("p", given=("room", "floor")),
        b.rule("edge", "a", 1),
        event("e").pattern(leaf("A", "a")).consume("RECENT", prefer="LONGER").exact(),
        b.forecast("e").within(10).confidence(0.7, strictly=True),
    )
    assert built == parse(text)
    assert built.statements[0].comments == ("from the road office",)


def test_builders_never_change() -> None:
    base = stream("A").column("x", "INT")
    base.column("y", "INT").key("x")
    assert len(base.node.columns) == 1
    assert base.node.key == ()


def test_connectives_flatten_only_on_the_left() -> None:
    x, y, z = col("x"), col("y"), col("z")
    assert repr(x & y & z) == "Value(x AND y AND z)"
    assert repr(x & (y & z)) == "Value(x AND (y AND z))"
    assert repr(b.any_of(b.any_of(x, y), z)) == "Value((x OR y) OR z)"
    assert repr(leaf("A") & leaf("B") & leaf("C")) == "PatternValue(A AND B AND C)"


def test_condition_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="join conditions with &"):
        bool(col("x") == 1)


@pytest.mark.parametrize("bad", [object(), [1], b"x"])
def test_only_values_and_constants_are_expressions(bad: object) -> None:
    with pytest.raises(TypeError, match="expected a value"):
        call("f", bad)


def test_odd_column_names_go_in_brackets() -> None:
    assert repr(v("a")["two words"] == v("a").node) == 'Value(a."two words" = a.node)'


def test_durations_are_exact() -> None:
    assert b.seconds(0.1) == Duration(Fraction(1, 10), "SECONDS")


def test_event_needs_a_pattern_and_forecast_a_kind() -> None:
    with pytest.raises(ValueError, match="has no pattern yet"):
        program(event("e"))
    with pytest.raises(ValueError, match="has no kind yet"):
        program(b.forecast("e"))
