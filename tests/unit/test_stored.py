"""What inkling stores is read again unchanged, and whatever is damaged, something else or older is rejected."""

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import inkling
from inkling import stored
from inkling.errors import StoredError
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.model import ForecastModel
from inkling.local_stream import LocalStream
from inkling.stored import Stored, opened, sealed

VISITS = """
    STREAM Door(person STRING, room STRING, t BIGINT) KEY person TIME t LATENESS 5 TICKS;
    EVENT visit(d.person AS person) AS PATTERN SEQ(Door d[room = 'lab'], Door e[room = 'hall']) WITHIN 100 TICKS;
"""
ROWS = [{"person": f"p{n % 4}", "room": ("lab", "hall")[n % 3 == 0], "t": n} for n in range(60)]


WRITTEN = Path(__file__).parent / "stored"


def new_stream() -> LocalStream:
    stream = inkling.parse(VISITS).open()
    stream.push(ROWS)
    return stream


def snapshot() -> bytes:
    return new_stream().snapshot()


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(StoredError) as caught:
        read()
    return str(caught.value)


def test_contents_in_parts_are_one_contents() -> None:
    assert sealed(b"ab", Stored.STATE, b"c") == sealed(b"abc", Stored.STATE)
    assert opened(sealed(b"ab", Stored.STATE, b"c"), Stored.STATE).tobytes() == b"abc"


def test_every_single_bit_counts() -> None:
    whole = sealed(b"some contents", Stored.STATE)
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        assert "error[INK0566]" in refusal(lambda data=bytes(damaged): opened(data, Stored.STATE))  # type: ignore[misc]


def test_every_beginning_is_damaged() -> None:
    whole = sealed(b"some contents", Stored.STATE)
    for length in range(len(whole)):
        assert "error[INK0566]" in refusal(lambda data=whole[:length]: opened(data, Stored.STATE))  # type: ignore[misc]


def test_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FORMAT", stored.FORMAT + 1)
    monkeypatch.setattr(inkling, "__version__", "7.2.0")
    data = sealed(b"", Stored.SNAPSHOT)
    monkeypatch.undo()
    said = refusal(lambda: opened(data, Stored.SNAPSHOT))
    assert said.startswith("error[INK0567]: this snapshot was written by inkling 7.2, and this is inkling")


def test_a_patch_version_reads_what_its_minor_version_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    major, minor, _ = inkling.__version__.split(".")
    monkeypatch.setattr(inkling, "__version__", f"{major}.{minor}.99")
    data = snapshot()
    monkeypatch.undo()
    again = LocalStream.restore(inkling.parse(VISITS), data)
    assert again.finish()["visit"].equals(LocalStream.restore(inkling.parse(VISITS), snapshot()).finish()["visit"])


def test_what_this_minor_version_has_written_is_read(accept: bool) -> None:
    """The files were written when the format was new; `--accept` replaces them only if the format has changed."""
    stored_snapshot, stored_model = WRITTEN / "snapshot.bin", WRITTEN / "model.parquet"
    if accept and stored_snapshot.read_bytes()[5] != stored.FORMAT:
        stored_snapshot.write_bytes(snapshot())
        stored_model.unlink(missing_ok=True)
        model().save(stored_model)
    continued, at_once = LocalStream.restore(inkling.parse(VISITS), stored_snapshot.read_bytes()), new_stream()
    more = [{"person": "p1", "room": "hall", "t": 70}]
    for one, other in ((continued.push(more), at_once.push(more)), (continued.finish(), at_once.finish())):
        assert one["visit"].equals(other["visit"])
    assert ForecastModel.load(stored_model).fingerprint == model().fingerprint


@pytest.mark.parametrize("begin", [b"INKSTRM2", struct.pack("<q", 40) + b'{"format":11,'])
def test_bytes_from_before_there_was_a_container_are_named(begin: bytes) -> None:
    said = refusal(lambda: opened(begin + bytes(40), Stored.SNAPSHOT))
    assert said.startswith("error[INK0567]: this snapshot was written by an early inkling 0.1")


def test_something_else_that_is_stored_is_named() -> None:
    said = refusal(lambda: LocalStream.restore(inkling.parse(VISITS), sealed(b"", Stored.FILTER)))
    assert said.startswith("error[INK0566]: these bytes are no snapshot\n   = note: it is a saved filter")


def test_contents_that_cannot_be_read_are_reported_like_damaged_ones() -> None:
    said = refusal(lambda: LocalStream.restore(inkling.parse(VISITS), sealed(b"short", Stored.SNAPSHOT)))
    assert said.startswith("error[INK0566]: this snapshot is damaged\n   = note: its contents cannot be read")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_snapshots_are_rejected(seed: int) -> None:
    whole, draw, program = snapshot(), random.Random(seed), inkling.parse(VISITS)
    for _ in range(100):
        damaged = bytearray(whole)
        begin = draw.randrange(len(whole))
        match draw.choice(["flip", "cut", "zeros", "drop", "insert"]):
            case "flip":
                damaged[begin] ^= 1 << draw.randrange(8)
            case "cut":
                del damaged[begin:]
            case "zeros":
                damaged[begin : begin + 40] = bytes(len(damaged[begin : begin + 40]))
            case "drop":
                del damaged[begin : begin + draw.randint(1, 40)]
            case "insert":
                damaged[begin:begin] = draw.randbytes(draw.randint(1, 40))
        if damaged != whole:
            assert "error[INK0566]" in refusal(lambda data=bytes(damaged): LocalStream.restore(program, data))  # type: ignore[misc]


def model() -> ForecastModel:
    return ForecastModel("hot", ("low", "high"), "f" * 64, 3, WordCounts.empty(2, 1))


def described(table: pa.Table, **changes: object) -> pa.Table:
    """The table of a model with another description, as of format 1, which has no checksum."""
    about = {**json.loads(table["about"][0].as_py()), "format": 1, **changes}
    values = [json.dumps(about), *table["about"].to_pylist()[1:]]
    return table.set_column(table.column_names.index("about"), "about", pa.array(values, pa.string()))


def with_word(**changes: object) -> pa.Table:
    word = {"what": "word", "group": "", "state": 0, "length": 1, "code": 1, "count": 2.0, **changes}
    table = described(model().to_arrow())
    return pa.concat_tables([table, pa.Table.from_pylist([word], schema=table.schema)])


def test_models_without_a_checksum_are_still_read() -> None:
    assert ForecastModel.from_arrow(with_word()).n_events == 2.0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"count": -1.0}, "a count is negative or not finite"),
        ({"count": float("nan")}, "a count is negative or not finite"),
        ({"count": None}, "its column `count` has missing values"),
        ({"state": None}, "its column `state` has missing values"),
        ({"state": 3}, "it counts words that its symbols do not form"),
        ({"code": 2}, "it counts words that its symbols do not form"),
        ({"length": -1}, "it counts words that its symbols do not form"),
        ({"what": "other"}, "it has rows that count nothing"),
        ({"what": None}, "it has rows that count nothing"),
    ],
)
def test_impossible_counts_of_a_model_are_rejected(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=f"the model is damaged: {reason}"):
        ForecastModel.from_arrow(with_word(**changes))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n_states": 0}, "its n_states is 0"),
        ({"order": None}, "its order is null"),
        ({"alphabet": None}, "its alphabet is null"),
        ({"learning": {"kind": "tree", "order": 1, "p_min": None}}, "its learning is"),
        ({"format": 2, "version": 7}, "its checksum does not fit its contents"),
    ],
)
def test_impossible_descriptions_of_a_model_are_rejected(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=f"the model is damaged: {reason}"):
        ForecastModel.from_arrow(described(model().to_arrow(), **changes))


def test_a_model_without_a_description_is_rejected() -> None:
    table = model().to_arrow()
    nothing = table.set_column(table.column_names.index("about"), "about", pa.nulls(len(table), pa.string()))
    with pytest.raises(ValueError, match="the model is damaged: its description is not JSON"):
        ForecastModel.from_arrow(nothing)
