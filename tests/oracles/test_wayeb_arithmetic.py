"""Numbers of the paper on fleets that are worked out again: rates of its data, and the speed of a replay."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inkling.model.time import Clock, Duration


def test_O31_rates_of_the_data() -> None:
    assert pytest.approx(20.4, abs=0.05) == 270e6 / 13.22e6
    assert pytest.approx(0.29, abs=0.005) == 4.5e6 / 15.7e6


def test_O31_half_a_year_in_an_hour() -> None:
    half_a_year, hour = (
        Duration(Fraction(n), unit).units(Clock.TIMESTAMP) for n, unit in ((180, "DAYS"), (1, "HOURS"))
    )
    assert half_a_year == 4320 * hour
