"""Reads a query file: declarations as in a program, then queries."""

from collections.abc import Iterator, Sequence

from inkling.errors import Diagnostic, ProgramError
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.prefixes import Prologue
from inkling.language.epsparql.query_parser import SparqlParser
from inkling.language.epsparql.term_parser import OPENING
from inkling.language.epsparql.tokens import SCANNER
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import RawToken
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.tokens import SCANNER as SCANNER_OF_PROGRAMS
from inkling.language.syntax import StreamDecl, TableDecl
from inkling.source import SourceText

_HEADS = ("SELECT", "CONSTRUCT", "ASK", "DESCRIBE")


def read_queries(source: SourceText) -> t.QueryFile:
    """The declarations and queries of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    problems: tuple[Diagnostic, ...] = ()
    start = end_of_declarations(source)
    declared: tuple[StreamDecl | TableDecl, ...] = ()
    try:
        statements = parse_ink(source.text[:start], source.name).statements if start else ()
        declared = tuple(one for one in statements if isinstance(one, StreamDecl | TableDecl))
    except ProgramError as error:
        problems = error.diagnostics
    scanned = SCANNER.scan(source, start)
    prologue = Prologue()

    def read(chunk: Chunk) -> t.Query:
        return SparqlParser(source, chunk.tokens, chunk.after).query(prologue)

    chunks = list(_chunks(scanned.tokens, len(source.text)))
    return t.QueryFile(declared, *read_statements(source, scanned, chunks, read, start=start, problems=problems))


def end_of_declarations(source: SourceText) -> int:
    """Where the declarations of streams and tables end, which are written as in a program."""
    tokens = SCANNER_OF_PROGRAMS.scan(source).tokens
    end = place = 0
    while place + 1 < len(tokens) and tokens[place].upper in ("STREAM", "TABLE"):
        last = next((at for at in range(place, len(tokens)) if tokens[at].is_symbol(";")), None)
        first = next((at for at in range(place, len(tokens)) if tokens[at].upper in OPENING), None)
        if last is None or (first is not None and first < last):
            return len(source.text) if first is None else tokens[first].span.start
        end, place = tokens[last].span.end, last + 1
    return end


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    """A query ends with a semicolon outside of braces, or where the next one begins."""
    begin = 0
    while begin < len(tokens):
        end = _end_of_query(tokens, begin)
        after = tokens[end] if end < len(tokens) and tokens[end].is_symbol(";") else None
        next_begin = end + (after is not None)
        limit = tokens[next_begin].span.start if next_begin < len(tokens) else length
        if end > begin:
            yield Chunk.of(tokens[begin:end], after, limit)
        begin = next_begin


def _end_of_query(tokens: Sequence[RawToken], begin: int) -> int:
    depth = 0
    has_head = False
    for idx in range(begin, len(tokens)):
        token = tokens[idx]
        depth += token.is_symbol("{", "(") - token.is_symbol("}", ")")
        word = token.text.upper() if token.kind == "NAME" else ""
        if depth > 0:
            is_nested = word == "SELECT" and tokens[idx - 1].is_symbol("{")
            if word in OPENING and has_head and not is_nested:
                return idx  # a brace before it is not closed
            continue
        # a semicolon between the triples of a template without braces does not end the query
        if token.is_symbol(";") and not (has_head and _is_in_bare_template(tokens, begin, idx)):
            return idx
        if word in OPENING and has_head:
            return idx
        has_head = has_head or word in _HEADS
    return len(tokens)


def _is_in_bare_template(tokens: Sequence[RawToken], begin: int, at: int) -> bool:
    return not any(token.is_symbol("{") for token in tokens[begin:at])
