"""The stream of a pattern file: the one that it declares, or one with the columns that its predicates read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from inkling.errors import ProgramError
from inkling.language import syntax as s
from inkling.language.sre import terms as t
from inkling.language.sre.predicates import Columns, ColumnType, Role, known
from inkling.model.types import TYPE_NAMES, Type
from inkling.source import SourceText, Span

NAME = "events"
TIME = "ts"
ROLES: Mapping[Role, tuple[str, ...]] = {
    "type": ("type", "event_type", "eventType"),
    "lon": ("lon", "longitude"),
    "lat": ("lat", "latitude"),
}
_TYPES: Mapping[Role, ColumnType] = {"type": "STRING", "lon": "DOUBLE", "lat": "DOUBLE"}


@dataclass(frozen=True, slots=True)
class Stream:
    declaration: s.StreamDecl
    columns: Columns

    @property
    def is_timed(self) -> bool:
        """Whether its times are timestamps, not ticks."""
        match self.declaration.time:
            case s.TimePoint(column=time):
                types = (one.type.text for one in self.declaration.columns if one.name.text == time.text)
                return any(TYPE_NAMES.get(type) is Type.TIME for type in types)
            case _:
                return False


def declared(stream: s.StreamDecl, used: Iterable[t.Predicate], source: SourceText) -> Stream:
    """The stream as declared; raises `ProgramError` where a predicate needs a column that it lacks."""
    names = {column.name.text for column in stream.columns} | {item.name.text for item in stream.derive}
    by_role = {role: next((one for one in names_of if one in names), names_of[0]) for role, names_of in ROLES.items()}
    for node in used:
        found = known(node, source)
        for role in found.roles if found else ():
            if by_role[role] not in names:
                raise ProgramError.of(
                    "INK0145",
                    f"`{node.name.text}` reads the column `{role}`, which `{stream.name.text}` does not have",
                    span=node.name.span,
                    source=source,
                    helps=(f"add `{role} {_TYPES[role]}` to the columns of the stream",),
                )
    return Stream(stream, Columns(by_role))


def inferred(used: Iterable[t.Predicate], keys: Iterable[s.Ident], source: SourceText) -> Stream:
    """A stream with the columns that predicates and keys name, and the time `ts`, which is also the order."""
    columns = _Inferred(source)
    for node in used:
        columns.read(node)
    for key in keys:
        columns.types.setdefault(key.text, ("STRING", key.span))
    declarations = [_column(name, type, span) for name, (type, span) in columns.types.items() if name != TIME]
    time = s.Ident(TIME)
    stream = s.StreamDecl(
        s.Ident(NAME),
        (*declarations, s.ColumnDecl(time, s.Ident("BIGINT"))),
        time=s.TimePoint(time),
        order_by=time,
    )
    return Stream(stream, Columns({role: names[0] for role, names in ROLES.items()}))


@dataclass(slots=True)
class _Inferred:
    source: SourceText
    types: dict[str, tuple[ColumnType, Span]]

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.types = {}

    def read(self, node: t.Predicate) -> None:
        found = known(node, self.source)
        if found is None:
            self._add(node.name.text, "BOOLEAN", node.name.span)
            return
        for role in found.roles:
            self._add(ROLES[role][0], _TYPES[role], node.name.span)
        if found.type is not None:
            column = node.args[0]
            assert isinstance(column, s.Ident)
            self._add(column.text, found.type, column.span)

    def _add(self, name: str, type: ColumnType, span: Span) -> None:
        before, _ = self.types.setdefault(name, (type, span))
        if before != type:
            raise ProgramError.of(
                "INK0145",
                f"`{name}` is {before} before and {type} here",
                span=span,
                source=self.source,
                helps=("declare the stream at the beginning of the file: `STREAM events(…) TIME ts ORDER BY ts;`",),
            )


def _column(name: str, type: ColumnType, span: Span) -> s.ColumnDecl:
    return s.ColumnDecl(s.Ident(name, span=span), s.Ident(type, span=span))
