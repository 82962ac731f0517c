"""Recognizes SQL, MATCH_RECOGNIZE, Esper and data files where a program is expected, and says what to write instead."""

import re
from collections.abc import Iterator, Sequence

from inkling.errors import Diagnostic, nearest
from inkling.language.kit.scanning import RawToken, open_brackets
from inkling.language.parser.site import CLAUSES, FORECAST_OPTIONS, STREAM_OPTIONS, Site, expectation
from inkling.model.time import MICROSECONDS
from inkling.model.types import FOREIGN_TYPE_NAMES, TYPE_NAMES, Type
from inkling.source import SourceText, Span

_QUERY_NOTE = "an EVENT takes the place of a query: WHERE filters, RETURN selects, `--output` names a file"
_STATEMENT_NOTE = "a statement starts with STREAM, TABLE, RULE, EVENT or FORECAST"
_AFTER_FROM = frozenset({"GROUP", "ORDER", "HAVING", "LIMIT", "WINDOW", "EMIT", "INSERT", "SELECT"})
_CSV_LINE = re.compile(r"""\s*(?:[\w ./()-]+|"[^"\n]*")?(?:[,;\t](?:[\w ./():+-]+|"[^"\n]*")?)+\s*""")
_SPARQL = re.compile(r"\s*(PREFIX|SELECT|CONSTRUCT|ASK|DESCRIBE)\b", re.IGNORECASE)
_SPARQL_VARIABLE = re.compile(r"[\s({/][?$][A-Za-z]")
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)?\s*")
_CONSTRAINTS = frozenset({"NOT", "NULL", "PRIMARY", "UNIQUE", "DEFAULT", "REFERENCES", "CHECK", "METADATA"})
_EVENT_ORDER = "the order is `EVENT name AS PATTERN pattern`, then WHERE, WITHIN and other clauses in any order"
_STREAM_ORDER = "the order is `STREAM name(columns)`, then KEY, TIME and other options in any order"
_FORECAST_ORDER = (
    "the order is `FORECAST event`, then WITHIN, AROUND, POINT or INTERVAL, then CONFIDENCE and other options"
)


# whole files


def data_file(source: SourceText, tokens: Sequence[RawToken]) -> Diagnostic | None:
    """A text that is no program but data: CSV or JSON."""
    lines = [line for line in source.text.splitlines() if line.strip()]
    if not lines or not tokens:
        return None
    if tokens[0].is_symbol("{", "["):
        kind = "JSON"
    elif _is_csv(tokens) and all(_CSV_LINE.fullmatch(line) for line in lines[:2]):
        kind = "CSV"
    else:
        return None
    start = source.text.index(lines[0])
    suffix = f".{kind.lower()}"
    name = source.name if source.name.lower().endswith((suffix, ".jsonl")) else f"rows{suffix}"
    return Diagnostic(
        "INK0120",
        f"expected a program, found {kind} data",
        Span(start, start + len(lines[0].rstrip())),
        source,
        notes=(_STATEMENT_NOTE, "a program declares the columns of a stream; the rows are an input"),
        helps=(f"write `inkling run PROGRAM.ink --input STREAM={name}`",),
    )


def sparql_query(source: SourceText) -> Diagnostic | None:
    """A query in SPARQL, or in EP-SPARQL, which adds SEQ, EQUALS, OPTIONALSEQ and getDURATION()."""
    found = _SPARQL.match(source.text)
    if found is None or not _SPARQL_VARIABLE.search(source.text):
        return None
    return Diagnostic(
        "INK0120",
        "expected a program, found a SPARQL query",
        Span(*found.span(1)),
        source,
        notes=(_STATEMENT_NOTE, "queries over a stream of triples are in files that end with `.epsparql` or `.rq`"),
        helps=(
            "rename the file, for example to `query.epsparql`; `inkling fmt --to ink query.epsparql` then prints the"
            " query as a program",
            "or write the pattern over events with columns, for example `EVENT fall(a.company) AS PATTERN SEQ(Price a,"
            " Price b[company = a.company]) WHERE b.price < 0.7 * a.price WITHIN 30 DAYS;`",
        ),
    )


def _is_csv(tokens: Sequence[RawToken]) -> bool:
    return len(tokens) > 1 and tokens[1].is_symbol(",", ";") and tokens[0].kind != "SYMBOL"


# whole statements


def foreign_statement(source: SourceText, tokens: Sequence[RawToken], known: Sequence[str]) -> Diagnostic:
    """A statement whose first word starts none."""
    first = tokens[0]
    notes = [_STATEMENT_NOTE]
    helps: list[str] = []
    match first.upper, [token.upper for token in tokens[1:3]]:
        case ("SELECT" | "FROM" | "WITH" | "INSERT" | "MATCH_RECOGNIZE", _) if (
            matching := _match_recognize(source, tokens)
        ) is not None:
            notes.append(_MATCH_RECOGNIZE_NOTE)
            helps.append(f"write `{matching}`")
        case ("SELECT" | "FROM" | "WITH" | "INSERT" | "UPSERT", _):
            notes.append(_QUERY_NOTE)
            helps.append(f"write `{_query(source, tokens)}`")
        case ("CREATE" | "DEFINE" | "DECLARE", ["STREAM" | "TABLE" | "SCHEMA" | "SOURCE" | "TEMPORARY" | "OR", *_]):
            notes.append(
                "a STREAM has columns and a time, a TABLE has background facts; `--input` and `--table` name data"
            )
            helps.append(f"write `{_declaration(source, tokens)}`")
        case ("PATTERN" | "SEQ", _):
            body = tokens if first.upper == "SEQ" else tokens[1:]
            name = "result"
            if len(body) > 2 and body[-2].upper == "AS":
                body, name = body[:-2], body[-1].text
            helps.append(f"write `EVENT {name} AS PATTERN {text_of(source, body)};`")
        case _:
            helps += [f"write `{word}`" for word in nearest(first.text, known, n=1)]
    message = f"unknown statement `{first.text}`"
    return Diagnostic("INK0120", message, first.span, source, notes=tuple(notes), helps=tuple(helps))


def _query(source: SourceText, tokens: Sequence[RawToken], name: str = "result") -> str:
    """`SELECT a, b FROM S WHERE c` as an event."""
    words = [token.upper for token in tokens]
    begin = len(words) - words[::-1].index("FROM") if "FROM" in words else len(words)
    stream = tokens[begin].text if begin < len(tokens) and tokens[begin].kind in ("WORD", "QUOTED") else "S"
    if stream.upper() == "PATTERN":  # SELECT … FROM PATTERN [every a=A -> b=B]
        inside = [token for token in tokens[begin + 1 :] if not token.is_symbol("[", "]")]
        return f"EVENT {name} AS PATTERN {_sequence(source, inside)};"
    variable = stream[0].lower() if stream[0].isalpha() and len(stream.strip("_")) > 1 else "e"
    condition = ""
    if "WHERE" in words[begin:]:
        at = words.index("WHERE", begin) + 1
        stop = next((idx for idx in range(at, len(words)) if words[idx] in _AFTER_FROM), len(words))
        condition = f"[{text_of(source, tokens[at:stop])}]"
    returned = [f"{variable}.{column}" for column in _selected(tokens)]
    tail = f" RETURN {', '.join(returned)}" if returned else ""
    return f"EVENT {name} AS PATTERN {stream} {variable}{condition}{tail};"


def _selected(tokens: Sequence[RawToken]) -> list[str]:
    """Columns that SELECT names, unless it computes anything."""
    words = [token.upper for token in tokens]
    if "SELECT" not in words:
        return []
    begin = words.index("SELECT") + 1
    stop = words.index("FROM", begin) if "FROM" in words[begin:] else len(words)
    items = tokens[begin:stop]
    plain = all(token.kind == "WORD" if idx % 2 == 0 else token.is_symbol(",") for idx, token in enumerate(items))
    return [token.text for token in items[::2]] if plain else []


def _declaration(source: SourceText, tokens: Sequence[RawToken]) -> str:
    """`CREATE TABLE t (a TEXT, ts TIMESTAMP(3)) WITH (…)` as a stream."""
    opening = next((idx for idx, token in enumerate(tokens) if token.is_symbol("(")), None)
    if opening is None:
        return f"STREAM {tokens[-1].text}(name STRING) TIME t;"
    name = tokens[opening - 1].text
    columns: list[str] = []
    time = ""
    options = tokens[opening + len(next(_balanced(tokens[opening:]), tokens[opening:])) :]
    ours = bool(options) and options[0].upper in STREAM_OPTIONS
    for column in _listed(tokens[opening:]):
        if len(column) < 2 or column[1].kind != "WORD" or column[0].upper in ("PRIMARY", "WATERMARK", "CONSTRAINT"):
            continue
        kind = our_type(column[1].text) or "STRING"
        if kind == "TIMESTAMP" and not time and not ours:
            time = column[0].text
        else:
            columns.append(f"{column[0].text} {kind}")
    tail = text_of(source, options) if ours else f"TIME {time or 't'}"
    return f"STREAM {name}({', '.join(columns) or 'name STRING'}) {tail};"


def _listed(tokens: Sequence[RawToken]) -> Iterator[Sequence[RawToken]]:
    """What stands between the commas of a list in parentheses."""
    depth = 0
    begin = 1
    for idx, token in enumerate(tokens):
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0 or (depth == 1 and token.is_symbol(",")):
            yield tokens[begin:idx]
            begin = idx + 1
        if depth == 0:
            return


def our_type(name: str) -> str | None:
    """The type that stands for one of another language, as a declaration spells it."""
    kind = TYPE_NAMES.get(name.upper()) or FOREIGN_TYPE_NAMES.get(name.upper())
    return None if kind is None else {Type.INTEGER: "INT", Type.TIME: "TIMESTAMP"}.get(kind, str(kind))


# MATCH_RECOGNIZE

_MATCH_RECOGNIZE_NOTE = (
    "an EVENT takes the place of MATCH_RECOGNIZE: `PATTERN (A B+)` is `PATTERN SEQ STRICT(S A, S B+)`,\n"
    "DEFINE is a condition in brackets or WHERE, MEASURES is RETURN"
)


def _match_recognize(source: SourceText, tokens: Sequence[RawToken], name: str = "result") -> str | None:
    """`FROM S MATCH_RECOGNIZE (PATTERN (A B+) DEFINE …)` as an event."""
    words = [token.upper for token in tokens]
    if "MATCH_RECOGNIZE" not in words:
        return None
    at = words.index("MATCH_RECOGNIZE")
    stream = tokens[at - 1].text if at and tokens[at - 1].kind in ("WORD", "QUOTED") and words[at - 1] != "AS" else "S"
    conditions = _defined(source, tokens)
    components: list[str] = []
    quantified = False
    if "PATTERN" in words[at:]:
        begin = words.index("PATTERN", at) + 1
        for token in next(_balanced(tokens[begin:]), ()):
            if token.kind == "WORD":
                condition = conditions.get(token.upper)
                components.append(f"{stream} {token.text}" + (f"[{condition}]" if condition else ""))
                quantified = False
            elif token.is_symbol("+", "*", "?") and components and not quantified:
                components[-1] += token.text
                quantified = True
            elif not token.is_symbol("(", ")"):
                components = []
                break
    pattern = f"SEQ STRICT({', '.join(components or [f'{stream} A', f'{stream} B'])})"
    partition = ""
    if "PARTITION" in words[at:]:
        key = tokens[words.index("PARTITION", at) + 2 :][:1]
        partition = "".join(f" PARTITION BY {token.text}" for token in key)
    return f"EVENT {name} AS PATTERN {pattern}{partition};"


def _balanced(tokens: Sequence[RawToken]) -> Iterator[Sequence[RawToken]]:
    """The tokens from an opening parenthesis to the one that closes it."""
    depth = 0
    for idx, token in enumerate(tokens):
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0:
            yield tokens[: idx + 1]
            return


def _defined(source: SourceText, tokens: Sequence[RawToken]) -> dict[str, str]:
    """Conditions of DEFINE by variable, its own columns as bare names; conditions with calls are left out."""
    words = [token.upper for token in tokens]
    if "DEFINE" not in words:
        return {}
    found: dict[str, str] = {}
    rest = tokens[words.index("DEFINE") + 1 :]
    starts = [idx for idx in range(len(rest) - 1) if rest[idx].kind == "WORD" and rest[idx + 1].upper == "AS"]
    for begin, after in zip(starts, [*starts[1:], len(rest)], strict=True):
        condition = list(rest[begin + 2 : after])
        while condition and condition[-1].is_symbol(",", ")"):
            condition.pop()
        if condition and not any(token.is_symbol("(", ")") for token in condition):
            written = text_of(source, condition)
            found[rest[begin].upper] = re.sub(rf"\b{re.escape(rest[begin].text)}\.", "", written)
    return found


# places in a statement


def query_in_event(site: Site) -> Diagnostic | None:
    """`EVENT fast AS SELECT …`, or MATCH_RECOGNIZE in any place."""
    word = "" if site.token is None else site.token.upper
    if word != "MATCH_RECOGNIZE" and not (word in ("SELECT", "FROM") and "PATTERN" in site.accepted):
        return None
    name = site.raw[1].text if site.statement_word == "EVENT" and site.idx > 1 else "result"
    note, written = _MATCH_RECOGNIZE_NOTE, _match_recognize(site.source, site.raw[site.idx :], name)
    if written is None:
        note, written = _QUERY_NOTE, _query(site.source, site.raw[site.idx :], name)
    return site.diagnostic("INK0101", expectation(site), notes=[note], helps=[f"write `{written}`"])


def esper_pattern(site: Site) -> Diagnostic | None:
    """`every a=A -> b=B`: a token of Esper's operators, at the first place that does not fit."""
    if site.statement_word != "EVENT" or site.token is None or site.open_brackets:
        return None
    begin = next((idx + 1 for idx, token in enumerate(site.raw) if token.upper == "PATTERN"), None)
    if begin is None or begin > site.idx:
        return None
    stop = next(
        (idx for idx in range(begin, len(site.raw)) if site.raw[idx].upper in ("WHERE", "WITHIN", "HAVING", "RETURN")),
        len(site.raw),
    )
    body = site.raw[begin:stop]
    has_arrow = any(token.kind == "FOREIGN" and token.text == "->" for token in body)
    is_every = body[:1] != () and body[0].upper == "EVERY"
    is_tagged = site.token.is_symbol("=") and site.idx + 1 < stop and site.raw[site.idx + 1].kind == "WORD"
    if site.idx >= stop or not (has_arrow or (is_every and (is_tagged or site.token.kind == "WORD"))):
        return None
    head = text_of(site.source, site.raw[:begin])
    tail = text_of(site.source, site.raw[stop:])
    notes = ["`SEQ(a, b)` is one pattern after another"] if has_arrow else []
    if is_every:
        notes.append("a pattern matches every time; EVERY is not needed")
    written = f"{head} {_sequence(site.source, body)} {tail}".rstrip()
    is_arrow = site.token.kind == "FOREIGN"
    message = f"`{site.token.text}` is not an operator" if is_arrow else expectation(site)
    return site.diagnostic("INK0108" if is_arrow else "INK0101", message, notes=notes, helps=[f"write `{written};`"])


def _sequence(source: SourceText, tokens: Sequence[RawToken]) -> str:
    """`every (a=A(x > 1) -> b=B)` as `SEQ(A a[x > 1], B b)`."""
    operands: list[list[RawToken]] = [[]]
    for token in _without_parentheses(tokens[1:] if tokens and tokens[0].upper == "EVERY" else tokens):
        if token.kind == "FOREIGN" and token.text == "->":
            operands.append([])
        else:
            operands[-1].append(token)
    written = [_operand(source, operand) for operand in operands if operand]
    return written[0] if len(written) == 1 else f"SEQ({', '.join(written)})"


def _without_parentheses(tokens: Sequence[RawToken]) -> Sequence[RawToken]:
    """Tokens without the pair of parentheses around all of them, if there is one."""
    depth = 0
    for idx, token in enumerate(tokens):
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0:
            return tokens[1:-1] if idx and idx == len(tokens) - 1 else tokens
    return tokens


def _operand(source: SourceText, tokens: list[RawToken]) -> str:
    if tokens[0].upper == "EVERY":
        tokens = tokens[1:]
    if len(tokens) > 2 and tokens[1].is_symbol("=") and tokens[2].kind in ("WORD", "QUOTED"):
        condition = tokens[3:]
        inside = ""
        if condition and condition[0].is_symbol("(") and condition[-1].is_symbol(")"):
            inside = f"[{text_of(source, condition[1:-1])}]" if condition[1:-1] else ""
        return f"{tokens[2].text} {tokens[0].text}{inside}"
    return text_of(source, tokens)


def interval_literal(site: Site) -> Diagnostic | None:
    """`INTERVAL '10' MINUTE`, or a text for a length of time."""
    token = site.token
    if token is None:
        return None
    idx = site.idx if token.kind == "STRING" else site.idx + 1
    has_word = idx > 0 and idx < len(site.raw) and site.raw[idx - 1].upper == "INTERVAL"
    if not has_word and not (token.kind == "STRING" and site.before.upper in ("WITHIN", "FOR", "AFTER", "LATENESS")):
        return None
    if idx >= len(site.raw) or site.raw[idx].kind not in ("STRING", "INTEGER"):
        return None
    amount = _AMOUNT.fullmatch(site.raw[idx].value)
    if amount is None:
        return None
    after = site.raw[idx + 1] if idx + 1 < len(site.raw) else None
    unit = amount[2] or (after.text if after is not None and after.kind == "WORD" else "")
    close = nearest(unit, (*MICROSECONDS, "EVENTS", "TICKS"), n=1)
    if not close:
        return None
    last = site.raw[idx] if amount[2] else after
    assert last is not None
    span = site.raw[idx - 1 if has_word else idx].span.to(last.span)
    return site.diagnostic(
        "INK0101",
        f"expected a length of time such as `10 MINUTES`, found `{site.source.text_of(span)}`",
        span,
        notes=["a length of time is a number and a unit, without quotes"],
        helps=[f"write `{amount[1]} {close[0]}`"],
    )


def type_with_more(site: Site) -> Diagnostic | None:
    """`VARCHAR(20)`, `DOUBLE PRECISION`, `STRING NOT NULL` in a list of columns."""
    if site.token is None or site.statement_word not in ("STREAM", "TABLE") or len(site.open_brackets) != 1:
        return None
    if site.idx < 5 or site.accepted != {"COMMA", "RPAR"} or site.raw[2] is not site.open_brackets[0]:
        return None
    name, kind = site.raw[site.idx - 2], site.raw[site.idx - 1]
    ours = our_type(kind.text)
    if ours is None or kind.kind != "WORD":
        return None
    token = site.token
    if token.is_symbol("("):
        closing = next((t for t in site.raw[site.idx :] if t.is_symbol(")")), token)
        message = f"a type has no length: `{site.source.text_of(kind.span.to(closing.span))}`"
        span = token.span.to(closing.span)
    elif token.upper in _CONSTRAINTS or (kind.upper, token.upper) == ("DOUBLE", "PRECISION"):
        message = f"`{token.text}` is not part of a column"
        span = token.span
    else:
        return None
    notes = ["types are BOOLEAN, INT, DOUBLE, STRING, TERM and TIMESTAMP"]
    helps = [f"write `{name.text} {ours}`"]
    if token.upper in ("PRIMARY", "UNIQUE"):
        notes = ["the key of a stream is an option, after its columns"]
        helps = [f"write `{name.text} {ours}` and, after the columns, `KEY {name.text}`"]
    elif token.upper in ("NOT", "NULL"):
        notes = ["every column may hold missing values; `IS NULL` tests for them"]
    return site.diagnostic("INK0101", message, span, notes=notes, helps=helps)


def clause_too_early(site: Site) -> Diagnostic | None:
    """A clause before the pattern, an option before the columns or before the kind of forecast."""
    token = site.token
    if token is None:
        return None
    raw = site.raw
    match site.statement_word:
        case "EVENT" if token.upper in CLAUSES and site.accepted & {"AS", "PATTERN"}:
            at = next((idx for idx in range(site.idx, len(raw)) if raw[idx].upper == "PATTERN"), None)
            if at is None:
                return site.diagnostic("INK0101", expectation(site), notes=[_EVENT_ORDER])
            moved = list(raw[site.idx : at])
            if moved[-1].upper == "AS":
                moved.pop()
            head = [one for one in raw[: site.idx] if one.upper != "AS"]
            parts = [text_of(site.source, head), "AS", text_of(site.source, raw[at:]), text_of(site.source, moved)]
            note = _EVENT_ORDER
        case "STREAM" if token.upper in STREAM_OPTIONS and "LPAR" in site.accepted:
            at = next((idx for idx in range(site.idx, len(raw)) if raw[idx].is_symbol("(")), None)
            if at is None:
                return site.diagnostic("INK0101", expectation(site), notes=[_STREAM_ORDER])
            columns = next(_balanced(raw[at:]), raw[at:])
            rest = [*raw[site.idx : at], *raw[at + len(columns) :]]
            parts = [text_of(site.source, raw[: site.idx]) + text_of(site.source, columns), text_of(site.source, rest)]
            note = _STREAM_ORDER
        case "FORECAST" if token.upper in FORECAST_OPTIONS and "POINT" in site.accepted:
            return site.diagnostic("INK0101", expectation(site), notes=[_FORECAST_ORDER])
        case _:
            return None
    return site.diagnostic("INK0101", expectation(site), notes=[note], helps=[f"write `{' '.join(parts)};`"])


def count_of_everything(site: Site) -> Diagnostic | None:
    """`COUNT(*)`."""
    if site.token is None or not site.token.is_symbol("*") or not site.before.is_symbol("("):
        return None
    if site.raw[site.idx - 2].upper != "COUNT" or len(open_brackets(site.raw[: site.idx])) == 0:
        return None
    return site.diagnostic(
        "INK0101",
        expectation(site),
        notes=["COUNT counts the events of a repetition or a window"],
        helps=["write `COUNT(e)` with the variable of the repetition or the window"],
    )


def variable_after_repetition(site: Site) -> Diagnostic | None:
    """`A+ a` for `A a+`."""
    token = site.token
    if token is None or token.kind != "WORD" or not site.before.is_symbol("+", "*", "?"):
        return None
    types = site.raw[site.idx - 2]
    if site.idx < 2 or "PAR" not in site.accepted or types.kind not in ("WORD", "QUOTED") or token.upper in CLAUSES:
        return None
    following = site.raw[site.idx + 1] if site.idx + 1 < len(site.raw) else None
    if following is not None and not following.is_symbol(",", ")") and following.upper not in CLAUSES:
        return None
    return site.diagnostic(
        "INK0101",
        expectation(site),
        notes=["the variable of an event comes before its repetition"],
        helps=[f"write `{types.text} {token.text}{site.before.text}`"],
    )


def text_of(source: SourceText, tokens: Sequence[RawToken]) -> str:
    """The text of tokens on one line, without what stands between tokens that are not neighbors."""
    if not tokens:
        return ""
    pieces: list[str] = []
    for idx, token in enumerate(tokens):
        if idx:
            between = source.text[tokens[idx - 1].span.end : token.span.start]
            pieces.append("" if between == "" else " ")
        pieces.append(token.text)
    return "".join(pieces)
