"""What is said of failures that cannot be brought about at will, and which files of a batch are looked for."""

import json
from pathlib import Path

import pytest

from inkling.errors import InputError, StoredError
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import FailedRun, SinkError, by_sink, in_place, stream_failed
from inkling.spark.streaming.sources.missing_files import InputFiles
from inkling.stored import Stored, opened, sealed

MESSAGES = Path(__file__).parents[2] / "errors" / "running"
RUN = FailedRun("/checkpoint", "`/out`", 7)


def code_and_message(problem: BaseException) -> tuple[str, str]:
    (told,) = stream_failed(problem, RUN).diagnostics
    return told.code, told.message


def test_no_room_for_the_checkpoint(accept: bool) -> None:
    said = f"{stream_failed(OSError('[Errno 28] No space left on device'), RUN)}\n"
    golden = MESSAGES / "no_room_for_checkpoint.txt"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_no_room_in_the_sink() -> None:
    problem = SinkError("save")
    problem.__cause__ = OSError("Disk quota exceeded")
    assert code_and_message(problem) == ("INK0610", "no space is left for the results of batch 7 in `/out`")


def test_file_that_vanishes_while_it_is_read() -> None:
    said = (
        "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file:/in/3.parquet. File does not exist"
    )
    assert code_and_message(RuntimeError(said)) == ("INK0612", "`/in/3.parquet` is missing, and batch 7 reads it")


def test_a_sink_may_say_itself_what_is_wrong() -> None:
    own = InputError.of("INK0516", "other results lie there")
    with pytest.raises(SinkError) as caught, by_sink():
        raise own
    assert stream_failed(caught.value, RUN) is own


def test_unknown_failures_have_their_cause() -> None:
    (told,) = stream_failed(RuntimeError("[SOME_CONDITION] the moon is full SQLSTATE: 12345"), RUN).diagnostics
    assert (told.code, told.notes) == ("INK0614", ("the moon is full",))


def test_errors_on_workers_tell_where() -> None:
    with pytest.raises(ZeroDivisionError) as caught, in_place("stage 4 (theft)"):
        raise ZeroDivisionError
    assert caught.value.__notes__ == ["inkling: in stage 4 (theft)"]


def write_log(folder: Path, name: str, *lines: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(["v1", *(one if isinstance(one, str) else json.dumps(one) for one in lines)]))


def test_files_of_a_batch(tmp_path: Path) -> None:
    """As Spark writes it: the second source has no files, entry 9 is compacted, batch 5 takes entries 8 and 9."""
    checkpoint = tmp_path / "check point"
    write_log(checkpoint / "offsets", "4", {}, {"logOffset": 7}, "-")
    write_log(checkpoint / "offsets", "5", {}, {"logOffset": 9}, {"topic": {"0": 3}})
    there, gone = tmp_path / "a file.csv", tmp_path / "gone.csv"
    there.touch()
    write_log(checkpoint / "sources" / "0", "8", {"path": there.as_uri(), "timestamp": 1, "batchId": 8})
    old = {"path": (tmp_path / "long ago.csv").as_uri(), "timestamp": 0, "batchId": 1}
    write_log(checkpoint / "sources" / "0", "9.compact", old, {"path": gone.as_uri(), "timestamp": 2, "batchId": 9})
    files = InputFiles(CheckpointFolder(None, str(checkpoint)))  # type: ignore[arg-type]  # nothing here is remote
    assert files.missing_file(5) == str(gone)
    gone.touch()
    assert files.missing_file(5) is None


def test_damaged_states_on_workers_are_about_the_checkpoint() -> None:
    with pytest.raises(StoredError) as caught:
        opened(sealed(b"state", Stored.STATE)[:-1], Stored.STATE)
    trace = f"Traceback (most recent call last):\ninkling.errors.StoredError: {caught.value}"
    assert code_and_message(RuntimeError(trace)) == ("INK0611", "the checkpoint `/checkpoint` cannot be continued")
