"""Patterns of Wayeb say the same as these programs."""

import pytest

from inkling import ProgramError
from inkling.language import format_program, parse
from inkling.language.sre import WAYEB, with_declarations
from inkling.language.syntax import StreamDecl
from inkling.source import SourceText

STREAM = """
STREAM V(type STRING, k STRING, x DOUBLE, n BIGINT, hot BOOLEAN, lon DOUBLE, lat DOUBLE, ts BIGINT)
  KEY k TIME ts ORDER BY ts;
"""

EVENTS = {
    "sequence": (";(EQ(x,1.0),hot)", "SEQ STRICT(V[x = 1.0], V[hot])"),
    "nested sequence": (";(hot,;(hot,hot))", "SEQ STRICT(V[hot], SEQ STRICT(V[hot], V[hot]))"),
    "union": ("+(hot,+(EQ(n,1),-hot))", "V[hot] OR V[n = 1] OR V[NOT hot]"),
    "union in a sequence": (";(hot,+(hot,-hot))", "SEQ STRICT(V[hot], V[hot] OR V[NOT hot])"),
    "repetition": ("*(hot)", "SEQ STRICT(V[hot]*)"),
    "repetition in a sequence": (";(hot,*(hot))", "SEQ STRICT(V[hot], V[hot]*)"),
    "repetition of a repetition": ("*(*(hot))", "SEQ STRICT(SEQ STRICT(V[hot]*)*)"),
    "repetition in a union": ("+(hot,*(hot))", "V[hot] OR SEQ STRICT(V[hot]*)"),
    "repeated union": ("*(+(hot,-hot))", "SEQ STRICT((V[hot] OR V[NOT hot])*)"),
    "complement": (
        ";(hot,!(;(*(TruePredicate),hot)),hot)",
        "SEQ STRICT(V[hot], COMPLEMENT(SEQ STRICT(V*, V[hot])), V[hot])",
    ),
    "any": ("#(;(hot,-hot))", "SEQ ANY(V[hot], V[NOT hot])"),
    "next": ("@(;(hot,-hot))", "SEQ NEXT(V[hot], V[NOT hot])"),
    "parts of any are consecutive": (
        "#(;(;(hot,hot),*(hot)))",
        "SEQ ANY(SEQ STRICT(V[hot], V[hot]), SEQ STRICT(V[hot]*))",
    ),
    "any of a repetition": (";(hot,#(*(hot)))", "SEQ STRICT(V[hot], SEQ ANY(V[hot]*))"),
    "any of a union changes nothing": ("#(+(hot,-hot))", "V[hot] OR V[NOT hot]"),
    "any of an event changes nothing": ("@(hot)", "V[hot]"),
    "event type": ("IsEventTypePredicate(A)", "V[type = 'A']"),
    "event type in quotes, short": ("IsEventType('a b')", "V[type = 'a b']"),
    "comparisons": (
        "^(EQ(x,1.5),NEQ(x,-2.5),LT(n,3),LTE(n,4),GT(x,5.0),GTE(x,6.0))",
        "V[x = 1.5 AND x <> -2.5 AND n < 3 AND n <= 4 AND x > 5.0 AND x >= 6.0]",
    ),
    "half-open range": ("BT(x,1.0,9.0)", "V[x >= 1.0 AND x < 9.0]"),
    "texts": ("|(EQStr(k,a),NEQStr(k,'b c'))", "V[k = 'a' OR k <> 'b c']"),
    "inside": ("WithinCirclePredicate(-4.5,48.25,5.0)", "V[haversine(lat, lon, 48.25, -4.5) < 5000.0]"),
    "outside": ("OutsideCirclePredicate(-4.5,48.25,0.3)", "V[haversine(lat, lon, 48.25, -4.5) >= 300.0]"),
    "between": (
        "DistanceBetweenPredicate(4.5,48.25,5.0,6.0)",
        "V[haversine(lat, lon, 48.25, 4.5) > 5000.0 AND haversine(lat, lon, 48.25, 4.5) < 6000.0]",
    ),
    "nested predicates": ("^(hot,^(hot,|(hot,-^(hot,hot))))", "V[hot AND hot AND (hot OR NOT (hot AND hot))]"),
    "anything": (";(hot,TruePredicate)", "SEQ STRICT(V[hot], V)"),
    "window no match exceeds": (";(hot,hot){window:2}", "SEQ STRICT(V[hot], V[hot])"),
    "window of no size": (";(hot,*(hot)){window:0}", "SEQ STRICT(V[hot], V[hot]*)"),
    "window of events": (";(hot,*(hot)){window:5}", "SEQ STRICT(V[hot], V[hot]*) WITHIN 5 EVENTS"),
    "the empty word is left out": (";(hot,EpsilonPredicate,-hot)", "SEQ STRICT(V[hot], V[NOT hot])"),
    "an event or none": (";(+(hot,EpsilonPredicate),-hot)", "SEQ STRICT(V[hot]?, V[NOT hot])"),
    "anything but the empty word": ("!(EpsilonPredicate)", "SEQ STRICT(V+)"),
    "intersection": (
        "&(hot,*(hot))",
        "SEQ STRICT(COMPLEMENT(SEQ STRICT(COMPLEMENT(V[hot])) OR SEQ STRICT(COMPLEMENT(SEQ STRICT(V[hot]*)))))",
    ),
    "window that one match fits": ("+(hot,#(;(hot,hot))){window:1}", "V[hot] OR SEQ(V[hot], V[hot]) WITHIN 1 EVENTS"),
    "window of time": (";(hot,hot){window:2}{windowType:time}", "SEQ STRICT(V[hot], V[hot]) WITHIN 2 POINTS"),
}


@pytest.mark.parametrize("case", EVENTS)
def test_patterns(case: str) -> None:
    written, pattern = EVENTS[case]
    expected = f"{STREAM} EVENT p1 AS PATTERN {pattern} CONSUME RESTART PER END;"
    assert WAYEB.parse(STREAM + written) == parse(expected)


CLAUSES = {
    "overlap": ("hot{counting:overlap}", "EVENT p1 AS PATTERN V[hot] PER END;"),
    "matches": ("hot{counting:matches}", "EVENT p1 AS PATTERN V[hot];"),
    "said": ("hot{counting:nonoverlap}", "EVENT p1 AS PATTERN V[hot] CONSUME RESTART PER END;"),
    "episodes": (
        ";(hot,*(hot)){counting:episodes}",
        "EVENT p1 AS PATTERN SEQ STRICT(V episode[hot]{1,}, V[NOT hot]) "
        "RETURN LAST(episode).ts AS last, COUNT(episode) AS events PER END;",
    ),
    "episodes of a nested pattern": (
        ";(-hot,;(-hot,*(-hot))){counting:episodes}{partitionBy:k}",
        "EVENT p1(k) AS PATTERN SEQ STRICT(V episode[NOT hot]{2,}, V[NOT NOT hot]) PARTITION BY k "
        "RETURN LAST(episode).ts AS last, COUNT(episode) AS events PER END;",
    ),
    "partition": ("hot{partitionBy:k}", "EVENT p1(k) AS PATTERN V[hot] PARTITION BY k CONSUME RESTART PER END;"),
    "registers": (
        ';(hot["a"],^(hot,GTAttr(x,"a"),EQAttrStr(k,"a"),LTEAttr(n,"a")))',
        "EVENT p1 AS PATTERN SEQ STRICT(V a[hot], V[hot AND x > a.x AND k = a.k AND n <= a.n]);",
    ),
    "register of a repetition": (
        ';(*(;(hot["a"],EQAttr(x,"a"))),EQAttr(x,"a"))',
        "EVENT p1 AS PATTERN SEQ STRICT(SEQ STRICT(V a[hot], V[x = a.x])*, V[x = LAST(a).x]);",
    ),
    "registers that restart": (
        ';(hot["a"],NEQAttr(x,"a")){counting:nonoverlap}',
        "EVENT p1 AS PATTERN SEQ STRICT(V a[hot], V[x <> a.x]) CONSUME RESTART PER END;",
    ),
    "register that is not set": (
        ';(^(hot,EQAttr(x,"a")),hot["a"]){counting:overlap}',
        "EVENT p1 AS PATTERN SEQ STRICT(V[hot AND FALSE], V a[hot]) PER END;",
    ),
    "two patterns": (
        "hot & -hot{name:cold}",
        "EVENT p1 AS PATTERN V[hot] CONSUME RESTART PER END;EVENT cold AS PATTERN V[NOT hot] CONSUME RESTART PER END;",
    ),
    "order": (
        "hot{order:2}",
        "EVENT p1 AS PATTERN V[hot] CONSUME RESTART PER END;"
        "FORECAST p1 INTERVAL SHORTEST CONFIDENCE >= 0.5 ORDER 2 HORIZON 200 SPREAD <= 200;",
    ),
    "forecast": (
        "DECLARE +(EQ(x,1.0),-hot), ~(hot,EQ(x,1.0));"
        "hot{name:heat}{spread:5}{horizon:50}{confidence:0.75}{order:0} & -hot",
        "EVENT heat AS PATTERN V[hot] CONSUME RESTART PER END;"
        "FORECAST heat INTERVAL SHORTEST CONFIDENCE >= 0.75 ORDER 0 HORIZON 50 SPREAD <= 5 FEATURES (x = 1.0, NOT hot);"
        "EVENT p2 AS PATTERN V[NOT hot] CONSUME RESTART PER END;",
    ),
    "order of a pattern with registers": (
        ';(hot["a"],NEQAttr(x,"a")){order:0}',
        "EVENT p1 AS PATTERN SEQ STRICT(V a[hot], V[x <> a.x]);",
    ),
    "order of a pattern with a window of time": (
        ";(hot,hot){order:1}{window:2}{windowType:time}",
        "EVENT p1 AS PATTERN SEQ STRICT(V[hot], V[hot]) WITHIN 2 POINTS CONSUME RESTART PER END;",
    ),
    "declarations without a forecast": (
        "DECLARE +(EQ(x,1.0)); DECLARE ~(hot,EQ(x,1.0)); hot",
        "EVENT p1 AS PATTERN V[hot] CONSUME RESTART PER END;",
    ),
}


@pytest.mark.parametrize("case", CLAUSES)
def test_clauses(case: str) -> None:
    written, expected = CLAUSES[case]
    assert WAYEB.parse(STREAM + written) == parse(STREAM + expected)


INFERRED = {
    "types": ("IsEventTypePredicate(A)", "type STRING"),
    "places": ("WithinCirclePredicate(1.0,2.0,3.0)", "lon DOUBLE, lat DOUBLE"),
    "values": (";(EQ(a,1.0),EQStr(b,c),d)", "a DOUBLE, b STRING, d BOOLEAN"),
    "registers": (';(d["x"],^(GTAttr(a,"x"),EQAttrStr(b,"x")))', "d BOOLEAN, a DOUBLE, b STRING"),
    "keys": ("EQ(a,1.0){partitionBy:k} & d{partitionBy:a}", "a DOUBLE, d BOOLEAN, k STRING"),
    "the time": ("^(GT(ts,5.0),d)", "d BOOLEAN"),
    "features": ("DECLARE +(EQ(a,1.0)), ~(b,d); d{order:1}", "d BOOLEAN, a DOUBLE"),
    "features of no forecast": ("DECLARE +(EQ(a,1.0)), ~(b,d); d", "d BOOLEAN"),
}


@pytest.mark.parametrize("case", INFERRED)
def test_columns_of_a_stream_that_is_not_declared(case: str) -> None:
    written, columns = INFERRED[case]
    (expected,) = parse(f"STREAM events({columns}, ts BIGINT) TIME ts ORDER BY ts;").statements
    assert [one for one in WAYEB.parse(written).statements if isinstance(one, StreamDecl)] == [expected]


def test_other_names_of_columns() -> None:
    stream = "STREAM V(eventType STRING, longitude DOUBLE, latitude DOUBLE, ts BIGINT) TIME ts ORDER BY ts;"
    program = WAYEB.parse(f"{stream} ^(IsEventTypePredicate(A),WithinCirclePredicate(1.0,2.0,3.0))")
    assert "V[eventType = 'A' AND haversine(latitude, longitude, 2.0, 1.0) < 3000.0]" in format_program(program)


def test_derived_columns_count() -> None:
    stream = "STREAM V(status STRING, ts BIGINT) TIME ts ORDER BY ts DERIVE type = status;"
    assert len(WAYEB.parse(f"{stream} IsEventTypePredicate(A)").statements) == 2


@pytest.mark.parametrize(
    ("text", "place"), [(";(hot,cold)", 0), (";(hot,EQ(x,1.0)){name:warm}", -1), ("hot & \n ;(hot,cold)", -1)]
)
def test_places_are_those_of_the_pattern_file(text: str, place: int) -> None:
    event = WAYEB.parse(text).statements[place if place else 1]
    assert text[event.span.start : event.span.end] == text.split("&")[-1].strip()


def test_nothing() -> None:
    assert WAYEB.parse("").statements == ()
    assert WAYEB.parse("-- nothing").comments == ("nothing",)


def test_resets_of_a_stream_that_is_not_declared() -> None:
    program = WAYEB.parse("DECLARE +(IsEventTypePredicate(RESET)); EQ(a,1.0){partitionBy:k}{order:1}")
    (stream,) = parse(
        "STREAM events(a DOUBLE, k STRING, type STRING, ts BIGINT, seq BIGINT) KEY k TIME ts ORDER BY seq "
        "RESET WHEN type = 'RESET';"
    ).statements
    assert program.statements[0] == stream
    assert "FEATURES" not in format_program(program)


def test_a_heading_is_a_distance_of_the_way() -> None:
    program = format_program(WAYEB.parse("HeadingTowardsPredicate(BrestPort)"))
    assert "STREAM events(lon DOUBLE, lat DOUBLE, speed DOUBLE, heading DOUBLE, ts BIGINT)" in program
    assert "passing_distance(lat, lon, heading, speed * 1852.0, 48.38273, -4.4753) <= 5000.0" in program


@pytest.mark.parametrize("text", ["~(hot,EQ(x,1.0))", "+(hot,EQ(x,1.0)),\n~(hot,-hot)"])
def test_a_file_of_declarations_alone(text: str) -> None:
    assert WAYEB.format(text) == WAYEB.format(f"DECLARE {text};")
    whole = with_declarations("hot{order:1} -- the end", SourceText("declarations.sre", text))
    assert WAYEB.parse(whole) == WAYEB.parse(f"DECLARE {text}; hot{{order:1}}")
    with pytest.raises(ProgramError, match="INK0146"):
        WAYEB.parse(text)


def test_errors_in_a_file_of_declarations_have_its_places() -> None:
    for text, place in {"~(hot,\nFast(x))": "Fast", "hot": "hot", "STREAM V(ts BIGINT) TIME ts;": ""}.items():
        with pytest.raises(ProgramError) as caught:
            with_declarations("hot", SourceText("declarations.sre", text))
        (found,) = caught.value.diagnostics
        assert found.span is not None
        assert found.source is not None
        assert found.source.name == "declarations.sre"
        assert text[found.span.start : found.span.end] == place
