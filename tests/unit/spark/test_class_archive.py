"""When an archive counts as recorded, and who may record it; no virtual machine is started."""

from pathlib import Path

import pytest

from inkling.spark.jvm.class_archive import ClassArchive, class_archive, discard_orphans
from inkling.spark.jvm.java import Java


@pytest.fixture
def java(tmp_path: Path) -> Java:
    base = tmp_path / "java" / "lib" / "server" / "classes.jsa"
    base.parent.mkdir(parents=True)
    base.write_bytes(b"base")
    return Java(tmp_path / "java", "17.0.15")


@pytest.fixture
def archive(java: Java, tmp_path: Path) -> ClassArchive:
    archive = class_archive(java, tmp_path / "cache")
    with archive.sole_recorder():
        scratch = archive.directory / "spark.1.scratch"
        scratch.write_bytes(b"classes" * 100)
        archive.keep(scratch)
    return archive


def test_kept_archive_is_recorded(archive: ClassArchive) -> None:
    assert archive.recorded
    assert f"-XX:SharedArchiveFile={archive.base}:{archive.top}" in archive.reading_options()


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "missing", "no stamp", "broken stamp", "no base"])
def test_damaged_archive_is_not_used(archive: ClassArchive, damage: str) -> None:
    stamp = archive.directory / "spark.json"
    match damage:
        case "truncated":
            archive.top.write_bytes(archive.top.read_bytes()[:10])
        case "overwritten":
            archive.top.write_bytes(b"garbage" * 100)
        case "missing":
            archive.top.unlink()
        case "no stamp":
            stamp.unlink()
        case "broken stamp":
            stamp.write_text("[7")
        case "no base":
            archive.base.unlink()
    assert not archive.recorded


def test_discarded_archive_is_gone(archive: ClassArchive) -> None:
    archive.discard()
    assert not archive.recorded
    assert not archive.top.exists()
    archive.discard()


def test_each_java_has_its_own_archive(java: Java, tmp_path: Path) -> None:
    upgraded = Java(java.home, "17.0.16")
    moved = Java(tmp_path, java.version)
    directories = {class_archive(each, tmp_path).directory for each in (java, upgraded, moved)}
    assert len(directories) == 3


def test_one_process_records_at_a_time(java: Java, tmp_path: Path) -> None:
    archive = class_archive(java, tmp_path)
    with archive.sole_recorder() as first, archive.sole_recorder() as second:
        assert (first, second) == (True, False)
    with archive.sole_recorder() as third:
        assert third


def test_recorder_sweeps_up_after_one_that_died(java: Java, tmp_path: Path) -> None:
    archive = class_archive(java, tmp_path)
    archive.directory.mkdir(parents=True)
    left_over = archive.directory / "spark.99.scratch"
    left_over.touch()
    with archive.sole_recorder():
        assert not left_over.exists()


def test_archives_of_what_is_gone_are_removed(archive: ClassArchive, tmp_path: Path) -> None:
    discard_orphans(tmp_path / "cache")
    assert archive.recorded
    archive.java.home.rename(tmp_path / "elsewhere")
    discard_orphans(tmp_path / "cache")
    assert not archive.directory.exists()
