"""Which predicates a rule file knows: streams, derived events, background knowledge, and their names in `.ink`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from inkling.errors import Diagnostic
from inkling.language.ele import terms as t
from inkling.language.ele.directives import Directives
from inkling.language.ele.walk import all_goals, atoms, inner_rules, static_atoms
from inkling.source import SourceText

Key: TypeAlias = tuple[str, int]  # name and number of arguments
Role: TypeAlias = Literal["event", "knowledge"]

RESERVED_COLUMNS = frozenset(
    {"event", "start", "end", "detected_at", "probability", "method", "error", "op", "lineage"}
)


def key_of(atom: t.Atom) -> Key:
    return atom.name.text, atom.arity


@dataclass(slots=True)
class Predicates:
    """Every predicate with the place where it first stands."""

    events: dict[Key, t.Atom] = field(default_factory=dict)
    derived: dict[Key, t.Atom] = field(default_factory=dict)
    knowledge: dict[Key, t.Atom] = field(default_factory=dict)
    defined: dict[Key, t.Atom] = field(default_factory=dict)  # by clauses and facts
    columns: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    names: dict[tuple[Role, Key], str] = field(default_factory=dict)

    def event_name(self, key: Key) -> str:
        return self.names.get(("event", key), key[0])

    def knowledge_name(self, key: Key) -> str:
        return self.names.get(("knowledge", key), key[0])

    def inputs(self, directives: Directives) -> Iterator[Key]:
        """Events that no rule derives and no directive declares."""
        return (key for key in self.events if key not in self.derived and key not in directives.streams)


def collect(file: t.RuleFile, directives: Directives, source: SourceText) -> tuple[Predicates, list[Diagnostic]]:
    """The predicates of a file, and what is wrong with their use."""
    found = Predicates()
    used_in: dict[Key, set[Key]] = {}
    for statement in file.statements:
        match statement:
            case t.Rule(head=head, pattern=pattern):
                _collect_rule(head, pattern, found, used_in)
            case t.Clause(head=head, goals=goals):
                found.defined.setdefault(key_of(head), head)
                found.knowledge.setdefault(key_of(head), head)
                for atom in static_atoms(goals):
                    found.knowledge.setdefault(key_of(atom), atom)
            case t.Directive():
                pass
    problems = [
        *_both_roles(found, directives, source),
        *_declared_and_derived(found, directives, source),
        *_arity_clashes(found, directives, used_in, source),
    ]
    _name_events(found, directives)
    _name_knowledge(found, directives)
    return found, problems


def _collect_rule(head: t.Atom, pattern: t.Pattern, found: Predicates, used_in: dict[Key, set[Key]]) -> None:
    found.derived.setdefault(key_of(head), head)
    found.events.setdefault(key_of(head), head)
    for inner in inner_rules(pattern):
        found.derived.setdefault(key_of(inner.head), inner.head)
        for goal in static_atoms(all_goals(inner.pattern)):
            found.knowledge.setdefault(key_of(goal), goal)
    for atom in atoms(pattern):
        found.events.setdefault(key_of(atom), atom)
        used_in.setdefault(key_of(atom), set()).add(key_of(head))
    for goal in static_atoms(all_goals(pattern)):
        found.knowledge.setdefault(key_of(goal), goal)


def _both_roles(found: Predicates, directives: Directives, source: SourceText) -> Iterator[Diagnostic]:
    events = {name: atom.name for (name, _), atom in reversed(found.events.items())}
    events |= {name: declared.atom.name for (name, _), declared in directives.streams.items()}
    for (name, _), atom in {**found.knowledge, **found.defined}.items():
        if name in events:
            place = source.position(events.pop(name).span.start)
            yield Diagnostic(
                "INK0130",
                f"`{name}` is an event and a background predicate",
                atom.name.span,
                source,
                label="a background predicate here",
                notes=(f"it is an event at line {place.line}, column {place.column}",),
                helps=("give one of them another name",),
            )


def _declared_and_derived(found: Predicates, directives: Directives, source: SourceText) -> Iterator[Diagnostic]:
    for key, declared in directives.streams.items():
        if key in found.derived:
            head = found.derived[key]
            place = source.position(declared.atom.name.span.start)
            yield Diagnostic(
                "INK0135",
                f"`{key[0]}` comes from outside and from a rule",
                head.name.span,
                source,
                label="derived here",
                notes=(f"it is declared as a stream at line {place.line}, column {place.column}",),
                helps=("give the derived event another name, and derive it from the stream by a rule as well",),
            )


def _arity_clashes(
    found: Predicates, directives: Directives, used_in: dict[Key, set[Key]], source: SourceText
) -> Iterator[Diagnostic]:
    for key, atom in found.events.items():
        if key in found.derived or key in directives.streams:
            continue
        name, arity = key
        known = {*found.derived, *directives.streams}
        others = [other for other in {**directives.streams, **found.events} if other[0] == name and other != key]
        earlier = [other for other in others if other in known or list(found.events).index(other) < _index(found, key)]
        projects = all(head[0] == name for head in used_in.get(key, ()))
        if earlier and not (projects and all(other in found.derived for other in earlier)):
            yield _arity(name, arity, earlier[0][1], atom, source, f":- stream({_example(name, arity)}).")
    defined = {**directives.tables, **found.defined}
    for key, atom in found.knowledge.items():
        if key in defined:
            continue
        elsewhere = [other for other in defined if other[0] == key[0]]
        if elsewhere:
            yield _arity(key[0], key[1], elsewhere[0][1], atom, source, None)


def _index(found: Predicates, key: Key) -> int:
    return list(found.events).index(key)


def _arity(name: str, found: int, known: int, atom: t.Atom, source: SourceText, directive: str | None) -> Diagnostic:
    counted = "1 argument" if known == 1 else f"{known} arguments"
    helps = (f"if they are different streams, declare this one too: `{directive}`",) if directive else ()
    return Diagnostic(
        "INK0131", f"`{name}` has {counted} elsewhere, found {found}", atom.span, source, notes=(), helps=helps
    )


def _example(name: str, arity: int) -> str:
    return f"{name}({', '.join(f'a{n}: string' for n in range(1, arity + 1))})" if arity else name


def _name_events(found: Predicates, directives: Directives) -> None:
    keys = list({**dict.fromkeys(directives.streams), **dict.fromkeys(found.events)})
    _distinguish(found, "event", keys)
    for key in keys:
        if key in directives.streams:
            found.columns[key] = directives.streams[key].columns
        elif key in found.derived:
            found.columns[key] = head_columns(found.derived[key])
        else:
            found.columns[key] = tuple(f"a{number}" for number in range(1, key[1] + 1))


def _name_knowledge(found: Predicates, directives: Directives) -> None:
    _distinguish(found, "knowledge", list({**dict.fromkeys(directives.tables), **dict.fromkeys(found.knowledge)}))


def _distinguish(found: Predicates, role: Role, keys: list[Key]) -> None:
    """Predicates of one name and several numbers of arguments: the first keeps the name."""
    taken = {name for name, _ in keys}
    first: dict[str, Key] = {}
    for key in keys:
        name, arity = key
        if first.setdefault(name, key) != key:
            longer = unused(f"{name}_{arity}", taken)
            taken.add(longer)
            found.names[role, key] = longer


def head_columns(head: t.Atom) -> tuple[str, ...]:
    """Columns of a derived event: the head's variables, numbered where they cannot be names."""
    columns: list[str] = []
    for number, arg in enumerate(head.args, 1):
        name = arg.name if isinstance(arg, t.Variable) and not arg.is_anything else f"a{number}"
        taken = {column.casefold() for column in columns} | RESERVED_COLUMNS
        columns.append(name if name.casefold() not in taken else unused(f"a{number}", taken))
    return tuple(columns)


def unused(name: str, taken: set[str] | frozenset[str]) -> str:
    """A name like this one that is not taken."""
    while name.casefold() in {other.casefold() for other in taken}:
        name += "_"
    return name
