"""Prints a rule file in the standard layout."""

from inkling.language.ele import terms as t
from inkling.language.ele.tokens import SCANNER
from inkling.language.kit.cursor import Number, Text
from inkling.language.kit.layout import WIDTH, written_file
from inkling.language.kit.scanning import comment_lines
from inkling.language.syntax import Ident
from inkling.source import SourceText


def format_file(file: t.RuleFile) -> str:
    """The text of a rule file; reading it gives an equal file, formatting it again the same text."""
    written: list[tuple[str, bool]] = []
    previous: t.Statement | None = None
    for statement in file.statements:
        text = "\n".join([*comment_lines(statement.comments, "%"), f"{_statement(statement)}."])
        together = previous is not None and _kind(previous) == _kind(statement) and "\n" not in written[-1][0] + text
        written.append((text, together))
        previous = statement
    return written_file(written, file.comments, "%")


def _kind(statement: t.Statement) -> tuple[type, str]:
    """Rules of one head stand together, and so do clauses and directives."""
    match statement:
        case t.Rule(head=head):
            return t.Rule, head.name.text
        case t.Clause(head=head):
            return t.Clause, head.name.text
        case t.Directive():
            return t.Directive, ""


def _statement(statement: t.Statement) -> str:
    match statement:
        case t.Directive(setting=setting):
            return f":- {_part(setting)}"
        case t.Clause(head=head, goals=()):
            return term(head)
        case t.Clause(head=head, goals=goals):
            return _wrapped(f"{term(head)} :-", [term(goal) for goal in goals])
        case t.Rule(pattern=t.Condition(braces=False) as outer, label=label):
            start = f"{_label(label)}{_head(statement)} <- {pattern(outer.pattern)}"
            return _wrapped(f"{start} {outer.word}", [term(goal) for goal in outer.goals])
        case t.Rule(pattern=body, label=label):
            return f"{_label(label)}{_head(statement)} <- {pattern(body)}"


def _head(rule: t.Rule) -> str:
    if not rule.actions:
        return term(rule.head)
    return f"{term(rule.head)} DO {', '.join(term(goal) for goal in rule.actions)}"


def _wrapped(start: str, goals: list[str]) -> str:
    """Goals on one line, or each on its own when they do not fit."""
    line = f"{start} {', '.join(goals)}"
    if len(line) < WIDTH:
        return line
    return start + "\n    " + ",\n    ".join(goals)


def _label(label: t.Label | None) -> str:
    if label is None:
        return ""
    properties = ", ".join(f"{_name(one.name)}({_part(one.value)})" for one in label.properties)
    return f"{_name(label.name)}{f'([{properties}])' if properties else ''}: "


def _part(part: t.Part) -> str:
    match part:
        case t.Setting(name=name, parts=()):
            return _name(name)
        case t.Setting(name=name, parts=parts):
            return f"{_name(name)}({', '.join(_part(one) for one in parts)})"
        case t.Column(name=name, type=kind):
            return f"{_name(name)}: {_name(kind)}"
        case t.Quantity(number=number, unit=unit):
            return f"{number.written} {_name(unit)}" if unit else number.written
        case Text() | t.Variable():
            return term(part)


def pattern(node: t.Pattern) -> str:
    """The text of a pattern on one line."""
    match node:
        case t.Atom():
            return term(node)
        case t.Point(time=time):
            return time.written
        case t.Joined(op=op, left=left, right=right):
            return f"{pattern(left)} {op} {pattern(right)}"
        case t.Times(pattern=inner, n=None, least=least):
            return f"{pattern(inner)}+" if least else f"{pattern(inner)} star_times"
        case t.Times(pattern=inner, n=n):
            return f"{pattern(inner)} ntimes {n}"
        case t.Group(pattern=inner):
            return f"({pattern(inner)})"
        case t.Delayed(pattern=inner):
            return pattern(inner)
        case t.Limited(pattern=inner, limit=limit):
            return f"({pattern(inner)}).{_part(limit)}"
        case t.Absence(absent=absent, first=first, last=last):
            return f"NOT({pattern(absent)}).[{pattern(first)}, {pattern(last)}]"
        case t.InnerRule(head=head, pattern=inner):
            return f"({term(head)} <- {pattern(inner)})"
        case t.Condition(pattern=inner, word=word, goals=goals, braces=braces):
            joined = ", ".join(term(goal) for goal in goals)
            return f"{pattern(inner)} {word} {f'{{{joined}}}' if braces else joined}"


def term(node: t.Term) -> str:
    """The text of a term or a goal."""
    match node:
        case t.Variable(name=name):
            return name
        case Number(written=written):
            return written
        case t.Quantity():
            return _part(node)
        case Text(value=value):
            return '"' + value.replace('"', '""') + '"'
        case t.Atom(name=name, args=()):
            return _name(name)
        case t.Atom(name=name, args=args):
            return f"{_name(name)}({', '.join(term(arg) for arg in args)})"
        case t.Minus(operand=operand):
            return f"-{term(operand)}"
        case t.Arithmetic(op=op, left=left, right=right) | t.Comparison(op=op, left=left, right=right):
            return f"{term(left)} {op} {term(right)}"
        case t.Negated(goal=goal):
            return f"not {term(goal)}"
        case t.Goals(goals=goals):
            return f"({', '.join(term(goal) for goal in goals)})"
        case t.Choice(branches=branches):
            return " ; ".join(_branch(branch) for branch in branches)
        case t.Cut():
            return "!"
        case t.Listed(items=items):
            return f"[{', '.join(term(item) for item in items)}]"


def _branch(branch: t.Branch) -> str:
    goals = ", ".join(term(goal) for goal in branch.goals)
    if branch.condition is None:
        return goals
    return f"{', '.join(term(goal) for goal in branch.condition)} -> {goals}"


def _name(name: Ident) -> str:
    tokens = SCANNER.scan(SourceText("", name.text)).tokens
    kinds = [token.kind for token in tokens]
    if not name.quoted and kinds in (["NAME"], ["NAME", "SYMBOL", "NAME"]):
        return name.text
    return "'" + name.text.replace("'", "''") + "'"
