"""Data and programs at the edge: very little, very much, unsorted, far away, missing, and oddly named."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest

from inkling import InputError, parse
from inkling.model.time import FARTHEST
from inkling.results import Results

pytestmark = pytest.mark.slow

Row = Mapping[str, object]

TICKS = """
STREAM A(id STRING, k STRING, t BIGINT, x BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, t BIGINT, x BIGINT) ID id KEY k TIME t;
"""
STAMPED = """
STREAM A(id STRING, k STRING, t TIMESTAMP, x DOUBLE) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, t TIMESTAMP, x DOUBLE) ID id KEY k TIME t;
"""
ORDERED = "STREAM V(id BIGINT, k STRING, t BIGINT, x BIGINT) ID id KEY k TIME t ORDER BY id;"
UNORDERED = "STREAM V(id BIGINT, k STRING, t BIGINT, x BIGINT) ID id KEY k TIME t;"


def run(program: str, inputs: Mapping[str, object]) -> Results:
    return parse(program).run_local(inputs)


def found(program: str, inputs: Mapping[str, object], *columns: str) -> dict[str, list[tuple[object, ...]]]:
    """The results of every event in some of their columns; lists as tuples."""
    return {
        name: [
            tuple(tuple(row[c]) if isinstance(row[c], list) else row[c] for c in columns) for row in table.to_pylist()
        ]
        for name, table in run(program, inputs).tables.items()
    }


def events(*rows: tuple[object, object], k: str = "k", name: str = "e") -> list[Row]:
    """Rows from pairs of a time and a value."""
    return [{"id": f"{name}{n}", "k": k, "t": t, "x": x} for n, (t, x) in enumerate(rows)]


class TestVeryLittle:
    EVERY_EVALUATOR = f"""{TICKS} {ORDERED}
        EVENT pair AS PATTERN SEQ(A a, B b);
        EVENT both AS PATTERN A a AND B b PARTITION BY k;
        EVENT alarm AS PATTERN SEQ(A a, NOT B b, AFTER 5 TICKS);
        EVENT twice AS PATTERN SEQ STRICT(V, V) PARTITION BY k PER END;
        EVENT late AS PATTERN SEQ(pair p, A c);
    """

    @pytest.mark.parametrize("nothing", [[], pa.table({name: pa.nulls(0) for name in ("id", "k", "t", "x")})])
    def test_no_events(self, nothing: object) -> None:
        results = run(self.EVERY_EVALUATOR, {"A": nothing, "B": nothing, "V": nothing})
        assert {name: table.num_rows for name, table in results.tables.items()} == dict.fromkeys(results.tables, 0)
        assert results.tables["alarm"].column_names[-1] == "lineage"

    def test_one_event(self) -> None:
        results = found(self.EVERY_EVALUATOR, {"A": events((1, 0)), "B": [], "V": []}, "start", "end", "lineage")
        assert results == {"pair": [], "both": [], "alarm": [(1, 6, ("e0",))], "twice": [], "late": []}

    def test_a_single_event_is_a_match_of_both_evaluators(self) -> None:
        program = f"""{ORDERED}
            EVENT once AS PATTERN SEQ STRICT(V[x = 1]) PARTITION BY k PER END;
            EVENT same AS PATTERN V v[x = 1];
        """
        rows = [{"id": 7, "k": "k", "t": 3, "x": 1}]
        assert found(program, {"V": rows}, "end", "lineage") == {"once": [(3, (7,))], "same": [(3, (7,))]}


class TestManyEvents:
    N = 1_000_000

    def rows(self, keys: pa.Array) -> dict[str, pa.Table]:
        number = np.arange(self.N)
        return {"V": pa.table({"id": number, "k": keys, "t": number, "x": number % 10})}

    @pytest.mark.parametrize(
        ("streams", "pattern"),
        [
            pytest.param(ORDERED, "SEQ STRICT(V[x = 1], V[x = 2]) PARTITION BY k PER END", id="automaton"),
            pytest.param(
                ORDERED,
                "SEQ STRICT(V{10,}) PARTITION BY k CONSUME RESTART PER END",
                id="restart",
                marks=pytest.mark.long,
            ),
            pytest.param(UNORDERED, "SEQ(V a[x = 1], V b[x = 2]) WITHIN 5 TICKS PARTITION BY k", id="window"),
            pytest.param(
                UNORDERED, "SEQ NEXT(V a[x = 1], V b[x = 2]) PARTITION BY k", id="next", marks=pytest.mark.long
            ),
            pytest.param(
                UNORDERED, "SEQ(V a[x = 1], NOT V[x = 5], V b[x = 2]) WITHIN 20 TICKS PARTITION BY k", id="absence"
            ),
        ],
    )
    def test_on_one_key(self, streams: str, pattern: str) -> None:
        """A ten of numbers holds one match, whatever the policy."""
        inputs = self.rows(pa.repeat(pa.scalar("k"), self.N))
        assert run(f"{streams} EVENT e AS PATTERN {pattern};", inputs).tables["e"].num_rows == self.N // 10

    def test_one_on_each_key(self) -> None:
        program = f"""{ORDERED}
            EVENT pair AS PATTERN SEQ STRICT(V, V) PARTITION BY k PER END;
            EVENT follows AS PATTERN SEQ(V a, V b) PARTITION BY k;
            EVENT joined AS PATTERN SEQ(V a[x = 1], V b[x = 2 AND k = a.k]);
            EVENT one AS PATTERN SEQ STRICT(V[x = 1]) PARTITION BY k PER END;
        """
        tables = run(program, self.rows(pa.array(np.arange(self.N)).cast(pa.string()))).tables
        counts = {name: table.num_rows for name, table in tables.items()}
        assert counts == {"pair": 0, "follows": 0, "joined": 0, "one": self.N // 10}

    def test_ever_longer_matches_are_rejected_before_they_fill_the_memory(self) -> None:
        program = f"{ORDERED} EVENT longer AS PATTERN SEQ STRICT(V{{3,}}) PARTITION BY k PER END;"
        with pytest.raises(InputError, match="the results of `longer` would list 500000499997 events") as caught:
            run(program, self.rows(pa.repeat(pa.scalar("k"), self.N)))
        assert caught.value.diagnostics[0].code == "INK0602"


class TestLongPatterns:
    N = 200

    @pytest.mark.parametrize("policy", ["STRICT", "NEXT", "ANY"])
    @pytest.mark.parametrize("streams", [ORDERED, UNORDERED], ids=["ordered", "unordered"])
    @pytest.mark.parametrize("per", ["END", "MATCH"])
    def test_two_hundred_steps(self, policy: str, streams: str, per: str) -> None:
        steps = ", ".join(f"V[x = {n}]" for n in range(self.N))
        rows = [{"id": n, "k": "k", "t": n, "x": n - 1} for n in range(self.N + 2)]
        program = f"{streams} EVENT e AS PATTERN SEQ {policy}({steps}) PARTITION BY k PER {per};"
        assert found(program, {"V": rows}, "start", "end", "lineage") == {
            "e": [(1, self.N, tuple(range(1, self.N + 1)))]
        }

    @pytest.mark.parametrize("n_steps", [10, 14, 15, 40, 64, 65])
    @pytest.mark.parametrize("policy", ["STRICT", "NEXT"])
    def test_as_many_conditions_as_an_automaton_has_room_for_and_more(self, n_steps: int, policy: str) -> None:
        """Conditions that may hold together: there are more ways for that than an automaton could list."""
        steps = ", ".join(f"V[x >= {n}]" for n in range(n_steps))
        rows = [{"id": n, "k": "k", "t": n, "x": n} for n in range(n_steps)]
        program = f"{ORDERED} EVENT e AS PATTERN SEQ {policy}({steps}) PARTITION BY k PER END;"
        assert found(program, {"V": rows}, "start", "end") == {"e": [(0, n_steps - 1)]}

    def test_explain_says_why_an_automaton_is_out_of_question(self) -> None:
        steps = ", ".join(f"V[x >= {n}]" for n in range(15))
        program = parse(f"{ORDERED} EVENT e AS PATTERN SEQ STRICT({steps}) PARTITION BY k PER END;")
        assert "15 different tests of one event are more than 14" in program.explain("verdicts")

    @pytest.mark.parametrize("n_times", [1_000, pytest.param(5_001, marks=pytest.mark.long)])
    def test_a_long_repetition(self, n_times: int) -> None:
        program = f"{ORDERED} EVENT e AS PATTERN SEQ STRICT(V[x = 1]{{{n_times}}}) PARTITION BY k PER END;"
        rows = [{"id": n, "k": "k", "t": n, "x": 1} for n in range(n_times + 1)]
        assert found(program, {"V": rows}, "end") == {"e": [(n_times - 1,), (n_times,)]}

    def test_a_complement_whose_automaton_does_not_fit(self) -> None:
        """Which of the last twenty events were 2 takes a million states to remember."""
        inner = "COMPLEMENT(SEQ STRICT(_*, V[x = 2], _{20}))"
        program = f"{ORDERED} EVENT e AS PATTERN SEQ STRICT(V[x = 1], {inner}, V[x = 3]) PARTITION BY k PER END;"

        def rows(*values: int) -> list[Row]:
            return [{"id": n, "k": "k", "t": n, "x": x} for n, x in enumerate(values)]

        assert found(program, {"V": rows(1, 2, *[0] * 19, 3)}, "end") == {"e": [(21,)]}
        assert found(program, {"V": rows(1, 2, *[0] * 20, 3)}, "end") == {"e": []}

    def test_a_condition_nested_deeply(self) -> None:
        nested = "x" + "".join(f" + ({'a.x + (' * 30}1{')' * 30})" for _ in range(3))
        deep = "a.x + (" * 80 + "x" + ")" * 80
        program = f"""{UNORDERED}
            EVENT deep AS PATTERN SEQ(V a, V b[{deep} = 81]);
            EVENT wide AS PATTERN SEQ(V a, V b[{nested} = 94]);
            EVENT long AS PATTERN SEQ(V a, V b[{" OR ".join(f"x - a.x = {n}" for n in range(300))}]);
        """
        rows = [{"id": n, "k": "k", "t": n, "x": 1} for n in range(2)]
        assert found(program, {"V": rows}, "lineage") == {name: [((0, 1),)] for name in ("deep", "wide", "long")}


class TestNames:
    def test_any_script(self) -> None:
        program = """
            STREAM "Größe"("schlüssel" STRING, "время" BIGINT, "値" STRING) KEY "schlüssel" TIME "время";
            STREAM Café(id STRING, t BIGINT, naïve STRING) ID id TIME t;
            EVENT "événement ✓"("schlüssel", g."値" AS "結果") AS
              PATTERN SEQ("Größe" g["値" = '東京 🗼'], "Größe" h) PARTITION BY "schlüssel";
            EVENT ça(c.naïve AS naïve) AS PATTERN Café c[naïve = 'e\u0301'];
        """
        inputs = {
            "Größe": [
                {"schlüssel": "ß", "время": 1, "値": "東京 🗼"},
                {"schlüssel": "ß", "время": 2, "値": ""},
                {"schlüssel": "ss", "время": 3, "値": ""},
            ],
            "Café": [{"id": "1", "t": 1, "naïve": "e\u0301"}, {"id": "2", "t": 1, "naïve": "\u00e9"}],
        }
        tables = run(program, inputs).tables
        assert [(row["schlüssel"], row["結果"], row["end"]) for row in tables["événement ✓"].to_pylist()] == [
            ("ß", "東京 🗼", 2)
        ]
        assert tables["ça"]["lineage"].to_pylist() == [["1"]], "texts that only look the same are different"

    def test_reserved_words_in_quotes(self) -> None:
        program = """
            STREAM "STREAM"("SEQ" STRING, "TIME" BIGINT, "where" BIGINT, "AND" BOOLEAN)
              ID "where" KEY "SEQ" TIME "TIME" ORDER BY "where";
            EVENT "EVENT"("SEQ", "not"."where" AS "AS") AS
              PATTERN SEQ STRICT("STREAM" "not"["AND"], "STREAM" "OR"["where" > "not"."where"]) PARTITION BY "SEQ";
            EVENT "select" AS PATTERN "EVENT" "in" WHERE "in"."AS" = 1;
        """
        rows = [
            {"SEQ": "s", "TIME": 1, "where": 1, "AND": True},
            {"SEQ": "s", "TIME": 2, "where": 2, "AND": None},
            {"SEQ": "s", "TIME": 3, "where": 3, "AND": False},
        ]
        tables = run(program, {"STREAM": rows}).tables
        assert [(row["SEQ"], row["AS"], row["lineage"]) for row in tables["EVENT"].to_pylist()] == [("s", 1, [1, 2])]
        assert tables["select"]["lineage"].to_pylist() == [[1, 2]]

    def test_very_long_texts(self) -> None:
        long = "k" * 1_000_000
        program = f"{TICKS} EVENT e(a.k AS k) AS PATTERN SEQ(A a, B b[k = a.k]);"
        inputs = {"A": events((1, 0), k=long), "B": [*events((2, 0), k=long), *events((3, 0), k=long + "k", name="o")]}
        results = found(program, inputs, "k", "lineage")
        assert results == {"e": [(long, ("e0", "e0"))]}


def stamp(*parts: int, zone: timezone = UTC) -> datetime:
    return datetime(*parts, tzinfo=zone)  # type: ignore[misc,arg-type]


MUMBAI = timezone(timedelta(hours=5.5))


class TestTimes:
    def test_unsorted_rows_and_streams(self) -> None:
        program = f"{TICKS} EVENT e AS PATTERN SEQ NEXT(A a, B b) PARTITION BY k;"
        a, b = events((1, 0), (4, 0), (7, 0)), events((2, 0), (3, 0), (5, 0), (9, 0), name="f")
        expected = {"e": [(1, 2), (4, 5), (7, 9)]}
        shuffled = random.Random(3)
        for _ in range(5):
            shuffled.shuffle(a)
            shuffled.shuffle(b)
            assert found(program, {"B": b, "A": a}, "start", "end") == expected

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            pytest.param(
                stamp(2024, 1, 1, 12, zone=timezone(timedelta(hours=5.5))), stamp(2024, 1, 1, 6, 35), id="zones"
            ),
            pytest.param("2024-01-01T12:00:00+05:30", "2024-01-01T06:35:00Z", id="zones in texts"),
            pytest.param(datetime(2024, 1, 1, 6, 30), stamp(2024, 1, 1, 6, 35), id="without a zone it is UTC"),
            pytest.param("2024-10-27T02:30:00+02:00", "2024-10-27T01:40:00+01:00", id="summer time ends"),
            pytest.param(stamp(1969, 12, 31, 23, 59, 59), stamp(1970, 1, 1, 0, 4, 59), id="around 1970"),
            pytest.param(stamp(1, 1, 1), stamp(1, 1, 1, 0, 9), id="the first year"),
            pytest.param(stamp(9999, 12, 31, 23, 50), stamp(9999, 12, 31, 23, 59, 59, 999_999), id="the last year"),
        ],
    )
    def test_timestamps(self, first: object, second: object) -> None:
        """The second is at most ten minutes after the first."""
        program = f"""{STAMPED}
            EVENT e AS PATTERN SEQ(A a, B b) WITHIN 10 MINUTES;
            EVENT back AS PATTERN SEQ(B b, A a);
            EVENT less AS PATTERN SEQ(A a, B b) WITHIN 4 MINUTES;
        """
        inputs = {"A": events((first, 0.0), name="a"), "B": events((second, 0.0), name="b")}
        assert found(program, inputs, "lineage") == {"e": [(("a0", "b0"),)], "back": [], "less": []}

    def test_microseconds_before_1970(self) -> None:
        program = f"""{STAMPED}
            EVENT fits AS PATTERN SEQ(A a, B b) WITHIN 3 MICROSECONDS;
            EVENT tight AS PATTERN SEQ(A a, B b) WITHIN 2 MICROSECONDS;
        """
        one, other = stamp(1969, 12, 31, 23, 59, 59, 999_999), stamp(1970, 1, 1, 0, 0, 0, 2)
        results = found(program, {"A": events((one, 0.0)), "B": events((other, 0.0))}, "start", "end")
        assert results == {"fits": [(one, other)], "tight": []}

    def test_negative_ticks(self) -> None:
        program = f"""{TICKS}
            EVENT e AS PATTERN SEQ(A a, B b) WITHIN 2 TICKS;
            EVENT alarm AS PATTERN SEQ(A a, NOT B b, AFTER 1 TICKS);
        """
        inputs = {"A": events((-10, 0), (-3, 0)), "B": events((-8, 0), (-7, 0), (1, 0))}
        assert found(program, inputs, "start", "end") == {"e": [(-10, -8)], "alarm": [(-10, -9), (-3, -2)]}

    @pytest.mark.parametrize("far", [FARTHEST - 1, -FARTHEST], ids=["late", "early"])
    def test_times_as_far_as_they_go(self, far: int) -> None:
        program = f"""{TICKS}
            EVENT follows AS PATTERN SEQ(A a, B b) WITHIN 1 TICKS;
            EVENT next AS PATTERN SEQ NEXT(A a, B b);
            EVENT strict AS PATTERN SEQ STRICT(A a, B b);
            EVENT both AS PATTERN A a AND B b WITHIN 1 POINTS;
            EVENT early AS PATTERN SEQ(NOT B x, A a) WITHIN 5 TICKS;
            EVENT late AS PATTERN SEQ(B b, NOT A x) WITHIN 5 TICKS;
            EVENT alarm AS PATTERN SEQ(B b, NOT A x, AFTER {FARTHEST} TICKS);
            EVENT apart AS PATTERN SEQ(A a, B b[t - a.t = 1]);
        """
        results = found(program, {"A": events((far, 0)), "B": events((far + 1, 0))}, "start", "end")
        pair, second = (far, far + 1), far + 1
        assert results == {
            **{name: [pair] for name in ("follows", "next", "strict", "apart")},
            "both": [],
            "early": [(far, far)],
            "late": [(second, second)],
            "alarm": [(second, second + FARTHEST)],
        }

    @pytest.mark.parametrize("far", [FARTHEST + 1, -FARTHEST - 1, 2**63 - 1, -(2**63)])
    def test_times_beyond_are_set_aside(self, far: int) -> None:
        results = run(f"{TICKS} EVENT e AS PATTERN A a;", {"A": events((far, 0), (1, 0))})
        assert results.tables["e"]["lineage"].to_pylist() == [["e1"]]
        (reject,) = results.rejects.to_pylist()
        assert (reject["reason"], reject["id"]) == ("bad time", "e0")
        assert reject["detail"] == f"`t` is {far}, expected a time within {FARTHEST} of zero"

    @pytest.mark.parametrize(
        "pattern",
        [
            "SEQ(A a, B b) WITHIN 9223372036854775807 TICKS",
            "SEQ(A a, B b) WITHIN 9223372036854775807 POINTS",
            "SEQ(A a, NOT B b, AFTER 9223372036854775807 TICKS)",
            "(A a AND B b WITHIN 9223372036854775807 TICKS) OR A c",
        ],
    )
    def test_durations_that_no_time_can_last(self, pattern: str) -> None:
        with pytest.raises(InputError, match=r"9.22337e\+18 TICKS exceeds the range of times") as caught:
            run(f"{TICKS} EVENT e AS PATTERN {pattern};", {"A": events((1, 0)), "B": events((2, 0))})
        assert caught.value.diagnostics[0].code == "INK0507"


class TestValues:
    def test_NaN_is_a_missing_value(self) -> None:
        program = f"""{STAMPED}
            EVENT differs AS PATTERN SEQ(A a, B b[x <> a.x]);
            EVENT not_equal AS PATTERN SEQ(A a, B b[NOT x = a.x]);
            EVENT missing AS PATTERN A a[x IS NULL];
            EVENT mean(AVG(a.x) AS m, MAX(a.x) AS top, COUNT(a.x) AS n, COUNT(a) AS length) AS PATTERN SEQ(A a{{3}});
        """
        inputs = {
            "A": [
                {"id": f"a{n}", "k": "k", "t": stamp(2001, 1, n + 1), "x": x}
                for n, x in enumerate((math.nan, 2.0, 4.0))
            ],
            "B": [{"id": "b", "k": "k", "t": stamp(2002, 1, 1), "x": math.nan}],
        }
        tables = run(program, inputs).tables
        assert {name: tables[name].num_rows for name in ("differs", "not_equal", "missing")} == {
            "differs": 0,
            "not_equal": 3,
            "missing": 1,
        }
        (mean,) = tables["mean"].to_pylist()
        assert (mean["m"], mean["top"], mean["n"], mean["length"]) == (3.0, 4.0, 2, 3)

    def test_a_truth_value_that_is_missing_is_not_true(self) -> None:
        program = """
            STREAM V(id BIGINT, k STRING, t BIGINT, up BOOLEAN) ID id KEY k TIME t ORDER BY id;
            EVENT up AS PATTERN SEQ STRICT(V[up]) PARTITION BY k PER END;
            EVENT not_up AS PATTERN SEQ STRICT(V[NOT up]) PARTITION BY k PER END;
            EVENT either AS PATTERN V v[up OR t > 2];
            EVENT checked AS PATTERN SEQ(V a, V b) HAVING b.up;
            EVENT across AS PATTERN SEQ NEXT(V a, V b[a.up AND up]);
            EVENT other_across AS PATTERN SEQ NEXT(V a[t = 1], V b[NOT (a.up AND up)]);
        """
        rows = [{"id": n, "k": "k", "t": n, "up": up} for n, up in enumerate((True, None, False, True))]
        assert found(program, {"V": rows}, "lineage") == {
            "up": [((0,),), ((3,),)],
            "not_up": [((1,),), ((2,),)],
            "either": [((0,),), ((3,),)],
            "checked": [((0, 3),), ((1, 3),), ((2, 3),)],
            "across": [((0, 3),)],
            "other_across": [((1, 2),)],
        }

    @pytest.mark.parametrize("base", [0, 2**53, 2**60, -(2**62), 2**63 - 4], ids=str)
    def test_whole_numbers_are_compared_to_the_last_digit(self, base: int) -> None:
        program = f"""{TICKS}
            EVENT equal AS PATTERN SEQ(A a, B b[x = a.x]);
            EVENT other AS PATTERN SEQ(A a, B b[x <> a.x]);
            EVENT above AS PATTERN SEQ(A a, B b[x > a.x]);
            EVENT step AS PATTERN SEQ(A a, B b) WHERE b.x - a.x = 2;
            EVENT filtered AS PATTERN SEQ NEXT(A a, B b) HAVING b.x - a.x = 1;
            EVENT listed AS PATTERN SEQ(A a, B b[x - a.x IN (0, 2)]);
            EVENT constant AS PATTERN SEQ(A a, B b[x - a.x + {base % 2**62} = {base % 2**62 + 1}]);
            EVENT local AS PATTERN B b[x = {base + 1 if base >= 0 else 0}];
        """
        inputs = {"A": events((1, base)), "B": events((2, base + 1), (3, base + 2), (4, base), name="b")}
        assert found(program, inputs, "end") == {
            "equal": [(4,)],
            "other": [(2,), (3,)],
            "above": [(2,), (3,)],
            "step": [(3,)],
            "filtered": [(2,)],
            "listed": [(3,), (4,)],
            "constant": [(2,)],
            "local": [(2,)] if base >= 0 else [],
        }

    @pytest.mark.parametrize("base", [5, 2**60, 2**63 - 2], ids=str)
    def test_large_ids_stay_apart(self, base: int) -> None:
        program = f"""{UNORDERED}
            EVENT two AS PATTERN V a AND V b HAVING ID(a) <> ID(b);
            EVENT also_two AS PATTERN SEQ(V a, V b) WHERE ID(a) <> ID(b);
        """
        rows = [{"id": base + n, "k": "k", "t": n, "x": 0} for n in range(2)]
        assert found(program, {"V": rows}, "lineage") == {
            "two": [((base, base + 1),), ((base + 1, base),)],
            "also_two": [((base, base + 1),)],
        }


class TestOrder:
    @pytest.mark.parametrize("places", [(1, 2, 3), (-(2**63), 2**62 + 5, 2**63 - 1)], ids=["small", "large"])
    def test_simultaneous_events_in_order(self, places: Sequence[int]) -> None:
        first, second, third = places
        program = f"""{ORDERED}
            EVENT strict AS PATTERN SEQ STRICT(V, V);
            EVENT ends AS PATTERN SEQ STRICT(V, V) PARTITION BY k PER END;
            EVENT any AS PATTERN SEQ(V a, V b) WITHIN 0 TICKS;
            EVENT next AS PATTERN SEQ NEXT(V a, V b) WITHIN 0 TICKS;
            EVENT last AS PATTERN SEQ(V a, V b, NOT V) WITHIN 5 TICKS;
            EVENT derived AS PATTERN SEQ(strict s, V v);
        """
        rows = [{"id": place, "k": "k", "t": 1, "x": 0} for place in (third, first, second)]
        hops = [((first, second),), ((second, third),)]
        assert found(program, {"V": rows}, "lineage") == {
            "strict": hops,
            "ends": hops,
            "any": [((first, second),), ((first, third),), ((second, third),)],
            "next": hops,
            "last": [((first, third),), ((second, third),)],
            "derived": [((first, second, third),)],
        }

    def test_the_key_is_also_the_order(self) -> None:
        program = """
            STREAM V(id BIGINT, k BIGINT, t BIGINT) ID id KEY k TIME t ORDER BY k;
            EVENT alone(k) AS PATTERN SEQ STRICT(V, V) PARTITION BY k PER END;
            EVENT together AS PATTERN SEQ STRICT(V, V);
        """
        rows = [{"id": 1, "k": 1, "t": 1}, {"id": 2, "k": 2, "t": 1}, {"id": 3, "k": 1, "t": 2}]
        results = found(program, {"V": rows}, "lineage")
        assert results == {"alone": [((1, 3),)], "together": [((1, 2),), ((2, 3),)]}

    def test_an_order_that_leaves_ties(self) -> None:
        """Events that ORDER BY does not distinguish do not follow each other."""
        program = """
            STREAM V(id BIGINT, k BIGINT, t BIGINT) ID id KEY k TIME t ORDER BY k;
            EVENT ends(k) AS PATTERN SEQ STRICT(V, V) PARTITION BY k PER END;
            EVENT matches AS PATTERN SEQ STRICT(V, V);
        """
        rows = [{"id": 1, "k": 1, "t": 1}, {"id": 2, "k": 1, "t": 1}, {"id": 3, "k": 1, "t": 2}]
        results = found(program, {"V": rows}, "lineage")
        assert results == {"ends": [((1, 3),)], "matches": [((1, 3),), ((2, 3),)]}

    def test_one_column_for_id_key_time_and_order(self) -> None:
        program = """
            STREAM V(t BIGINT) ID t KEY t TIME t ORDER BY t;
            EVENT alone(t) AS PATTERN SEQ STRICT(V, V) PARTITION BY t PER END;
            EVENT together AS PATTERN SEQ STRICT(V, V) PER END;
        """
        results = found(program, {"V": [{"t": 3}, {"t": 1}, {"t": 2}]}, "lineage")
        assert results == {"alone": [], "together": [((1, 2),), ((2, 3),)]}


class TestRepeats:
    def test_a_row_given_twice_is_one_event(self) -> None:
        rows = events((1, 0), (2, 0))
        results = run(f"{TICKS} EVENT e AS PATTERN SEQ(A a, A b);", {"A": [*rows, *rows, *rows]})
        assert results.tables["e"]["lineage"].to_pylist() == [["e0", "e1"]]
        assert results.rejects["reason"].to_pylist() == ["duplicate id"] * 4

    def test_without_an_id_every_row_is_an_event(self) -> None:
        program = "STREAM A(k STRING, t BIGINT) KEY k TIME t; EVENT e AS PATTERN A a;"
        results = run(program, {"A": [{"k": "k", "t": 1}] * 3})
        assert results.tables["e"]["lineage"].to_pylist() == [[1], [2], [3]]

    def test_ids_need_only_be_different_for_one_key(self) -> None:
        """Counters that start anew for every device meet at the same time."""
        program = f"""{TICKS}
            EVENT each(a.k AS k) AS PATTERN A a;
            EVENT pair(a.k AS first, b.k AS second) AS PATTERN SEQ(A a, A b);
            EVENT both(a.k AS first, b.k AS second) AS PATTERN A a AND A b WITHIN 0 TICKS;
        """
        rows = [{"id": "1", "k": k, "t": t, "x": 0} for k, t in (("p", 1), ("q", 1), ("p", 2))]
        tables = run(program, {"A": rows}).tables
        assert sorted(tables["each"]["k"].to_pylist()) == ["p", "p", "q"]
        pairs = {
            name: sorted(zip(*(tables[name][c].to_pylist() for c in ("first", "second")), strict=True))
            for name in ("pair", "both")
        }
        assert pairs == {
            "pair": [("p", "p"), ("q", "p")],
            "both": [("p", "p"), ("p", "p"), ("p", "q"), ("q", "p"), ("q", "q")],
        }

    def test_one_row_in_two_streams_is_two_events(self) -> None:
        program = f"""{TICKS}
            EVENT both AS PATTERN A a AND B b HAVING ID(a) = ID(b);
            EVENT either AS PATTERN A|B x;
            EVENT follows AS PATTERN SEQ(A|B x, A|B y);
            EVENT strict AS PATTERN SEQ STRICT(A a, B b);
        """
        rows = events((1, 0), (2, 0))
        results = found(program, {"A": rows, "B": rows}, "lineage")
        assert results == {
            "both": [(("e0", "e0"),), (("e1", "e1"),)],
            "either": [(("e0",),), (("e0",),), (("e1",),), (("e1",),)],
            "follows": [(("e0", "e1"),)] * 4,
            "strict": [(("e0", "e1"),)],
        }

    def test_rows_without_a_key_or_a_time_are_set_aside(self) -> None:
        rows = [
            {"id": "1", "k": None, "t": 1, "x": 0},
            {"id": "2", "k": "k", "t": None, "x": 0},
            {"id": "3", "k": "k", "t": 3, "x": None},
        ]
        results = run(f"{TICKS} EVENT e AS PATTERN A a; EVENT by_key AS PATTERN A a PARTITION BY k;", {"A": rows})
        assert {name: table["lineage"].to_pylist() for name, table in results.tables.items()} == {
            "e": [["3"]],
            "by_key": [["3"]],
        }
        assert results.rejects["reason"].to_pylist() == ["null key", "null time"]
