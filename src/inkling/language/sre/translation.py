"""Translates a pattern file into a program: one stream, an event for each pattern, a forecast for each with `order`.

The stream is the one that the file declares, or one with the columns that its predicates read:

    ;(IsEventTypePredicate(A), GT(speed, 5.0)){order:2}
    EVENT p1 AS PATTERN SEQ STRICT(events[type = 'A'], events[speed > 5.0]) CONSUME RESTART PER END
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.sre import terms as t
from inkling.language.sre.predicates import RESET, Columns, ColumnType, Role, condition_of, is_anything, is_reset, known
from inkling.language.sre.reader import Settings, read_headers
from inkling.model.types import TYPE_NAMES, Type
from inkling.source import SourceText, Span

NAME = "events"
TIME = "ts"
ORDER = "seq"
EPISODE = "episode"  # the variable of the events of an episode
ROLES: Mapping[Role, tuple[str, ...]] = {
    "type": ("type", "event_type", "eventType"),
    "lon": ("lon", "longitude"),
    "lat": ("lat", "latitude"),
    "speed": ("speed",),
    "heading": ("heading",),
}
_TYPES: Mapping[Role, ColumnType] = {role: "STRING" if role == "type" else "DOUBLE" for role in ROLES}


@dataclass(frozen=True, slots=True)
class PatternStream:
    """The one stream that all patterns of a file read, and the columns behind the roles of predicates."""

    declaration: s.StreamDecl
    columns: Columns
    reset: s.Expr | None = None  # holds for the rows that match no event and so separate the runs of a key

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


def inferred(
    used: Iterable[t.Predicate],
    keys: Sequence[s.Ident],
    source: SourceText,
    *,
    has_resets: bool,
    separated: bool = False,
) -> PatternStream:
    """A stream with the columns that predicates and keys name, and the time `ts`, which is also the order.

    With resets, the order is a column of its own, so that a reset has a place among rows of the same time. If matches
    are `separated` by any event that fits none of their parts, a reset is such an event, and RESET WHEN is not needed.
    """
    columns = _Inferred(source)
    for node in used:
        columns.read(node)
    for key in keys:
        columns.types.setdefault(key.text, ("STRING", key.span))
    by_type = s.Ident(ROLES["type"][0])
    if has_resets:
        columns.types.setdefault(by_type.text, ("STRING", Span(0, 0)))
    own = (TIME, ORDER) if has_resets else (TIME,)
    declarations = [_column(name, type, span) for name, (type, span) in columns.types.items() if name not in own]
    reset = s.Compare("=", s.Variable(by_type), s.Literal(RESET)) if has_resets else None
    stream = s.StreamDecl(
        s.Ident(NAME),
        (*declarations, *(s.ColumnDecl(s.Ident(name), s.Ident("BIGINT")) for name in own)),
        key=tuple(keys[:1]) if has_resets else (),
        time=s.TimePoint(s.Ident(TIME)),
        order_by=s.Ident(own[-1]),
        reset_when=None if separated else reset,
    )
    columns_by_role = Columns({role: names[0] for role, names in ROLES.items()})
    return PatternStream(stream, columns_by_role, reset if separated else None)


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
    if file.declarations and not file.patterns and file.stream is None:
        raise ProgramError.of(
            "INK0146",
            "a file of declarations alone detects nothing",
            span=file.declarations[0].span,
            source=source,
            helps=("give it with a pattern file: `--declarations FILE.sre`",),
        )
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
    is_forecast = any(_is_forecast(pattern, one) for pattern, one in read)
    extras = [
        formula
        for declare in file.declarations
        for declaration in declare.items
        if declaration.sign == "+" and is_forecast
        for formula in declaration.formulas
        if not is_reset(formula)
    ]
    separated = (
        not is_forecast and any(_lists_matches(*one) for one in read) and all(_is_separated(*one) for one in read)
    )
    stream = _stream(file, settings, extras, source, separated=separated)
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
    file: t.PatternFile,
    settings: Iterable[Settings],
    extras: Iterable[t.Formula],
    source: SourceText,
    *,
    separated: bool,
) -> PatternStream:
    formulas = [single.formula for pattern in file.patterns for single in t.singles(pattern.expression)]
    used = [predicate for formula in (*formulas, *extras) for predicate in t.predicates(formula)]
    check_predicates(file, source)
    if file.stream is not None:
        return declared(file.stream, used, source)
    has_resets = any(is_reset(one) for formula in _formulas(file) for one in t.predicates(formula))
    keys = [one.partition_by for one in settings if one.partition_by]
    one_key = len({key.text for key in keys}) == 1
    return inferred(used, keys, source, has_resets=has_resets, separated=separated and one_key)


def _is_separated(pattern: t.Pattern, settings: Settings) -> bool:
    """Whether an event that fits no part of a pattern separates the matches of its key, as they are consecutive."""
    consecutive = all(operation.op in ";+*" for operation in t.operations(pattern.expression))
    return consecutive and settings.partition_by is not None and settings.counting != "episodes"


def _lists_matches(pattern: t.Pattern, settings: Settings) -> bool:
    """Whether each match is a result, with its events."""
    return (settings.counting or _counting_of(pattern)) == "matches"


def _counting_of(pattern: t.Pattern) -> str:
    return "matches" if any(single.register for single in t.singles(pattern.expression)) else "nonoverlap"


def _formulas(file: t.PatternFile) -> Iterator[t.Formula]:
    """The conditions on single events in patterns and in declarations."""
    for pattern in file.patterns:
        yield from (single.formula for single in t.singles(pattern.expression))
    for one in file.declarations:
        yield from (formula for item in one.items for formula in item.formulas)


def _is_forecast(pattern: t.Pattern, settings: Settings) -> bool:
    """Whether a pattern with an order is forecast; with registers or a window of time it is only recognized."""
    if settings.order is None or settings.asks_for_forecast:
        return settings.order is not None
    return settings.time_window is None and not any(single.register for single in t.singles(pattern.expression))


def check_predicates(file: t.PatternFile, source: SourceText) -> None:
    """Every predicate of patterns and declarations is known and has its arguments."""
    empty = {
        single.formula for pattern in file.patterns for single in t.singles(pattern.expression) if t.is_epsilon(single)
    }
    problems: list[Diagnostic] = []
    for formula in _formulas(file):
        for predicate in t.predicates(formula):
            try:
                known(predicate, source)
                if predicate.short_name == t.EPSILON and formula not in empty:
                    raise _not_alone(predicate, source)
            except ProgramError as error:
                problems.extend(error.diagnostics)
    if problems:
        raise ProgramError(problems)


def _not_alone(predicate: t.Predicate, source: SourceText) -> ProgramError:
    return ProgramError.of(
        "INK0142",
        f"`{predicate.name.text}` is not a condition on an event",
        span=predicate.span,
        source=source,
        notes=("it stands alone in a pattern, for no event at all: `+(p, EpsilonPredicate)`",),
    )


def _statements(
    name: s.Ident,
    pattern: t.Pattern,
    settings: Settings,
    stream: PatternStream,
    features: tuple[s.Expr, ...],
    source: SourceText,
) -> list[s.Statement]:
    registers_of = repeated_registers(pattern.expression), unset_registers(pattern.expression)
    translator = ExpressionTranslator(stream, *registers_of, source)
    is_episode = settings.counting == "episodes"
    shape = translator.episode(pattern) if is_episode else translator.alone(pattern.expression)
    if shape is None:
        raise ProgramError.of(
            "INK0140",
            "a pattern needs at least one event",
            span=pattern.expression.span,
            source=source,
            notes=("no match is empty, so the empty word alone is never detected",),
        )
    keys = () if settings.partition_by is None else (settings.partition_by,)
    counting = settings.counting or _counting_of(pattern)
    event = s.EventDecl(
        name,
        tuple(s.Item(s.Variable(key, span=key.span), span=key.span) for key in keys) or None,
        s.Body(shape, within=_within(pattern.expression, settings, stream, source), span=pattern.span),
        partition_by=keys,
        consume=s.Consume("RESTART", span=pattern.span) if counting == "nonoverlap" else None,
        returns=_of_episodes(stream) if is_episode else (),
        per=None if counting == "matches" else "END",
        span=pattern.span,
        comments=pattern.comments,
    )
    if not _is_forecast(pattern, settings):
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


def _of_episodes(stream: PatternStream) -> tuple[s.Item, ...]:
    """The time of the last event of an episode, and their number."""
    run = s.Ident(EPISODE)
    number = s.Item(s.Aggregate("COUNT", run), s.Ident("events"))
    match stream.declaration.time:
        case s.TimePoint(column=time):
            return (s.Item(s.FirstOrLast("LAST", run, time), s.Ident("last")), number)
        case _:
            return (number,)


def iteration_of(expression: t.Expression) -> tuple[t.Single, int] | None:
    """The event that a pattern repeats without limit, and how often at least; None for other patterns."""
    match expression:
        case t.Operation(op="*", items=(t.Single() as single,)):
            return single, 1
        case t.Operation(op=";", items=(*first, t.Operation(op="*", items=(t.Single() as single,)))) if all(
            isinstance(one, t.Single) and one.formula == single.formula for one in first
        ):
            return single, len(first)
        case t.Operation(op=";", items=(t.Single() as one, rest)) if found := iteration_of(rest):
            return (found[0], found[1] + 1) if one.formula == found[0].formula else None
        case _:
            return None


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
    """Translates expressions; None is the empty word, which sequences leave out."""

    stream: PatternStream
    repeated: Mapping[Span, frozenset[str]]  # registers that are lists, by the place of an event
    unset: Mapping[Span, frozenset[str]]  # registers that only later events store
    source: SourceText

    def alone(self, node: t.Expression) -> s.Pattern | None:
        """A pattern that may stand anywhere: repetitions and complements of consecutive events say so."""
        part = self.part(node)
        if isinstance(part, s.Repeat | s.Complement):
            return s.Seq("STRICT", (part,), span=node.span)
        return part

    def episode(self, pattern: t.Pattern) -> s.Pattern:
        """A run of events and the first event after it; PER END reports the longest run that ends there."""
        found = iteration_of(pattern.expression)
        if found is None or any(single.register for single in t.singles(pattern.expression)):
            raise ProgramError.of(
                "INK0144",
                "episodes are runs of one predicate",
                span=pattern.expression.span,
                source=self.source,
                helps=("write `;(p, p, *(p))` for runs of two events or more",),
            )
        single, low = found
        event = replace(self._leaf(single), var=s.Ident(EPISODE))
        condition = condition_of(single.formula, self.stream.columns, self.source)
        after = replace(event, var=None, condition=s.Negation(condition, span=single.span))
        return s.Seq("STRICT", (s.Repeat(event, low, span=single.span), after), span=pattern.span)

    def part(self, node: t.Expression) -> s.Pattern | None:
        """A component of `SEQ STRICT`."""
        match node:
            case t.Single():
                return None if t.is_epsilon(node) else self._leaf(node)
            case t.Operation(op=";", items=items):
                return self._sequence("STRICT", [self.part(item) for item in items], node)
            case t.Operation(op="+", items=items):
                return self._union(items, node)
            case t.Operation(op="&", items=items):
                # an event run is in all languages if it is in no complement
                outside = tuple(s.Seq("STRICT", (self._other(item),), span=item.span) for item in items)
                return s.Complement(s.Or(outside, span=node.span), span=node.span)
            case t.Operation(op="*", items=(item,)):
                return self._repeated(item, node)
            case t.Operation(op="!", items=(item,)):
                return self._other(item)
            case t.Operation(op=op, items=(item,)):
                return self._skipping("ANY" if op == "#" else "NEXT", item)
            case _:
                raise AssertionError(f"no such pattern: {node}")

    def _sequence(self, policy: s.Policy, parts: Iterable[s.Component | None], node: t.Expression) -> s.Pattern | None:
        kept = tuple(part for part in parts if part is not None)
        return s.Seq(policy, kept, span=node.span) if kept else None

    def _repeated(self, item: t.Expression, node: t.Expression) -> s.Repeat | None:
        inner = self.alone(item)
        return None if inner is None else s.Repeat(inner, 0, span=node.span)

    def _other(self, item: t.Expression) -> s.Repeat | s.Complement:
        """The complement; that of the empty word is one event or more."""
        inner = self.alone(item)
        if inner is not None:
            return s.Complement(inner, span=item.span)
        name = self.stream.declaration.name
        return s.Repeat(s.Leaf((s.Ident(name.text, quoted=name.quoted),), span=item.span), 1, span=item.span)

    def _skipping(self, policy: s.Policy, node: t.Expression) -> s.Pattern | None:
        """A policy says how the parts of a sequence or a repetition follow each other; elsewhere it says nothing."""
        match node:
            case t.Operation(op=";", items=items):
                return self._sequence(policy, [self.alone(item) for item in items], node)
            case t.Operation(op="*", items=(item,)):
                return self._sequence(policy, [self._repeated(item, node)], node)
            case _:
                return self.alone(node)

    def _union(self, items: tuple[t.Expression, ...], node: t.Expression) -> s.Pattern | None:
        found: list[s.Pattern] = []
        for item in items:
            one = self.alone(item)
            found += one.items if isinstance(one, s.Or) else [] if one is None else [one]
        if not found:
            return None
        union = found[0] if len(found) == 1 else s.Or(tuple(found), span=node.span)
        return s.Repeat(union, 0, 1, span=node.span) if any(self.alone(item) is None for item in items) else union

    def _leaf(self, node: t.Single) -> s.Leaf:
        name = self.stream.declaration.name
        var = s.Ident(node.register.name, span=node.register.span) if node.register else None
        columns = replace(self.stream.columns, repeated=self.repeated[node.span], unset=self.unset[node.span])
        own = None if is_anything(node.formula) else condition_of(node.formula, columns, self.source)
        if self.stream.reset is not None:
            conditions = (*s.conjuncts(own), s.Negation(self.stream.reset, span=node.span))
            own = s.AllOf(conditions, span=node.span) if len(conditions) > 1 else conditions[0]
        types = (s.Ident(name.text, quoted=name.quoted, span=node.span),)
        return s.Leaf(types, var, own, span=node.span)


def longest(node: t.Expression) -> int | None:
    """The most events from the first to the last of a match, None when there is no most."""
    match node:
        case t.Single():
            return 0 if t.is_epsilon(node) else 1
        case t.Operation(op="&", items=items):
            return min((length for item in items if (length := longest(item)) is not None), default=None)
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
    """Raises `ProgramError` for a register that is stored twice or never, or read first in its own repetition."""
    around = {one.register.name: outer for one, outer in _in_repetitions(expression, ()) if one.register}
    stored: list[str] = []
    for single, outer in _in_repetitions(expression, ()):
        for register in _read_registers(single):
            earlier_round = bool(outer) and outer[:1] == around.get(register.name, ())[:1]
            if register.name not in around or (register.name not in stored and earlier_round):
                meant = nearest(register.name, stored or around, n=1)
                raise ProgramError.of(
                    "INK0143",
                    f'register "{register.name}" is read before it is assigned',
                    span=register.span,
                    source=source,
                    helps=tuple(f'write "{one}"' for one in meant if one != register.name)
                    or (f'assign an earlier event to it: `GT(speed, 5.0)["{register.name}"]`',),
                )
        if single.register is not None:
            if single.register.name in stored:
                raise ProgramError.of(
                    "INK0143",
                    f'register "{single.register.name}" is assigned twice',
                    span=single.register.span,
                    source=source,
                    helps=("use two registers",),
                )
            stored.append(single.register.name)


def _read_registers(single: t.Single) -> Iterator[t.Register]:
    for predicate in t.predicates(single.formula):
        yield from (arg for arg in predicate.args if isinstance(arg, t.Register))


def unset_registers(expression: t.Expression) -> Mapping[Span, frozenset[str]]:
    """By the place of each event, the registers that only this event or a later one stores."""
    found: dict[Span, frozenset[str]] = {}
    unset: frozenset[str] = frozenset()
    for single in reversed([*t.singles(expression)]):
        unset |= {single.register.name} if single.register else frozenset()
        found[single.span] = unset
    return found


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
