"""Shapes in the plane, written as well-known text, and how positions lie to them.

Shapely is imported when the first shape is met: most programs have none.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SHAPES = 4096
"""Texts whose shapes are remembered from call to call."""


@lru_cache(maxsize=MAX_SHAPES)
def shape_of(text: str) -> Any:
    """The shape that a text describes, prepared for many questions; None when it describes none."""
    import shapely

    found = shapely.from_wkt(text, on_invalid="ignore")
    if found is not None:
        shapely.prepare(found)
    return found


def contains(text: str, x: float, y: float) -> bool | None:
    """Whether a position lies inside a shape; its border is not inside."""
    import shapely

    found = shape_of(text)
    return None if found is None else bool(shapely.contains_xy(found, x, y))


def distance_to(text: str, x: float, y: float) -> float | None:
    """How far a position lies from a shape, in the unit of the coordinates; 0 inside it and on its border."""
    import shapely

    found = shape_of(text)
    if found is None:
        return None
    distance = float(shapely.distance(found, shapely.points(x, y)))
    return None if math.isnan(distance) else distance


def all_contain(shapes: NDArray[Any], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    import numpy as np
    import shapely

    return np.asarray(shapely.contains_xy(shapes, x, y))


def all_distances(shapes: NDArray[Any], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np
    import shapely

    with np.errstate(invalid="ignore"):  # where a coordinate is missing
        return np.asarray(shapely.distance(shapes, shapely.points(x, y)))
