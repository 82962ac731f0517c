"""`inkling explain-error`: the explanation of an error code, with an example."""

import json
from importlib.resources import files
from typing import Annotated

import typer

from inkling.cli.options import Debug
from inkling.error_codes import CODES
from inkling.errors import InputError, longer_text, nearest

FAMILIES = {
    "INK01": "Syntax: a word, a bracket or a semicolon is missing or misplaced.",
    "INK02": "A name is unknown, or a type does not fit.",
    "INK03": "All names and types are known, but the program contradicts itself or has no useful meaning.",
    "INK04": "The program is valid, but this version cannot run it.",
    "INK05": "The program is valid; a file, a column or an option is not.",
    "INK06": "The program is valid, but it cannot run with this data, these options or this machine.",
    "INK09": "A bug in inkling, not in the program or its data.",
}


def explain_error(
    code: Annotated[str, typer.Argument(metavar="CODE", help="For example INK0305.")], debug: Debug = False
) -> None:
    """Explain an error code."""
    wanted = code.upper()
    if wanted.isdigit():
        wanted = f"INK{wanted.zfill(4)}"
    if wanted not in CODES:
        close = nearest(wanted, CODES, n=3)
        raise InputError.of(
            "INK0552", f"no error has the code `{code}`", helps=(f"codes like it: {', '.join(close)}",) if close else ()
        )
    text = longer_text(wanted)
    typer.echo(f"{wanted}: {CODES[wanted]}\n\n{text or FAMILIES[wanted[:5]]}")
    example = _examples().get(wanted)
    if example is not None:
        typer.echo(f"\nFor example:\n\n{example}")


def _examples() -> dict[str, str]:
    text = files(__package__).joinpath("error_examples.json").read_text(encoding="utf-8")
    examples: dict[str, str] = json.loads(text)
    return examples
