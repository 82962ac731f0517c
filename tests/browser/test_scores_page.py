"""The page about forecasts, in a browser: nothing is fetched, nothing sticks out, and both schemes can be read."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.sync_api import Browser

from inkling.forecasting.scoring.scorecard import Scorecard, Scores, write_scores
from inkling.forecasting.scoring.tally import Tally

GOOD = Tally(np.array([0.1, 0.5, 0.9]), np.array([50, 20, 30]), np.array([6, 9, 26]))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 420)])
def test_the_page_stands_alone(browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"], width: int) -> None:
    cards = (*(Scorecard(f"order {order}", GOOD, GOOD, order) for order in range(3)), Scorecard("a rule", GOOD, GOOD))
    path = write_scores({"soon": Scores("soon", "x within 2 events", 0.5, cards, "rows until 7")}, tmp_path / "x.html")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    complaints: list[str] = []
    fetched: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(path.as_uri())
    assert (complaints, fetched) == ([], [path.as_uri()])
    assert page.locator("svg").count() == 6
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no scrolling sideways"
    paper, ink = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
    assert (brightness(paper) > brightness(ink)) == (scheme == "light")
    assert abs(brightness(paper) - brightness(ink)) > 120
    first, second = (page.locator("figure").nth(number).bounding_box() for number in (0, 1))
    assert first is not None
    assert second is not None
    assert (first["y"] == second["y"]) == (width > 1000), "pictures stand side by side where there is room"
    context.close()


def brightness(color: str) -> float:
    red, green, blue = (float(part) for part in color.removeprefix("rgb(").removesuffix(")").split(","))
    return 0.3 * red + 0.59 * green + 0.11 * blue
