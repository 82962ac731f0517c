"""Counts of what the blizzard example must find, reckoned week by week from where it was severe."""

from __future__ import annotations

from collections import Counter
from math import asin, cos, radians, sin, sqrt

from inkling.generate.arrays import Floats, Integers, Marks

HOUR_US = 3_600_000_000
EARTH_KM = 6378.137
LONGEST_COUNT_US = 12 * HOUR_US
LEAST_COUNT = 4
LEAST_SPAN_US = 3 * HOUR_US
LONGEST_AREA_US = 9 * HOUR_US
NEIGHBORS_KM = 300

Area = tuple[int, int, int, int]  # first station, last station, start, end


class BlizzardTruth:
    """Blizzards of different weeks have nothing to do with each other."""

    def __init__(self, lat: Floats, lon: Floats) -> None:
        places = list(zip(lat.tolist(), lon.tolist(), strict=True))
        self._neighbors = [
            {b for b, there in enumerate(places) if 0 < _km(here, there) < NEIGHBORS_KM} for here in places
        ]
        self.found = Counter({"severe": 0, "settling": 0, "warning": 0, "area": 0, "blizzard_area": 0})

    def see(self, severe: Marks, t: Integers) -> None:
        """A week: a row per half hour and a column per station."""
        warnings = [
            (end, start, station)
            for station in range(severe.shape[1])
            for start, end in self._warnings(t[severe[:, station], station].tolist())
        ]
        areas: set[Area] = set()
        for end, start, station in sorted(warnings):
            reached = {
                (first, station, min(since, start), end)
                for first, last, since, until in areas
                if until < end and station in self._neighbors[last] and end - min(since, start) <= LONGEST_AREA_US
            }
            areas |= reached | {(station, station, start, end)}
        self.found["warning"] += len(warnings)
        self.found["area"] += len(areas)
        self.found["blizzard_area"] += len({area for area in areas if area[0] != area[1]})

    def _warnings(self, times: list[int]) -> list[tuple[int, int]]:
        """Start and end of the first long count of every blizzard at a station."""
        warned: list[tuple[int, int]] = []
        begin, n = 0, 0
        for time in times:
            self.found["severe"] += 1
            self.found["settling"] += 1
            if n and time - begin <= LONGEST_COUNT_US:
                n += 1
                self.found["settling"] += 1
            else:
                begin, n = time, 1
            is_new = not warned or begin > warned[-1][1]
            if n > LEAST_COUNT and time - begin > LEAST_SPAN_US and is_new:
                warned.append((begin, time))
        return warned


def _km(here: tuple[float, float], there: tuple[float, float]) -> float:
    """The great circle between two positions in degrees."""
    lat_a, lon_a, lat_b, lon_b = map(radians, (*here, *there))
    half = sin((lat_b - lat_a) / 2) ** 2 + cos(lat_a) * cos(lat_b) * sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(half))
