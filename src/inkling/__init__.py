"""Recognizes complex events in streams that cannot be fully trusted.

Names are imported when they are first used, so that `import inkling` loads neither Spark nor Numba.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from inkling.calibrate import Calibration, calibrate
    from inkling.errors import (
        Diagnostic,
        InklingError,
        InputError,
        InternalError,
        NotSupportedYet,
        ProgramError,
    )
    from inkling.evaluators.sampling import Sampling
    from inkling.fitting.files import load_model
    from inkling.generate import generate
    from inkling.language import format_program
    from inkling.local_stream import Found, LocalStream
    from inkling.logical.user_aggregates import aggregate
    from inkling.query import Program, load, parse, program
    from inkling.report import ReportData, build_report, write_report
    from inkling.report.from_results import report_data
    from inkling.results import Results
    from inkling.spark.batch import SparkResults
    from inkling.spark.session import spark_session
    from inkling.spark.streaming.current_reading import read_current

__all__ = [
    "Calibration",
    "Diagnostic",
    "Found",
    "InklingError",
    "InputError",
    "InternalError",
    "LocalStream",
    "NotSupportedYet",
    "Program",
    "ProgramError",
    "ReportData",
    "Results",
    "Sampling",
    "SparkResults",
    "__version__",
    "aggregate",
    "build_report",
    "calibrate",
    "format_program",
    "generate",
    "load",
    "load_model",
    "parse",
    "program",
    "read_current",
    "report_data",
    "spark_session",
    "write_report",
]

_HOMES = {
    "inkling.calibrate": ("Calibration", "calibrate"),
    "inkling.errors": (
        "Diagnostic",
        "InklingError",
        "InputError",
        "InternalError",
        "NotSupportedYet",
        "ProgramError",
    ),
    "inkling.fitting.files": ("load_model",),
    "inkling.generate": ("generate",),
    "inkling.language": ("format_program",),
    "inkling.local_stream": ("Found", "LocalStream"),
    "inkling.logical.user_aggregates": ("aggregate",),
    "inkling.query": ("Program", "load", "parse", "program"),
    "inkling.report": ("ReportData", "build_report", "write_report"),
    "inkling.report.from_results": ("report_data",),
    "inkling.results": ("Results",),
    "inkling.spark.batch": ("SparkResults",),
    "inkling.spark.session": ("spark_session",),
    "inkling.spark.streaming.current_reading": ("read_current",),
    "inkling.evaluators.sampling": ("Sampling",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


class _PublicNames(ModuleType):
    """Keeps a package that is named like a public function, once it is imported, from hiding the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _PublicNames


def __dir__() -> list[str]:
    return sorted(__all__)
