"""A program in an editor: its errors, and what is known about the word at a place, also while the text is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from inkling.errors import Diagnostic, InklingError
from inkling.language.front_ends import format_text, notation_of
from inkling.language.kit.scanning import RawToken
from inkling.language.parser.tokens import SCANNER, keywords, read
from inkling.query import Program, parse
from inkling.source import SourceText, Span

DECLARING = frozenset({"STREAM", "TABLE", "EVENT", "RULE"})
"""Words after which a statement has a name."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A name that a statement declares, and the text of the statement."""

    kind: str
    name: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A word that can be written at a place, and what it is."""

    text: str
    kind: str


@dataclass(frozen=True)
class Document:
    """The text of a program in an editor."""

    name: str
    text: str

    @cached_property
    def checked(self) -> tuple[Program | None, tuple[Diagnostic, ...]]:
        """The program if it has no error, and its errors or warnings."""
        try:
            program = parse(self.text, name=self.name)
        except InklingError as problem:
            return None, problem.diagnostics
        return program, (*program.warnings, *program.growth_warnings())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The errors of the program; without errors, its warnings."""
        return self.checked[1]

    def formatted(self) -> str | None:
        """The text in the standard layout; None while the program has an error."""
        try:
            return format_text(self.text, self.name)
        except InklingError:
            return None

    @cached_property
    def statements(self) -> tuple[tuple[RawToken, ...], ...]:
        """The words and symbols of each statement; those of other notations than `.ink` are not looked at."""
        if notation_of(self.name) is not None:
            return ()
        found: list[tuple[RawToken, ...]] = []
        statement: list[RawToken] = []
        for token in SCANNER.scan(SourceText(self.name, self.text)).tokens:
            statement.append(token)
            if token.is_symbol(";"):
                found.append(tuple(statement))
                statement = []
        return (*found, tuple(statement)) if statement else tuple(found)

    @cached_property
    def declarations(self) -> dict[str, Declaration]:
        """What the statements declare, by name."""
        found: dict[str, Declaration] = {}
        for statement in self.statements:
            if len(statement) > 1 and statement[0].upper in DECLARING and statement[1].kind in ("WORD", "QUOTED"):
                text = self.text[statement[0].span.start : statement[-1].span.end]
                name = statement[1]
                found.setdefault(name.text, Declaration(statement[0].upper, name.text, name.span, text))
        return found

    def definition(self, offset: int) -> Span | None:
        """Where the name at a place is declared: a variable in its pattern, or a stream, table, event or rule."""
        token = self._token_at(offset)
        if token is None:
            return None
        variable = dict(self._variables(self._statement_at(offset))).get(token.text)
        if variable is not None:
            return variable[1]
        declared = self.declarations.get(token.text)
        return None if declared is None else declared.span

    def hover(self, offset: int) -> str | None:
        """Markdown about the name at a place: its declaration, and for an event what analysis found out."""
        token = self._token_at(offset)
        if token is None:
            return None
        variable = dict(self._variables(self._statement_at(offset))).get(token.text)
        declared = self.declarations.get(token.text if variable is None else variable[0])
        if declared is None:
            return None
        shown = f"```ink\n{declared.text}\n```"
        program, _ = self.checked
        if program is not None and declared.kind == "EVENT":
            lines = program.explain("verdicts").splitlines()
            if declared.name in lines:
                begin = lines.index(declared.name) + 1
                about = list(_indented(lines[begin:]))
                shown += "\n\n```text\n" + "\n".join(about) + "\n```"
        return shown

    def completions(self, offset: int) -> list[Suggestion]:
        """The words that can come at a place: keywords, names, or the columns of a variable after a dot."""
        if notation_of(self.name) is not None:
            return []
        statement = [token for token in self._statement_at(offset) if token.span.end <= offset]
        if statement and statement[-1].kind == "WORD" and statement[-1].span.end == offset:
            statement.pop()  # the word that is being written
        if len(statement) > 1 and statement[-1].is_symbol("."):
            whole = self._statement_at(offset)
            stream = dict(self._variables(whole)).get(statement[-2].text)
            return [Suggestion(name, "column") for name in ([] if stream is None else self._columns(stream[0]))]
        reading = read(statement)
        if not reading.complete and reading.stopped_at < len(statement):
            return []
        accepted = reading.stacks[-1].accepted() if reading.stacks else frozenset()
        found = [Suggestion(word, "keyword") for word in sorted(accepted & keywords())]
        if "NAME" in accepted:
            found += [Suggestion(one.name, one.kind.lower()) for one in self.declarations.values()]
            found += [Suggestion(name, "variable") for name in dict(self._variables(self._statement_at(offset)))]
            stream_name = self._stream_of_bracket(statement)
            found += [Suggestion(name, "column") for name in self._columns(stream_name)]
        return found

    def _stream_of_bracket(self, statement: Sequence[RawToken]) -> str:
        """The stream whose condition is being written: that before the last open bracket."""
        open_at = [place for place, token in enumerate(statement) if token.is_symbol("[") or token.is_symbol("]")]
        if not open_at or statement[open_at[-1]].is_symbol("]"):
            return ""
        before = [token.text for token in statement[max(open_at[-1] - 2, 0) : open_at[-1]]]
        return next((name for name in before if name in self.declarations), "")

    def _columns(self, name: str) -> list[str]:
        """The columns of a stream, table or event."""
        declared = self.declarations.get(name)
        if declared is None:
            return []
        tokens = SCANNER.scan(SourceText(self.name, declared.text)).tokens
        opened = next((place for place, token in enumerate(tokens) if token.is_symbol("(")), None)
        if opened is None or opened != 2:
            return []
        closed = next((place for place, token in enumerate(tokens) if token.is_symbol(")")), len(tokens))
        inside = tokens[opened:closed]
        is_event = declared.kind == "EVENT"
        return [
            token.text
            for place, token in enumerate(inside)
            if token.kind in ("WORD", "QUOTED")
            and (inside[place - 1].upper == "AS" if is_event else inside[place - 1].text in "(,")
        ]

    def _variables(self, statement: Sequence[RawToken]) -> Iterator[tuple[str, tuple[str, Span]]]:
        """The variables of a pattern: a name after that of a stream or event."""
        for before, token in pairwise(statement):
            is_name = token.kind in ("WORD", "QUOTED") and token.upper not in keywords()
            if is_name and before.text in self.declarations and before.span != statement[0].span:
                yield token.text, (before.text, token.span)

    def _statement_at(self, offset: int) -> tuple[RawToken, ...]:
        """The statement around a place."""
        for statement in self.statements:
            if offset <= statement[-1].span.end - statement[-1].is_symbol(";"):
                return statement if statement[0].span.start <= offset else ()
        last = self.statements[-1] if self.statements else ()
        return last if last and not last[-1].is_symbol(";") else ()

    def _token_at(self, offset: int) -> RawToken | None:
        tokens = (token for statement in self.statements for token in statement)
        at = (token for token in tokens if token.span.start <= offset <= token.span.end)
        return next((token for token in at if token.kind in ("WORD", "QUOTED")), None)


def _indented(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith(" "):
            return
        yield line.removeprefix("  ")
