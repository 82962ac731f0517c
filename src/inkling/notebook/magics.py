"""`%%ink NAME` reads the program in a cell, and `%ink NAME DATA` runs it over variables of the notebook.

A name without data shows the program. Data is the name of a variable, or STREAM=VARIABLE where a program reads several
streams. A program over Spark DataFrames runs on Spark, over anything else in the process of the notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from inkling.errors import InklingError, InputError, nearest, render
from inkling.query import Program, parse

T = TypeVar("T")

NAME = "program"
"""The variable of a program without a name."""


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; IPython calls this for `%load_ext inkling`."""

    def cell(line: str, cell: str) -> Program | None:
        return _shown_errors(lambda: _define(shell.user_ns, line.strip() or NAME, cell))

    def command(line: str) -> Any:
        return _shown_errors(lambda: _run(shell.user_ns, line.split()))

    shell.register_magic_function(cell, "cell", "ink")
    shell.register_magic_function(command, "line", "ink")


def _shown_errors(work: Callable[[], T]) -> T | None:
    """The value of some work; an error of the user is a message without a traceback."""
    try:
        return work()
    except InklingError as problem:
        print(render(problem.diagnostics), file=sys.stderr)  # noqa: T201  (a cell has no other place)
        return None


def _define(variables: dict[str, Any], name: str, text: str) -> Program:
    if not name.isidentifier():
        raise InputError.of("INK0553", f"expected `%%ink NAME`, found `%%ink {name}`", helps=("write `%%ink program`",))
    variables[name] = program = parse(text, name=f"{name}.ink")
    return program


def _run(variables: dict[str, Any], words: list[str]) -> Any:
    name, *given = words or [NAME]
    program = _variable(variables, name)
    if not isinstance(program, Program):
        raise InputError.of(
            "INK0553", f"`{name}` is not a program", helps=(f"begin a cell with `%%ink {name}` and the program below",)
        )
    if not given:
        return program
    named = [word.partition("=")[::2] for word in given]
    inputs = {stream: _variable(variables, variable or stream) for stream, variable in named}
    spark = next((one.sparkSession for one in inputs.values() if hasattr(one, "sparkSession")), None)
    if len(named) == 1 and not named[0][1]:
        (inputs,) = inputs.values()
    return program.run_local(inputs) if spark is None else program.run(spark, inputs)


def _variable(variables: dict[str, Any], name: str) -> Any:
    if name not in variables:
        close = nearest(name, [one for one in variables if not one.startswith("_")], n=1)
        raise InputError.of(
            "INK0553", f"there is no variable `{name}`", helps=(f"did you mean `{close[0]}`?",) if close else ()
        )
    return variables[name]
