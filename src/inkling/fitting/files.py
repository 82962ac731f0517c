"""Files of models."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from inkling.errors import InputError
from inkling.markov.model import Model


def load_model(path: str | Path) -> Model:
    """The model in a file."""
    if Path(path).is_dir():
        raise InputError.of("INK0618", f"`{path}` is a folder, expected the file of a model")
    if not Path(path).exists():
        raise InputError.of(
            "INK0550", f"there is no file `{path}`", helps=("models are made with `inkling fit` or `Program.fit`",)
        )
    try:
        return Model.load(path)
    except ValueError as problem:
        raise _no_model(path, problem) from None


def save_model(model: Model, path: str | Path) -> Model:
    """Writes a model, as the next version of one that is there; what else is there stays."""
    try:
        return model.save(path)
    except ValueError as problem:
        raise _no_model(path, problem) from None


def _no_model(path: str | Path, problem: ValueError) -> InputError:
    if isinstance(problem.__cause__, pa.ArrowInvalid):
        helps = ("models are made with `inkling fit` or `Program.fit`",)
        return InputError.of("INK0618", f"`{path}` holds no model", notes=("it is not a Parquet file",), helps=helps)
    return InputError.of("INK0618", f"`{path}` holds no model", notes=(str(problem),))
