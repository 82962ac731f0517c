"""`inkling check`: reports the errors of programs before any data is read."""

import json
from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.options import Debug, Declarations, PythonFiles, Quiet, Root
from inkling.cli.python_files import import_files
from inkling.cli.terminal.failures import EXIT_ERROR, EXIT_INPUT
from inkling.cli.terminal.messages import counted, print_diagnostics
from inkling.errors import Diagnostic, InputError, ProgramError
from inkling.query import Program, load


def check(
    programs: Annotated[list[Path], typer.Argument(metavar="PROGRAM.ink…")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the diagnostics as JSON on stdout.")] = False,
    python: PythonFiles = [],  # noqa: B006
    root: Root = None,
    declarations: Declarations = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check programs for errors; exit status 1 when there are any."""
    import_files(python, root)
    findings: list[Diagnostic] = []
    status = 0
    for path in programs:
        try:
            program = load(path, declarations=declarations, root=root)
            for table in program.plan.tables:
                program.files.path(table.path)
        except (ProgramError, InputError) as problem:
            findings.extend(problem.diagnostics)
            status = max(status, EXIT_INPUT if isinstance(problem, InputError) else EXIT_ERROR)
        else:
            warnings = (*program.warnings, *program.growth_warnings())
            findings.extend(warnings)
            if not (quiet or as_json):
                typer.echo(_summary(path, program, len(warnings)))
    if as_json:
        typer.echo(json.dumps({"diagnostics": [finding.to_dict() for finding in findings]}, indent=2))
    elif findings and not (quiet and all(finding.severity == "warning" for finding in findings)):
        print_diagnostics(findings)
    if status:
        raise typer.Exit(status)


def _summary(path: Path, program: Program, n_warnings: int) -> str:
    plan = program.plan
    parts = [counted(len(plan.events), "event"), counted(len(plan.streams), "stream")]
    if plan.tables:
        parts.append(counted(len(plan.tables), "table"))
    remark = f"OK, with {counted(n_warnings, 'warning')}" if n_warnings else "OK"
    return f"{path}: {remark} ({', '.join(parts)})"
