"""Diagnostics, which say what is wrong, where, and how to repair it; and the errors that carry them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from typing import Literal, Self, TypeAlias, TypedDict, Unpack

from inkling.excerpt import excerpt
from inkling.masking import masked
from inkling.source import SourceText, Span

Severity: TypeAlias = Literal["error", "warning"]
JsonValue: TypeAlias = str | int | list[str] | None

_CODE = re.compile(r"INK\d{4}")


class Remarks(TypedDict, total=False):
    """What a message says below the marked text, as keyword arguments."""

    notes: Iterable[str]
    helps: Iterable[str]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error in a program or its input, or a warning.

    The message makes sense alone, the label describes the marked text, and only helps propose a repair. Secrets in any
    of these texts are masked.

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

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        at: Span | None,
        source: SourceText | None,
        label: str,
        *,
        notes: Iterable[str] = (),
        helps: Iterable[str] = (),
    ) -> Self:
        """A diagnostic of severity `error`."""
        return cls(code, message, at, source, label, tuple(notes), tuple(helps))

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"an error code reads INK and four digits, got {self.code!r}")
        object.__setattr__(self, "message", masked(self.message))
        object.__setattr__(self, "label", masked(self.label))
        object.__setattr__(self, "notes", tuple(map(masked, self.notes)))
        object.__setattr__(self, "helps", tuple(map(masked, self.helps)))

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
        """The diagnostic for machines; places are None without a source text."""
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
        **remarks: Unpack[Remarks],
    ) -> Self:
        """An error with one diagnostic."""
        return cls(Diagnostic.of(code, message, span, source, label, **remarks))

    def __str__(self) -> str:
        return render(self.diagnostics)

    def to_dict(self) -> dict[str, list[dict[str, JsonValue]]]:
        return {"diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics]}


class ProgramError(InklingError):
    """The program is wrong."""


class NotSupportedYet(ProgramError):  # noqa: N818  (not an error of the user)
    """The program is valid, but no evaluator can run it yet."""


class InputError(InklingError):
    """The data, a path or an option is wrong."""


class StoredError(InputError):
    """What inkling has stored is damaged, or of another version."""


class ResourceError(InklingError):
    """The machine cannot do what is asked: memory, processes or services are missing."""


class InternalError(InklingError):
    """A bug in inkling."""


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """All diagnostics, errors before warnings, in the order of their places in the text."""
    ordered = sorted(diagnostics, key=_place)
    return "\n\n".join(diagnostic.render() for diagnostic in ordered)


def _place(diagnostic: Diagnostic) -> tuple[bool, str, int]:
    name = diagnostic.source.name if diagnostic.source else ""
    return diagnostic.severity != "error", name, diagnostic.span.start if diagnostic.span else -1


def longer_text(code: str) -> str:
    """The explanation of an error code, empty if there is only its title."""
    text = files("inkling").joinpath("error_texts", f"{code}.md")
    return text.read_text(encoding="utf-8").rstrip() if text.is_file() else ""


def nearest(name: str, choices: Iterable[str], n: int = 5) -> tuple[str, ...]:
    """The choices most similar to a name, best first, ignoring case.

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
