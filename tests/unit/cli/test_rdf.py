"""RDF in and out of `inkling run`: graphs as observations, background knowledge, results as triples."""

from pathlib import Path

import pyoxigraph
import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app

EX, XSD = "http://ex.org/", "http://www.w3.org/2001/XMLSchema#"
PROGRAM = """
STREAM triple(s TERM, p TERM, o TERM) TIME t;
TABLE kb(s TERM, p TERM, o TERM) FROM 'kb.ttl';
EVENT part(a.s AS s, iri('http://ex.org/isIn') AS p, b.o AS o) AS
  PATTERN SEQ(triple a, triple b) WHERE sameterm(a.o, b.s) AND kb(a.s, iri('http://ex.org/is'), _) WITHIN 5 TICKS;
EVENT named(a.s AS s, iri('http://ex.org/name') AS p, name AS o) AS
  PATTERN triple a WHERE kb(a.s, iri('http://ex.org/name'), name);
EVENT seen(a.s AS who) AS PATTERN triple a;
"""


def graph(name: str, subject: str, other: str, tick: int) -> str:
    time = f'<{EX}{name}> <http://www.w3.org/ns/prov#generatedAtTime> "{tick}"^^<{XSD}integer> .'
    return f"<{EX}{subject}> <{EX}in> <{EX}{other}> <{EX}{name}> .\n{time}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.ink").write_text(PROGRAM)
    Path("kb.ttl").write_text(f'@prefix ex: <{EX}> . ex:a ex:is [] ; ex:name "Ä \\"1\\"\\n" , "a"@EN .')
    Path("triple.nq").write_text(graph("g1", "a", "b", 1) + graph("g2", "b", "c", 2) + graph("g3", "a", "b", 3))


def run(output: str, program: str = "program.ink") -> Result:
    words = ["run", program, "-i", "triple=triple.nq", "-o", output, "--runner", "local", "--quiet"]
    return CliRunner().invoke(app, words)


EXPECTED = [f"<{EX}a> <{EX}isIn> <{EX}c> .", rf'<{EX}a> <{EX}name> "Ä \"1\"\n" .', f'<{EX}a> <{EX}name> "a"@en .']
"""Each triple once, though `a` is seen twice."""


def test_results_as_n_triples() -> None:
    result = run("out.nt")
    assert result.exit_code == 0, result.stderr
    assert sorted(Path("out.nt").read_text().splitlines()) == sorted(EXPECTED)


def test_results_as_turtle() -> None:
    result = run("out.ttl")
    assert result.exit_code == 0, result.stderr
    triples = pyoxigraph.parse(path="out.ttl")
    assert sorted(f"{one.subject} {one.predicate} {one.object} ." for one in triples) == sorted(EXPECTED)


def test_results_without_triples() -> None:
    Path("other.ink").write_text("STREAM triple(s TERM) TIME t; EVENT seen(a.s AS who) AS PATTERN triple a;")
    result = run("out.nt", "other.ink")
    assert result.exit_code == 3
    assert "no event has the columns `s`, `p` and `o`, which RDF files hold" in result.stderr
    assert not Path("out.nt").exists()


def test_results_whose_columns_are_no_terms() -> None:
    Path("other.ink").write_text(
        "STREAM triple(s TERM, p TERM, o TERM) TIME t;"
        "EVENT text(a.s AS s, a.p AS p, str(a.o) AS o) AS PATTERN triple a;"
    )
    result = run("out.nt", "other.ink")
    assert result.exit_code == 3
    assert "`o` is 'http://ex.org/b', expected an RDF term" in result.stderr
