"""The notebooks in `examples/notebooks` run, and show what is stored in them; `make accept` stores it anew."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"
FRAME = re.compile(r'srcdoc="[^"]*"')
"""The page of a report, which the browser tests look at; it is not stored."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("first_pattern", marks=pytest.mark.slow),
        pytest.param("on_spark", marks=[pytest.mark.long, pytest.mark.spark]),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning")
def test_a_notebook_shows_what_is_stored_in_it(name: str, accept: bool, tmp_path: Path) -> None:
    file = NOTEBOOKS / f"{name}.ipynb"
    stored = nbformat.read(file, as_version=4)
    ran = nbformat.read(file, as_version=4)
    NotebookClient(ran, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    ran.metadata = stored.metadata
    for cell in ran.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = FRAME.sub('srcdoc=""', output.data["text/html"])
    if accept:
        nbformat.write(ran, file)
        stored = ran
    assert list(shown(ran)) == list(shown(stored))


def shown(notebook: Any) -> Any:
    """The outputs of each cell, as what a reader sees."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream" and output.name == "stderr":
                continue  # warnings of libraries
            yield cell.source.splitlines()[0], output.get("data") or output.get("text")
