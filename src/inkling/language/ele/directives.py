"""Directives of a rule file: streams, tables, the time of all streams, the consumption policy."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Any

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.kit.cursor import Text
from inkling.language.kit.lalr import LARGEST_INTEGER
from inkling.source import SourceText, Span

_UNITS: dict[str, s.TimeUnit] = {
    **{unit.lower(): unit for unit in s.TIME_UNITS},
    **{unit.lower().removesuffix("s"): unit for unit in s.TIME_UNITS},
    "us": "MICROSECONDS",
    "ms": "MILLISECONDS",
    "s": "SECONDS",
    "sec": "SECONDS",
    "secs": "SECONDS",
    "min": "MINUTES",
    "mins": "MINUTES",
    "h": "HOURS",
    "hr": "HOURS",
    "hrs": "HOURS",
    "d": "DAYS",
    "w": "WEEKS",
}
STREAM_OPTIONS = ("id", "key", "time", "interval", "order", "late", "ahead", "op", "tick")
DIRECTIVES = ("stream", "table", "time", "tick", "policy")


@dataclass(frozen=True, slots=True)
class DeclaredStream:
    atom: t.Setting
    columns: tuple[str, ...]
    types: tuple[str | None, ...]  # in capitals, None where the rules decide
    options: Mapping[str, Any]  # fields of `StreamDecl`
    time_types: tuple[s.ColumnDecl, ...]
    span: Span
    comments: tuple[str, ...] = ()


@dataclass(slots=True)
class Directives:
    streams: dict[tuple[str, int], DeclaredStream] = field(default_factory=dict)
    tables: dict[tuple[str, int], s.TableDecl] = field(default_factory=dict)
    consume: s.Consume | None = None
    prefer: t.Variable | None = None  # the policy prefers larger values of it, in the rules that have it
    time_type: str | None = None
    tick: s.Duration | None = None


def duration(quantity: t.Quantity, source: SourceText) -> s.Duration:
    """A length of time; ticks without a unit."""
    unit: s.TimeUnit = "TICKS"
    if quantity.unit is not None:
        known = _UNITS.get(quantity.unit.text.lower())
        if known is None:
            raise ProgramError.of(
                "INK0111",
                f"unknown unit `{quantity.unit.text}`",
                span=quantity.unit.span,
                source=source,
                notes=("units are ms, s, min, h, days and weeks; a number without a unit counts ticks",),
                helps=tuple(f"write `{near}`" for near in nearest(quantity.unit.text, _UNITS, n=1)),
            )
        unit = known
    amount = Fraction(quantity.number.written)
    if amount > LARGEST_INTEGER:
        message = f"the number {quantity.number.written} is too large"
        raise ProgramError.of("INK0116", message, span=quantity.span, source=source)
    if unit == "TICKS":
        amount = Fraction(floor(amount))  # ticks are whole, so nothing lies between
    return s.Duration(amount.numerator if amount.denominator == 1 else amount, unit, span=quantity.span)


HALF_OPEN = "half_open_window"
MICROSECONDS: dict[str, int] = {
    "MICROSECONDS": 1,
    "MILLISECONDS": 1000,
    "SECONDS": 1_000_000,
    "MINUTES": 60_000_000,
    "HOURS": 3_600_000_000,
    "DAYS": 86_400_000_000,
    "WEEKS": 604_800_000_000,
}


def shorter(length: s.Duration) -> s.Duration:
    """The longest time below a length: one tick less, or one microsecond."""
    if length.unit == "TICKS":
        return replace(length, amount=max(length.amount - 1, 0))
    amount = floor(length.amount * MICROSECONDS[length.unit]) - 1
    return replace(length, amount=max(amount, 0), unit="MICROSECONDS")


def read_directives(statements: Iterable[t.Statement], source: SourceText) -> tuple[Directives, list[Diagnostic]]:
    reader = _DirectiveReader(source, Directives())
    problems: list[Diagnostic] = []
    for statement in statements:
        if isinstance(statement, t.Directive):
            try:
                reader.read(statement)
            except ProgramError as error:
                problems.extend(error.diagnostics)
    return reader.found, problems


@dataclass(frozen=True, slots=True)
class _DirectiveReader:
    source: SourceText
    found: Directives

    def read(self, directive: t.Directive) -> None:
        setting = directive.setting
        known: dict[str, Callable[[t.Directive], None]] = {
            "stream": self._stream,
            "table": self._table,
            "time": self._time,
            "tick": self._tick,
            "policy": self._policy,
        }
        if setting.name.text not in known:
            raise self._wrong(f"unknown directive `{setting.name.text}`", setting.name.span, DIRECTIVES, setting.name)
        known[setting.name.text](directive)

    def _stream(self, directive: t.Directive) -> None:
        first = self._first_setting(directive.setting, "`stream(price(company: string, value: double))`")
        columns = self._columns(first, typed=False)
        options: dict[str, Any] = {}
        time_types: list[s.ColumnDecl] = []
        for part in directive.setting.parts[1:]:
            if not isinstance(part, t.Setting) or part.name.text not in STREAM_OPTIONS:
                name = part.name if isinstance(part, t.Setting) else None
                raise self._wrong("unknown stream option", part.span, STREAM_OPTIONS, name)
            self._stream_option(part, options, time_types)
        options.setdefault("time", s.TimePoint(s.Ident("t", span=first.span), span=first.span))
        key = (first.name.text, len(columns))
        if key in self.found.streams:
            raise self._error("INK0201", f"`{first.name.text}` is declared twice", first.name.span)
        self.found.streams[key] = DeclaredStream(
            first,
            tuple(name.text for name, _ in columns),
            tuple(kind.text.upper() if kind else None for _, kind in columns),
            options,
            tuple(time_types),
            directive.span,
            directive.comments,
        )

    def _stream_option(self, part: t.Setting, options: dict[str, Any], time_types: list[s.ColumnDecl]) -> None:
        match part.name.text:
            case "id":
                options["id"] = self._names(part, 1)[0]
            case "order":
                options["order_by"] = self._names(part, 1)[0]
            case "key":
                options["key"] = self._names(part, None)
            case "tick":
                options["tick"] = self._duration(part)
            case "late":
                options |= self._late(part)
            case "ahead":
                options["ahead"] = self._duration(part)
            case "op":
                options |= self._op(part)
            case "interval":
                default = (s.Ident("start", span=part.span), s.Ident("end", span=part.span))
                names = self._names(part, 2) if part.parts else default
                options["time"] = s.TimeSpan(*names, span=part.span)
                time_types += self._typed(part)
            case _:
                names = self._names(part, None)
                if len(names) == 1:
                    options["time"] = s.TimePoint(names[0], span=part.span)
                elif len(names) == 2:
                    options["time"] = s.TimeSpan(*names, span=part.span)
                else:
                    raise self._error("INK0133", "`time` takes one column, or a start and an end column", part.span)
                time_types += self._typed(part)

    def _late(self, part: t.Setting) -> dict[str, Any]:
        match part.parts:
            case (t.Quantity() as quantity, t.Setting(name=s.Ident(text="speculative"), parts=())):
                return {"late": duration(quantity, self.source), "speculative": True}
            case _:
                return {"late": self._duration(part)}

    def _op(self, part: t.Setting) -> dict[str, Any]:
        match part.parts:
            case (t.Setting(name=name, parts=()), t.Quantity() as quantity):
                return {"op": name, "op_for": duration(quantity, self.source)}
            case _:
                return {"op": self._names(part, 1)[0]}

    def _table(self, directive: t.Directive) -> None:
        example = "`table(linked(a: string, b: string), 'links.csv')`"
        first = self._first_setting(directive.setting, example)
        match directive.setting.parts[1:]:
            case (Text(value=path, span=span),):
                pass
            case (t.Setting(name=s.Ident(text=path, quoted=True), parts=(), span=span),):
                pass
            case _:
                raise self._error("INK0133", f"a table needs a file: {example}", directive.setting.span)
        columns = tuple(s.ColumnDecl(name, self._type(kind)) for name, kind in self._columns(first, typed=True) if kind)
        if not columns:
            raise self._error("INK0133", f"a table needs at least one column: {example}", first.span)
        self.found.tables[first.name.text, len(columns)] = s.TableDecl(
            first.name, columns, path, path_span=span, span=directive.span, comments=directive.comments
        )

    def _time(self, directive: t.Directive) -> None:
        (name,) = self._names(directive.setting, 1)
        self.found.time_type = name.text.upper()

    def _tick(self, directive: t.Directive) -> None:
        self.found.tick = self._duration(directive.setting)

    def _policy(self, directive: t.Directive) -> None:
        example = "`policy(recent)`, `policy(chronological, keeping, prefer(longer))` or `policy(unrestricted)`"
        parts = directive.setting.parts
        words = [part.name.text for part in parts if isinstance(part, t.Setting)]
        if len(words) != len(parts) or words[:1] not in (["recent"], ["chronological"], ["unrestricted"]):
            raise self._error("INK0133", f"expected {example}", directive.setting.span)
        keeping = "keeping" in words[1:]
        prefer: s.Preference | None = None
        for part in parts[1:]:
            assert isinstance(part, t.Setting)
            if part.name.text == "prefer" and len(part.parts) == 1:
                prefer = self._preference(part.parts[0])
            elif part.name.text != "keeping" or part.parts:
                raise self._error("INK0133", f"expected {example}", part.span)
        if words[0] == "unrestricted":
            self.found.consume = None
            return
        policy: s.ConsumePolicy = "RECENT" if words[0] == "recent" else "CHRONOLOGICAL"
        self.found.consume = s.Consume(policy, keeping, prefer, span=directive.setting.span)

    def _preference(self, part: t.Part) -> s.Preference | None:
        match part:
            case t.Setting(name=s.Ident(text="longer")):
                return "LONGER"
            case t.Setting(name=s.Ident(text="shorter")):
                return "SHORTER"
            case t.Variable():
                self.found.prefer = part
                return None
            case _:
                message = (
                    "expected `prefer(longer)`, `prefer(shorter)` or `prefer(Volume)`, with a variable of the rules"
                )
                raise self._error("INK0133", message, part.span)

    def _first_setting(self, setting: t.Setting, example: str) -> t.Setting:
        if not setting.parts or not isinstance(setting.parts[0], t.Setting):
            raise self._error("INK0133", f"expected {example}", setting.span)
        return setting.parts[0]

    def _columns(self, setting: t.Setting, *, typed: bool) -> list[tuple[s.Ident, s.Ident | None]]:
        columns: list[tuple[s.Ident, s.Ident | None]] = []
        for part in setting.parts:
            match part:
                case t.Column(name=name, type=kind):
                    columns.append((name, kind))
                case t.Setting(name=name, parts=()) if not typed:
                    columns.append((name, None))
                case _:
                    raise self._error("INK0133", "a column needs a name and a type: `value: double`", part.span)
        return columns

    def _names(self, setting: t.Setting, n: int | None) -> tuple[s.Ident, ...]:
        names: list[s.Ident] = []
        for part in setting.parts:
            match part:
                case t.Column(name=name) | t.Setting(name=name, parts=()):
                    names.append(name)
                case _:
                    raise self._error("INK0133", "expected the name of a column", part.span)
        if not names or (n is not None and len(names) != n):
            counted = {1: "one column", 2: "two columns", None: "at least one column"}[n]
            raise self._error("INK0133", f"`{setting.name.text}` takes {counted}", setting.span)
        return tuple(names)

    def _typed(self, setting: t.Setting) -> list[s.ColumnDecl]:
        return [
            s.ColumnDecl(part.name, self._type(part.type), span=part.span)
            for part in setting.parts
            if isinstance(part, t.Column)
        ]

    def _duration(self, setting: t.Setting) -> s.Duration:
        match setting.parts:
            case (t.Quantity() as quantity,):
                return duration(quantity, self.source)
            case _:
                raise self._error("INK0133", f"expected a length of time: `{setting.name.text}(10 min)`", setting.span)

    def _type(self, name: s.Ident) -> s.Ident:
        return s.Ident(name.text.upper(), span=name.span)

    def _wrong(self, message: str, span: Span, choices: tuple[str, ...], name: s.Ident | None) -> ProgramError:
        near = nearest(name.text, choices, n=1) if name else ()
        helps = tuple(f"write `{one}`" for one in near)
        return ProgramError.of(
            "INK0133",
            message,
            span=span,
            source=self.source,
            notes=(f"the choices are {', '.join(choices[:-1])} and {choices[-1]}",),
            helps=helps,
        )

    def _error(self, code: str, message: str, span: Span) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.source)
