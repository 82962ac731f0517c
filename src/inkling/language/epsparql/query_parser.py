"""Parses one query by recursive descent: its prologue, its form, and its groups."""

from collections.abc import Iterator, Sequence
from typing import cast
from urllib.parse import urljoin

from inkling.language.epsparql import terms as t
from inkling.language.epsparql.expression_parser import ExpressionParser
from inkling.language.epsparql.prefixes import Prologue, is_relative
from inkling.language.epsparql.term_parser import CONNECTIVES, OPENING
from inkling.language.epsparql.triple_parser import TripleParser
from inkling.language.kit.cursor import Number
from inkling.language.syntax import Ident, Node


class SparqlParser(TripleParser, ExpressionParser):
    """One query of a file; prefixes of the queries before it are known."""

    __slots__ = ()

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
            written = self.source.text[token.span.start :].split(">")[0]
            is_turtle = token.text.lower() in ("@prefix", "@base")
            helps = (f"write `{token.text[1:].upper()}{written[len(token.text) :]}>`",) if is_turtle else ()
            self.unexpected("`PREFIX`, `SELECT` or `CONSTRUCT`", helps)
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
            following = self.tokens[self.at + 1 : self.at + 2]
            is_operator = self.tokens[self.at].kind == "NAME" and bool(following) and following[0].is_symbol("{")
            helps = ("one group after another is `{ … } SEQ { … }`",) if is_operator else ()
            self.unexpected("`SEQ`, another connective, `FILTER`, `WITHIN` or the end of the query", helps)
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
            if is_relative(written_iri):
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
        token = self.token("a variable")
        if token.kind == "NAME" and not self._is_called() and token.text.lower() not in ("true", "false"):
            self.unexpected("a variable", (f"variables begin with `?`: `?{token.text}`",))
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
            group = "" if braces or not self._peek("WHERE") else self._bracketed(self.at + 1)
            self.unexpected("a triple", (f"write the triples: `CONSTRUCT {group} WHERE {group}`",) if group else ())
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
            if self.token("a file such as `<roads.ttl>`").kind != "IRI":
                self.unexpected("a file such as `<roads.ttl>`")
            file = self._file()
            entails = self._peek("ENTAILMENT")
            if entails:
                self.at += 1
                if not self._peek("RDFS"):
                    self.unexpected("`RDFS`")
                self.at += 1
            yield t.Dataset(file, named, entails, span=self.span(begin))

    def _file(self) -> t.Iri:
        token = self.next()
        return t.Iri(token.text, token.text[1:-1], span=token.span)

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
        if not self.is_at_end and self.tokens[self.at].kind == "NAME" and not self._peek(*OPENING):
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
            if self._peek("WITHIN", *OPENING) and top:
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
                token = self.token("a file such as `<roads.ttl>`, or a variable")
                if token.kind not in ("IRI", "VARIABLE"):
                    self.unexpected("a file such as `<roads.ttl>`, or a variable")
                is_variable = token.kind == "VARIABLE"
                graph: t.Iri | t.Variable = self._variable() if is_variable else self._file()
                items.append(t.Part("", self._braced(), graph, span=self.span(begin)))
            elif self.peek("{"):
                items.append(t.Part(op, self._braced(), span=self.span(begin)))
            elif op:
                self.unexpected("`{`", (f"write the group in braces: `{op} {{ … }}`",))
            elif top:
                break
            else:
                self._misplaced()
                triples = self._triples(stops=(*CONNECTIVES, "FILTER", "GRAPH"))
                if not triples:
                    break
                items.append(t.Block(triples, span=self.span(begin)))
        if all(isinstance(one, t.Filter) for one in items):
            at = items[0].span if items else self.tokens[self.at - 1].span
            self.fail("INK0173", "a group without triples", at, notes=("a FILTER tests the triples of its own group",))
        return tuple(items)

    def _connective(self, before: Sequence[Node]) -> t.Connective:
        if not self._peek(*CONNECTIVES):
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
