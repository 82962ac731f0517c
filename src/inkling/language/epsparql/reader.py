"""Reads a query file: declarations as in a program, then queries, each by recursive descent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn, cast, get_args
from urllib.parse import urljoin

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.other_dialects import BAD_CLAUSES, other_dialect
from inkling.language.epsparql.tokens import SCANNER, unescaped
from inkling.language.kit.cursor import Cursor, Number
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import RawToken
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.tokens import SCANNER as SCANNER_OF_PROGRAMS
from inkling.language.syntax import Ident, Node, StreamDecl, TableDecl
from inkling.source import SourceText, Span

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
WELL_KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "rdf": RDF,
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "owl": "http://www.w3.org/2002/07/owl#",
        "prov": "http://www.w3.org/ns/prov#",
        "foaf": "http://xmlns.com/foaf/0.1/",
    }
)
_CONNECTIVES = frozenset(one for one in get_args(t.Connective) if one)
_CALLED = frozenset(get_args(t.CalledName))
_ARGUMENTS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "GETDURATION": (0, 0), "GETSTARTTIME": (0, 0), "GETENDTIME": (0, 0), "LANGMATCHES": (2, 2),
        "SAMETERM": (2, 2), "REGEX": (2, 3), "IF": (3, 3), "COALESCE": (1, 99),
    }
)  # fmt: skip
_OPENING = ("REGISTER", "PREFIX", "BASE", "SELECT", "CONSTRUCT", "ASK", "DESCRIBE")
_HEADS = ("SELECT", "CONSTRUCT", "ASK", "DESCRIBE")


def read_queries(source: SourceText) -> t.QueryFile:
    """The declarations and queries of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    problems: tuple[Diagnostic, ...] = ()
    start = _end_of_declarations(source)
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


def _end_of_declarations(source: SourceText) -> int:
    """Where the declarations of streams and tables end, which are written as in a program."""
    tokens = SCANNER_OF_PROGRAMS.scan(source).tokens
    end = place = 0
    while place + 1 < len(tokens) and tokens[place].upper in ("STREAM", "TABLE"):
        last = next((at for at in range(place, len(tokens)) if tokens[at].is_symbol(";")), None)
        first = next((at for at in range(place, len(tokens)) if tokens[at].upper in _OPENING), None)
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
            if word in _OPENING and has_head and not is_nested:
                return idx  # a brace before it is not closed
            continue
        # a semicolon between the triples of a template without braces does not end the query
        if token.is_symbol(";") and not (has_head and _is_in_bare_template(tokens, begin, idx)):
            return idx
        if word in _OPENING and has_head:
            return idx
        has_head = has_head or word in _HEADS
    return len(tokens)


def _is_in_bare_template(tokens: Sequence[RawToken], begin: int, at: int) -> bool:
    return not any(token.is_symbol("{") for token in tokens[begin:at])


class Prologue:
    """The prefixes and the base of the queries so far."""

    __slots__ = ("base", "prefixes")

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self.base: str | None = None


class SparqlParser(Cursor):
    """Parses one query by recursive descent; keywords may be written in small letters."""

    __slots__ = ("known",)
    known: Prologue

    def query(self, known: Prologue) -> t.Query:
        self.known = known
        prologue = [*self._prologue()]
        name: Ident | None = None
        if self._peek("REGISTER"):
            name = self._registered()
            prologue += self._prologue()
        token = self.token("`SELECT` or `CONSTRUCT`")
        self._misplaced()
        if not self._peek("SELECT", "CONSTRUCT"):
            self.unexpected("`PREFIX`, `SELECT` or `CONSTRUCT`")
        self.at += 1
        dataset: list[t.Dataset] = []
        begin = self.at - 1
        if token.text.upper() == "SELECT":
            items = self._items()
            dataset += self._dataset()
            form: t.Select | t.Construct = t.Select(items, self._where(), self._within(), span=self.span(begin))
        else:
            template = self._template()
            dataset += self._dataset()
            form = t.Construct(template, self._where(), self._within(), span=self.span(begin))
        if not self.is_at_end:
            self._misplaced()
            self.unexpected("`SEQ`, another connective, `FILTER`, `WITHIN` or the end of the query")
        return t.Query(name, tuple(prologue), tuple(dataset), form, span=self.span(0))

    def _registered(self) -> Ident:
        self.at += 1
        if not self._peek("QUERY"):
            self.unexpected("`QUERY`")
        self.at += 1
        token = self.token("a name")
        if token.kind != "NAME":
            self.unexpected("a name")
        self.at += 1
        if not self._peek("AS"):
            self.unexpected("`AS`")
        self.at += 1
        return Ident(token.text, span=token.span)

    def _prologue(self) -> Iterator[t.Prefix]:
        while self._peek("PREFIX", "BASE"):
            begin = self.at
            word = self.next()
            name: str | None = None
            if word.text.upper() == "PREFIX":
                written = self.token("a prefix such as `ex:`")
                if written.kind != "PREFIXED" or not written.text.endswith(":"):
                    self.unexpected("a prefix such as `ex:`")
                name = written.text[:-1]
                self.at += 1
            iri = self.token("an IRI such as `<http://example.org/>`")
            if iri.kind != "IRI":
                self.unexpected("an IRI such as `<http://example.org/>`")
            self.at += 1
            written_iri = iri.text[1:-1]
            if _is_relative(written_iri):
                self._relative(written_iri, iri.span)
                written_iri = urljoin(cast("str", self.known.base), written_iri)
            if name is None:
                self.known.base = written_iri
            else:
                self.known.prefixes[name] = written_iri
            yield t.Prefix(name, written_iri, span=self.span(begin))

    def _items(self) -> tuple[t.Selected, ...]:
        if self._peek("DISTINCT", "REDUCED"):
            self.at += 1  # results are distinct in any case
        if self.peek("*"):
            self.at += 1
            return ()
        items = [self._item()]
        while not self.is_at_end and not self._peek("WHERE", "FROM") and not self.peek("{"):
            if self.peek(","):
                self.fail(
                    "INK0101",
                    "expected another variable, found `,`",
                    self.tokens[self.at].span,
                    helps=("write variables without commas: `SELECT ?a ?b`",),
                )
            items.append(self._item())
        return tuple(items)

    def _item(self) -> t.Selected:
        """`?x`, `expr AS ?x`, and as the thesis prints it `?x AS expr`; with parentheses or without."""
        begin = self.at
        self._misplaced()
        in_parentheses = self.peek("(") and self._has_alias_inside()
        if in_parentheses:
            self.open("(")
        value = self._condition()
        name = value if isinstance(value, t.Variable) else None
        if self._peek("AS"):
            self.at += 1
            named = self._sum()
            if isinstance(named, t.Variable):
                name = named
            elif isinstance(value, t.Variable):
                name, value = value, named
            else:
                self.fail("INK0173", "a value is named by a variable", named.span, helps=("write `… AS ?x`",))
        if name is None:
            text = self.source.text_of(value.span)
            self.fail("INK0173", "a computed value needs a name", value.span, helps=(f"write `{text} AS ?value`",))
        if in_parentheses:
            self.close(")")
        return t.Selected(value, name, span=self.span(begin))

    def _has_alias_inside(self) -> bool:
        depth = 0
        for token in self.tokens[self.at :]:
            depth += token.is_symbol("(") - token.is_symbol(")")
            if depth == 0:
                return False
            if depth == 1 and token.kind == "NAME" and token.text.upper() == "AS":
                return True
        return False

    def _template(self) -> t.Block:
        braces = self.peek("{")
        if braces:
            self.open("{")
        begin = self.at
        triples = self._triples(stops=("WHERE", "FROM"))
        if not triples:
            self.unexpected("a triple")
        block = t.Block(triples, span=self.span(begin))
        if braces:
            self.close("}", "a triple or `}`")
        return block

    def _dataset(self) -> Iterator[t.Dataset]:
        while self._peek("FROM"):
            begin = self.at
            self.at += 1
            named = self._peek("NAMED")
            self.at += named
            token = self.token("a file such as `<roads.ttl>`")
            if token.kind != "IRI":
                self.unexpected("a file such as `<roads.ttl>`")
            self.at += 1
            entails = self._peek("ENTAILMENT")
            if entails:
                self.at += 1
                if not self._peek("RDFS"):
                    self.unexpected("`RDFS`")
                self.at += 1
            file = t.Iri(token.text, token.text[1:-1], span=token.span)
            yield t.Dataset(file, named, entails, span=self.span(begin))

    def _where(self) -> t.Group:
        if self._peek("WHERE"):
            self.at += 1
        elif not self.peek("{"):
            self._misplaced()
            self.unexpected("`WHERE`")
        begin = self.at
        if not self.peek("{"):
            self._misplaced()
            self.unexpected("`{`")
        items = self._group_items(top=True)
        (only, *more) = items
        if not more and isinstance(only, t.Part) and isinstance(only.inner, t.Group) and only.graph is None:
            return only.inner
        return t.Group(items, span=self.span(begin))

    def _within(self) -> Number | None:
        if not self._peek("WITHIN"):
            return None
        self.at += 1
        if self.token("a number of seconds").kind != "NUMBER":
            self.unexpected("a number of seconds")
        number = self.number()
        if not self.is_at_end and self.tokens[self.at].kind == "NAME" and not self._peek(*_OPENING):
            unit = self.next()
            sizes = {"MINUTE": 60, "HOUR": 3600, "DAY": 86400, "SECOND": 1}
            size = sizes.get(unit.text.upper().removesuffix("S"))
            helps = (f"write `WITHIN {number.size * size}`",) if size else ()
            self.fail("INK0173", f"`WITHIN` counts seconds, found `{unit.text}`", unit.span, helps=helps)
        return number

    def _braced(self) -> t.Group | t.Select:
        self.deeper()
        self.open("{")
        begin = self.at
        found: t.Group | t.Select
        if self._peek("SELECT"):
            self.at += 1
            items = self._items()
            found = t.Select(items, self._where(), self._within(), span=self.span(begin))
        elif self.peek("}"):
            self.fail(
                "INK0173",
                "a group without triples",
                self.tokens[self.at - 1].span.to(self.tokens[self.at].span),
                notes=("a group has the time of its triples",),
                helps=("write for example `{ ?s ?p ?o }`",),
            )
        else:
            found = t.Group(self._group_items(top=False), span=self.span(begin))
        self.close("}", "a triple, a connective such as `SEQ`, `FILTER` or `}`")
        self.depth -= 1
        return found

    def _group_items(self, *, top: bool) -> tuple[t.Block | t.Filter | t.Part, ...]:
        items: list[t.Block | t.Filter | t.Part] = []
        while not self.is_at_end and not self.peek("}"):
            if self._peek("WITHIN", *_OPENING) and top:
                break
            begin = self.at
            if self.peek("."):
                self.at += 1
                continue
            if self._peek("FILTER"):
                self.at += 1
                items.append(t.Filter(self._constraint(), span=self.span(begin)))
                continue
            op = self._connective(items)
            if self._peek("GRAPH") and not op:
                self.at += 1
                token = self.token("a file such as `<roads.ttl>`")
                if token.kind == "VARIABLE":
                    self.fail(
                        "INK0172",
                        "`GRAPH` with a variable is not a part of EP-SPARQL",
                        token.span,
                        helps=("name the file: `GRAPH <roads.ttl> { … }`",),
                    )
                if token.kind != "IRI":
                    self.unexpected("a file such as `<roads.ttl>`")
                self.at += 1
                graph = t.Iri(token.text, token.text[1:-1], span=token.span)
                items.append(t.Part("", self._braced(), graph, span=self.span(begin)))
            elif self.peek("{"):
                items.append(t.Part(op, self._braced(), span=self.span(begin)))
            elif op:
                self.unexpected("`{`", (f"write the group in braces: `{op} {{ … }}`",))
            elif top:
                break
            else:
                self._misplaced()
                triples = self._triples(stops=(*_CONNECTIVES, "FILTER", "GRAPH"))
                if not triples:
                    break
                items.append(t.Block(triples, span=self.span(begin)))
        if all(isinstance(one, t.Filter) for one in items):
            at = items[0].span if items else self.tokens[self.at - 1].span
            self.fail("INK0173", "a group without triples", at, notes=("a FILTER tests the triples of its own group",))
        return tuple(items)

    def _connective(self, before: Sequence[Node]) -> t.Connective:
        if not self._peek(*_CONNECTIVES):
            return ""
        word = self.next()
        op = cast("t.Connective", word.text.upper())
        if not any(not isinstance(one, t.Filter) for one in before):
            self.fail(
                "INK0173",
                f"`{op}` at the beginning of a group",
                word.span,
                label="joins what precedes it with what follows",
                helps=(f"write a group before it: `{{ … }} {op} {{ … }}`",),
            )
        return op

    def _constraint(self) -> t.Expr:
        """`(expr)`, or the call of a function."""
        token = self.token("a condition in parentheses")
        if self.peek("("):
            self.open("(")
            found = self._condition()
            self.close(")", "an operator or `)`")
            return found
        if (token.kind == "NAME" or token.kind == "PREFIXED" or token.kind == "IRI") and self._is_called():
            return self._primary()
        self._misplaced()
        return self.unexpected("`(`", ("write the condition in parentheses: `FILTER (…)`",))

    # triples

    def _triples(self, stops: tuple[str, ...]) -> tuple[t.Triples, ...]:
        found: list[t.Triples] = []
        while not self.is_at_end and not self.peek("}", "{") and not self._peek(*stops):
            if found and not self.tokens[self.at - 1].is_symbol("."):
                self._path()
                self._misplaced()
                self.unexpected("`.`, `;`, `,` or the end of the group")
            begin = self.at
            subject = self._term("the subject of a triple")
            if isinstance(subject, t.Text | Number | t.Truth):
                self.fail("INK0173", "the subject of a triple is a literal", subject.span)
            is_alone = isinstance(subject, t.Unnamed) and (self.peek(".", "}") or self.is_at_end)
            properties = () if is_alone else self._properties(stops)
            found.append(t.Triples(subject, properties, span=self.span(begin)))
            if self.peek("."):
                self.at += 1
        return tuple(found)

    def _properties(self, stops: tuple[str, ...] = ()) -> tuple[t.Property, ...]:
        found = [self._property()]
        while self.peek(";"):
            self.at += 1
            if self.is_at_end or self.peek(".", "}", "]", ";", "{") or self._peek(*stops):
                continue
            found.append(self._property())
        return tuple(found)

    def _property(self) -> t.Property:
        begin = self.at
        self._path("(")
        predicate = self._term("a predicate")
        if not isinstance(predicate, t.Iri | t.Variable):
            self.fail("INK0173", "a predicate is an IRI or a variable", predicate.span)
        self._path()
        objects = self.separated(lambda: self._term("the object of a triple"))
        self._path()
        return t.Property(predicate, objects, span=self.span(begin))

    def _path(self, *more: str) -> None:
        """Reports a property path of SPARQL 1.1."""
        if self.peek("/", "|", "^", "*", "+", "?", "!", *more):
            self.fail(
                "INK0172",
                "property paths are not a part of EP-SPARQL",
                self.tokens[self.at].span,
                helps=("write a triple for each step: `?a ex:p ?b . ?b ex:q ?c`",),
            )

    def _term(self, expected: str) -> t.Term:
        begin = self.at
        token = self.token(expected)
        if token.is_symbol("["):
            self.deeper()
            self.open("[")
            properties = () if self.peek("]") else self._properties()
            self.close("]", "`;` or `]`")
            self.depth -= 1
            return t.Unnamed(properties, span=self.span(begin))
        if token.is_symbol("("):
            self.fail(
                "INK0172",
                "lists of RDF are not supported yet",
                token.span,
                helps=("write their triples, with rdf:first and rdf:rest",),
            )
        if token.kind == "BLANK":
            self.at += 1
            return t.Blank(token.text[2:], span=token.span)
        if token.kind == "VARIABLE":
            return self._variable()
        if token.kind == "NAME" and token.text == "a" and expected == "a predicate":
            self.at += 1
            return t.Iri("a", RDF + "type", span=token.span)
        constant = self._constant(is_term=True)
        if constant is None:
            self._misplaced()
            self.unexpected(expected)
        return constant

    def _variable(self) -> t.Variable:
        token = self.next()
        return t.Variable(token.text[1:], span=token.span)

    def _constant(self, *, is_term: bool) -> t.Constant | None:
        """An IRI or a literal, if one comes next."""
        begin = self.at
        token = self.tokens[self.at]
        if token.is_symbol("-", "+") and self.at + 1 < len(self.tokens) and is_term:
            following = self.tokens[self.at + 1]
            if following.kind == "NUMBER":
                self.at += 1
                sign = "-" if token.text == "-" else ""
                number = self.number()
                return Number(sign + number.written, span=self.span(begin))
        match token.kind:
            case "NUMBER":
                return self.number()
            case "LITERAL":
                return self._text()
            case "NAME" if token.text.lower() in ("true", "false"):
                self.at += 1
                return t.Truth(token.text.lower() == "true", span=token.span)
            case "IRI" | "PREFIXED":
                return self._iri()
            case "NAME" if is_term and not self._is_keyword(token):
                return self._iri()
            case _:
                return None

    def _text(self) -> t.Text:
        begin = self.at
        token = self.next()
        value = unescaped(token.text)
        if value is None:
            self.fail("INK0104", "a string with an unknown escape", token.span, helps=("write `\\\\` for a backslash",))
        if not self.is_at_end and self.tokens[self.at].kind == "LANGUAGE":
            language = self.next().text[1:].lower()
            return t.Text(value, language, span=self.span(begin))
        if self.peek("^^"):
            self.at += 1
            token = self.token("a type such as `xsd:duration`")
            if token.kind not in ("IRI", "PREFIXED"):
                self.unexpected("a type such as `xsd:duration`")
            return t.Text(value, None, self._iri(), span=self.span(begin))
        return t.Text(value, span=token.span)

    def _iri(self) -> t.Iri:
        """An IRI with its prefix or base; `tr: Snow` with a space and a bare name, as the thesis prints them."""
        begin = self.at
        token = self.next()
        if token.kind == "IRI":
            written = token.text[1:-1]
            if _is_relative(written):
                self._relative(token.text, token.span)
                return t.Iri(token.text, urljoin(cast("str", self.known.base), written), span=token.span)
            return t.Iri(token.text, written, span=token.span)
        if token.kind == "NAME":
            if "" in self.known.prefixes:
                return t.Iri(":" + token.text, self.known.prefixes[""] + token.text, span=token.span)
            self._relative(token.text, token.span)
            iri = urljoin(cast("str", self.known.base), token.text)
            return t.Iri(f"<{token.text}>", iri, span=token.span)
        prefix, local = token.text.split(":", 1)
        if not local and not self.is_at_end and self.tokens[self.at].kind == "NAME":
            following = self.tokens[self.at]
            if not self._is_keyword(following):
                local = self.next().text
        if prefix not in self.known.prefixes:
            self._unknown_prefix(prefix, token.span)
        return t.Iri(f"{prefix}:{local}", self.known.prefixes[prefix] + local, span=self.span(begin))

    def _relative(self, written: str, span: Span) -> None:
        if self.known.base is None:
            self.fail(
                "INK0170",
                f"`{written}` is relative, but the query has no base",
                span,
                helps=("write `BASE <http://example.org/>` before the query, or the IRI in full",),
            )

    def _unknown_prefix(self, prefix: str, span: Span) -> NoReturn:
        known = sorted(self.known.prefixes)
        meant = nearest(prefix, known, n=1) if prefix not in WELL_KNOWN else []
        iri = WELL_KNOWN.get(prefix, "http://example.org/")
        self.fail(
            "INK0170",
            f"unknown prefix `{prefix}:`",
            span,
            helps=tuple(f"did you mean `{one}:`?" for one in meant)
            or (f"declare it before the query: `PREFIX {prefix}: <{iri}>`",),
        )

    # expressions

    def _condition(self) -> t.Expr:
        return self._joined("||", lambda: self._joined("&&", self._relation))

    def _joined(self, op: str, inner: Callable[[], t.Expr]) -> t.Expr:
        begin = self.at
        items = [inner()]
        while self.peek(op):
            self.at += 1
            items.append(inner())
        if self._peek("AND", "OR", "NOT") and self.opened:
            word = self.tokens[self.at]
            instead = {"AND": "&&", "OR": "||", "NOT": "!"}[word.text.upper()]
            if not (word.text.upper() == "NOT" and self._peeks_after("IN", "EXISTS")):
                self.fail(
                    "INK0101", f"unexpected `{word.text}` in a condition", word.span, helps=(f"write `{instead}`",)
                )
        if len(items) == 1:
            return items[0]
        return t.Joined("&&" if op == "&&" else "||", tuple(items), span=self.span(begin))

    def _peeks_after(self, *words: str) -> bool:
        after = self.tokens[self.at + 1 : self.at + 2]
        return bool(after) and after[0].text.upper() in words

    def _relation(self) -> t.Expr:
        begin = self.at
        left = self._sum()
        if self.peek(*get_args(t.Comparator)):
            op = cast("t.Comparator", self.next().text)
            found: t.Expr = t.Comparison(op, left, self._sum(), span=self.span(begin))
            if self.peek(*get_args(t.Comparator)):
                self.fail("INK0118", "comparisons cannot be chained", self.tokens[self.at].span)
            return found
        if self._peek("IN") or (self._peek("NOT") and self._peeks_after("IN")):
            self._other_dialect()
        return left

    def _sum(self) -> t.Expr:
        return self._operation(("+", "-"), self._product)

    def _product(self) -> t.Expr:
        return self._operation(("*", "/"), self._unary)

    def _operation(self, symbols: tuple[str, ...], inner: Callable[[], t.Expr]) -> t.Expr:
        begin = self.at
        left = inner()
        while self.peek(*symbols):
            op = cast("t.Operator", self.next().text)
            left = t.Arithmetic(op, left, inner(), span=self.span(begin))
        return left

    def _unary(self) -> t.Expr:
        begin = self.at
        self.token("a value")
        if not self.peek("!", "-", "+"):
            return self._primary()
        sign = self.next().text
        self.deeper()
        inner = self._unary()
        self.depth -= 1
        if sign == "+":
            return inner
        return (t.Not if sign == "!" else t.Minus)(inner, span=self.span(begin))

    def _primary(self) -> t.Expr:
        begin = self.at
        token = self.token("a value such as `?price`")
        if self.peek("("):
            self.deeper()
            self.open("(")
            inner = self._condition()
            self.close(")", "an operator or `)`")
            self.depth -= 1
            return inner
        if token.kind == "VARIABLE":
            return self._variable()
        if token.kind in ("IRI", "PREFIXED"):
            iri = self._iri()
            if not self.peek("("):
                return iri
            args = self._arguments()
            if len(args) != 1:
                self.fail("INK0173", f"`{iri.written}` takes one argument, found {len(args)}", self.span(begin))
            return t.Cast(iri, args[0], span=self.span(begin))
        if token.kind == "NAME" and self._is_called():
            return self._called()
        constant = self._constant(is_term=False)
        if constant is None:
            self._misplaced()
            self.unexpected("a value such as `?price`")
        return constant

    def _called(self) -> t.Called:
        begin = self.at
        token = self.next()
        name = token.text.upper()
        if name not in _CALLED:
            helped = other_dialect(name)
            if helped is not None:
                self.fail("INK0172", f"`{token.text}` is not a part of EP-SPARQL", token.span, helps=(helped,))
            meant = nearest(name, sorted(_CALLED), n=1)
            self.fail(
                "INK0173",
                f"unknown function `{token.text}`",
                token.span,
                helps=tuple(f"did you mean `{one}`?" for one in meant),
            )
        args = self._arguments()
        least, most = _ARGUMENTS.get(name, (1, 1))
        if not least <= len(args) <= most:
            wanted = f"{least}" if least == most else f"{least} or {most}" if most < 99 else f"at least {least}"
            self.fail("INK0173", f"`{token.text}` takes {wanted} arguments, found {len(args)}", self.span(begin))
        if name == "BOUND" and not isinstance(args[0], t.Variable):
            self.fail("INK0173", "BOUND takes a variable", args[0].span)
        return t.Called(cast("t.CalledName", name), args, span=self.span(begin))

    def _arguments(self) -> tuple[t.Expr, ...]:
        return self.listed("(", self._condition, ")")

    # words

    def _is_called(self) -> bool:
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].is_symbol("(")

    def _is_keyword(self, token: RawToken) -> bool:
        word = token.text.upper()
        return token.kind == "NAME" and token.text != "a" and (word in _WORDS or word in BAD_CLAUSES)

    def _misplaced(self) -> None:
        """Reports a clause that EP-SPARQL does not have, or has elsewhere."""
        if self.is_at_end or self.tokens[self.at].kind != "NAME":
            return
        token = self.tokens[self.at]
        word = token.text.upper()
        if word in BAD_CLAUSES:
            self._other_dialect()
        if word == "FILTER":
            self.fail(
                "INK0173",
                "`FILTER` outside of a group",
                token.span,
                helps=("write it after a group or in its braces: `WHERE { ?a ex:p ?b FILTER (?b > 1) }`",),
            )

    def _other_dialect(self) -> NoReturn:
        token = self.tokens[self.at]
        word = token.text.upper()
        following = self.tokens[self.at + 1].text.upper() if self.at + 1 < len(self.tokens) else ""
        phrase = f"{word} {following}" if f"{word} {following}" in BAD_CLAUSES else word
        self.fail("INK0172", f"`{phrase}` is not a part of EP-SPARQL", token.span, helps=(BAD_CLAUSES[phrase],))

    def _peek(self, *words: str) -> bool:
        if self.is_at_end:
            return False
        token = self.tokens[self.at]
        return token.kind == "NAME" and token.text.upper() in words


_WORDS = frozenset((*_OPENING, *_CONNECTIVES, "WHERE", "FROM", "NAMED", "FILTER", "GRAPH", "WITHIN", "AS", "QUERY"))


def _is_relative(iri: str) -> bool:
    scheme, colon, _ = iri.partition(":")
    return not colon or not scheme[:1].isalpha() or not all(one.isalnum() or one in "+-." for one in scheme)
