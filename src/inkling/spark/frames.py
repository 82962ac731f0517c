"""Many DataFrames at once: united without a plan that deepens with each, and made only when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyspark.sql import DataFrame


def united(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all frames, by the names of columns; a column that a frame has not is null there.

    Spark looks at all frames of a union again with each one added, so halves are united first.
    """
    if len(frames) == 1:
        return frames[0]
    half = len(frames) // 2
    return united(frames[:half]).unionByName(united(frames[half:]), allowMissingColumns=True)


class FramesByName(Mapping[str, DataFrame]):
    """Frames that are made the first time somebody asks for them, because each takes Spark some time to analyze."""

    def __init__(self, makers: Mapping[str, Callable[[], DataFrame]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, DataFrame] = {}

    def __getitem__(self, name: str) -> DataFrame:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
