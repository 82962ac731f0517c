"""A pattern file as a program: one stream, an event for each pattern, a forecast for each that has an order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.language.sre import terms as t
from inkling.language.sre.expressions import Shapes, check_registers, longest, repeated_registers
from inkling.language.sre.headers import Settings, read_headers
from inkling.language.sre.predicates import condition_of, known
from inkling.language.sre.streams import Stream, declared, inferred
from inkling.source import SourceText, Span


def translate(file: t.PatternFile, source: SourceText) -> s.Program:
    """The program that patterns stand for; raises `ProgramError` with every mistake found."""
    problems: list[Diagnostic] = []
    read: list[tuple[t.Pattern, Settings]] = []
    for pattern in file.patterns:
        try:
            read.append((pattern, read_headers(pattern, source)))
            check_registers(pattern.expression, source)
        except ProgramError as error:
            problems.extend(error.diagnostics)
    if problems:
        raise ProgramError(problems)
    settings = [one for _, one in read]
    is_forecast = any(one.order is not None for one in settings)
    extras = [
        formula
        for declare in file.declarations
        for declaration in declare.items
        if declaration.sign == "+" and is_forecast
        for formula in declaration.formulas
    ]
    stream = _stream(file, settings, extras, source)
    names = _names(read, stream.declaration.name.text, source)
    features = tuple(condition_of(formula, stream.columns, source) for formula in extras)
    events = [
        statement
        for name, (pattern, one) in zip(names, read, strict=True)
        for statement in _statements(name, pattern, one, stream, features, source)
    ]
    comments = tuple(comment for declare in file.declarations for comment in declare.comments)
    if comments and events:
        events[0] = replace(events[0], comments=(*comments, *events[0].comments))
    rest = file.comments if events else (*comments, *file.comments)
    statements = (stream.declaration, *events) if events or file.stream else ()
    return s.Program(statements, rest, span=Span(0, len(source.text)))


def _names(read: Iterable[tuple[t.Pattern, Settings]], stream: str, source: SourceText) -> list[s.Ident]:
    """The names of patterns, by their headers or by their places."""
    names: list[s.Ident] = []
    for idx, (pattern, settings) in enumerate(read, start=1):
        given = settings.name
        name = s.Ident(f"p{idx}", span=pattern.span) if given is None else given
        if name.text == stream:
            raise ProgramError.of("INK0147", f"`{stream}` is the stream of this pattern", span=name.span, source=source)
        if name.text in {other.text for other in names}:
            raise ProgramError.of("INK0147", f"two patterns are called `{name.text}`", span=name.span, source=source)
        names.append(name)
    return names


def _stream(
    file: t.PatternFile, settings: Iterable[Settings], extras: Iterable[t.Formula], source: SourceText
) -> Stream:
    formulas = [single.formula for pattern in file.patterns for single in t.singles(pattern.expression)]
    used = [predicate for formula in (*formulas, *extras) for predicate in t.predicates(formula)]
    _check_all(file, source)
    if file.stream is not None:
        return declared(file.stream, used, source)
    return inferred(used, [one.partition_by for one in settings if one.partition_by], source)


def _check_all(file: t.PatternFile, source: SourceText) -> None:
    """Every predicate of patterns and declarations is known and has its arguments."""
    formulas = [single.formula for pattern in file.patterns for single in t.singles(pattern.expression)]
    formulas += [formula for one in file.declarations for item in one.items for formula in item.formulas]
    problems: list[Diagnostic] = []
    for formula in formulas:
        for predicate in t.predicates(formula):
            try:
                known(predicate, source)
            except ProgramError as error:
                problems.extend(error.diagnostics)
    if problems:
        raise ProgramError(problems)


def _statements(
    name: s.Ident,
    pattern: t.Pattern,
    settings: Settings,
    stream: Stream,
    features: tuple[s.Expr, ...],
    source: SourceText,
) -> list[s.Statement]:
    shape = Shapes(stream, repeated_registers(pattern.expression), source).alone(pattern.expression)
    keys = () if settings.partition_by is None else (settings.partition_by,)
    registers = any(single.register for single in t.singles(pattern.expression))
    counting = settings.counting or ("matches" if registers else "nonoverlap")
    event = s.EventDecl(
        name,
        tuple(s.Item(s.Variable(key, span=key.span), span=key.span) for key in keys) or None,
        s.Body(shape, within=_within(pattern.expression, settings, stream, source), span=pattern.span),
        partition_by=keys,
        consume=s.Consume("RESTART", span=pattern.span) if counting == "nonoverlap" else None,
        per=None if counting == "matches" else "END",
        span=pattern.span,
        comments=pattern.comments,
    )
    if settings.order is None:
        return [event]
    forecast = s.ForecastDecl(
        event.name,
        s.ForecastInterval("SHORTEST", span=pattern.span),
        confidence=s.Confidence(">=", settings.confidence, span=pattern.span),
        order=settings.order,
        horizon=settings.horizon,
        spread=settings.spread,
        features=features,
        span=pattern.span,
    )
    return [event, forecast]


def _within(expression: t.Expression, settings: Settings, stream: Stream, source: SourceText) -> s.Window | None:
    """The window of a pattern, unless no match can be longer; by time it is open, as in Wayeb."""
    if settings.window is None or settings.window_span is None:
        return None
    if settings.window_type == "time":
        if stream.is_timed:
            raise ProgramError.of(
                "INK0144",
                f"a window of time counts ticks, but the times of `{stream.declaration.name.text}` are timestamps",
                span=settings.window_span,
                source=source,
                helps=("declare the times as whole numbers, or count events: `{windowType:count}`",),
            )
        return s.PointCount(settings.window, span=settings.window_span)
    most = longest(expression)
    if most is not None and most <= settings.window:
        return None
    return s.EventCount(settings.window, span=settings.window_span)
