"""Runs the first example of the README with an installed command: `python -m tests.kit.release BIN/inkling`."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kit.documents import blocks

README = Path(__file__).parents[2] / "README.md"


def run(command: str) -> None:
    """Raises an error unless the command prints what the README shows."""
    page = list(blocks(README.read_text()))
    place = next(number for number, block in enumerate(page) if block.language == "console")
    _, expected = page[place].text.split("\n", 1)
    with tempfile.TemporaryDirectory() as folder:
        for block in page[:place]:
            if block.name is not None:
                (Path(folder) / block.name).write_text(block.text)
        words = page[place].text.splitlines()[0].removeprefix("$ inkling ").split()
        done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == expected, done.stdout


if __name__ == "__main__":
    run(str(Path(sys.argv[1]).resolve()))
