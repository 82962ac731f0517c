"""Files of models: saved, replaced, rejected, shown and compared."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from inkling import FitSettings, InputError, ProgramError, ScoreSettings, parse
from inkling.cli import app
from inkling.forecasting.learning import load_model
from inkling.forecasting.learning.description import model_svg, nodes_of

STREAM = "STREAM V(s STRING, x BIGINT, t BIGINT) TIME t ORDER BY t;\n"
EVENT = "EVENT ab AS PATTERN SEQ STRICT(V[s = 'a'], V[x > 1]) PER END;\n"
TEXT = f"{STREAM}{EVENT}FORECAST ab WITHIN 2 EVENTS;\n"
ROWS = [{"s": letter, "x": t % 3, "t": t} for t, letter in enumerate("abcabbacabcabcab")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.ink").write_text(TEXT)
    (tmp_path / "V.csv").write_text("s,x,t\n" + "".join(f"{row['s']},{row['x']},{row['t']}\n" for row in ROWS))
    return tmp_path


def inkling(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code == status, result.output
    return result.output


def test_a_replaced_file_is_the_next_version(tmp_path: Path) -> None:
    program = parse(TEXT)
    model = program.fit({"V": ROWS}, settings=FitSettings(order=1))["ab_model"]
    assert [model.save(tmp_path / "m.parquet").version for _ in range(3)] == [1, 2, 3]
    loaded = load_model(tmp_path / "m.parquet")
    assert loaded.version == 3
    assert loaded.counts.to_arrow().equals(model.counts.to_arrow())
    said = program.run_local({"V": ROWS}, {"ab_model": tmp_path / "m.parquet"}).tables["ab_forecast"]
    assert said["model"].unique().to_pylist() == [3]
    assert [path.name for path in tmp_path.iterdir()] == ["m.parquet"]


@pytest.mark.parametrize("content", [b"", b"no parquet", None])
def test_what_is_no_model_is_rejected_and_kept(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    if content is None:
        with pytest.raises(InputError, match="INK0550"):
            load_model(path)
        return
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"INK0618(?s:.)*it is not a Parquet file"):
        load_model(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (TEXT.replace("x > 1", "x > 2"), "(?s)INK0631.*does not: x > 1.*does not: x > 2"),
        (
            TEXT.replace("EVENTS;", "EVENTS FEATURES (s = 'c');"),
            "(?s)INK0631.*the model has 4 kinds of events, the program 6",
        ),
        (TEXT.replace("(V[s = 'a'],", "(V[s = 'a'], V[s = 'a'],"), "INK0631(?s:.)*in another order or number"),
    ],
)
def test_a_model_of_another_program_says_what_changed(program: str, said: str) -> None:
    models = parse(TEXT).fit({"V": ROWS}, settings=FitSettings(order=1))
    with pytest.raises(InputError, match=said) as rejected:
        parse(program, name="p.ink").run_local({"V": ROWS}, models)
    assert "learn it again: `inkling fit p.ink -i V=PATH`" in str(rejected.value)


def test_a_missing_model_says_how_to_make_it(folder: Path) -> None:
    said = inkling("run", folder / "p.ink", "-i", folder, "-o", "-", "--runner", "local", status=3)
    assert "the model `ab_model` is missing" in said
    assert "learn it: `inkling fit p.ink -i V=PATH`" in said


def test_forecasts_are_no_events_that_can_be_forecast() -> None:
    with pytest.raises(ProgramError, match=r"(?s)INK0205.*`V` is a stream.*the events of this program are `?ab`?$"):
        parse(f"{TEXT}FORECAST more OF V WITHIN 2 EVENTS;")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        load_model(tmp_path)


def test_a_folder_without_the_rows_says_what_was_looked_for(folder: Path) -> None:
    (folder / "V.csv").rename(folder / "W.csv")
    said = inkling("fit", folder / "p.ink", "-i", folder, "--runner", "local", status=3)
    assert "holds none of V.parquet, V.csv, V.jsonl, V\n" in said
    assert "it holds W.csv, p.ink" in said


def test_rejected_rows_are_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = "".join(f"a,1,{time}\n" for time in ("soon", "later", ""))
    (folder / "V.csv").write_text((folder / "V.csv").read_text() + broken)
    told = "3 rows rejected: bad time in V (2), null time in V (1)"
    for command in ("fit", "score"):
        assert f"warning: {told}" in inkling(command, folder / "p.ink", "-i", folder, "--runner", "local")
        assert told not in inkling(command, folder / "p.ink", "-i", folder, "--runner", "local", "--quiet")
    program = parse(TEXT)
    program.fit({"V": folder / "V.csv"}, settings=FitSettings(order=1))
    program.score({"V": folder / "V.csv"}, settings=ScoreSettings(order=1))
    assert [record.getMessage().split(";")[0] for record in caplog.records] == [told, told]
    with pytest.raises(InputError, match=r"INK0617(?s:.)*1 row rejected: bad time in V"):
        program.fit({"V": [{"s": "a", "x": 1, "t": "soon"}]})


def test_fit_and_run_on_the_command_line(folder: Path) -> None:
    said = inkling("fit", folder / "p.ink", "-i", folder, "--runner", "local", "--order", 1)
    assert "ab_model: tree, order 1, 16 events, version 1" in said
    inkling("run", folder / "p.ink", "-i", folder, "-o", folder / "out.csv", "--runner", "local", "-q")
    assert (folder / "out.csv").read_text().count("\nab_forecast,") > 5
    said = inkling("fit", folder / "p.ink", "-i", folder, "--runner", "local", "--order", "auto", "-o", folder / "new")
    assert "bits per event on the latest rows, by order" in said
    assert said.count("least") == 1
    inkling("fit", folder / "p.ink", "-i", folder, "--order", "many", status=2)


def test_a_model_is_shown(folder: Path) -> None:
    inkling("fit", folder / "p.ink", "-i", folder, "--runner", "local", "--order", 1, "-q")
    picture = folder / "tree.svg"
    said = inkling("model", "show", folder / "ab_model.parquet", "--svg", picture, "--forecast", folder / "p.ink")
    model = load_model(folder / "ab_model.parquet")
    n_nodes = sum(1 for _ in nodes_of(model))
    assert all(
        words in said for words in ("version 1", "tree, order 1, from 16 events", *model.alphabet, "ab_forecast")
    )
    assert f"({n_nodes} nodes)" in said
    boxes = ElementTree.fromstring(picture.read_text()).findall("{http://www.w3.org/2000/svg}g")
    assert len(boxes) == n_nodes


def test_shares_of_a_node_add_up() -> None:
    for kind in ("tree", "full", "weighted"):
        model = parse(TEXT).fit({"V": ROWS}, settings=FitSettings(order=2, kind=kind))["ab_model"]  # type: ignore[arg-type]
        nodes = list(nodes_of(model))
        assert [float(node.law.sum()) for node in nodes] == pytest.approx([1.0] * len(nodes))
        assert nodes[0].count == len(ROWS)
        ElementTree.fromstring(model_svg(model))


def test_models_are_compared(folder: Path) -> None:
    for order, name in ((1, "a"), (2, "b")):
        inkling("fit", folder / "p.ink", "-i", folder, "--runner", "local", "--order", order, "-o", folder / name, "-q")
    one, other = (folder / name / "ab_model.parquet" for name in "ab")
    said = inkling("model", "compare", one, other).splitlines()
    assert said[:2] == ["order            1 → 2", "order of counts  1 → 2"]
    assert inkling("model", "compare", one, one) == "no difference\n"
