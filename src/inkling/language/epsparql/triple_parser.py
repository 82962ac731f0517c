"""Parses triples: of groups, of templates, and in the brackets of a blank node."""

from inkling.language.epsparql import terms as t
from inkling.language.epsparql.prefixes import RDF
from inkling.language.epsparql.term_parser import TermParser
from inkling.language.kit.cursor import Number


class TripleParser(TermParser):
    """Triples one after the other, shortened with `;` and `,`."""

    __slots__ = ()

    def _triples(self, stops: tuple[str, ...]) -> tuple[t.Triples, ...]:
        found: list[t.Triples] = []
        while not self.is_at_end and not self.peek("}", "{") and not self._peek(*stops):
            if found and not self.tokens[self.at - 1].is_symbol("."):
                self._path()
                self._misplaced()
                following = self.tokens[self.at]
                is_triple = following.kind in ("VARIABLE", "PREFIXED", "IRI", "BLANK")
                helps = (f"end the triple before it: `. {following.text} …`",) if is_triple else ()
                self.unexpected("`.`, `;`, `,` or the end of the group", helps)
            begin = self.at
            subject = self._term("the subject of a triple")
            if isinstance(subject, t.Text | Number | t.Truth):
                self.fail("INK0173", "the subject of a triple is a literal", subject.span)
            is_node = isinstance(subject, t.Unnamed | t.Listed)
            is_alone = is_node and (self.peek(".", "}") or self._peek(*stops) or self.is_at_end)
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
            self.deeper()
            self.open("(")
            items: list[t.Term] = []
            while not self.peek(")"):
                if self.peek(","):
                    comma = self.tokens[self.at].span
                    self.fail(
                        "INK0101",
                        "expected another item, found `,`",
                        comma,
                        helps=("write a list without commas: `(1 2)`",),
                    )
                items.append(self._term("an item of the list or `)`"))
            self.close(")")
            self.depth -= 1
            return t.Listed(tuple(items), span=self.span(begin))
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
