"""What stands in braces after a pattern: how it is partitioned, limited, counted and forecast."""

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias, cast, get_args

from inkling.errors import ProgramError
from inkling.language.cursor import Number
from inkling.language.sre import terms as t
from inkling.language.syntax import Ident
from inkling.source import SourceText, Span

WindowType: TypeAlias = OneOf["count", "time"]
Counting: TypeAlias = OneOf["nonoverlap", "overlap", "matches"]

HEADERS = {
    "order": "{order:2}",
    "partitionBy": "{partitionBy:mmsi}",
    "window": "{window:100}",
    "windowType": "{windowType:count} or {windowType:time}",
    "name": "{name:arrival}",
    "counting": "{counting:nonoverlap}, {counting:overlap} or {counting:matches}",
    "confidence": "{confidence:0.5}",
    "horizon": "{horizon:200}",
    "spread": "{spread:200}",
}
"""Every header, in the order in which they are printed, with an example; the first four are those of Wayeb."""
OF_FORECASTS = ("confidence", "horizon", "spread")


@dataclass(frozen=True, slots=True)
class Settings:
    """The headers of one pattern; without them, those of Wayeb."""

    name: Ident | None
    order: int | None
    partition_by: Ident | None
    window: int | None
    window_span: Span | None
    window_type: WindowType
    counting: Counting | None
    confidence: float
    horizon: int
    spread: int


def read_headers(pattern: t.Pattern, source: SourceText) -> Settings:
    return _Headers({header.name.text: header for header in pattern.headers}, source).settings()


@dataclass(frozen=True, slots=True)
class _Headers:
    found: dict[str, t.Header]
    source: SourceText

    def settings(self) -> Settings:
        for name in OF_FORECASTS:
            if name in self.found and "order" not in self.found:
                raise self._wrong(
                    self.found[name], f"`{name}` belongs to a forecast", "add the order of its model: `{order:2}`"
                )
        if "windowType" in self.found and "window" not in self.found:
            raise self._wrong(self.found["windowType"], "`windowType` belongs to a window", "add `{window:100}`")
        return Settings(
            name=self._name("name"),
            order=self._count("order"),
            partition_by=self._name("partitionBy"),
            window=self._count("window") or None,
            window_span=self.found["window"].span if "window" in self.found else None,
            window_type=cast(WindowType, self._one_of("windowType", get_args(WindowType)) or "count"),
            counting=cast(Counting | None, self._one_of("counting", get_args(Counting))),
            confidence=self._share("confidence", 0.5),
            horizon=self._count("horizon", at_least=1) or 200,
            spread=self._count("spread", at_least=1) or 200,
        )

    def _name(self, name: str) -> Ident | None:
        match self.found.get(name):
            case None:
                return None
            case t.Header(value=Ident() as value):
                return value
            case header:
                raise self._expected(header)

    def _count(self, name: str, at_least: int = 0) -> int | None:
        match self.found.get(name):
            case None:
                return None
            case t.Header(value=Number(size=int(value)) as number) if at_least <= value < 2**31:
                if not number.is_negative:
                    return value
            case _:
                pass
        raise self._expected(self.found[name])

    def _share(self, name: str, default: float) -> float:
        match self.found.get(name):
            case None:
                return default
            case t.Header(value=Number(is_negative=False, size=value)) if value <= 1:
                return float(value)
            case header:
                raise self._expected(header)

    def _one_of(self, name: str, words: tuple[str, ...]) -> str | None:
        match self.found.get(name):
            case None:
                return None
            case t.Header(value=Ident(text=text)) if text in words:
                return text
            case header:
                raise self._expected(header)

    def _expected(self, header: t.Header) -> ProgramError:
        name = header.name.text
        return self._wrong(header, f"a value that `{name}` cannot have", f"write, for example, `{HEADERS[name]}`")

    def _wrong(self, header: t.Header, message: str, help: str) -> ProgramError:
        return ProgramError.of("INK0144", message, span=header.span, source=self.source, helps=(help,))
