"""Rules of ETALIS say the same as these programs."""

import pytest

from inkling.language import format_program, parse
from inkling.language.ele import ETALIS
from inkling.language.syntax import EventDecl, Program, RuleDecl, StreamDecl

STREAMS = """
STREAM a(v BIGINT) TIME t;
STREAM b(v BIGINT, w BIGINT) TIME t;
STREAM c(t BIGINT) TIME t;
"""
DIRECTIVES = ":- stream(a(v: bigint)). :- stream(b(v: bigint, w: bigint)). :- stream(c). "

EQUAL = {
    "sequence": ("e <- c SEQ c SEQ c.", "EVENT e AS PATTERN SEQ(c, c, c) PER INTERVAL;"),
    "right operand in parentheses": ("e <- c SEQ (c SEQ c).", "EVENT e AS PATTERN SEQ(c, SEQ(c, c)) PER INTERVAL;"),
    "shared variable": (
        "e(X) <- a(X) SEQ b(X, _).",
        "EVENT e(a1.v AS X) AS PATTERN SEQ(a a1, b[v = a1.v]) PER INTERVAL;",
    ),
    "one variable twice in an event": ("e <- b(X, X).", "EVENT e AS PATTERN b[w = v] PER INTERVAL;"),
    "constants": ("e <- b(1, -2).", "EVENT e AS PATTERN b[v = 1 AND w = -2] PER INTERVAL;"),
    "conjunction of three": ("e <- c AND c AND c.", "EVENT e AS PATTERN c AND c AND c PER INTERVAL;"),
    "PAR is read from the left": ("e <- c PAR c PAR c.", "EVENT e AS PATTERN (c PAR c) PAR c PER INTERVAL;"),
    "relations are read from the left": (
        "e <- c SEQ c DURING c MEETS c.",
        "EVENT e AS PATTERN SEQ(c, c) DURING c MEETS c PER INTERVAL;",
    ),
    "inverse relation in small letters": ("e <- c contains c.", "EVENT e AS PATTERN c CONTAINS c PER INTERVAL;"),
    "levels": ("e <- c OR c AND c SEQ c.", "EVENT e AS PATTERN c OR c AND SEQ(c, c) PER INTERVAL;"),
    "absence": (
        "e(X) <- NOT(b(X, Y)).[a(X), c].",
        "EVENT e(a1.v AS X) AS PATTERN NOT b[v = a1.v] BETWEEN a a1 AND c PER INTERVAL;",
    ),
    "absence without a dot": (
        "e <- not(a(X))[c, b(X, _)].",
        "EVENT e AS PATTERN NOT a[v = b1.v] BETWEEN c AND b b1 PER INTERVAL;",
    ),
    "never before": (
        "e(X) <- a(X) FNOT b(X, _).",
        "EVENT e(a1.v AS X) AS PATTERN SEQ(AT START, NOT b[v = a1.v], a a1) PER INTERVAL;",
    ),
    "limit in ticks": ("e <- (c SEQ c).7.", "EVENT e AS PATTERN SEQ(c, c) WITHIN 7 TICKS PER INTERVAL;"),
    "limit between ticks": ("e <- (c SEQ c).2.9.", "EVENT e AS PATTERN SEQ(c, c) WITHIN 2 TICKS PER INTERVAL;"),
    "limits inside": ("e <- (c SEQ c).2 SEQ c.", "EVENT e AS PATTERN SEQ((SEQ(c, c) WITHIN 2 TICKS), c) PER INTERVAL;"),
    "window of the rule": (
        "quick([event_rule_window(5)]): e <- c SEQ c.",
        "EVENT e AS PATTERN SEQ(c, c) WITHIN 5 TICKS PER INTERVAL;",
    ),
    "times": ("e <- c DURING (0 SEQ 6).", "EVENT e AS PATTERN c DURING SEQ(AT 0, AT 6) PER INTERVAL;"),
    "n times": ("e <- c ntimes 3 SEQ c.", "EVENT e AS PATTERN SEQ(c{3}, c) PER INTERVAL;"),
    "n times the same": (
        "e(X) <- a(X) ntimes 2.",
        "EVENT e(a1.v AS X) AS PATTERN SEQ(a a1, a[v = a1.v]) PER INTERVAL;",
    ),
    "any number of times": ("e <- c SEQ c star_times.", "EVENT e AS PATTERN SEQ(c, c*) PER INTERVAL;"),
    "comparison": (
        "e(X) <- a(X) SEQ a(Y) WHERE Y =< 2 * X, X \\= Y.",
        "EVENT e(a1.v AS X) AS PATTERN SEQ(a a1, a a2) WHERE a2.v <= 2 * a1.v AND a1.v <> a2.v PER INTERVAL;",
    ),
    "value from an equation": (
        "e(S) <- b(X, Y) WHERE {S is X + Y}.",
        "EVENT e(S) AS PATTERN b b1 WHERE S = b1.v + b1.w PER INTERVAL;",
    ),
    "arithmetic": (
        "e(S) <- b(X, Y) WHERE S is -(X ** 2) + Y mod 3 - sqrt(Y) / 2.",
        "EVENT e(S) AS PATTERN b b1 WHERE S = -pow(b1.v, 2) + b1.w % 3 - sqrt(b1.w) / 2 PER INTERVAL;",
    ),
    "equation of known values": (
        "e(X) <- b(X, Y) WHERE X = Y.",
        "EVENT e(b1.v AS X) AS PATTERN b b1 WHERE b1.v = b1.w PER INTERVAL;",
    ),
    "goals in any order": (
        "e(T) <- a(X) WHERE T > S, S is X + 1, limit(X, T).",
        "EVENT e(T) AS PATTERN a a1 WHERE T > S AND S = a1.v + 1 AND limit(a1.v, T) PER INTERVAL;",
    ),
    "negated goal": (
        "e(X) <- a(X) WHERE not limit(X, _).",
        "EVENT e(a1.v AS X) AS PATTERN a a1 WHERE NOT limit(a1.v, _) PER INTERVAL;",
    ),
    "one event for each solution": (
        "e(X, T) <- a(X) EVENT_MULTIPLY limit(X, T).",
        "EVENT e(a1.v AS X, T) AS PATTERN a a1 WHERE limit(a1.v, T) PER INTERVAL;",
    ),
    "times of the match": (
        "e <- c SEQ c CHECK T2 - T1 > 10.",
        "EVENT e AS PATTERN (SEQ(c, c)) m HAVING END(m) - START(m) > 10 PER INTERVAL;",
    ),
    "variables called T1 and T2": (
        "e <- b(T1, T2) CHECK T2 > T1.",
        "EVENT e AS PATTERN (b b1) m HAVING b1.w > b1.v PER INTERVAL;",
    ),
    "alternatives without shared variables": ("e <- c OR a(X).", "EVENT e AS PATTERN c OR a PER INTERVAL;"),
    "alternatives of a value": (
        "e(X) <- a(X) OR b(_, X) WHERE X > 1.",
        """EVENT e(a1.v AS X) AS PATTERN a a1 WHERE a1.v > 1 PER INTERVAL;
        EVENT e(b1.w AS X) AS PATTERN b b1 WHERE b1.w > 1 PER INTERVAL;""",
    ),
    "alternatives after their value": (
        "e(X) <- a(X) SEQ (a(X) OR b(_, X)).",
        "EVENT e(a1.v AS X) AS PATTERN SEQ(a a1, a[v = a1.v] OR b[w = a1.v]) PER INTERVAL;",
    ),
    "alternatives before their value": (
        "e(X) <- (a(X) OR b(_, X)) SEQ c.",
        """EVENT e_either(a1.v AS X) AS PATTERN a a1 PER INTERVAL;
        EVENT e_either(b1.w AS X) AS PATTERN b b1 PER INTERVAL;
        EVENT e(e_either1.X) AS PATTERN SEQ(e_either e_either1, c) PER INTERVAL;""",
    ),
    "rule inside a pattern": (
        "e(X) <- (twice(X) <- a(X) SEQ a(X)) SEQ c.",
        """EVENT twice(a1.v AS X) AS PATTERN SEQ(a a1, a[v = a1.v]) PER INTERVAL;
        EVENT e(twice1.X) AS PATTERN SEQ(twice twice1, c) PER INTERVAL;""",
    ),
    "several rules of one event": (
        "m(X) <- a(X). m(Y) <- m(X) SEQ a(Y) WHERE Y > X.",
        """EVENT m(a1.v AS X) AS PATTERN a a1 PER INTERVAL;
        EVENT m(a1.v AS X) AS PATTERN SEQ(m m1, a a1) WHERE a1.v > m1.X PER INTERVAL;""",
    ),
    "one name with two numbers of arguments": (
        "e(X) <- a(X). e(X, Y) <- b(X, Y).",
        """EVENT e(a1.v AS X) AS PATTERN a a1 PER INTERVAL;
        EVENT e_2(b1.v AS X, b1.w AS Y) AS PATTERN b b1 PER INTERVAL;""",
    ),
    "policy": (
        ":- policy(recent, keeping, prefer(longer)). e <- c SEQ c. f <- c.",
        """EVENT e AS PATTERN SEQ(c, c) CONSUME RECENT KEEPING PREFER LONGER PER INTERVAL;
        EVENT f AS PATTERN c PER INTERVAL;""",
    ),
    "policy that prefers a value": (
        ":- policy(chronological, prefer(X)). e <- a(X) SEQ c.",
        "EVENT e AS PATTERN SEQ(a a1, c) CONSUME CHRONOLOGICAL PREFER a1.v PER INTERVAL;",
    ),
    "facts and clauses": (
        "near(a, b). far(X, Z) :- near(X, Y), not far(Y, Z), X \\= Z.",
        "RULE near('a', 'b'); RULE far(X, Z) IF near(X, Y) AND NOT far(Y, Z) AND X <> Z;",
    ),
    "absence of a value from a fact": (
        "e(X) <- NOT(a(X)).[c, b(Y, _)] WHERE near(X, Y). near(1, 2).",
        """EVENT e(X) AS PATTERN NOT a[v = X] BETWEEN c AND b b1 WHERE near(X, b1.v) PER INTERVAL;
        RULE near(1, 2);""",
    ),
    "alternatives with different variables": (
        "e(X, Y) <- a(X) SEQ (b(X, _) OR a(Y)) SEQ b(Y, _).",
        """EVENT e(a1.v AS X, b1.v AS Y) AS PATTERN SEQ(a a1, b[v = a1.v], b b1) PER INTERVAL;
        EVENT e(a1.v AS X, a2.v AS Y) AS PATTERN SEQ(a a1, a a2, b[v = a2.v]) PER INTERVAL;""",
    ),
    "alternatives with different variables that are absent": (
        "e(X) <- NOT((a(X) OR b(Y, _)) SEQ b(Y, X)).[c, a(X)].",
        """EVENT e(a1.v AS X) AS PATTERN
        NOT (SEQ(a[v = a1.v], b b1[w = a1.v]) OR SEQ(b b2, b[v = b2.v AND w = a1.v]))
        BETWEEN c AND a a1 PER INTERVAL;""",
    ),
    "absence of a value from later": (
        "e(X) <- NOT(a(X)).[c, c] SEQ a(X). f(X) <- (c FNOT a(X)) SEQ a(X). g(X) <- NOT(a(X)).[c, c] DURING a(X).",
        """EVENT e(a1.v AS X) AS PATTERN SEQ(c, NOT a[v = a1.v], c, a a1) PER INTERVAL;
        EVENT f(a1.v AS X) AS PATTERN SEQ(AT START, NOT a[v = a1.v], c, a a1) PER INTERVAL;
        EVENT g(a1.v AS X) AS PATTERN a a1 CONTAINS (NOT a[v = a1.v] BETWEEN c AND c) PER INTERVAL;""",
    ),
    "absence of a calculated value": (
        "e(X) <- NOT(a(X)).[c, b(Y, Z)] WHERE X is Y + Z.",
        """EVENT e(X) AS PATTERN NOT a[v = b1.v + b1.w] BETWEEN c AND b b1
        WHERE X = b1.v + b1.w PER INTERVAL;""",
    ),
    "value in one of the alternatives": (
        "e(X) <- (a(X) OR c) SEQ a(X).",
        """EVENT e(a1.v AS X) AS PATTERN SEQ(a a1, a[v = a1.v]) PER INTERVAL;
        EVENT e(a1.v AS X) AS PATTERN SEQ(c, a a1) PER INTERVAL;""",
    ),
    "no arguments": ("e() <- c() SEQ c.", "EVENT e AS PATTERN SEQ(c, c) PER INTERVAL;"),
    "value in a head": ("e(N = 1, X) <- a(X).", "EVENT e(N, a1.v AS X) AS PATTERN a a1 WHERE N = 1.0 PER INTERVAL;"),
    "one or more, none or more": ("e <- c SEQ c+ SEQ c* SEQ c.", "EVENT e AS PATTERN SEQ(c, c+, c*, c) PER INTERVAL;"),
    "interrupted": (
        "e <- (c 'seq' a(X)) cnot b(X, _).",
        "EVENT e AS PATTERN NOT b[v = a1.v] BETWEEN c AND a a1 PER INTERVAL;",
    ),
    "property in a word": (
        "r([property(window, 5)]): e <- c SEQ c.",
        "EVENT e AS PATTERN SEQ(c, c) WITHIN 5 TICKS PER INTERVAL;",
    ),
    "half-open windows": (
        "r([half_open_window(5)]): e <- c SEQ c. r([half_open_window(1 ms)]): f <- c SEQ c.",
        """EVENT e AS PATTERN SEQ(c, c) WITHIN 4 TICKS PER INTERVAL;
        EVENT f AS PATTERN SEQ(c, c) WITHIN 999 MICROSECONDS PER INTERVAL;""",
    ),
    "chain of comparisons": (
        "e <- a(X) WHERE 1 < X =< 3.",
        "EVENT e AS PATTERN a a1 WHERE 1 < a1.v AND a1.v <= 3 PER INTERVAL;",
    ),
    "choice of conditions": (
        "e <- b(X, Y) WHERE (X > 1 -> Y > 2 ; Y > 3), X < 9.",
        """EVENT e AS PATTERN b b1
        WHERE (b1.v > 1 AND b1.w > 2 OR NOT b1.v > 1 AND b1.w > 3) AND b1.v < 9 PER INTERVAL;""",
    ),
    "choice of values": (
        "e(Z) <- a(X) WHERE (X > 1 -> Z = 5 ; Z = X).",
        """EVENT e(Z) AS PATTERN a a1 WHERE a1.v > 1 AND Z = 5 PER INTERVAL;
        EVENT e(Z) AS PATTERN a a1 WHERE NOT a1.v > 1 AND Z = a1.v PER INTERVAL;""",
    ),
    "choice in a clause": (
        "p(X, Y) :- q(X), (X > 1 -> Y = 5 ; Y = X). q(1).",
        """RULE p(X, Y) IF q(X) AND X > 1 AND Y = 5; RULE p(X, Y) IF q(X) AND NOT X > 1 AND Y = X;
        RULE q(1.0);""",
    ),
    "member": (
        "e <- a(X) WHERE member(X, [1, 2]).",
        "EVENT e AS PATTERN a a1 WHERE a1.v = 1 OR a1.v = 2 PER INTERVAL;",
    ),
    "first match": (
        "e(L) <- a(X) WHERE level(X, L). level(X, low) :- X < 3, !. level(X, mid) :- X < 6, !. level(_, high).",
        """EVENT e(L) AS PATTERN a a1 WHERE level(a1.v, L) PER INTERVAL;
        RULE level(X, 'low') IF X < 3;
        RULE level(X, 'mid') IF X < 6 AND NOT X < 3;
        RULE level(Any1, 'high') IF NOT Any1 < 3 AND NOT Any1 < 6;""",
    ),
    "first match by a constant": (
        "e(F) <- b(X, Y) WHERE fee(X, Y, F). fee(1, Y, 0) :- Y > 5, !. fee(2, Y, 3) :- Y > 2, !. fee(2, Y, Y).",
        """EVENT e(F) AS PATTERN b b1 WHERE fee(b1.v, b1.w, F) PER INTERVAL;
        RULE fee(1, Y, 0) IF Y > 5; RULE fee(2, Y, 3) IF Y > 2;
        RULE fee(2, Y, Y3) IF NOT Y > 2 AND Y3 = Y;""",
    ),
    "first of listed facts": (
        "e(A) <- a(X) WHERE in(A, X). in(A, X) :- area(A, L), L < X, !. area(p, 5). area(q, 3).",
        """EVENT e(A) AS PATTERN a a1 WHERE in(A, a1.v) PER INTERVAL;
        RULE in('p', X) IF 5 < X; RULE in('q', X) IF 3 < X AND NOT 5 < X;
        RULE area('p', 5.0); RULE area('q', 3.0);""",
    ),
    "structured terms": (
        "e(at(X, Y), Y) <- b(X, Y). f(P) <- e(P, _) WHERE P \\= at(1, 1).",
        """EVENT e(b1.v AS X, b1.w AS Y, b1.w AS a3) AS PATTERN b b1 PER INTERVAL;
        EVENT f(e1.X AS P_1, e1.Y AS P_2) AS PATTERN e e1 WHERE NOT (e1.X = 1 AND e1.Y = 1) PER INTERVAL;""",
    ),
    "lists": (
        "e([X, Y]) <- b(X, Y). f(Y) <- e([1, Y]).",
        """EVENT e(b1.v AS X, b1.w AS Y) AS PATTERN b b1 PER INTERVAL;
        EVENT f(e1.Y) AS PATTERN e e1[X = 1] PER INTERVAL;""",
    ),
    "prefixes": (
        "x:near(a, y:b). e <- a(X) WHERE x:near(X, y:b).",
        """RULE "x:near"('a', 'y:b'); EVENT e AS PATTERN a a1 WHERE "x:near"(a1.v, 'y:b') PER INTERVAL;""",
    ),
    "actions": (
        "e DO told(X) <- a(X) WHERE X > 1. limit(3). f <- a(X) SEQ c DO limit(X).",
        """EVENT told(a1.v AS X) AS PATTERN a a1 WHERE a1.v > 1 PER INTERVAL;
        EVENT e AS PATTERN a a1 WHERE a1.v > 1 PER INTERVAL;
        RULE limit(3); EVENT f AS PATTERN SEQ(a a1, c) WHERE limit(a1.v) PER INTERVAL;""",
    ),
    "alarms": (
        "exceptionAlarm(e(X), 10) <- a(X) SEQ c. exceptionAlarmAbsoluteDatime(f, 60) <- c.",
        """EVENT e(a1.v AS X) AS PATTERN SEQ(a a1, c, AFTER 10 TICKS) PER INTERVAL;
        EVENT f AS PATTERN SEQ(c, AT 60) PER INTERVAL;""",
    ),
    "aggregate of everything so far": (
        "e(S) <- aggregate(sum(X), a(X), S).",
        "EVENT e(SUM(w.v) AS S) AS PATTERN WINDOW a w LAST 1000000000 EVENTS PER INTERVAL;",
    ),
    "larger and smaller": (
        "e(Z) <- b(X, Y) WHERE Z is max(X, Y) - min(X, 1).",
        "EVENT e(Z) AS PATTERN b b1 WHERE Z = greatest(b1.v, b1.w) - least(b1.v, 1) PER INTERVAL;",
    ),
    "table": (":- table(near(x: string, d: double), 'near.csv').", "TABLE near(x STRING, d DOUBLE) FROM 'near.csv';"),
}


@pytest.mark.parametrize("case", EQUAL)
def test_rules_are_this_program(case: str) -> None:
    rules, program = EQUAL[case]
    assert format_program(_without_comments(ETALIS.parse(DIRECTIVES + rules))) == format_program(
        parse(STREAMS + program)
    )


def _without_comments(program: Program) -> Program:
    return Program(program.statements)


def _streams(rules: str) -> dict[str, StreamDecl]:
    return {s.name.text: s for s in ETALIS.parse(rules).statements if isinstance(s, StreamDecl)}


def _types(stream: StreamDecl) -> dict[str, str]:
    return {column.name.text: column.type.text for column in stream.columns}


def test_columns_are_numbers_where_they_are_calculated_or_compared() -> None:
    found = _streams("e(X) <- a(X, Y, Z, house) SEQ b(X, W, V) WHERE Y > 2, W is Z + V.")
    assert _types(found["a"]) == {"a1": "STRING", "a2": "DOUBLE", "a3": "DOUBLE", "a4": "STRING"}
    assert _types(found["b"]) == {"a1": "STRING", "a2": "DOUBLE", "a3": "DOUBLE"}


def test_what_is_known_of_a_value_follows_it_through_events_and_facts() -> None:
    found = _streams("e(X) <- a(X). f(Y) <- e(Y) SEQ b(Z) WHERE near(Y, Z). near(1, house).")
    assert _types(found["a"]) == {"a1": "DOUBLE"}
    assert _types(found["b"]) == {"a1": "STRING"}


def test_whole_numbers_in_heads_are_written_like_the_other_values_of_their_column() -> None:
    program = ETALIS.parse("n(0) <- c. n(M) <- n(N) SEQ c WHERE M is N + 1. n(X) <- a(X).")
    first = next(s for s in program.statements if isinstance(s, EventDecl))
    assert "n(0.0 AS a1)" in format_program(Program((first,)))


def test_whole_numbers_stay_whole_where_columns_are_declared_so() -> None:
    program = ETALIS.parse(":- stream(a(x: bigint)). n(0) <- c. n(X) <- a(X). near(X, 2) :- far(X). far(1).")
    text = format_program(program)
    assert "n(0 AS a1)" in text
    assert "RULE far(1.0)" in text  # nothing ties it to the stream


def test_options_of_streams() -> None:
    rules = """
    :- stream(a(id: string, x: double), id(id), key(x), time(at: timestamp), order(id), late(10 min), tick(1 s)).
    :- stream(b(x: double), interval).
    :- stream(d(x: double), time(begun, ended)).
    e <- a(_, X) SEQ b(X) SEQ d(X).
    """
    text = format_program(Program(tuple(_streams(rules).values())))
    assert " ".join(text.split()) == (
        "STREAM a(id STRING, x DOUBLE, at TIMESTAMP) ID id KEY x TIME at ORDER BY id TICK 1 SECONDS LATE 10 MINUTES; "
        "STREAM b(x DOUBLE) TIME FROM start TO end; "
        "STREAM d(x DOUBLE) TIME FROM begun TO ended;"
    )


def test_options_of_streams_whose_past_can_change() -> None:
    rules = """
    :- stream(a(id: string), id(id), late(10 min, speculative), op(sign, 1 h)).
    :- stream(b(id: string), id(id), op(sign)).
    e <- a(_) SEQ b(_).
    """
    text = format_program(Program(tuple(_streams(rules).values())))
    assert " ".join(text.split()) == (
        "STREAM a(id STRING) ID id TIME t LATENESS 10 MINUTES SPECULATIVE OP sign FOR 1 HOURS; "
        "STREAM b(id STRING) ID id TIME t OP sign;"
    )


def test_inputs_of_a_late_rule_may_be_late_also_where_only_goals_ask_for_them() -> None:
    rules = """
    :- stream(link(a: string, b: string)). :- stream(gone(a: string)).
    near([ooo_window(10 min)]): out(X, Y) <- seen(X) WHERE link(X, Y), known(X).
    known(X) <- gone(X).
    """
    found = _streams(rules + "other(X) <- else(X).")
    late = {name: format_program(Program((one,))).endswith(" LATE 10 MINUTES;\n") for name, one in found.items()}
    assert late == {"seen": True, "link": True, "gone": True, "else": False}


def test_time_and_tick_of_all_streams() -> None:
    found = _streams(":- time(bigint). :- tick(30 min). e <- a(X) SEQ b.")
    assert _types(found["a"]) == {"a1": "STRING", "t": "BIGINT"}
    assert all(format_program(Program((s,))).endswith("TIME t TICK 30 MINUTES;\n") for s in found.values())


def test_comments_stay_with_their_statements() -> None:
    rules = "% first\n:- policy(recent).\n/* second\n * third */\ne <- a SEQ b. % fourth\n% last\n"
    program = ETALIS.parse(rules)
    (event,) = [s for s in program.statements if isinstance(s, EventDecl)]
    assert event.comments == ("first", "second\nthird", "fourth")
    assert program.comments == ("last",)


def test_places_are_those_of_the_rules() -> None:
    text = "% rises\nrise(C) <- price(C, P).\nbanned(acme)."
    program = ETALIS.parse(text)
    (event,) = [s for s in program.statements if isinstance(s, EventDecl)]
    (rule,) = [s for s in program.statements if isinstance(s, RuleDecl)]
    assert text[event.name.span.start : event.name.span.end] == "rise"
    assert text[event.body.pattern.span.start : event.body.pattern.span.end] == "price(C, P)"
    assert text[rule.head.span.start : rule.head.span.end] == "banned(acme)"
