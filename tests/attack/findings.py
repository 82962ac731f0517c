"""What ended otherwise than it must; one finding for each place in the code."""

import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that ended otherwise than it must."""

    what: str
    kind: str  # the exception, or what was wrong
    place: str
    example: str
    case: str = ""  # by which the attack makes it again; programs are their own example


def finding_about(problem: Exception, what: str, example: str, case: str = "") -> Finding:
    """The finding of an exception: its place is the function of this package that was called last."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [one for one in frames if "/src/inkling/" in one.filename] or list(frames)
    file, function = own[-1].filename, own[-1].name
    if isinstance(problem, RecursionError):  # the file that calls itself, wherever the stack ended
        ((file, _),) = Counter(one.filename for one in own).most_common(1)
        function = "recursion"
    return Finding(what, type(problem).__name__, f"{file.rpartition('/src/')[2]}, {function}", example, case)


def by_place(found: Iterable[Finding]) -> list[Finding]:
    """The first finding of each place."""
    first: dict[tuple[str, str], Finding] = {}
    for one in found:
        first.setdefault((one.kind, one.place), one)
    return list(first.values())
