"""Recognize and forecast complex events in uncertain streams.

Names are imported when they are first used, so that `import inkling` loads neither Spark nor Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from inkling.errors import InklingError, InputError, ProgramError
    from inkling.evaluators.sampling import Sampling
    from inkling.forecasting.adaptation.online import OnlineLearning
    from inkling.forecasting.backtest.settings import ScoreSettings
    from inkling.forecasting.learning.settings import FitSettings
    from inkling.local_stream import Found, LocalStream
    from inkling.logical.user_aggregates import aggregate
    from inkling.query import Program, load, parse, program
    from inkling.results import Results
    from inkling.spark.batch import SparkResults
    from inkling.spark.session import spark_session
    from inkling.spark.streaming.query import LiveQuery
    from inkling.spark.streaming.settings import StreamSettings

__all__ = [
    "FitSettings",
    "Found",
    "InklingError",
    "InputError",
    "LiveQuery",
    "LocalStream",
    "OnlineLearning",
    "Program",
    "ProgramError",
    "Results",
    "Sampling",
    "ScoreSettings",
    "SparkResults",
    "StreamSettings",
    "__version__",
    "aggregate",
    "load",
    "parse",
    "program",
    "spark_session",
]

_HOMES = {
    "inkling.errors": ("InklingError", "InputError", "ProgramError"),
    "inkling.evaluators.sampling": ("Sampling",),
    "inkling.forecasting.adaptation.online": ("OnlineLearning",),
    "inkling.forecasting.backtest.settings": ("ScoreSettings",),
    "inkling.forecasting.learning.settings": ("FitSettings",),
    "inkling.local_stream": ("Found", "LocalStream"),
    "inkling.logical.user_aggregates": ("aggregate",),
    "inkling.query": ("Program", "load", "parse", "program"),
    "inkling.results": ("Results",),
    "inkling.spark.batch": ("SparkResults",),
    "inkling.spark.session": ("spark_session",),
    "inkling.spark.streaming.query": ("LiveQuery",),
    "inkling.spark.streaming.settings": ("StreamSettings",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def load_ipython_extension(shell: object) -> None:
    """Register the magics `%%ink` and `%ink`; IPython calls this for `%load_ext inkling`."""
    import_module("inkling.notebook").load_ipython_extension(shell)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOME_OF[name].startswith("inkling.spark."):
        from inkling.extras import require

        require("pyspark")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
