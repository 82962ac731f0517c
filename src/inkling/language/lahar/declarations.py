"""The streams and relations of a query file as declarations of a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.language import syntax as s
from inkling.language.lahar import terms as t
from inkling.source import SourceText

TIME = "t"
CHANCE = "p"


@dataclass(frozen=True, slots=True)
class Declared:
    streams: Mapping[str, t.Stream]
    relations: Mapping[str, t.Relation]


def declared(file: t.QueryFile) -> Declared:
    return Declared(
        {one.name.text: one for one in file.statements if isinstance(one, t.Stream)},
        {one.name.text: one for one in file.statements if isinstance(one, t.Relation)},
    )


def previous(column: str) -> str:
    """The column with the value before, of a Markovian stream."""
    return f"previous_{column}"


def stream_of(stream: t.Stream) -> s.StreamDecl:
    here = stream.name.span
    is_markov = stream.kind == "markov"
    return s.StreamDecl(
        stream.name,
        (s.ColumnDecl(s.Ident(TIME, span=here), s.Ident("BIGINT", span=here)), *map(_column, stream.columns)),
        key=tuple(one.name for one in stream.key),
        time=s.TimePoint(s.Ident(TIME, span=here), span=here),
        probability=None if stream.kind == "certain" else s.Ident(CHANCE, span=here),
        given=tuple(s.Ident(previous(one.name.text), span=one.name.span) for one in stream.values if is_markov),
        span=stream.span,
        comments=stream.comments,
    )


def table_of(relation: t.Relation) -> s.TableDecl:
    path = relation.path
    return s.TableDecl(
        relation.name,
        tuple(map(_column, relation.columns)),
        path.value if path else f"{relation.name.text}.csv",
        path_span=path.span if path else relation.name.span,
        span=relation.span,
        comments=relation.comments,
    )


def _column(column: t.Column) -> s.ColumnDecl:
    return s.ColumnDecl(column.name, column.type or s.Ident("STRING", span=column.name.span), span=column.span)


def errors(file: t.QueryFile, source: SourceText) -> Iterator[Diagnostic]:
    """What is wrong with the declarations themselves."""
    yield from _twice((one.name for one in file.statements), "a stream, relation or query", source)
    for one in file.statements:
        match one:
            case t.Stream():
                yield from _twice((column.name for column in one.columns), f"a column of `{one.name.text}`", source)
                yield from _of_stream(one, source)
            case t.Relation():
                yield from _twice((column.name for column in one.columns), f"a column of `{one.name.text}`", source)
            case t.Asked():
                yield from _twice(one.head, "a variable of this head", source)


def _twice(names: Iterable[s.Ident], what: str, source: SourceText) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for name in names:
        if name.text in seen:
            yield Diagnostic("INK0154", f"`{name.text}` is the name of {what} already", name.span, source)
        seen.add(name.text)


def _of_stream(stream: t.Stream, source: SourceText) -> Iterator[Diagnostic]:
    taken = {TIME: "the time of an event", CHANCE: "its probability"}
    if stream.kind == "certain":
        del taken[CHANCE]
    if stream.kind == "markov":
        taken |= {previous(one.name.text): f"the value of `{one.name.text}` before" for one in stream.values}
    for column in stream.columns:
        if column.name.text in taken:
            yield Diagnostic(
                "INK0154",
                f"the column `{column.name.text}` of `{stream.name.text}` is {taken[column.name.text]}",
                column.name.span,
                source,
                helps=("give the column another name; variables may be called so",),
            )
    if stream.kind == "markov" and not stream.values:
        yield Diagnostic(
            "INK0154",
            f"`{stream.name.text}` is `markov` but has no values that could depend on the values before",
            stream.name.span,
            source,
            notes=("columns to the left of `|` are the key, those to the right the values",),
        )
