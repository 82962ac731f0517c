"""The report of a run inside a notebook: the same page that `inkling run --report` writes, in a frame."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path

from inkling.pages import written
from inkling.report import build_report, report_data
from inkling.results import Results

HEIGHT = 720
"""The pixels of the frame; the page scrolls inside it."""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The page of a run."""

    title: str
    page: str

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file."""
        return written(self.page, path)

    def __repr__(self) -> str:
        return f"<Report of {self.title}>"

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts allow-popups" style="width:100%;border:1px solid #8884"'
        return f'<iframe {frame} height="{HEIGHT}" srcdoc="{escape(self.page)}"></iframe>'


def report_of(results: Results) -> Report:
    """The report of a run; the results know the program and the inputs that they were made of."""
    if results.origin is None:
        raise ValueError("these results were not made by a run of a program, so there is no report")
    program, origin = results.origin.program, results.origin
    data = report_data(program, results, origin.inputs, origin.tables, sampling=origin.sampling)
    return Report(program.name, build_report(data))
