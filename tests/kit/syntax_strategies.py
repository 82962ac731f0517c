"""Random syntax trees: every shape the language can say, with names that tempt the parser."""

from fractions import Fraction
from functools import cache
from typing import Any, TypeVar, get_args

from hypothesis import strategies as st

from inkling.language.syntax import (
    EPOCH_UNITS,
    RELATIONS,
    TIME_UNITS,
    Absent,
    After,
    Aggregate,
    AggregateName,
    Allen,
    AllOf,
    And,
    AnyOf,
    AtStart,
    AtTime,
    Attribute,
    Binary,
    Body,
    Call,
    Check,
    ClockError,
    ClockErrors,
    ColumnDecl,
    Compare,
    Complement,
    Component,
    Confidence,
    Consume,
    DeriveItem,
    Duration,
    EachCount,
    EventCount,
    EventDecl,
    Except,
    Expr,
    FirstOrLast,
    ForecastAround,
    ForecastDecl,
    ForecastInterval,
    ForecastKind,
    ForecastPoint,
    ForecastWithin,
    Ident,
    IdOf,
    InList,
    IsNull,
    Item,
    Leaf,
    LeftJoin,
    Literal,
    Negation,
    Nested,
    NotBetween,
    OptionalPart,
    Or,
    Par,
    Pattern,
    PointCount,
    Previous,
    Program,
    Quantified,
    Quantity,
    Rate,
    Remaining,
    Repeat,
    RuleDecl,
    SegmentsDecl,
    Seq,
    SinceChange,
    Statement,
    StreamDecl,
    TableDecl,
    TimeAbout,
    TimeBetween,
    TimeOf,
    TimePoint,
    TimeSpan,
    Unary,
    Variable,
    WindowOf,
)

PLAIN_NAMES = ("a", "b", "x1", "Temp", "road", "größe", "事件", "_hidden")
KEYWORD_NAMES = (
    "after all and any as at between bounds check count derive during each early end equals erlang event except exact "
    "false final first for forecast from gaps given having id if in intensity is keep key known last late least longer "
    "match model next not null on op optional or order over par partition pattern per point prev "
    "rate retract return role rule same seq since some speculative start starts stream strict table tick time timeout "
    "to top true values where window within"
)
QUOTED_NAMES = ("_", "two words", 'a "quoted" one', "back`tick", "1st", "a-b", "--", "it's", ";")


T = TypeVar("T")


@cache
def idents() -> st.SearchStrategy[Ident]:
    names = (*PLAIN_NAMES, *KEYWORD_NAMES.split(), *QUOTED_NAMES)
    return st.sampled_from(names).map(Ident)


@cache
def literals() -> st.SearchStrategy[Literal]:
    texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=5)
    numbers = st.integers(0, 2**63 - 1) | st.floats(0, allow_infinity=False)
    return (st.none() | st.booleans() | texts | numbers).map(Literal)


@cache
def expressions() -> st.SearchStrategy[Expr]:
    """Values and conditions; nothing checks that they have a type."""
    return st.recursive(_simple_expressions(), _larger_expressions, max_leaves=8)


@cache
def durations() -> st.SearchStrategy[Duration]:
    amounts = st.integers(0, 10**6) | st.decimals(0, 1000, places=3).map(Fraction)
    return st.builds(Duration, amounts, st.sampled_from(TIME_UNITS))


@cache
def _rates() -> st.SearchStrategy[Rate]:
    amounts = st.integers(1, 10**6) | st.integers(1, 10**6).map(lambda n: Fraction(n, 1000))
    amounts = amounts.map(lambda amount: amount.numerator if amount.denominator == 1 else amount)
    per = st.builds(Duration, amounts | st.just(1), st.sampled_from(TIME_UNITS))
    return st.builds(Rate, amounts, per)


@cache
def patterns() -> st.SearchStrategy[Pattern]:
    return st.recursive(_simple_patterns(), _larger_patterns, max_leaves=6)


@cache
def statements() -> st.SearchStrategy[Statement]:
    return st.one_of(_streams(), _tables(), _rules(), _events(), _forecasts())


@cache
def programs() -> st.SearchStrategy[Program]:
    return st.lists(statements(), max_size=4).map(lambda parts: Program(tuple(parts)))


def _several(items: st.SearchStrategy[T], low: int, high: int = 3) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(items, min_size=low, max_size=high).map(tuple)


def _maybe(values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | values


@cache
def _simple_expressions() -> st.SearchStrategy[Expr]:
    name = idents()
    return st.one_of(
        literals(),
        durations(),
        st.builds(Variable, name),
        st.builds(Attribute, name, name),
        st.builds(FirstOrLast, st.sampled_from(["FIRST", "LAST"]), name, name),
        st.builds(Aggregate, st.sampled_from(get_args(AggregateName)), name, _maybe(name)),
        st.builds(Previous, name),
        st.builds(SinceChange, name),
        st.builds(TimeOf, st.sampled_from(["START", "END"]), name),
        st.builds(IdOf, name),
    )


def _larger_expressions(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Call, idents(), _several(inner, 0)),
        st.builds(Unary, st.just("-"), inner),
        st.builds(Binary, st.sampled_from("+-*/%"), inner, inner),
        st.builds(Compare, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), inner, inner),
        st.builds(InList, inner, _several(inner, 1), st.booleans()),
        st.builds(IsNull, inner, st.booleans()),
        st.builds(AllOf, _several(inner, 2)),
        st.builds(AnyOf, _several(inner, 2)),
        st.builds(Negation, inner),
    )


@cache
def _windows() -> st.SearchStrategy[Duration | PointCount | EventCount]:
    counts = st.integers(1, 100)
    return durations() | st.builds(PointCount, counts) | st.builds(EventCount, counts)


@cache
def _simple_patterns() -> st.SearchStrategy[Pattern]:
    name = idents()
    times = (st.integers(0, 10**9) | st.text("0123456789-: ", min_size=1)).map(Literal)
    last = durations() | st.builds(EventCount, st.integers(1, 100))
    return st.one_of(
        st.builds(Leaf, _several(name, 0), _maybe(name), _maybe(expressions())),
        st.builds(WindowOf, name, name, _maybe(expressions()), last, _maybe(name)),
        st.builds(AtTime, times),
        st.builds(Quantified, _quantities(), _relations(), _quantities(), _maybe(name)),
    )


@cache
def _relations() -> st.SearchStrategy[tuple[str, ...]]:
    return _several(st.sampled_from(RELATIONS), 1)


@cache
def _quantities() -> st.SearchStrategy[Quantity]:
    name, var = idents(), _maybe(idents())
    all_or_some = st.builds(Quantity, st.sampled_from(["ALL", "SOME"]), name, var)
    each = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(sorted)
    several = st.builds(lambda name, ends: EachCount(name, *ends), name, each)
    return all_or_some | st.builds(Quantity, st.just("AT LEAST"), name, var, st.integers(0, 9) | several)


def _larger_patterns(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    policies = st.sampled_from(["ANY", "NEXT", "STRICT"])
    bodies = _bodies(inner)
    return st.one_of(
        st.builds(Seq, policies, _several(_components(inner), 1)),
        st.builds(And, _several(inner, 2)),
        st.builds(Or, _several(inner, 2)),
        st.builds(Par, _several(inner, 2)),
        st.builds(Allen, inner, _relations(), inner),
        st.builds(Except, inner, inner),
        st.builds(LeftJoin, inner, _relations() | st.just(()), inner),
        st.builds(NotBetween, inner, inner, inner),
        _repeats(inner),
        st.builds(Check, inner, expressions()),
        st.builds(Complement, inner),
        st.builds(Nested, bodies, idents()),
        st.builds(Nested, st.builds(Body, inner, expressions(), _maybe(_windows()))),
        st.builds(Nested, st.builds(Body, inner, within=_windows(), having=_maybe(expressions()))),
    )


def _components(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Component]:
    return st.one_of(
        inner,
        st.builds(Absent, inner),
        st.builds(OptionalPart, inner),
        st.builds(After, durations()),
        st.just(AtStart()),
    )


def _repeats(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Repeat]:
    modes = st.sampled_from([None, "EAGER", "MAXIMAL"])
    at_least = st.builds(Repeat, inner, st.integers(0, 3), mode=modes)
    between = st.builds(
        lambda pattern, low, more, mode: Repeat(pattern, low, max(low + more, 1), mode),
        inner,
        st.integers(0, 3),
        st.integers(0, 2),
        modes,
    )
    return at_least | between


def _bodies(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Body]:
    return st.builds(Body, inner, _maybe(expressions()), _maybe(_windows()), _maybe(expressions()))


@cache
def _columns() -> st.SearchStrategy[tuple[ColumnDecl, ...]]:
    types = st.sampled_from(["INT", "DOUBLE", "STRING", "BOOLEAN", "TIMESTAMP"]).map(Ident)
    return _several(st.builds(ColumnDecl, idents(), types), 1, 9)


@cache
def _clock_errors() -> st.SearchStrategy[ClockErrors]:
    others = st.builds(ClockError, durations(), st.text("ab' -", max_size=4))
    return st.builds(ClockErrors, idents(), durations(), _several(others, 0, 2))


@cache
def _streams() -> st.SearchStrategy[StreamDecl]:
    name = idents()
    maybe_name = _maybe(name)
    times = st.one_of(
        st.builds(TimePoint, name),
        st.builds(TimeSpan, name, name),
        st.builds(TimeBetween, name, name, maybe_name),
        st.builds(TimeAbout, name, st.one_of(name, durations(), _clock_errors())),
    )
    lengths = {"rate": _maybe(_rates() | name), "timeout": _maybe(durations())}
    segments = st.builds(SegmentsDecl, maybe_name, maybe_name, **lengths) | st.builds(
        SegmentsDecl, maybe_name, maybe_name, name, name, **lengths
    )
    about_numbers = st.fixed_dictionaries(
        {"erlang": _maybe(st.integers(1, 9)), "intensity": maybe_name, "known": maybe_name}
    )
    nothing: st.SearchStrategy[dict[str, Any]] = st.just({})
    lateness = nothing | st.fixed_dictionaries({"late": durations(), "speculative": st.booleans()})
    ops = nothing | st.fixed_dictionaries({"op": name, "op_for": _maybe(durations())})
    rest = st.fixed_dictionaries(
        {
            "id": maybe_name,
            "key": _several(name, 0),
            "time": _maybe(times),
            "order_by": maybe_name,
            "tick": _maybe(durations()),
            "segments": _maybe(segments),
            "derive": _several(st.builds(DeriveItem, name, expressions()), 0),
            "reset_when": _maybe(expressions()),
            "at_most": _maybe(durations()),
            "ahead": _maybe(durations()),
            "epoch": _maybe(st.sampled_from([Ident(unit) for unit in EPOCH_UNITS])),
        }
    )
    return st.builds(
        lambda name, columns, probability, given, number, numbering, late, op, options: StreamDecl(
            name,
            columns,
            probability=probability,
            given=given if probability else (),
            numbered_by=number,
            **(numbering if number else {}),
            **late,
            **op,
            **options,
        ),
        name,
        _columns(),
        maybe_name,
        _several(name, 0),
        maybe_name,
        about_numbers,
        lateness,
        ops,
        rest,
    )


@cache
def _tables() -> st.SearchStrategy[TableDecl]:
    return st.builds(TableDecl, idents(), _columns(), st.text("abc'./ ", max_size=9))


@cache
def _rules() -> st.SearchStrategy[RuleDecl]:
    return st.builds(RuleDecl, st.builds(Call, idents(), _several(expressions(), 0)), _maybe(expressions()))


@cache
def _items() -> st.SearchStrategy[Item]:
    return st.builds(Item, expressions(), _maybe(idents()))


@cache
def _confidences() -> st.SearchStrategy[Confidence]:
    return st.builds(Confidence, st.sampled_from([">=", ">"]), st.floats(0, 1), st.booleans())


@cache
def _events() -> st.SearchStrategy[EventDecl]:
    preferences = st.none() | st.sampled_from(["LONGER", "SHORTER"]) | expressions()
    consumes = st.just(Consume("RESTART")) | st.builds(
        Consume, st.sampled_from(["RECENT", "CHRONOLOGICAL"]), st.booleans(), preferences
    )
    return st.builds(
        EventDecl,
        idents(),
        _maybe(_several(_items(), 0)),
        _bodies(patterns()),
        partition_by=_several(idents(), 0),
        over=_several(idents(), 0),
        consume=_maybe(consumes),
        returns=_several(_items(), 0),
        per=st.sampled_from([None, "MATCH", "INTERVAL", "END", "VALUES"]),
        confidence=_maybe(_confidences()),
        top=_maybe(st.integers(1, 100)),
        keep_for=_maybe(durations()),
        on_timeout=_maybe(idents()),
        on_retract=_maybe(idents()),
        demand=st.sampled_from([None, "EXACT", "SAMPLED"]),
        on_change=st.booleans(),
        hidden=st.booleans(),
    )


def _forecast_decl(
    event: Ident, kind: ForecastKind, owner: tuple[Ident, Ident | None] | None, **options: Any
) -> ForecastDecl:
    model, by = owner or (None, None)
    return ForecastDecl(event, kind, model=model, by=by, **options)


@cache
def _forecasts() -> st.SearchStrategy[ForecastDecl]:
    count = st.integers(1, 500)
    kinds = st.one_of(
        st.builds(ForecastWithin, st.builds(EventCount, count) | durations()),
        st.builds(ForecastAround, st.builds(EventCount, count)),
        st.just(ForecastPoint()),
        st.sampled_from([ForecastInterval("SHORTEST"), ForecastInterval("ARGMAX")]),
        st.builds(ForecastInterval, st.just("FIXED"), count),
    )
    shares = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)
    models = st.tuples(idents(), _maybe(idents()))
    return st.builds(
        _forecast_decl,
        idents(),
        kinds,
        confidence=_maybe(_confidences()),
        order=_maybe(st.integers(0, 9)),
        horizon=_maybe(count),
        spread=_maybe(st.integers(0, 99)),
        owner=_maybe(models),
        features=_several(expressions(), 0),
        remaining=_maybe(shares.map(lambda pair: Remaining(*pair))),
        including_final=st.booleans(),
        distribution=st.booleans(),
        name=_maybe(idents()),
    )
