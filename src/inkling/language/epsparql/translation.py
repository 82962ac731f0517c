"""Translates a query file into a program: its streams, and an event for each query.

    SELECT ?company
    WHERE { ?company :price ?before } SEQ { ?company :price ?after } FILTER (?after < ?before * 0.5)
    EVENT query1(t1.s AS company) AS
      PATTERN SEQ(triple t1[SAMETERM(p, IRI('…price'))], triple t2[SAMETERM(p, IRI('…price'))])
      WHERE SAMETERM(t1.s, t2.s) AND NUMBER(t2.o) < NUMBER(t1.o) * 0.5
      PER INTERVAL

CONSTRUCT is an event with the columns of a triple, which every pattern reads that its triples may match.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.entailment import TYPE as RDF_TYPE
from inkling.language.epsparql.entailment import Entailment, given_event, property_test
from inkling.language.epsparql.groups import GRAPH, GroupTranslator, column_of
from inkling.language.epsparql.solutions import Solutions
from inkling.language.epsparql.triple_patterns import COLUMNS, TriplePattern, triple_patterns, variable_name
from inkling.language.epsparql.values import any_of, call, constant, same_term
from inkling.source import NOWHERE, SourceText, Span

STREAM = "triple"
BACKGROUND = "background"
TYPE = "TERM"


def translate(file: t.QueryFile, source: SourceText) -> s.Program:
    """The program that queries stand for; raises `ProgramError` with every error found."""
    return FileTranslator(file, source).program()


@dataclass
class FileTranslator:
    file: t.QueryFile
    source: SourceText
    problems: list[Diagnostic] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    _entailed_names: dict[int, s.Ident] = field(default_factory=dict)  # by the places of queries
    _facts: list[s.RuleDecl] = field(default_factory=list)  # of groups of background triples

    def program(self) -> s.Program:
        self.taken |= {one.name.text for one in self.file.declared}
        events: list[s.EventDecl] = []
        if self.file.queries:
            self.problems += self._wrong_streams()
            self._wrong_names()
        for query, name in zip(self.file.queries, self.names, strict=True):
            try:
                events += self._events(query, name)
                self.problems += self._unused_files(query)
            except ProgramError as error:
                self.problems += error.diagnostics
        if self.problems:
            raise ProgramError(self.problems)
        declared = self.file.declared
        streams = () if self.declared_streams or not self.file.queries else (self._default_stream(),)
        tables = tuple(self._table(name, path) for path, name in self.tables.items())
        rules = tuple(rule for one in self.entailments.values() for rule in (*one.rules, *self._stream_rules(one)))
        statements = (*declared, *streams, *tables, *rules, *self._facts, *self._closure(), *events)
        return s.Program(statements, self.file.comments, span=Span(0, len(self.source.text)))

    # streams and tables

    @cached_property
    def declared_streams(self) -> tuple[s.StreamDecl, ...]:
        return tuple(one for one in self.file.declared if isinstance(one, s.StreamDecl))

    @cached_property
    def streams(self) -> tuple[s.Ident, ...]:
        """The streams of triples."""
        return tuple(one.name for one in self.declared_streams) or (s.Ident(STREAM),)

    def _default_stream(self) -> s.StreamDecl:
        """The stream of a file that declares none; its triples have graphs if a query asks for them."""
        parts = [one for query in self.file.queries for one in t.inside(query) if isinstance(one, t.Part)]
        has_graphs = any(isinstance(one.graph, t.Variable) for one in parts)
        columns = (*_columns(), s.ColumnDecl(s.Ident(GRAPH), s.Ident(TYPE))) if has_graphs else _columns()
        return s.StreamDecl(s.Ident(STREAM), columns, time=s.TimePoint(s.Ident("t")))

    def _graphs(self, variable: t.Variable) -> tuple[s.Ident, ...]:
        """The streams whose triples have a graph: those of `GRAPH ?g`."""
        if not self.declared_streams:
            return self.streams
        found = [one for one in self.declared_streams if GRAPH in {column.name.text for column in one.columns}]
        if found:
            return tuple(one.name for one in found)
        name = self.declared_streams[0].name.text
        raise ProgramError.of(
            "INK0174",
            f"the triples of `{name}` have no graphs: it has no column `{GRAPH}`",
            span=variable.span,
            source=self.source,
            helps=(f"declare `STREAM {name}(s TERM, p TERM, o TERM, {GRAPH} TERM) TIME t;`",),
        )

    def _wrong_streams(self) -> Iterator[Diagnostic]:
        for one in self.file.declared:
            columns = {column.name.text for column in one.columns}
            missing = [name for name in COLUMNS if name not in columns]
            if missing:
                listed = ", ".join(f"`{name}`" for name in missing)
                kind = "stream" if isinstance(one, s.StreamDecl) else "table"
                end = "TIME t" if isinstance(one, s.StreamDecl) else "FROM 'file.ttl'"
                yield Diagnostic(
                    "INK0174",
                    f"`{one.name.text}` is no {kind} of triples: it has no {listed}",
                    one.name.span,
                    self.source,
                    helps=(f"declare `{kind.upper()} {one.name.text}(s TERM, p TERM, o TERM) {end};`",),
                )

    def _wrong_names(self) -> None:
        seen = {one.name.text: "a stream" if isinstance(one, s.StreamDecl) else "a table" for one in self.file.declared}
        for query in self.file.queries:
            if query.name is None:
                continue
            text = query.name.text
            if text in seen:
                self.problems.append(
                    Diagnostic("INK0174", f"`{text}` is already {seen[text]}", query.name.span, self.source)
                )
            seen[text] = "a query"

    @cached_property
    def tables(self) -> dict[str, str]:
        """The tables of background files by their paths."""
        found: dict[str, str] = {}
        paths = [one.iri.value for query in self.file.queries for one in query.dataset]
        paths += [
            part.graph.value
            for query in self.file.queries
            for part in t.inside(query)
            if isinstance(part, t.Part) and isinstance(part.graph, t.Iri)
        ]
        for path in dict.fromkeys(paths):
            name = BACKGROUND
            while name in self.taken:
                name = f"{BACKGROUND}{len(found) + 1}" if name == BACKGROUND else f"{name}_"
            self.taken.add(name)
            found[path] = name
        return found

    def _table(self, name: str, path: str) -> s.TableDecl:
        return s.TableDecl(s.Ident(name), _columns(), path, span=NOWHERE)

    @cached_property
    def entailments(self) -> dict[str, Entailment]:
        """What follows from the files for which a query asks it, by their tables."""
        paths = [one.iri.value for query in self.file.queries for one in query.dataset if one.entails]
        tables = dict.fromkeys(self.tables[path] for path in paths)
        return {table: Entailment.of(table, self._free) for table in tables}

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _entailed_by(self, query: t.Query) -> tuple[Entailment, ...]:
        tables = dict.fromkeys(self.tables[one.iri.value] for one in query.dataset if one.entails)
        return tuple(self.entailments[table] for table in tables)

    def background(self, query: t.Query, file: t.Iri | None, span: Span) -> s.Ident:
        """The facts that `GRAPH <file>` names, or for `AND` those of the query: a table, or what follows from it."""
        table = self._background_table(query, file, span)
        entailed = {one.table: one.facts for one in self._entailed_by(query)}
        return s.Ident(entailed.get(table.text, table.text), span=span)

    def _unused_files(self, query: t.Query) -> Iterator[Diagnostic]:
        """Reports files whose triples a query cannot see, because no group asks for them."""
        parts = [one for one in t.inside(query) if isinstance(one, t.Part)]
        read = {one.graph.value for one in parts if isinstance(one.graph, t.Iri)}
        has_background = any(one.op == "AND" for one in parts)
        for one in query.dataset:
            if one.entails or one.iri.value in read or (has_background and not one.named):
                continue
            path = one.iri.value
            yield Diagnostic(
                "INK0174",
                f"no group matches the triples of `{path}`",
                one.span,
                self.source,
                notes=("groups match the stream, and `GRAPH ?g` graphs of the stream",),
                helps=(f"match them with `{{ … }} AND {{ … }}`, or with `GRAPH <{path}> {{ … }}`",),
            )

    def _background_table(self, query: t.Query, file: t.Iri | None, span: Span) -> s.Ident:
        if file is not None:
            return s.Ident(self.tables[file.value], span=span)
        paths = [one.iri.value for one in query.dataset if not one.named]
        names = [self.tables[path] for path in paths]
        names = names or [one.name.text for one in self.file.declared if isinstance(one, s.TableDecl)]
        if len(names) == 1:
            return s.Ident(names[0], span=span)
        message = "`AND` matches background triples, but the query has no file of them"
        helps: tuple[str, ...] = ("name the file: `SELECT … FROM <roads.ttl> WHERE …`",)
        if names:
            message = "`AND` matches background triples, of which the query has several files"
            helps = tuple(f"say which: `GRAPH <{path}> {{ … }}`" for path in paths[:1])
        raise ProgramError.of("INK0174", message, span=span, source=self.source, helps=helps)

    # names

    @cached_property
    def names(self) -> tuple[s.Ident, ...]:
        """The name of each query, or one by its place."""
        self.taken |= {query.name.text for query in self.file.queries if query.name}
        found = []
        for number, query in enumerate(self.file.queries, start=1):
            text = f"query{number}"
            while query.name is None and text in self.taken:
                text += "_"
            self.taken.add(text)
            found.append(query.name or s.Ident(text, span=query.span))
        return tuple(found)

    # queries

    def _events(self, query: t.Query, name: s.Ident) -> Iterator[s.EventDecl]:
        place = self.file.queries.index(query)
        groups = GroupTranslator(
            self.source,
            name.text,
            lambda pattern: self._read(pattern, place),
            lambda predicate: property_test(predicate, () if predicate.value == RDF_TYPE else self._entailed_by(query)),
            self._graphs,
            lambda file, span: self.background(query, file, span),
            self.taken,
            self._are_points,
            self._is_inline(place),
        )
        form = query.form
        if isinstance(form, t.Select):
            row, items = groups.select(form)
            here = groups.expressions(row)
            values = {one.name.name: here.term(one.value) for one in items}
            head = tuple(
                s.Item(value, s.Ident(column_of(one), span=query.span), span=query.span)
                for one, value in values.items()
            )
            # the end of a lost triple is uncertain, so a solution is one result whenever it ends
            loses = any(one.numbered_by is not None for one in self.declared_streams)
            per: s.Per = "VALUES" if loses and head else "INTERVAL"
            main = [s.EventDecl(name, head, row.body(), per=per, span=query.span)]
        else:
            main = list(self._constructed(form, name, groups))
        self._facts += groups.facts.rules
        (first, *more) = [*self._entailed_events(place), *groups.events, *main]
        yield replace(first, comments=query.comments)
        yield from more

    def _constructed(self, form: t.Construct, name: s.Ident, groups: GroupTranslator) -> Iterator[s.EventDecl]:
        row = groups.select(t.Select((), form.where, form.within, span=form.span))[0]
        triples = list(triple_patterns(form.template))
        if groups.is_inline:
            row = groups.timed(row)
            yield self._no_triples(name, form.span)
        has_blank = any(isinstance(term, t.Blank | t.Unnamed) for one in triples for term in one.terms)
        if len(triples) > 1 and not row.is_leaf and not groups.is_inline:
            row = groups.part(row)
        elif has_blank:
            row = groups.timed(row)
        here = groups.expressions(row)
        matched = list(_always_matched(form.where))
        predicates = {one.predicate.name for one in matched if isinstance(one.predicate, t.Variable)}
        subjects = {one.subject.name for one in matched if isinstance(one.subject, t.Variable)} | predicates
        for one in triples:
            terms = [self._made(term, row, groups) for term in one.terms]
            tests: list[s.Expr] = []
            for term in one.terms:
                if isinstance(term, t.Variable) and term.name in row.maybe:
                    tests.append(s.IsNull(here.term(term), negated=True, span=term.span))
            if isinstance(one.subject, t.Variable) and one.subject.name not in subjects:
                literal = call("isliteral", terms[0], span=one.subject.span)
                tests.append(s.Negation(literal, span=one.subject.span))
            if isinstance(one.predicate, t.Variable) and one.predicate.name not in predicates:
                tests.append(call("isiri", terms[1], span=one.predicate.span))
            if row.is_outer:
                made = replace(row, having=(*row.having, *tests))
            else:
                made = replace(row, tests=(*row.tests, *tests))
            head = tuple(
                s.Item(value, s.Ident(column, span=one.span), span=one.span)
                for column, value in zip(COLUMNS, terms, strict=True)
            )
            yield s.EventDecl(name, head, made.body(), per="INTERVAL", span=one.span)

    def _no_triples(self, name: s.Ident, span: Span) -> s.EventDecl:
        """The base case of a recursion that has none: no triple, with the types of one."""
        var = s.Ident("t", span=span)
        head = tuple(
            s.Item(s.Attribute(var, s.Ident(one, span=span), span=span), s.Ident(one, span=span), span=span)
            for one in COLUMNS
        )
        never = s.Compare("=", s.Literal(1, span=span), s.Literal(2, span=span), span=span)
        leaf = s.Leaf(self.streams, var, never, span=span)
        return s.EventDecl(name, head, s.Body(leaf, span=span), per="INTERVAL", span=span)

    def _are_points(self, types: tuple[s.Ident, ...]) -> bool:
        """Whether all of these are streams whose events do not last."""
        lasting = {one.name.text for one in self.declared_streams if isinstance(one.time, s.TimeSpan)}
        points = {one.text for one in self.streams} - lasting
        return all(type.text in points for type in types)

    def _is_inline(self, place: int) -> bool:
        """Whether a query reads its own triples beside optional parts, which then have to end before."""
        return place in self._recursive and _has_optional_part(self.file.queries[place].form.where)

    def _made(self, term: t.Term, row: Solutions, groups: GroupTranslator) -> s.Expr:
        match term:
            case t.Variable():
                return groups.expressions(row).term(term)
            case t.Blank(label=label):
                return self._new_blank(label, row, term.span)
            case t.Unnamed() | t.Listed():
                raise AssertionError("the nodes of triple patterns have labels")
            case _:
                return constant(term, self.source)

    def _new_blank(self, label: str, row: Solutions, span: Span) -> s.Expr:
        """A blank node for each solution: one for equal values at equal times."""
        unbound = call("blank", s.Literal("unbound", span=span), span=span)
        values = [
            call("coalesce", value, unbound, span=span) if name in row.maybe else value
            for name, value in row.shown.items()
        ]
        times = [call("term", time, span=span) for time in (row.times.start, row.times.end)]
        return call("blank_of", s.Literal(label, span=span), *values, *times, span=span)

    # the triples that queries construct

    @cached_property
    def _patterns(self) -> tuple[tuple[TriplePattern, ...], ...]:
        """The triples that each query matches in the stream."""
        return tuple(tuple(_matched(query.form.where)) for query in self.file.queries)

    @cached_property
    def _templates(self) -> tuple[tuple[TriplePattern, ...], ...]:
        return tuple(
            tuple(triple_patterns(query.form.template)) if isinstance(query.form, t.Construct) else ()
            for query in self.file.queries
        )

    def _makers(self, pattern: TriplePattern, reader: int) -> list[int]:
        """The queries that may construct a triple that a pattern matches, or one from which it follows."""
        follows = bool(self._entailed_by(self.file.queries[reader]))
        return [
            place
            for place, made in enumerate(self._templates)
            if any(follows or _may_match(pattern, triple) for triple in made)
        ]

    @cached_property
    def _reach(self) -> tuple[frozenset[int], ...]:
        """The queries whose triples each query reads, directly or through others."""
        direct = [
            frozenset(maker for pattern in patterns for maker in self._makers(pattern, reader))
            for reader, patterns in enumerate(self._patterns)
        ]
        found = list(direct)
        for _ in direct:
            found = [one.union(*(found[other] for other in one)) if one else one for one in found]
        return tuple(found)

    @cached_property
    def _recursive(self) -> tuple[int, ...]:
        """The queries that read their own triples."""
        return tuple(place for place, reached in enumerate(self._reach) if place in reached)

    @cached_property
    def _closed(self) -> s.Ident:
        name = f"{STREAM}_closure"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return s.Ident(name)

    def _sources(self, pattern: TriplePattern, reader: int) -> tuple[s.Ident, ...]:
        """The streams and events in which a triple of a query is matched."""
        makers = self._makers(pattern, reader)
        recursive = [one for one in makers if one in self._recursive and reader in self._reach[one]]
        others = [self.names[one] for one in makers if one not in recursive]
        if not recursive:
            return (*self.streams, *others)
        if self._is_inline(reader):
            return (*self.streams, *(self.names[one] for one in recursive), *others)
        rows = () if self._in_closure(pattern) else self.streams
        return (*rows, self._closed, *others)

    def _read(self, pattern: TriplePattern, reader: int) -> tuple[s.Ident, ...]:
        """Where a query reads the triples of a pattern: with what follows from them if a class or property is open."""
        is_open = not isinstance(pattern.predicate, t.Iri) or pattern.predicate.value == RDF_TYPE
        if is_open and self._entailed_by(self.file.queries[reader]):
            if reader not in self._entailed_names:
                self._entailed_names[reader] = s.Ident(self._free(f"{self.names[reader].text}_entailed"))
            return (self._entailed_names[reader],)
        return self._sources(pattern, reader)

    def _stream_rules(self, entailment: Entailment) -> Iterator[s.RuleDecl]:
        """The rules about triples of the stream, if a query asks what follows from these."""
        if any(entailment in self._entailed_by(self.file.queries[reader]) for reader in self._entailed_names):
            yield from entailment.stream_rules

    def _entailed_events(self, reader: int) -> Iterator[s.EventDecl]:
        """The triples of a query with what follows from them, if one of its patterns reads these."""
        name = self._entailed_names.get(reader)
        if name is None:
            return
        span = self.file.queries[reader].span
        sources = self._sources(_ANY, reader)
        yield replace(given_event(name, sources, span), hidden=True)
        for one in self._entailed_by(self.file.queries[reader]):
            yield from (replace(event, hidden=True) for event in one.events(name, sources, span))

    def _in_closure(self, pattern: TriplePattern) -> bool:
        """Whether the event of the closure has all rows that a pattern may match."""
        predicates = self._constructed_predicates
        return predicates is None or (isinstance(pattern.predicate, t.Iri) and pattern.predicate.value in predicates)

    @cached_property
    def _constructed_predicates(self) -> tuple[str, ...] | None:
        """The predicates of the triples of recursive queries; None if one is a variable, or if other triples follow."""
        if any(self._entailed_by(self.file.queries[place]) for place in self._recursive):
            return None
        found = [one.predicate for place in self._recursive for one in self._templates[place]]
        if any(not isinstance(one, t.Iri) for one in found):
            return None
        return tuple(dict.fromkeys(one.value for one in found if isinstance(one, t.Iri)))

    def _closure(self) -> Iterator[s.EventDecl]:
        """The rows and the constructed triples that recursive queries read, as one event."""
        if not any(
            self._closed.text in {type.text for type in self._sources(pattern, reader)}
            for reader in self._recursive
            for pattern in self._patterns[reader]
        ):
            return
        var = s.Ident("t")
        head = tuple(s.Item(s.Attribute(var, s.Ident(one)), s.Ident(one)) for one in COLUMNS)
        condition = None
        if self._constructed_predicates is not None:
            here = s.Variable(s.Ident("p"))
            condition = any_of(
                [
                    same_term(here, call("iri", s.Literal(one), span=NOWHERE), NOWHERE)
                    for one in self._constructed_predicates
                ]
            )
        span = self.file.queries[self._recursive[0]].span
        for types, test in [(self.streams, condition), *(((self.names[one],), None) for one in self._recursive)]:
            name = s.Ident(self._closed.text, span=span)
            leaf = s.Leaf(tuple(s.Ident(type.text, span=span) for type in types), var, test, span=span)
            yield s.EventDecl(name, head, s.Body(leaf, span=span), per="INTERVAL", hidden=True, span=span)


_ANY = TriplePattern(t.Variable("s"), t.Variable("p"), t.Variable("o"), NOWHERE)
"""A pattern that every triple matches."""


def _columns() -> tuple[s.ColumnDecl, ...]:
    return tuple(s.ColumnDecl(s.Ident(one), s.Ident(TYPE)) for one in COLUMNS)


def _matched(group: t.Group) -> Iterator[TriplePattern]:
    """The triples of a group that are matched in the stream."""
    for item in group.items:
        if isinstance(item, t.Block):
            yield from triple_patterns(item)
        elif isinstance(item, t.Part) and item.op != "AND" and item.graph is None:
            yield from _matched(_group_of(item))


def _always_matched(group: t.Group) -> Iterator[TriplePattern]:
    """The triples that every solution of a group has."""
    if any(isinstance(item, t.Part) and item.op not in ("", "SEQ", "EQUALS", "AND") for item in group.items):
        return
    for item in group.items:
        if isinstance(item, t.Block):
            yield from triple_patterns(item)
        elif isinstance(item, t.Part) and isinstance(item.inner, t.Group):
            yield from _always_matched(item.inner)


def _has_optional_part(group: t.Group) -> bool:
    """Whether a part of the stream is optional; background triples have no time and are always known."""
    parts = [one for one in group.items if isinstance(one, t.Part) and one.op != "AND" and one.graph is None]
    return any(
        (one.op in ("OPTIONAL", "OPTIONALSEQ", "EQUALSOPTIONAL") and any(_matched(_group_of(one))))
        or _has_optional_part(_group_of(one))
        for one in parts
    )


def _group_of(part: t.Part) -> t.Group:
    return part.inner if isinstance(part.inner, t.Group) else part.inner.where


def _may_match(pattern: TriplePattern, made: TriplePattern) -> bool:
    """Whether a constructed triple may match a pattern: no two of their constants differ."""
    for one, other in zip(pattern.terms, made.terms, strict=True):
        if variable_name(one) is None and variable_name(other) is None and _differ(one, other):
            return False
        if isinstance(other, t.Blank) and variable_name(one) is None:
            return False
    return True


def _differ(one: t.Term, other: t.Term) -> bool:
    if isinstance(one, t.Iri) or isinstance(other, t.Iri):
        return not (isinstance(one, t.Iri) and isinstance(other, t.Iri) and one.value == other.value)
    return False  # equal numbers can be written in several ways
