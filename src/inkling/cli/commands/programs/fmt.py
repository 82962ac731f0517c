"""`inkling fmt`: programs in the standard layout."""

import difflib
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.options import Debug
from inkling.cli.terminal.failures import EXIT_ERROR
from inkling.language import format_program, parse
from inkling.language.front_ends import format_text
from inkling.query import read_program
from inkling.whole_files import write_whole


class Language(StrEnum):
    INK = "ink"


def fmt(
    programs: Annotated[list[Path], typer.Argument(metavar="PROGRAM…", help="Files, or - for stdin.")],
    check: Annotated[
        bool, typer.Option("--check", help="Print what would change; exit status 1 if anything would.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Rewrite the files.")] = False,
    to: Annotated[
        Language | None,
        typer.Option(
            "--to",
            metavar="ink",
            help="Print rules (.ele), patterns (.sre) and queries (.epsparql, .lahar, .sase) as programs.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Print programs in the standard layout, or rewrite their files."""
    if check and write:
        raise typer.BadParameter("--check and --write exclude each other")
    if to is not None and (check or write):
        raise typer.BadParameter("--to prints; it excludes --check and --write")
    changed = 0
    for path in programs:
        before = sys.stdin.read() if str(path) == "-" else read_program(path)
        after = format_text(before, path.name) if to is None else format_program(parse(before, path.name))
        changed += after != before
        if check:
            typer.echo(_difference(path, before, after), nl=False)
        elif write and str(path) != "-":
            if after != before:
                write_whole(after, path)
                typer.echo(f"rewrote {path}", err=True)
        else:
            typer.echo(after, nl=False)
    if check and changed:
        raise typer.Exit(EXIT_ERROR)


def _difference(path: Path, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), str(path), f"{path} (formatted)"
    )
    return "".join(lines)
