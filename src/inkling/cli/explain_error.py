"""`inkling explain-error`: the longer story of an error code."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Annotated

import typer

from inkling.cli.options import Debug
from inkling.error_codes import CODES
from inkling.errors import InputError, longer_text, nearest

FAMILIES = {
    "INK01": "The text is not a program: a word, a bracket or a semicolon stands where none can.",
    "INK02": "A name or a type is not what its place needs.",
    "INK03": "Every word is known, but together they cannot mean what was intended.",
    "INK04": "The program is right; nothing here can run it yet. It may run in a later version as it is.",
    "INK05": "The program is right; a file, a column or an option is not.",
    "INK06": "The program is right; the data, an option or this machine does not let the run go on as asked.",
    "INK09": "A mistake of inkling itself. The program and the data are not to blame.",
}


def explain_error(
    code: Annotated[str, typer.Argument(metavar="CODE", help="For example INK0305.", show_default=False)],
    debug: Debug = False,
) -> None:
    """Print what an error code means."""
    wanted = code.upper()
    if wanted.isdigit():
        wanted = f"INK{wanted.zfill(4)}"
    if wanted not in CODES:
        close = nearest(wanted, CODES, n=3)
        raise InputError.of(
            "INK0552",
            f"no error has the code `{code}`",
            helps=(f"codes like it: {', '.join(close)}",) if close else (),
        )
    text = longer_text(wanted)
    typer.echo(f"{wanted}: {CODES[wanted]}\n\n{text or FAMILIES[wanted[:5]]}")
    example = _examples().get(wanted)
    if example is not None:
        typer.echo(f"\nFor example:\n\n{example}")


def _examples() -> dict[str, str]:
    text = files("inkling.cli").joinpath("error_examples.json").read_text(encoding="utf-8")
    examples: dict[str, str] = json.loads(text)
    return examples
