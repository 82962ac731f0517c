"""The commands by name, each imported when it is called: `inkling --version` needs none of them."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from inkling.cli.terminal.failures import with_messages

ROOMS = {
    "run": "results",
    "stream": "results",
    "fit": "models",
    "score": "models",
    "check": "programs",
    "explain": "programs",
    "why": "results",
    "chances": "results",
    "fmt": "programs",
    "demo": "examples",
    "generate": "examples",
    "replay": "examples",
    "calibrate": "results",
    "bench": "examples",
    "explain-error": "programs",
    "model": "models",
    "infer": "models",
    "lsp": "programs",
}
"""The package of each command, in the order of `inkling --help`; its module and its function have its name."""

CONTEXT = {"help_option_names": ["-h", "--help"]}


class CommandTable(Mapping[str, Any]):
    """The commands of `ROOMS`."""

    def __init__(self) -> None:
        self._imported: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._imported:
            self._imported[name] = import_command(name)
        return self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(ROOMS)

    def __len__(self) -> int:
        return len(ROOMS)


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = CommandTable()  # type: ignore[assignment]  # no command is added to it


def import_command(name: str) -> Any:
    """A command, or a group of commands, as Typer prepares it."""
    from inkling.cli.options import with_groups

    called = name.replace("-", "_")
    found = getattr(import_module(f"inkling.cli.commands.{ROOMS[name]}.{called}"), called)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, context_settings=CONTEXT)
        alone.command(name)(with_messages(with_groups(found)))
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    return command
