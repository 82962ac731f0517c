"""Programs to change: in files, on pages, in tests, in papers, and random queries; at least 100 of each notation."""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.kit.sase import random_query
from tests.kit.sparql_queries import STREAM, QueryMaker
from tests.oracles import lahar_classes, sparql_case, sparql_cases
from tests.oracles.printed.test_printed_texts import texts

import inkling

HERE = Path(__file__).parents[2]
NOTATIONS = (".ink", ".ele", ".sre", ".lahar", ".sase", ".epsparql")
_FOLDERS = ("tests/golden", "tests/errors", "examples", "docs", "benchmarks")
_WRITTEN = ("tests", "docs")
_SIGNS = {".ink": "EVENT", ".ele": "<-", ".sre": "(", ".lahar": ":", ".sase": "PATTERN", ".epsparql": "SELECT"}
_BLOCK = re.compile(r"^```[a-z]*[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_N_RANDOM = 120


@cache
def seeds_of(*, everywhere: bool) -> dict[str, tuple[str, ...]]:
    """The texts of each notation that compile; without `everywhere`, texts that may not, found quickly."""
    if not everywhere:
        return {notation: tuple(dict.fromkeys(_at_hand(notation))) for notation in NOTATIONS}
    found = {}
    for notation in NOTATIONS:
        written = (text for text in _written() if _SIGNS[notation] in text)
        all_texts = dict.fromkeys((*_at_hand(notation), *written))
        found[notation] = tuple(text for text in all_texts if compiles(text, notation))
    return found


def compiles(text: str, notation: str) -> bool:
    try:
        inkling.parse(text, name=f"seed{notation}").explain()
    except Exception:
        return False
    return True


def _at_hand(notation: str) -> Iterator[str]:
    """Programs in files, printed in papers, and at random."""
    for folder in _FOLDERS:
        for path in sorted((HERE / folder).rglob(f"*{notation}")):
            yield path.read_text(encoding="utf-8", errors="replace")
    for _, printed in texts():
        if printed.ending == notation:
            yield f"{printed.setting}\n{printed.text}"
    draw = random.Random(1)
    match notation:
        case ".lahar":
            for kind in ("independent", "markov", "certain"):
                yield from (replace(row, kind=kind).queries for row in lahar_classes.ROWS)
            yield from (_random_lahar(draw) for _ in range(_N_RANDOM))
        case ".sase":
            streams = "".join(
                f"STREAM {name}(id STRING, k BIGINT, v BIGINT, t BIGINT) ID id TIME t;\n" for name in "ABCD"
            )
            yield from (streams + random_query(draw) for _ in range(_N_RANDOM))
        case ".epsparql":
            yield from (one.streams + sparql_case.PROLOGUE + one.query for one in sparql_cases.CASES)
            maker = QueryMaker(draw)
            for _ in range(_N_RANDOM):
                yield f"{STREAM}{maker.construct().text};\n{maker.query().query}"


def _random_lahar(draw: random.Random) -> str:
    """A query over two streams and a relation."""
    kind = draw.choice(("independent", "markov", "certain"))
    parts = []
    for place in range(draw.choice((1, 2, 2, 3))):
        goal = f"{draw.choice('AB')}({draw.choice('pq')}, {draw.choice((f'v{place}', repr('a'), '_'))})"
        if "v" in goal and draw.random() < 0.4:
            goal = f"sigma[{draw.choice(('In(v{0})', 'v{0} = {1!r}', 'not (v{0} = {1!r} or In(v{0}))'))}]({goal})"
            goal = goal.format(place, "b")
        parts.append(f"({goal})+<{{p}}, true>" if place and draw.random() < 0.3 else goal)
    query = f"{draw.choice(('out()', 'out(p)', 'out(p) ever'))} : {' ; '.join(parts)};"
    return f"stream A(k | v) {kind};\nstream B(k | v) {kind};\nrelation In(v);\n\n{query}"


@cache
def _written() -> tuple[str, ...]:
    """Texts in the code of tests, and code blocks of pages."""
    found: dict[str, None] = {}
    for folder in _WRITTEN:
        for path in sorted((HERE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and 12 <= len(node.value) <= 3000:
                    found.setdefault(node.value)
        for path in sorted((HERE / folder).rglob("*.md")):
            found.update(dict.fromkeys(_BLOCK.findall(path.read_text(encoding="utf-8"))))
    return tuple(found)
