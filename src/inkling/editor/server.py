"""The language server protocol over stdin and stdout: what `inkling lsp` starts."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from inkling import __version__
from inkling.editor.document import Document
from inkling.errors import Diagnostic
from inkling.source import SourceText, Span

KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "column": lsp.CompletionItemKind.Field,
    "variable": lsp.CompletionItemKind.Variable,
    "stream": lsp.CompletionItemKind.Class,
    "table": lsp.CompletionItemKind.Struct,
    "event": lsp.CompletionItemKind.Event,
    "rule": lsp.CompletionItemKind.Function,
}

server = LanguageServer("inkling", __version__)


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
@server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
def check(
    params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams | lsp.DidSaveTextDocumentParams,
) -> None:
    """Publish the errors of a program, or its warnings."""
    text, document = _document(params.text_document.uri)
    found = [_diagnostic(text, one) for one in document.diagnostics]
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=text.uri, diagnostics=found))


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
def hover(params: lsp.HoverParams) -> lsp.Hover | None:
    """The declaration of a name, and what analysis found out about an event."""
    text, document = _document(params.text_document.uri)
    shown = document.hover(text.offset_at_position(params.position))
    return None if shown is None else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, shown))


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
def complete(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    """Keywords that the grammar accepts, names, and columns."""
    text, document = _document(params.text_document.uri)
    found = document.completions(text.offset_at_position(params.position))
    return [lsp.CompletionItem(one.text, kind=KINDS[one.kind]) for one in found]


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def define(params: lsp.DefinitionParams) -> lsp.Location | None:
    """Where a name is declared."""
    text, document = _document(params.text_document.uri)
    span = document.definition(text.offset_at_position(params.position))
    return None if span is None else lsp.Location(text.uri, _range(text, span))


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def layout(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    """The standard layout, as one edit; none while the program has an error."""
    text, document = _document(params.text_document.uri)
    formatted = document.formatted()
    if formatted is None or formatted == document.text:
        return []
    return [lsp.TextEdit(_range(text, Span(0, len(document.text))), formatted)]


def _document(uri: str) -> tuple[TextDocument, Document]:
    text = server.workspace.get_text_document(uri)
    return text, Document(PurePath(unquote(urlsplit(uri).path)).name or "program.ink", text.source)


def _diagnostic(text: TextDocument, found: Diagnostic) -> lsp.Diagnostic:
    says = [
        found.message,
        *([found.label] if found.label else []),
        *found.notes,
        *(f"help: {one}" for one in found.helps),
    ]
    severity = lsp.DiagnosticSeverity.Error if found.severity == "error" else lsp.DiagnosticSeverity.Warning
    where = _range(text, found.span or Span(0, 0))
    return lsp.Diagnostic(where, "\n".join(says), severity=severity, code=found.code, source="inkling")


def _range(text: TextDocument, span: Span) -> lsp.Range:
    """A span in the units of the client, which usually counts UTF-16."""
    source = SourceText("", text.source)
    start, end = (source.position(at) for at in (span.start, span.end))
    points = lsp.Range(lsp.Position(start.line - 1, start.column - 1), lsp.Position(end.line - 1, end.column - 1))
    return text.position_codec.range_to_client_units(text.lines, points)
