"""Diagnostics collected while a program is bound, so that one run shows them all."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Unpack

from inkling.errors import Diagnostic, NotSupportedYet, ProgramError, Remarks, Severity, nearest
from inkling.language import syntax as s
from inkling.source import SourceText, Span

NOT_SUPPORTED = "INK04"


@dataclass(slots=True)
class Diagnostics:
    """A list of diagnostics of one text without duplicates.

    Binding has no other record of errors, so a part of a program can be bound on trial with a list of its own, and
    leaves no trace in the list of the program.
    """

    source: SourceText
    n_errors: int = 0  # repeated errors count too: each makes its declaration invalid
    _found: dict[tuple[str, Span, str], Diagnostic] = field(default_factory=dict)
    _unknown: set[tuple[str, str]] = field(default_factory=set)

    def error(self, code: str, message: str, at: s.Node | Span, label: str = "", **remarks: Unpack[Remarks]) -> None:
        """Add an error: the program is invalid, or valid but not supported yet (codes INK04xx)."""
        self.n_errors += 1
        self._add("error", code, message, at, label, remarks)

    def is_repeated(self, code: str, name: str) -> bool:
        """Whether an unknown name was reported before; every use is an error, but only the first is reported."""
        if (code, name) not in self._unknown:
            self._unknown.add((code, name))
            return False
        self.n_errors += 1
        return True

    def warn(self, code: str, message: str, at: s.Node | Span, label: str = "", **remarks: Unpack[Remarks]) -> None:
        self._add("warning", code, message, at, label, remarks)

    def location(self, at: s.Node | Span) -> str:
        """Line and column in words, for notes that refer to another place."""
        where = self.source.position((at if isinstance(at, Span) else at.span).start)
        return f"line {where.line}, column {where.column}"

    def text_of(self, at: s.Node | Span) -> str:
        """The source text of a node on one line."""
        return " ".join(self.source.text_of(at if isinstance(at, Span) else at.span).split())

    def finish(self) -> tuple[Diagnostic, ...]:
        """The warnings, if there is no error; otherwise raises an exception with everything found."""
        findings = sorted(self._found.values(), key=lambda finding: finding.span or Span(0, 0))
        errors = [finding for finding in findings if finding.severity == "error"]
        if not errors:
            return tuple(findings)
        if all(error.code.startswith(NOT_SUPPORTED) for error in errors):
            raise NotSupportedYet(findings)
        raise ProgramError(findings)

    def _add(
        self, severity: Severity, code: str, message: str, at: s.Node | Span, label: str, remarks: Remarks
    ) -> None:
        span = at if isinstance(at, Span) else at.span
        finding = replace(Diagnostic.of(code, message, span, self.source, label, **remarks), severity=severity)
        self._found.setdefault((code, span, message), finding)


def did_you_mean(name: str, choices: Iterable[str]) -> tuple[str, ...]:
    """A help line with the nearest names, or none."""
    near = nearest(name, choices)
    if not near:
        return ()
    return (f"did you mean {listed(near, 'or')}?",)


def listed(names: Iterable[str], conjunction: str = "and") -> str:
    """An enumeration of names in backticks.

    >>> listed(["a", "b", "c"])
    '`a`, `b` and `c`'
    """
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} {conjunction} {last}" if first else last
