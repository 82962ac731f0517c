"""States go through bytes unchanged, by the hints of their types; bytes of another format or type are rejected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from inkling.errors import StoredError
from inkling.evaluators.state import from_bytes, to_bytes

T = TypeVar("T")


class Pair(NamedTuple):
    left: int
    right: tuple[str | None, ...]


@dataclass(frozen=True)
class Leaf:
    numbers: NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    name: str
    children: Mapping[int, Tree] = field(default_factory=dict)
    leaf: Leaf | Pair | None = None


@dataclass(frozen=True)
class Box(Generic[T]):
    inside: T
    more: tuple[T, ...] = ()


class Folded:
    """Written as a text."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def as_stored(self) -> str:
        return " ".join(self.words)

    @classmethod
    def from_stored(cls, stored: str) -> Folded:
        return cls(stored.split())


def test_plain_values_and_containers() -> None:
    kind = tuple[int, float, str, bool, bytes, frozenset[str], dict[int, float], Pair]
    state = (2**70, float("-inf"), "ä", True, b"\0x", frozenset("ba"), {7: 0.5, -1: 1.5}, Pair(1, ("a", None)))
    again = from_bytes(to_bytes(state), kind)
    assert again == state
    assert isinstance(again[-1], Pair)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64, np.uint16, np.float64, np.bool_])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (40,), (5, 9)])
def test_arrays_keep_type_and_shape_and_can_be_changed(kind: type, shape: tuple[int, ...]) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(kind)
    again = from_bytes(to_bytes(Box(array)), Box[NDArray[Any]]).inside
    assert (again.dtype, again.shape, again.tolist()) == (array.dtype, array.shape, array.tolist())
    assert again.flags.writeable


@pytest.mark.parametrize("values", [[-(2**63), 2**63 - 1], [-128, 127], [-129, 0], [0, 32768], [0, 2**31]])
def test_whole_numbers_of_any_size(values: list[int]) -> None:
    array = np.array(values * 40)
    assert from_bytes(to_bytes(Leaf(array)), Leaf).numbers.tolist() == values * 40


def test_exact_chances() -> None:
    array = np.array([[Fraction(1, 3)], [Fraction(2)]], object)
    again = from_bytes(to_bytes(Box(array)), Box[NDArray[Any]]).inside
    assert again.tolist() == array.tolist()


def test_tables_and_arrow_arrays() -> None:
    table = pa.table({"a": [5, 6], "b": [5, 6], "c": ["x", None], "d": pa.array([[1], None])})
    again, words = from_bytes(to_bytes((table, pa.array(["x", None]))), tuple[pa.Table, pa.Array])
    assert again.equals(table)
    assert words.equals(pa.array(["x", None]))


def test_dataclasses_that_hold_themselves_others_or_one_of_several() -> None:
    state = Tree("a", {1: Tree("b", leaf=Pair(1, ())), 2: Tree("c", {3: Tree("d")}, Leaf(np.arange(2)))})
    again = from_bytes(to_bytes(state), Tree)
    assert again.children[1].leaf == Pair(1, ())
    assert again.children[2].children[3] == Tree("d")
    leaf = again.children[2].leaf
    assert isinstance(leaf, Leaf)
    assert leaf.numbers.tolist() == [0, 1]


def test_generic_types() -> None:
    state = Box(Box(1), (Box(2, (3,)), Box(4)))
    assert from_bytes(to_bytes(state), Box[Box[int]]) == state


def test_what_explains_itself() -> None:
    again = from_bytes(to_bytes({"a": {"b": np.arange(3)}, "c": 1.5, "d": {}}), dict[str, Any])
    assert again["a"]["b"].tolist() == [0, 1, 2]
    assert (again["c"], again["d"]) == (1.5, {})


def test_classes_that_are_written_as_something_else() -> None:
    assert from_bytes(to_bytes(Box(Folded(["a", "b"]))), Box[Folded]).inside.words == ["a", "b"]


def test_the_same_state_gives_the_same_bytes() -> None:
    one, other = frozenset(["x", "y", "z"]), frozenset(["z", "x", "y"])
    assert to_bytes(Box(one)) == to_bytes(Box(other))


def test_the_state_of_something_else_is_rejected() -> None:
    with pytest.raises(StoredError, match="this is a state of Box, expected Leaf"):
        from_bytes(to_bytes(Box(1)), Leaf)
    with pytest.raises(StoredError, match="this is a state of Box, expected Tree or Leaf"):
        from_bytes(to_bytes(Box(Box(1))), Box[Tree | Leaf])


def test_what_a_state_cannot_hold() -> None:
    with pytest.raises(TypeError, match="cannot hold values of object"):
        to_bytes(Box(object()))
    with pytest.raises(StoredError, match="does not distinguish"):
        from_bytes(to_bytes(Box(b"")), Box[bytes | pa.Table])
