"""The page about rejects names every reason, and no other."""

import re
from pathlib import Path

from inkling.io.rejects import Reason

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "result-columns.md"


def test_every_reason_is_on_the_page() -> None:
    _, rejects = PAGE.read_text(encoding="utf-8").split("## Rejects")
    cells = re.findall(r"^\| (`[^|]+`) \|", rejects, re.MULTILINE)
    named = [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
    columns = ["stream", "reason", "detail", "row", "id"]
    assert named == [*columns, *(reason.value for reason in Reason)]
