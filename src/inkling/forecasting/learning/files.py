"""Model files: loading and saving."""

from pathlib import Path

import pyarrow as pa

from inkling.errors import InputError
from inkling.forecasting.models.model import ForecastModel


def load_model(path: str | Path) -> ForecastModel:
    """Loads a model from a file."""
    if Path(path).is_dir():
        raise InputError.of("INK0618", f"`{path}` is a folder, expected the file of a model")
    if not Path(path).exists():
        raise InputError.of(
            "INK0550", f"there is no file `{path}`", helps=("models are made with `inkling fit` or `Program.fit`",)
        )
    try:
        return ForecastModel.load(path)
    except ValueError as problem:
        raise _no_model(path, problem) from None


def save_model(model: ForecastModel, path: str | Path) -> ForecastModel:
    """Writes a model, as the next version of an existing model; a file that is no model is not overwritten."""
    try:
        return model.save(path)
    except ValueError as problem:
        raise _no_model(path, problem) from None


def _no_model(path: str | Path, problem: ValueError) -> InputError:
    if isinstance(problem.__cause__, pa.ArrowInvalid):
        helps = ("models are made with `inkling fit` or `Program.fit`",)
        return InputError.of("INK0618", f"`{path}` is not a model", notes=("it is not a Parquet file",), helps=helps)
    return InputError.of("INK0618", f"`{path}` is not a model", notes=(str(problem),))
