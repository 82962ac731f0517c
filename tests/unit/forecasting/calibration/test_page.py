"""The page stands alone and puts every bin where its numbers say."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from inkling.forecasting.calibration import Calibration, calibrate, compare, plot

HALF = [{"probability": 0.5, "happened": place % 2 == 0} for place in range(40)]
SPREAD = [{"probability": (place % 10 + 0.5) / 10, "happened": place % 3 == 0} for place in range(60)]


@pytest.fixture
def half() -> Calibration:
    return calibrate(HALF, "happened")


def svg_of(page: str) -> ElementTree.Element:
    found = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found[0])


def of_class(svg: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in svg.iter() if element.get("class") == name]


def test_a_bin_on_the_diagonal_is_drawn_on_it(half: Calibration, tmp_path: Path) -> None:
    svg = svg_of(half.to_html(tmp_path / "deep" / "page.html").read_text())
    (point,) = of_class(svg, "point")
    assert float(point.attrib["cx"]) == pytest.approx(plot.LEFT + plot.SIDE / 2, abs=0.1)
    assert float(point.attrib["cy"]) == pytest.approx(plot.TOP + plot.SIDE / 2, abs=0.1)
    (error,) = of_class(svg, "error")
    lo, hi = half.bins[0].interval
    length = float(error.attrib["y1"]) - float(error.attrib["y2"])
    assert length == pytest.approx(plot.SIDE * (hi - lo), abs=0.2)
    assert "20 of 40" in "".join(point.itertext())


def test_everything_lies_inside_the_picture(tmp_path: Path) -> None:
    svg = svg_of(calibrate(SPREAD, "happened").to_html(tmp_path / "page.html").read_text())
    assert len(of_class(svg, "point")) == len(of_class(svg, "bar")) == 10
    for bar in of_class(svg, "bar"):
        x, y, width, height = (float(bar.attrib[name]) for name in ("x", "y", "width", "height"))
        assert plot.LEFT <= x <= x + width <= plot.LEFT + plot.SIDE
        assert plot.TOP + plot.SIDE < y <= y + height <= plot.FLOOR + 0.1


def test_nothing_is_loaded_and_names_are_escaped(half: Calibration, tmp_path: Path) -> None:
    named = {"<b>ours</b>": half, "theirs": calibrate(SPREAD, "happened")}
    page = compare(named).to_html(tmp_path / "page.html", title="A & B").read_text()
    assert not re.search(r"https?://|<script|<link|@import|url\(", page)
    assert "<b>ours" not in page
    assert "&lt;b&gt;ours&lt;/b&gt;" in page
    assert "<title>A &amp; B</title>" in page
    assert len(of_class(svg_of(page), "curve")) == 2


def test_a_comparison_is_a_table_too(half: Calibration) -> None:
    table = compare({"half": half, "spread": calibrate(SPREAD, "happened")}).to_table()
    assert table["name"].to_pylist() == ["half", "spread"]
    assert table["brier_score"][0].as_py() == pytest.approx(0.25)
    assert table["expected_calibration_error"][0].as_py() == pytest.approx(0.0)


def test_too_many_curves_are_rejected(half: Calibration) -> None:
    with pytest.raises(ValueError, match="found 7"):
        compare({str(place): half for place in range(7)})
    with pytest.raises(ValueError, match="found 0"):
        compare({})
