"""What went wrong, where, and what would mend it: diagnostics and the errors that carry them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from typing import Literal, Self, TypeAlias

from inkling.error_codes import CODES
from inkling.excerpt import excerpt
from inkling.source import SourceText, Span

Severity: TypeAlias = Literal["error", "warning"]
JsonValue: TypeAlias = str | int | list[str] | None

_CODE = re.compile(r"INK\d{4}")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a program or its input.

    The message makes sense alone; the label says what is wrong with the marked text; only
    helps propose a repair.

    >>> source = SourceText("theft.ink", "EVENT theft AS PATERN V;")
    >>> print(Diagnostic("INK0107", "unknown word `PATERN`", Span(15, 21), source).render())
    error[INK0107]: unknown word `PATERN`
      --> theft.ink:1:16
       |
     1 | EVENT theft AS PATERN V;
       |                ^^^^^^
    """

    code: str
    message: str
    span: Span | None = None
    source: SourceText | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    severity: Severity = "error"

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"an error code reads INK and four digits, got {self.code!r}")

    def render(self) -> str:
        """Plain text with a caret under the marked text."""
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        margin = "  "
        if self.source is not None and self.span is not None:
            shown = excerpt(self.source, self.span)
            where = self.source.position(self.span.start)
            number = str(shown.line_number)
            margin = " " * (len(number) + 1)
            lines += [
                f"{margin}--> {self.source.name}:{where.line}:{where.column}",
                f"{margin} |",
                f" {number} | {shown.text}".rstrip(),
                f"{margin} | {shown.underline} {self.label}".rstrip(),
            ]
        remarks = [("note", note) for note in self.notes] + [("help", help) for help in self.helps]
        for kind, text in remarks:
            start = f"{margin} = {kind}: "
            lines.append(start + text.replace("\n", "\n" + " " * len(start)))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, JsonValue]:
        """The finding for machines; places are None when there is no source text."""
        start = end = None
        if self.source is not None and self.span is not None:
            start = self.source.position(self.span.start)
            end = self.source.position(self.span.end)
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "label": self.label,
            "file": self.source.name if self.source else None,
            "line": start.line if start else None,
            "column": start.column if start else None,
            "end_line": end.line if end else None,
            "end_column": end.column if end else None,
            "notes": list(self.notes),
            "helps": list(self.helps),
        }


class InklingError(Exception):
    """The root of every error raised on purpose; `str()` is the rendered text."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        if isinstance(diagnostics, Diagnostic):
            diagnostics = (diagnostics,)
        self.diagnostics = tuple(diagnostics)
        if not self.diagnostics:
            raise ValueError("an error carries at least one diagnostic")
        super().__init__(self.diagnostics)

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        source: SourceText | None = None,
        label: str = "",
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> Self:
        """An error with one diagnostic."""
        return cls(Diagnostic(code, message, span, source, label, notes, helps))

    def __str__(self) -> str:
        return render(self.diagnostics)

    def to_dict(self) -> dict[str, list[dict[str, JsonValue]]]:
        return {"diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics]}


class ProgramError(InklingError):
    """The program is wrong."""


class NotSupportedYet(ProgramError):  # noqa: N818  (not an error of the user)
    """The program is right, but nothing here can run it yet."""


class InputError(InklingError):
    """The data, a path or an option is wrong."""


class InternalError(InklingError):
    """A bug in inkling."""


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """All findings, errors before warnings, each in the order of its place in the text."""
    ordered = sorted(diagnostics, key=_place)
    return "\n\n".join(diagnostic.render() for diagnostic in ordered)


def _place(diagnostic: Diagnostic) -> tuple[bool, str, int]:
    name = diagnostic.source.name if diagnostic.source else ""
    return diagnostic.severity != "error", name, diagnostic.span.start if diagnostic.span else -1


def explain_error(code: str) -> str:
    """The title of an error code and, where there is one, the longer text about it.

    >>> explain_error("INK0120").splitlines()[0]
    'INK0120: unknown statement'
    """
    if code not in CODES:
        raise KeyError(code)
    return f"{code}: {CODES[code]}\n\n{longer_text(code)}".rstrip() + "\n"


def longer_text(code: str) -> str:
    """What there is to say about an error code, if there is more than its title."""
    text = files("inkling").joinpath("error_texts", f"{code}.md")
    return text.read_text(encoding="utf-8").rstrip() if text.is_file() else ""


def nearest(name: str, choices: Iterable[str], n: int = 5) -> tuple[str, ...]:
    """The choices most like a name, best first, whatever their case.

    >>> nearest("WITHN", ["WHERE", "WITHIN", "PER"])
    ('WITHIN',)
    """
    by_folded: dict[str, list[str]] = {}
    for choice in choices:
        spellings = by_folded.setdefault(choice.casefold(), [])
        if choice not in spellings:
            spellings.append(choice)
    close = get_close_matches(name.casefold(), by_folded, n=n, cutoff=0.6)
    return tuple(choice for folded in close for choice in by_folded[folded])[:n]
