"""The program that a command is about, read after the files of `--python` that declare aggregates for it."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.messages import print_diagnostics
from inkling.errors import InputError
from inkling.query import Program, load

PythonFiles = Annotated[
    list[Path],
    typer.Option(
        "--python",
        metavar="FILE.py",
        help="Aggregates written in Python, imported before the program is read.",
        show_default=False,
    ),
]


def load_program(path: Path, python: list[Path], *, quiet: bool = False) -> Program:
    """The program in a file; its warnings go to stderr."""
    import_files(python)
    program = load(path)
    if program.warnings and not quiet:
        print_diagnostics(program.warnings)
    return program


def import_files(paths: list[Path]) -> None:
    """Import each file under a name of its own."""
    for path in paths:
        if not path.is_file():
            raise InputError.of("INK0359", f"there is no file {path}", notes=("`--python` names a file to import",))
        name = f"inkling_python_{path.stem}"
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise InputError.of("INK0359", f"{path} is no Python file", helps=("give it a name that ends with .py",))
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as problem:
            raise InputError.of(
                "INK0359", f"{path} cannot be imported", notes=(f"{type(problem).__name__}: {problem}",)
            ) from problem
