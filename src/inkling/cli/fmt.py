"""`inkling fmt`: every program in one layout."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.failures import EXIT_MISTAKE
from inkling.cli.options import Debug
from inkling.language import format_program, parse
from inkling.query import read_program


def fmt(
    programs: Annotated[
        list[Path], typer.Argument(metavar="PROGRAM.ink…", help="Files, or - for stdin.", show_default=False)
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Print what would change; exit status 1 if anything would.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Rewrite the files.")] = False,
    debug: Debug = False,
) -> None:
    """Print programs in the standard layout, or rewrite their files."""
    if check and write:
        raise typer.BadParameter("--check and --write exclude each other")
    changed = 0
    for path in programs:
        before = sys.stdin.read() if str(path) == "-" else read_program(path)
        after = format_program(parse(before, path.name))
        changed += after != before
        if check:
            typer.echo(_difference(path, before, after), nl=False)
        elif write and str(path) != "-":
            if after != before:
                path.write_text(after, encoding="utf-8")
                typer.echo(f"rewrote {path}", err=True)
        else:
            typer.echo(after, nl=False)
    if check and changed:
        raise typer.Exit(EXIT_MISTAKE)


def _difference(path: Path, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), str(path), f"{path} (formatted)"
    )
    return "".join(lines)
