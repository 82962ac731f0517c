"""Retired words and what to write instead: where they still occur in the code and in the pages for people.

`docs/reference/glossary.md` has the words that are in use. `python -m tests.kit.words` prints how often each retired
word occurs, and `python -m tests.kit.words told` prints the lines with one of them.

>>> [one.word for one in RETIRED if one.pattern.search("n_told, Told and toldest")]
['told']
>>> len(list(named("told").finditer("n_told, told_once, JustTold, retold, toldest")))
3
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

ROOT = Path(__file__).parents[2]
Place: TypeAlias = Literal["src", "pages"]
BOTH: tuple[Place, ...] = ("src", "pages")
SOURCES = ("*.py", "*.md", "*.json", "*.html", "*.js", "*.lark")
# their text comes from the code, so it changes there
GENERATED = tuple(ROOT / "docs" / "reference" / name for name in ("cli.md", "errors.md", "not-supported-yet.md"))
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "tests" / "README.md",
    *(page for folder in ("docs", "editors", "examples") for page in sorted((ROOT / folder).rglob("*.md"))),
]
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|<!--.*?-->", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\([^)\s]*\)")


@dataclass(frozen=True, slots=True)
class Retired:
    """A word, how it is found, what to write instead, and where it is not written any more."""

    word: str
    instead: str
    pattern: re.Pattern[str]
    places: tuple[Place, ...] = BOTH


@dataclass(frozen=True, slots=True)
class Occurrence:
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.text}"


def named(*words: str) -> re.Pattern[str]:
    """Words in prose, and as parts of names: `told`, `Told`, `n_told`, `JustTold`."""
    alternatives = "|".join(
        rf"(?<![A-Za-z])[{word[0].upper()}{word[0]}]{word[1:]}(?![a-z])|(?<=[a-z]){word.capitalize()}(?![a-z])"
        for word in words
    )
    return re.compile(alternatives)


def prose(pattern: str) -> re.Pattern[str]:
    """Words of sentences, in any case."""
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


def names(*words: str) -> re.Pattern[str]:
    """Whole names of the code, for words that have plain uses as well."""
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


def not_after(*befores: str, pattern: re.Pattern[str]) -> re.Pattern[str]:
    """A pattern that does not count after some words."""
    return re.compile("".join(f"(?<!{before})" for before in befores) + f"(?:{pattern.pattern})")


IN_SRC: tuple[Place, ...] = ("src",)
ON_PAGES: tuple[Place, ...] = ("pages",)
# but "Connection refused" in messages of a server
_REFUSED = re.compile(f"(?<!Connection )(?:{named('refused', 'refuses', 'refuse', 'refusal', 'refusals').pattern})")
RETIRED = (
    # sentences
    Retired("told", "emitted, reported", named("told")),
    Retired("tells", "shows, reports", prose("tells?|telling")),
    Retired("said", "emitted, declared", named("said")),
    Retired("counted out", "enumerated", prose("counted out|counts? out")),
    Retired("in doubt", "uncertain", prose("in doubt|without doubt")),
    Retired("doubt", "uncertainty", named("doubt", "doubts", "doubtful")),
    Retired("rests on", "depends on", prose("rests? on|rested on|resting on")),
    Retired("goes on", "continues, resumes", prose("goes on|go on|went on")),
    Retired("refused", "rejected", _REFUSED),
    Retired("mistake", "error", named("mistake", "mistakes")),
    Retired("takes in", "ingests", prose("takes? in|taken in(?! range)|took in|TakenIn|taken_in|take_in")),
    Retired("held back", "buffered until final", prose("held back|holds? back")),
    Retired("settles", "is final", prose("settles?"), IN_SRC),
    Retired("as far as it pays", "variable-length", prose("as far as it pays")),
    Retired("who draws", "which worker draws the sample", prose("who draws")),
    # ideas, as names and in sentences
    Retired("Carry", "state", names(r"\w*Carry", "carry(?=[,.)=])"), IN_SRC),
    Retired("Remembered", "state", names("Kept", "Remembered", "Followed", "Held", "^kept$", "^held$"), IN_SRC),
    Retired("Stepped", "Emitted, StepOutput, matches", names("Stepped", "Advanced", "News"), IN_SRC),
    Retired("feed", "ingest", names(r"_?(fed|feeds?|Feeds?)", r"fed_\w+"), IN_SRC),
    Retired("Marks", "Watermark", names("Marks"), IN_SRC),
    Retired("surroundings", "context", named("surroundings")),
    Retired("Ground", "probable events, search space", names("Ground(?! truth)", "ground(?=[.,):=])"), IN_SRC),
    Retired("parted", "split, merge", named("parted", "parting")),
    Retired("takeover", "migrate", prose("takeover|taken_over|taken over|takes over|take over"), IN_SRC),
    Retired("rewindowed", "reconfigured", named("rewindowed")),
    Retired("ledger", "changelog", named("ledger", "ledgers")),
    Retired("books", "changelog, versions", named("books")),
    Retired("news", "delta", named("news")),
    Retired("Measure", "time unit", names("Measure"), IN_SRC),
    Retired("letters", "symbols", not_after("capital ", "small ", pattern=named("letters", "letter")), IN_SRC),
    Retired("spelled", "written", named("spelled")),
    Retired("hops", "successors", named("hops")),
    Retired(
        "lanes", "sampled worlds", names("n_lanes", "Lanes", r"lanes_\w+", r"lanes(?=\.(?:live|entries|over))"), IN_SRC
    ),
    Retired("dense", "batched worlds", names("is_dense", "DenseStage", "^dense$"), IN_SRC),
    Retired("Placed", "assignment", names("Placed", "^placed$"), IN_SRC),
    Retired("finer", "sub-tick resolution", names("finer(?=[(.=_,)])"), IN_SRC),
    Retired("numbered", "gaps", names("^numbered$"), IN_SRC),
    Retired("posts", "sequence log", named("posts"), IN_SRC),
    Retired("sides", "operands", names("Sides", "^sides$"), IN_SRC),
    Retired("carets", "diagnostics renderer", named("carets")),
    Retired("apart", "exact, without worlds", names("answered apart", "answered_apart", r"\w*told_apart"), IN_SRC),
    Retired("beside", "comparison", names(r"\w+_beside", r"beside(?=[(.=_])", "^beside$"), IN_SRC),
    Retired("judgment", "evaluation", named("judgment", "judgments"), IN_SRC),
    Retired("accounts", "explanations", names(r"accounts?(?=[(.=_])", r"Accounts?", "^account$"), IN_SRC),
    Retired("retellings", "re-emissions", named("retelling", "retellings", "retold")),
    Retired("doors", "public functions", names("^doors$"), IN_SRC),
    Retired("situation", "segment event, derived segments", named("situation", "situations")),
    Retired("ways", "disjuncts", names("Way", "ways_of", "^ways$"), IN_SRC),
    Retired("continuum", "continuous ties", named("continuum")),
    Retired("viewpoint", "name scope", named("viewpoint")),
    Retired("vanished", "missing", named("vanished")),
    Retired("walked", "forward pass per key", named("walked"), IN_SRC),
    Retired("follow", "seq, seq_markov, group, last_wins", names("Follow", "FollowChained", "FollowMany"), IN_SRC),
)
# Retired on pages, but not yet everywhere in the package; to be emptied.
STILL_IN_SRC: frozenset[str] = frozenset({})
# Pages that are being rewritten; to be emptied.
STILL_ON_PAGES: frozenset[str] = frozenset({"docs/reference/api.md"})


def occurrences(retired: Retired, places: Sequence[Place] = BOTH) -> list[Occurrence]:
    """Where a retired word is still written, of the places where it should not be."""
    found: list[Occurrence] = []
    for place in retired.places:
        for path, lines in texts(place) if place in places else ():
            if retired.pattern.search(path.stem):
                found.append(Occurrence(path, 1, "the name of this file"))
            found += [Occurrence(path, number, line) for number, line in lines if retired.pattern.search(line)]
    return found


@cache
def texts(place: Place) -> list[tuple[Path, list[tuple[int, str]]]]:
    """Files with their numbered lines; of pages only the prose. Generated pages belong to the code they come from."""
    if place == "pages":
        skipped = {*GENERATED, *(ROOT / name for name in STILL_ON_PAGES)}
        written = [path for path in PAGES if path not in skipped]
        return [(path, _lines(prose_of(path.read_text(encoding="utf-8")))) for path in written]
    package = ROOT / "src" / "inkling"
    sources = [*(path for pattern in SOURCES for path in sorted(package.rglob(pattern))), *GENERATED]
    return [(path, _lines(path.read_text(encoding="utf-8"))) for path in sources]


def _lines(page: str) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(page.splitlines(), start=1)]


def prose_of(page: str) -> str:
    """The sentences of a page, on the lines where they stand: code and the targets of links are left out."""
    without_code = CODE.sub(lambda code: "\n" * code[0].count("\n"), page)
    return LINK.sub("]", without_code)


def main(words: list[str]) -> None:
    print("   src  pages")
    for retired in RETIRED:
        if not words or retired.word in words:
            in_src, on_pages = occurrences(retired, ["src"]), occurrences(retired, ["pages"])
            print(f"{len(in_src):6} {len(on_pages):6}  {retired.word}: {retired.instead}")
            if words:
                print("\n".join(map(str, (*in_src, *on_pages))))


if __name__ == "__main__":
    main(sys.argv[1:])
