"""The language server: what it says about a program, and a session with a real one over stdin and stdout."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from inkling.editor.document import Document

TEXT = """STREAM Load(id STRING, node STRING, value DOUBLE, t TIMESTAMP) ID id KEY node TIME t;
EVENT hot(a.node AS node) AS PATTERN Load a[value > 95] RETURN a.value AS top;
EVENT twice AS PATTERN SEQ(hot x, hot y) WITHIN 5 MINUTES;
"""


def at(text: str, marked: str) -> tuple[Document, int]:
    """The document without the mark `|` in a fragment of it, and the place of the mark."""
    fragment = marked.replace("|", "")
    whole = text if fragment in text else text + fragment
    return Document("p.ink", whole), whole.index(fragment) + marked.index("|")


@pytest.mark.parametrize(
    ("marked", "declared"),
    [("SEQ(h|ot x", "hot(a.node"), ("RETURN a|.value", "a[value"), ("PATTERN Lo|ad a", "Load(id"), ("WITHIN| 5", None)],
)
def test_a_name_leads_to_its_declaration(marked: str, declared: str | None) -> None:
    document, offset = at(TEXT, marked)
    span = document.definition(offset)
    assert (span and span.start) == (None if declared is None else TEXT.index(declared))


def test_hover_shows_the_declaration_and_what_analysis_says() -> None:
    document, offset = at(TEXT, "SEQ(h|ot x")
    said = document.hover(offset) or ""
    assert "EVENT hot(a.node AS node)" in said
    assert "evaluator" in said
    document, offset = at(TEXT, "RETURN a|.value")
    assert "STREAM Load(" in (document.hover(offset) or "")


@pytest.mark.parametrize(
    ("marked", "expected", "unexpected"),
    [
        ("EVENT e AS PATTERN |", {"SEQ", "Load", "hot"}, {"STREAM"}),
        ("EVENT e AS PATTERN Load b WHERE b.|", {"id", "node", "value", "t"}, {"SEQ"}),
        ("EVENT e AS PATTERN hot b WHERE b.|", {"node"}, {"value"}),
        ("EVENT e AS PATTERN Load b[|", {"value", "b"}, {"WITHIN"}),
        ("EVENT e AS PATTERN Load b WITH|", {"WITHIN", "PARTITION"}, {"STREAM"}),
    ],
)
def test_completion_offers_what_can_come(marked: str, expected: set[str], unexpected: set[str]) -> None:
    document, offset = at(TEXT, marked)
    found = {one.text for one in document.completions(offset)}
    assert expected <= found
    assert not unexpected & found


def test_errors_and_layout() -> None:
    assert [one.code for one in Document("p.ink", TEXT.replace("value >", "valu >")).diagnostics] == ["INK0207"]
    assert Document("p.ink", TEXT.replace("value >", "valu >")).formatted() is not None
    assert Document("p.ink", "EVENT").formatted() is None
    assert Document("r.ele", "e(X) <- a(X) SEQ b(X).").diagnostics == ()
    assert Document("r.ele", "e(X) <- a(X) SEQ b(X).").completions(4) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_session_with_an_editor(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as thread:  # an event loop of its own: browser tests leave theirs running in this one
        thread.submit(asyncio.run, session((tmp_path / "p.ink").as_uri())).result()


async def session(uri: str) -> None:
    client = LanguageClient("test", "1")
    published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def receive(params: lsp.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    await client.start_io(sys.executable, "-c", "from inkling.cli import main; main()", "lsp")
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    wrong = TEXT.replace("value >", "'😀' = node AND valu >")
    client.text_document_did_open(
        lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri=uri, language_id="ink", version=1, text=wrong))
    )
    (found,) = (await asyncio.wait_for(published.get(), 60)).diagnostics
    begin = len(wrong.splitlines()[1].partition("valu ")[0].encode("utf-16-le")) // 2
    assert (found.code, found.range.start, found.range.end.character) == ("INK0207", lsp.Position(1, begin), begin + 4)
    change = lsp.TextDocumentContentChangeWholeDocument(text=TEXT)
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(version=2, uri=uri), [change])
    )
    assert all(one.severity == lsp.DiagnosticSeverity.Warning for one in (await published.get()).diagnostics)
    document = lsp.TextDocumentIdentifier(uri)
    place = await client.text_document_definition_async(lsp.DefinitionParams(document, lsp.Position(2, 28)))
    assert isinstance(place, lsp.Location)
    assert place.range.start == lsp.Position(1, 6)
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(document, lsp.FormattingOptions(tab_size=2, insert_spaces=True))
    )
    assert edits
    assert edits[0].new_text == Document("p.ink", TEXT).formatted()
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
