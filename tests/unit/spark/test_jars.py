"""Jars are fetched from the repository that Ivy is told of, checked, and not fetched again."""

import hashlib
from pathlib import Path

import pytest

from inkling.spark.jvm.jars import SETTINGS_VARIABLE, Jar, NoJarsError, fetched, jar_folder, read_jars

CONTENTS = b"not a jar, but Ivy does not look inside"
TOOL = Jar("org.example", "tool", "1.2", hashlib.sha256(CONTENTS).hexdigest())

pytestmark = pytest.mark.spark  # Ivy runs on Java


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in a folder, with one jar in it, and an empty cache."""
    folder = tmp_path / "repository"
    file = folder / "org" / "example" / "tool" / "1.2" / "tool-1.2.jar"
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENTS)
    settings = tmp_path / "settings.xml"
    pattern = f"{folder}/[organisation]/[module]/[revision]/[artifact]-[revision].[ext]"
    settings.write_text(
        '<ivysettings><settings defaultResolver="here"/><resolvers><filesystem name="here" m2compatible="true">'
        f'<artifact pattern="{pattern}"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv(SETTINGS_VARIABLE, str(settings))
    monkeypatch.setenv("INKLING_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def test_a_jar_is_fetched_once_and_again_when_it_is_damaged(repository: Path) -> None:
    assert fetched([TOOL], "a tool") == [jar_folder() / "tool-1.2.jar"]
    assert [path.name for path in jar_folder().iterdir()] == ["tool-1.2.jar"]
    (jar_folder() / "tool-1.2.jar").write_bytes(CONTENTS[:5])
    assert fetched([TOOL], "a tool")[0].read_bytes() == CONTENTS
    for file in repository.rglob("*.jar"):
        file.unlink()
    assert fetched([TOOL], "a tool")[0].read_bytes() == CONTENTS


def test_a_jar_that_is_not_there(repository: Path) -> None:
    with pytest.raises(NoJarsError) as raised:
        fetched([TOOL, Jar("org.example", "other", "1.0", "00")], "a tool")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "INK0603"
    assert diagnostic.message == "a tool could not be fetched from Maven's repository"
    assert "other-1.0.jar" in diagnostic.notes[0]
    assert str(jar_folder()) in diagnostic.helps[0]


def test_a_jar_with_other_contents_is_rejected(repository: Path) -> None:
    for file in repository.rglob("*.jar"):
        file.write_bytes(b"something else")
    with pytest.raises(NoJarsError) as raised:
        fetched([TOOL], "a tool")
    assert raised.value.diagnostics[0].notes[0] == "with unexpected contents: tool-1.2.jar"
    assert list(jar_folder().iterdir()) == []


def test_pinned_lists_name_every_jar_once() -> None:
    root = Path(__file__).parents[3]
    for path in (root / "src/inkling/spark/kafka/kafka.jars", root / "tests/kafka/broker.jars"):
        jars = read_jars(path.read_text())
        assert len({(jar.group, jar.artifact) for jar in jars}) == len(jars) > 4
        assert all(len(jar.sha256) == 64 for jar in jars)
