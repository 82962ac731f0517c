"""Reference pages that are written from the code, so that they cannot fall behind it; `make accept` rewrites them."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from inkling.cli import app
from inkling.cli.commands.programs import explain_error
from inkling.cli.commands.programs.explain_error import FAMILIES
from inkling.error_codes import CODES
from inkling.errors import longer_text
from inkling.language.front_ends import NOTATIONS
from inkling.language.parser.tokens import keywords
from inkling.language.syntax import RELATIONS
from inkling.logical.functions import CHOICES, FUNCTIONS
from inkling.model.types import TYPE_NAMES, Type

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
MESSAGES = ROOT / "tests" / "errors"
HEADING = re.compile(r"^(?:error|warning)\[(INK\d{4})\]")
NOTICE = "<!-- written by tests/golden/test_reference_pages.py -->\n"


def compare(path: Path, text: str, accept: bool) -> None:
    if accept:
        path.write_text(text)
    assert path.read_text() == text, f"{path} is out of date; `make accept` rewrites it"


def test_every_message_shown_is_one_that_was_given(accept: bool) -> None:
    examples = json.dumps(shortest_messages(), indent=1, ensure_ascii=False) + "\n"
    compare(Path(explain_error.__file__).with_name("error_examples.json"), examples, accept)


def test_every_code_belongs_to_a_family() -> None:
    assert {code[:5] for code in CODES} == set(FAMILIES)


def test_error_index(accept: bool) -> None:
    compare(REFERENCE / "errors.md", "".join(error_index()), accept)


def test_what_is_not_supported_yet(accept: bool) -> None:
    compare(REFERENCE / "not-supported-yet.md", "".join(not_supported_yet()), accept)


def test_command_line(accept: bool) -> None:
    compare(REFERENCE / "cli.md", "".join(command_line()), accept)


def test_the_grammar_page_has_every_keyword() -> None:
    words = set(re.findall(r"[A-Z_]+", (REFERENCE / "grammar.md").read_text()))
    assert keywords() | set(RELATIONS) <= words


def test_the_function_page_has_every_function_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)\(", (REFERENCE / "functions.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted((*FUNCTIONS, *CHOICES))


def test_the_type_page_has_every_type_and_spelling() -> None:
    words = set(re.findall(r"`([A-Z]+)`", (REFERENCE / "types.md").read_text()))
    assert {kind.value for kind in Type} | set(TYPE_NAMES) <= words


def shortest_messages() -> dict[str, str]:
    """The shortest message with each code among those that tests expect, about programs if there is one."""
    paths = sorted(MESSAGES.glob("*/*.txt"))
    foreign = [path for path in paths if any(path.with_suffix(suffix).exists() for suffix in NOTATIONS)]
    others = [path for path in paths if path not in foreign]
    return dict(sorted((_shortest(foreign) | _shortest(others)).items()))


def _shortest(paths: Iterable[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        for message in path.read_text().strip().split("\n\n"):
            heading = HEADING.match(message)
            assert heading is not None, path
            known = found.get(heading[1])
            if known is None or len(message) < len(known):
                found[heading[1]] = message
    return found


def error_index() -> Iterator[str]:
    yield f"{NOTICE}\n# Error index\n\n`inkling explain-error CODE` prints the same in a terminal.\n"
    examples = shortest_messages()
    for family, meaning in FAMILIES.items():
        yield f"\n## {family}xx\n\n{meaning}\n"
        for code, title in CODES.items():
            if code.startswith(family):
                yield f"\n### {code}\n\n{title[0].upper()}{title[1:]}.\n"
                if longer_text(code):
                    yield f"\n{longer_text(code)}\n"
                if code in examples:
                    yield f"\n```text\n{examples[code]}\n```\n"


def not_supported_yet() -> Iterator[str]:
    yield (
        f"{NOTICE}\n# Not supported yet\n\n"
        "These parts of the language are parsed and checked but cannot run yet. Using one is an error, usually "
        "reported\nbefore any data is read.\n\n| code | | why, and what to write instead |\n|---|---|---|\n"
    )
    for code, title in CODES.items():
        if code.startswith("INK04"):
            reason = longer_text(code).partition("\n\n")[0].replace("\n", " ")
            yield f"| [{code}](errors.md#{code.lower()}) | {title} | {reason} |\n"


def command_line() -> Iterator[str]:
    yield (
        f"{NOTICE}\n# Command line\n\n"
        "| exit status | |\n|---|---|\n"
        "| 0 | success |\n"
        "| 1 | the program has an error, or a check failed |\n"
        "| 2 | the command line is wrong |\n"
        "| 3 | a file or an option is wrong |\n"
        "| 4 | inkling failed; `--debug` shows where |\n\n"
        "Results go to stdout or to files; messages and progress go to stderr.\n"
    )
    group = typer.main.get_command(app)
    for name, command in commands_of(group):
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        options = [param for param in command.params if param.param_type_name == "option"]
        usage = " ".join(["inkling", name, *(argument.metavar for argument in arguments), "[OPTIONS]"])
        yield f"\n## inkling {name}\n\n{command.help}\n\n```text\n{usage}\n```\n\n"
        yield "| option | | default |\n|---|---|---|\n"
        for option in options:
            yield f"| {spelled(option)} | {option.help} | {default_text(option)} |\n"


def commands_of(group: Any) -> Iterator[tuple[str, Any]]:
    """Commands by name; those of a sub-group bear its name too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", one) for inner, one in commands_of(command))
        else:
            yield name, command


def spelled(option: typer.core.TyperOption) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.is_flag:
        return names
    assert option.metavar, f"{names} does not say what it takes"
    return f"{names} `{option.metavar}`".replace("|", "\\|")


def default_text(option: typer.core.TyperOption) -> str:
    if option.required:
        return "required"
    shown = option.show_default if isinstance(option.show_default, str) else option.default
    shown = getattr(shown, "value", shown)
    return "" if option.is_flag or shown in (None, [], ()) else f"`{shown}`"
