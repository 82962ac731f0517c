"""Translates a pattern file into a program: one stream, an event for each pattern, a forecast for each with `order`.

The stream is the one that the file declares, or one with the columns that its predicates read:

    ;(IsEventTypePredicate(A), GT(speed, 5.0)){order:2}
    EVENT p1 AS PATTERN SEQ STRICT(events[type = 'A'], events[speed > 5.0]) CONSUME RESTART PER END
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.sre import terms as t
from inkling.language.sre.predicates import Columns, ColumnType, Role, condition_of, is_anything, known
from inkling.language.sre.reader import Settings, read_headers
from inkling.model.types import TYPE_NAMES, Type
from inkling.source import SourceText, Span

NAME = "events"
TIME = "ts"
ROLES: Mapping[Role, tuple[str, ...]] = {
    "type": ("type", "event_type", "eventType"),
    "lon": ("lon", "longitude"),
    "lat": ("lat", "latitude"),
}
_TYPES: Mapping[Role, ColumnType] = {"type": "STRING", "lon": "DOUBLE", "lat": "DOUBLE"}


@dataclass(frozen=True, slots=True)
class PatternStream:
    """The one stream that all patterns of a file read, and the columns behind the roles of predicates."""

    declaration: s.StreamDecl
    columns: Columns

    @property
    def is_timed(self) -> bool:
        """Whether its times are timestamps, not ticks."""
        match self.declaration.time:
            case s.TimePoint(column=time):
                types = (one.type.text for one in self.declaration.columns if one.name.text == time.text)
                return any(TYPE_NAMES.get(type) is Type.TIME for type in types)
            case _:
                return False


def declared(stream: s.StreamDecl, used: Iterable[t.Predicate], source: SourceText) -> PatternStream:
    """The stream as declared; raises `ProgramError` where a predicate needs a column that it lacks."""
    names = {column.name.text for column in stream.columns} | {item.name.text for item in stream.derive}
    by_role = {role: next((one for one in names_of if one in names), names_of[0]) for role, names_of in ROLES.items()}
    for node in used:
        found = known(node, source)
        for role in found.roles if found else ():
            if by_role[role] not in names:
                raise ProgramError.of(
                    "INK0145",
                    f"`{node.name.text}` reads the column `{role}`, which `{stream.name.text}` does not have",
                    span=node.name.span,
                    source=source,
                    helps=(f"add `{role} {_TYPES[role]}` to the columns of the stream",),
                )
    return PatternStream(stream, Columns(by_role))


def inferred(used: Iterable[t.Predicate], keys: Iterable[s.Ident], source: SourceText) -> PatternStream:
    """A stream with the columns that predicates and keys name, and the time `ts`, which is also the order."""
    columns = _Inferred(source)
    for node in used:
        columns.read(node)
    for key in keys:
        columns.types.setdefault(key.text, ("STRING", key.span))
    declarations = [_column(name, type, span) for name, (type, span) in columns.types.items() if name != TIME]
    time = s.Ident(TIME)
    stream = s.StreamDecl(
        s.Ident(NAME), (*declarations, s.ColumnDecl(time, s.Ident("BIGINT"))), time=s.TimePoint(time), order_by=time
    )
    return PatternStream(stream, Columns({role: names[0] for role, names in ROLES.items()}))


@dataclass(slots=True)
class _Inferred:
    source: SourceText
    types: dict[str, tuple[ColumnType, Span]]

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.types = {}

    def read(self, node: t.Predicate) -> None:
        found = known(node, self.source)
        if found is None:
            self._add(node.name.text, "BOOLEAN", node.name.span)
            return
        for role in found.roles:
            self._add(ROLES[role][0], _TYPES[role], node.name.span)
        if found.type is not None:
            column = node.args[0]
            assert isinstance(column, s.Ident)
            self._add(column.text, found.type, column.span)

    def _add(self, name: str, type: ColumnType, span: Span) -> None:
        before, _ = self.types.setdefault(name, (type, span))
        if before != type:
            raise ProgramError.of(
                "INK0145",
                f"`{name}` is used as {before} before and as {type} here",
                span=span,
                source=self.source,
                helps=("declare the stream at the start of the file: `STREAM events(…) TIME ts ORDER BY ts;`",),
            )


def _column(name: str, type: ColumnType, span: Span) -> s.ColumnDecl:
    return s.ColumnDecl(s.Ident(name, span=span), s.Ident(type, span=span))


def translate(file: t.PatternFile, source: SourceText) -> s.Program:
    """The program that patterns stand for; raises `ProgramError` with every error found."""
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
            raise ProgramError.of(
                "INK0147", f"a pattern cannot have the name of its stream, `{stream}`", span=name.span, source=source
            )
        if name.text in {other.text for other in names}:
            raise ProgramError.of("INK0147", f"two patterns are named `{name.text}`", span=name.span, source=source)
        names.append(name)
    return names


def _stream(
    file: t.PatternFile, settings: Iterable[Settings], extras: Iterable[t.Formula], source: SourceText
) -> PatternStream:
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
    stream: PatternStream,
    features: tuple[s.Expr, ...],
    source: SourceText,
) -> list[s.Statement]:
    shape = ExpressionTranslator(stream, repeated_registers(pattern.expression), source).alone(pattern.expression)
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


def _within(expression: t.Expression, settings: Settings, stream: PatternStream, source: SourceText) -> s.Window | None:
    """The window of a pattern, unless no match can be longer; by time it is open, as in Wayeb."""
    if settings.window is None or settings.window_span is None:
        return None
    if settings.window_type == "time":
        if stream.is_timed:
            raise ProgramError.of(
                "INK0144",
                f"`windowType:time` counts ticks, but the times of `{stream.declaration.name.text}` are timestamps",
                span=settings.window_span,
                source=source,
                helps=("declare the time column BIGINT, or count events: `{windowType:count}`",),
            )
        return s.PointCount(settings.window, span=settings.window_span)
    most = longest(expression)
    if most is not None and most <= settings.window:
        return None
    return s.EventCount(settings.window, span=settings.window_span)


@dataclass(frozen=True, slots=True)
class ExpressionTranslator:
    stream: PatternStream
    repeated: Mapping[Span, frozenset[str]]  # registers that are lists, by the place of an event
    source: SourceText

    def alone(self, node: t.Expression) -> s.Pattern:
        """A pattern that may stand anywhere: repetitions and complements of consecutive events say so."""
        part = self.part(node)
        if isinstance(part, s.Repeat | s.Complement):
            return s.Seq("STRICT", (part,), span=node.span)
        return part

    def part(self, node: t.Expression) -> s.Pattern:
        """A component of `SEQ STRICT`."""
        match node:
            case t.Single():
                return self._leaf(node)
            case t.Operation(op=";", items=items):
                return s.Seq("STRICT", tuple(self.part(item) for item in items), span=node.span)
            case t.Operation(op="+", items=items):
                return s.Or(tuple(self._alternatives(items)), span=node.span)
            case t.Operation(op="*", items=(item,)):
                return s.Repeat(self.alone(item), 0, span=node.span)
            case t.Operation(op="!", items=(item,)):
                return s.Complement(self.alone(item), span=node.span)
            case t.Operation(op=op, items=(item,)):
                return self._skipping("ANY" if op == "#" else "NEXT", item)
            case _:
                raise AssertionError(f"no such pattern: {node}")

    def _skipping(self, policy: s.Policy, node: t.Expression) -> s.Pattern:
        """A policy says how the parts of a sequence or a repetition follow each other; elsewhere it says nothing."""
        match node:
            case t.Operation(op=";", items=items):
                return s.Seq(policy, tuple(self.alone(item) for item in items), span=node.span)
            case t.Operation(op="*", items=(item,)):
                return s.Seq(policy, (s.Repeat(self.alone(item), 0, span=node.span),), span=node.span)
            case _:
                return self.alone(node)

    def _alternatives(self, items: tuple[t.Expression, ...]) -> list[s.Pattern]:
        found: list[s.Pattern] = []
        for item in items:
            one = self.alone(item)
            found += one.items if isinstance(one, s.Or) else [one]
        return found

    def _leaf(self, node: t.Single) -> s.Leaf:
        name = self.stream.declaration.name
        var = s.Ident(node.register.name, span=node.register.span) if node.register else None
        columns = replace(self.stream.columns, repeated=self.repeated[node.span])
        condition = None if is_anything(node.formula) else condition_of(node.formula, columns, self.source)
        types = (s.Ident(name.text, quoted=name.quoted, span=node.span),)
        return s.Leaf(types, var, condition, span=node.span)


def longest(node: t.Expression) -> int | None:
    """The most events from the first to the last of a match, None when there is no most."""
    match node:
        case t.Single():
            return 1
        case t.Operation(op=";", items=items):
            lengths = [longest(item) for item in items]
            return None if None in lengths else sum(length or 0 for length in lengths)
        case t.Operation(op="+", items=items):
            lengths = [longest(item) for item in items]
            return None if None in lengths else max(length or 0 for length in lengths)
        case t.Operation(op="#" | "@", items=(t.Operation(op="+") as item,)):
            return longest(item)
        case t.Operation(op="#" | "@", items=(t.Single() as item,)):
            return longest(item)
        case _:
            return None


def check_registers(expression: t.Expression, source: SourceText) -> None:
    """Raises `ProgramError` for a register that is read before it is stored, or stored twice."""
    stored: list[str] = []
    for single in t.singles(expression):
        for predicate in t.predicates(single.formula):
            for arg in predicate.args:
                if isinstance(arg, t.Register) and arg.name not in stored:
                    meant = nearest(arg.name, stored, n=1)
                    raise ProgramError.of(
                        "INK0143",
                        f'register "{arg.name}" is read before it is assigned',
                        span=arg.span,
                        source=source,
                        helps=tuple(f'write "{one}"' for one in meant)
                        or (f'assign an earlier event to it: `GT(speed, 5.0)["{arg.name}"]`',),
                    )
        register = single.register
        if register is not None:
            if register.name in stored:
                raise ProgramError.of(
                    "INK0143",
                    f'register "{register.name}" is assigned twice',
                    span=register.span,
                    source=source,
                    helps=("use two registers",),
                )
            stored.append(register.name)


def repeated_registers(expression: t.Expression) -> Mapping[Span, frozenset[str]]:
    """By the place of each event, the registers that were stored in a repetition before it, each time anew."""
    found = list(_in_repetitions(expression, ()))
    stored = {single.register.name: around for single, around in found if single.register}
    return {
        single.span: frozenset(name for name, outer in stored.items() if around[: len(outer)] != outer)
        for single, around in found
    }


def _in_repetitions(node: t.Expression, around: tuple[Span, ...]) -> Iterator[tuple[t.Single, tuple[Span, ...]]]:
    match node:
        case t.Single():
            yield node, around
        case t.Operation(op=op, items=items):
            for item in items:
                yield from _in_repetitions(item, (*around, node.span) if op == "*" else around)
