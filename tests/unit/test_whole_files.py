"""Files that are written whole or not at all."""

from pathlib import Path

import pytest

from inkling.errors import InputError
from inkling.whole_files import file_name, write_whole, written_whole


def test_a_file_is_replaced_when_its_block_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "new" / "results.csv"
    write_whole("before", file)
    with written_whole(file) as place:
        place.write_text("after")
        assert file.read_text() == "before"
    assert file.read_text() == "after"
    assert [*file.parent.iterdir()] == [file]


def test_a_block_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    write_whole("before", file)

    def fail() -> None:
        with written_whole(file) as place:
            place.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert file.read_text() == "before"
    assert [*tmp_path.iterdir()] == [file]


def test_a_link_still_points_to_the_file(tmp_path: Path) -> None:
    file, link = tmp_path / "results.csv", tmp_path / "latest.csv"
    file.touch()
    link.symlink_to(file)
    write_whole("after", link)
    assert link.is_symlink()
    assert file.read_text() == "after"


def test_a_full_disk_is_a_message() -> None:
    with pytest.raises(InputError) as told:
        write_whole("much", Path("/dev/full"))
    (said,) = told.value.diagnostics
    assert (said.code, said.notes) == ("INK0565", ("No space left on device",))
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("name", ["../../x", "/x", "..", ".", "a/b", "a\0b", "\u00fc", "100%"])
def test_names_of_events_are_names_of_files_in_one_folder(name: str, tmp_path: Path) -> None:
    file = tmp_path / file_name(name)
    file.touch()
    assert [*tmp_path.iterdir()] == [file]


def test_different_events_have_different_files() -> None:
    names = ["..", "%2E%2E", "a/b", "a%2Fb", "a b", "a%20b"]
    assert len({file_name(name) for name in names}) == len(names)
