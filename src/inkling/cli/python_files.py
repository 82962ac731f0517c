"""Files of `--python`, which declare aggregates and are imported before a program is read."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from inkling.errors import InputError
from inkling.program_files import require_inside


def import_files(paths: list[Path], root: Path | None = None) -> None:
    """Import Python files, each under a module name of its own; with a root, only files inside it."""
    for path in paths:
        if root is not None:
            require_inside(path, root)
        if not path.is_file():
            raise InputError.of("INK0359", f"there is no file {path}", notes=("`--python` names a file to import",))
        name = f"inkling_python_{path.stem}"
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise InputError.of("INK0359", f"{path} is not a Python file", helps=("give it a name that ends with .py",))
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as problem:
            raise InputError.of(
                "INK0359", f"{path} cannot be imported", notes=(f"{type(problem).__name__}: {problem}",)
            ) from problem
