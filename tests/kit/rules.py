"""Random rules over three small tables, and facts with cycles, nulls and doubles among them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from inkling.model.event import Value

TABLES = {"edge": "ii", "label": "is", "worth": "id"}
DECLARED = """STREAM S(i INTEGER, j INTEGER, s STRING, d DOUBLE) TIME t;
TABLE edge(a INTEGER, b INTEGER) FROM 'edge.csv';
TABLE label(a INTEGER, s STRING) FROM 'label.csv';
TABLE worth(a INTEGER, d DOUBLE) FROM 'worth.csv';
"""
VARIABLES = {"i": "xyz", "s": "st", "d": "de"}
COLUMNS = {"i": ("p.i", "p.j"), "s": ("p.s",), "d": ("p.d",)}
BINDING = {"i": "edge({}, _)", "s": "label(_, {})", "d": "worth(_, {})"}
CONSTANTS = {"i": ("0", "1", "2"), "s": ("'u'", "'v'"), "d": ("0.5", "1.0", "2")}


@dataclass(frozen=True)
class RuleCase:
    """A program whose only event asks one rule, how it asks, and the facts."""

    text: str
    rule: str
    args: tuple[str, ...]  # columns of the event, constants, or `v0`, `v1`, … for what the rule finds
    tables: dict[str, list[tuple[Value, ...]]]


class _Draft:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rules: dict[str, str] = {}

    def text(self, n_rules: int) -> str:
        lines = []
        for number in range(n_rules):
            name = f"r{number}"
            kinds = "".join(self.rng.choice("iiisd") for _ in range(self.rng.randint(1, 3)))
            is_recursive = self.rng.random() < 0.3
            if is_recursive:
                self.rules[name] = kinds
            n_clauses = self.rng.randint(1, 3)
            lines += [self.clause(name, kinds, first=place == 0) for place in range(n_clauses)]
            self.rules[name] = kinds
        return "\n".join(lines)

    def clause(self, name: str, kinds: str, *, first: bool) -> str:
        rng = self.rng
        if rng.random() < 0.15:
            return f"RULE {name}({', '.join(rng.choice(CONSTANTS[kind]) for kind in kinds)});"
        usable = {**TABLES, **{rule: own for rule, own in self.rules.items() if not (first and rule == name)}}
        body = [self.atom(usable) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        atoms = [part for part in body if "+" not in part]
        if rng.random() < 0.15 and len(body) > 1:
            atoms = atoms[2:]
            body = [f"({' OR '.join(body[:2])})", *body[2:]]
        below = {rule: own for rule, own in usable.items() if rule != name}
        while (rng.random() < 0.45 and len(body) < 4) or not body:
            body.append(self.condition(below))
        head = [rng.choice(VARIABLES[kind]) if rng.random() < 0.85 else rng.choice(CONSTANTS[kind]) for kind in kinds]
        for arg, kind in zip(head, kinds, strict=True):
            if arg in VARIABLES[kind] and not any(_mentions(part, arg) for part in body):
                body.append(self.test(arg, kind))
        for kind, names in VARIABLES.items():
            for variable in names:
                loose = variable not in head and any(_mentions(part, variable) for part in body)
                if loose and not any(_mentions(part, variable) for part in atoms) and rng.random() < 0.95:
                    body.append(BINDING[kind].format(variable))
        rng.shuffle(body)
        return f"RULE {name}({', '.join(head)}) IF {' AND '.join(body)};"

    def atom(self, usable: dict[str, str]) -> str:
        name = self.rng.choice(list(usable))
        return f"{name}({', '.join(self.argument(kind) for kind in usable[name])})"

    def argument(self, kind: str) -> str:
        draw = self.rng.random()
        if draw < 0.1:
            return "_"
        if draw < 0.2:
            return self.rng.choice(CONSTANTS[kind])
        variable = self.rng.choice(VARIABLES[kind])
        return f"{variable} + 1" if kind != "s" and draw < 0.27 else variable

    def condition(self, below: dict[str, str]) -> str:
        rng = self.rng
        kind = rng.choice("iisd")
        match rng.randrange(6):
            case 0:
                return f"NOT {self.atom(below)}"
            case 1:
                return f"(NOT {self.atom(below)} OR {self.test(rng.choice(VARIABLES[kind]), kind)})"
            case 2 if kind != "s":
                one, other = rng.choice(VARIABLES[kind]), rng.choice(VARIABLES["i" if rng.random() < 0.5 else kind])
                return f"{one} = {other} {rng.choice('+-*/' if kind == 'd' else '+-*')} {rng.choice(CONSTANTS[kind])}"
            case _:
                return self.test(rng.choice(VARIABLES[kind]), kind)

    def test(self, variable: str, kind: str) -> str:
        rng = self.rng
        other = rng.choice((*CONSTANTS[kind], *VARIABLES[kind]))
        if rng.random() < 0.2:
            return f"{variable} IN ({', '.join(CONSTANTS[kind][:2])})"
        return f"{variable} {rng.choice(('=', '<>', '<', '>='))} {other}"


def rule_case(seed: int) -> RuleCase:
    """A case that may still be rejected: variables may lack values, or rules deny themselves."""
    rng = random.Random(seed)
    draft = _Draft(rng)
    rules = draft.text(rng.randint(1, 3))
    rule = rng.choice(list(draft.rules))
    args = []
    for place, kind in enumerate(draft.rules[rule]):
        draw = rng.random()
        args.append(
            f"v{place}" if draw < 0.45 else rng.choice(COLUMNS[kind]) if draw < 0.9 else rng.choice(CONSTANTS[kind])
        )
    found = [arg for arg in args if arg.startswith("v")]
    denied = "" if found or rng.random() < 0.5 else "NOT "
    event = f"EVENT hit({', '.join(found)}) AS PATTERN S p WHERE {denied}{rule}({', '.join(args)});"
    tables = {name: [_fact(rng, kinds) for _ in range(rng.randint(0, 4))] for name, kinds in TABLES.items()}
    return RuleCase(f"{DECLARED}{rules}\n{event}\n", rule, tuple(args), tables)


def _fact(rng: random.Random, kinds: str) -> tuple[Value, ...]:
    return tuple(value_of_kind(rng, kind) for kind in kinds)


def value_of_kind(rng: random.Random, kind: str) -> Value:
    """A value of a small range, so that many are equal; sometimes none."""
    if rng.random() < 0.08:
        return None
    match kind:
        case "i":
            return rng.randrange(4)
        case "s":
            return rng.choice("uv")
        case _:
            return rng.choice((0.0, 0.5, 1.0, 2.0))


def _mentions(part: str, variable: str) -> bool:
    words = part.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return variable in words
