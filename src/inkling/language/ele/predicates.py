"""The predicates of a rule file: streams, derived events and background knowledge, their names in `.ink`, and types.

Types of columns are inferred from the constants, comparisons and arithmetic that columns meet.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from inkling.errors import Diagnostic
from inkling.language.ele import terms as t
from inkling.language.ele.directives import Directives
from inkling.language.ele.functions import FUNCTIONS, parameter
from inkling.language.kit.cursor import Number
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
    facts: set[Key] = field(default_factory=set)  # events in WHERE

    def event_name(self, key: Key) -> str:
        return self.names.get(("event", key), key[0])

    def knowledge_name(self, key: Key) -> str:
        return self.event_name(key) if key in self.facts else self.names.get(("knowledge", key), key[0])

    def inputs(self, directives: Directives) -> Iterator[Key]:
        """Events that no rule derives and no directive declares."""
        return (key for key in self.events if key not in self.derived and key not in directives.streams)


def collect(file: t.RuleFile, directives: Directives, source: SourceText) -> tuple[Predicates, list[Diagnostic]]:
    """The predicates of a file, and what is wrong with their use."""
    found = Predicates()
    used_in: dict[Key, set[Key]] = {}
    timeless: set[Key] = set()
    for statement in file.statements:
        match statement:
            case t.Rule(head=head, pattern=pattern):
                _collect_rule(head, pattern, found, used_in)
            case t.Clause(head=head, goals=goals):
                found.defined.setdefault(key_of(head), head)
                found.knowledge.setdefault(key_of(head), head)
                for atom in t.static_atoms(goals):
                    found.knowledge.setdefault(key_of(atom), atom)
                    timeless.add(key_of(atom))
            case t.Directive():
                pass
    happening = {*found.events, *directives.streams} - {*found.defined, *directives.tables, *timeless}
    found.facts = happening & found.knowledge.keys()
    for key in found.facts:
        del found.knowledge[key]
    problems = [*_both_roles(found, directives, source), *_arity_clashes(found, directives, used_in, source)]
    _name_events(found, directives)
    _name_knowledge(found, directives)
    return found, problems


def _collect_rule(head: t.Atom, pattern: t.Pattern, found: Predicates, used_in: dict[Key, set[Key]]) -> None:
    found.derived.setdefault(key_of(head), head)
    found.events.setdefault(key_of(head), head)
    for inner in t.inner_rules(pattern):
        found.derived.setdefault(key_of(inner.head), inner.head)
        for goal in t.static_atoms(t.all_goals(inner.pattern)):
            found.knowledge.setdefault(key_of(goal), goal)
    for atom in t.atoms(pattern):
        found.events.setdefault(key_of(atom), atom)
        used_in.setdefault(key_of(atom), set()).add(key_of(head))
    for goal in t.static_atoms(t.all_goals(pattern)):
        found.knowledge.setdefault(key_of(goal), goal)


def _both_roles(found: Predicates, directives: Directives, source: SourceText) -> Iterator[Diagnostic]:
    events = {name: atom.name for (name, _), atom in reversed(found.events.items())}
    events |= {name: declared.atom.name for (name, _), declared in directives.streams.items()}
    facts = {name for name, _ in (*found.defined, *directives.tables)}
    derived = {name for name, _ in found.derived}
    for (name, _), atom in {**found.knowledge, **found.defined}.items():
        if name in events:
            place = source.position(events.pop(name).span.start)
            helps = [f"let a rule ask for the event: `… WHERE {source.text[atom.span.start : atom.span.end]}`"]
            if name in derived:
                helps.append(f"if `{name}` holds at all times, define it by clauses: `:-` in place of `<-`")
            yield Diagnostic(
                "INK0130",
                f"`{name}` is used both as an event and as a background predicate",
                atom.name.span,
                source,
                label="used as a background predicate here",
                notes=(f"it is used as an event at line {place.line}, column {place.column}",),
                helps=("rename one of them",) if name in facts else tuple(helps),
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


Slot: TypeAlias = tuple[object, ...]  # a column of a predicate, or a variable of a statement

_ORDER = frozenset({"<", ">", "=<", ">=", "=:=", "=\\=", "is"})
_REAL = frozenset({"FLOAT", "REAL", "DOUBLE"})


def column_slot(key: Key, number: int) -> Slot:
    return ("column", *key, number)


def variable_slot(statement: int, name: str) -> Slot:
    return ("variable", statement, name)


@dataclass(slots=True)
class Kinds:
    """Columns and variables that must agree form one class; a class is of numbers or of texts."""

    _parent: dict[Slot, Slot] = field(default_factory=dict)
    _numeric: set[Slot] = field(default_factory=set)
    _declared: dict[Slot, set[str]] = field(default_factory=dict)

    def type_of(self, slot: Slot) -> str:
        """DOUBLE for numbers, STRING for everything of which nothing is known."""
        root = self._root(slot)
        declared = self._declared.get(root, set())
        if declared:
            return "DOUBLE" if declared & _REAL else sorted(declared)[0]
        return "DOUBLE" if root in self._numeric else "STRING"

    def declare(self, slot: Slot, kind: str) -> None:
        self._declared.setdefault(self._root(slot), set()).add(kind)

    def number(self, slot: Slot | None) -> None:
        if slot is not None:
            self._numeric.add(self._root(slot))

    def agree(self, left: Slot | None, right: Slot | None) -> None:
        if left is None or right is None:
            return
        left, right = self._root(left), self._root(right)
        if left == right:
            return
        self._parent[right] = left
        if right in self._numeric:
            self._numeric.add(left)
        if right in self._declared:
            self._declared.setdefault(left, set()).update(self._declared.pop(right))

    def _root(self, slot: Slot) -> Slot:
        while slot in self._parent:
            slot = self._parent[slot]
        return slot


def infer(file: t.RuleFile, directives: Directives) -> Kinds:
    kinds = Kinds()
    for key, stream in directives.streams.items():
        for number, kind in enumerate(stream.types):
            if kind is not None:
                kinds.declare(column_slot(key, number), kind)
    for key, table in directives.tables.items():
        for number, column in enumerate(table.columns):
            kinds.declare(column_slot(key, number), column.type.text)
    clauses = (key_of(one.head) for one in file.statements if isinstance(one, t.Clause))
    defined = frozenset((*clauses, *directives.tables))
    for number, statement in enumerate(file.statements):
        reader = _Statement(kinds, number, defined)
        match statement:
            case t.Rule(head=head, pattern=pattern):
                reader.rule(head, pattern)
            case t.Clause(head=head, goals=goals):
                reader.atom(head)
                reader.goals(goals)
            case t.Directive():
                pass
    return kinds


@dataclass(frozen=True, slots=True)
class _Statement:
    kinds: Kinds
    number: int
    defined: frozenset[Key]  # predicates with clauses or tables

    def rule(self, head: t.Atom, pattern: t.Pattern) -> None:
        self.atom(head)
        for inner in t.inner_rules(pattern):
            self.atom(inner.head)
        for atom in t.atoms(pattern):
            self.atom(atom)
        self.results(pattern)
        for goals in _conditions(pattern):
            self.goals(goals)

    def results(self, pattern: t.Pattern) -> None:
        """Aggregates are numbers, and so is what they are calculated from."""
        if isinstance(pattern, t.Atom) and t.aggregated(pattern) is not None:
            function, _, result = pattern.args
            for variable in (*t.variables(function), *t.variables(result)):
                self.kinds.number(self.slot(variable))
        for part in t.parts(pattern):
            self.results(part)

    def atom(self, atom: t.Atom) -> None:
        for number, arg in enumerate(atom.args):
            slot = column_slot(key_of(atom), number)
            self.kinds.agree(slot, self.slot(arg))
            if self.is_number(arg):
                self.kinds.number(slot)

    def goals(self, goals: Iterable[t.Term]) -> None:
        for goal in t.flat_goals(goals):
            match goal:
                case t.Atom(name=name) if name.text in FUNCTIONS and key_of(goal) not in self.defined:
                    self.slot(goal)
                case t.Atom():
                    self.atom(goal)
                case t.Choice(branches=branches):
                    for branch in branches:
                        self.goals((*(branch.condition or ()), *branch.goals))
                case t.Negated(goal=inner):
                    self.goals((inner,))
                case t.Comparison(op=op, left=left, right=right):
                    slots = self.slot(left), self.slot(right)
                    if op in t.ASSIGNMENTS or op in ("\\=", "\\==") or op in _ORDER:
                        self.kinds.agree(*slots)
                    if op in _ORDER or self.is_number(left) or self.is_number(right):
                        for slot in slots:
                            self.kinds.number(slot)
                case _:
                    pass

    def slot(self, term: t.Term) -> Slot | None:
        """The class a term belongs to; marks the operands of arithmetic on the way."""
        match term:
            case t.Variable():
                return None if term.is_anything else variable_slot(self.number, term.name)
            case t.Arithmetic(left=left, right=right):
                for side in (left, right):
                    self.kinds.number(self.slot(side))
            case t.Minus(operand=operand):
                self.kinds.number(self.slot(operand))
            case t.Atom(name=name, args=args) if name.text in FUNCTIONS:
                for place, arg in enumerate(args):
                    slot = self.slot(arg)
                    if parameter(name.text, place) == "DOUBLE":
                        self.kinds.number(slot)
            case t.Goals(goals=(inner,)):
                return self.slot(inner)
            case _:
                pass
        return None

    def is_number(self, term: t.Term) -> bool:
        match term:
            case Number() | t.Arithmetic() | t.Minus():
                return True
            case t.Atom(name=name, args=args) if args and name.text in FUNCTIONS:
                return FUNCTIONS[name.text][1] in ("DOUBLE", "INTEGER")
            case t.Goals(goals=(inner,)):
                return self.is_number(inner)
            case _:
                return False


def _conditions(pattern: t.Pattern) -> Iterator[tuple[t.Term, ...]]:
    if isinstance(pattern, t.Condition):
        yield pattern.goals
    for part in t.parts(pattern):
        yield from _conditions(part)
