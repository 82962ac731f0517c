"""What all tests share: a Spark session, Hypothesis profiles, the order of tests, rewriting golden files."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLOWER_LAST = ("slow", "property", "spark", "browser", "long")
PROPERTIES = Path(__file__).with_name("properties")
SEEDS = ("seed", "part")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NOTHING_SELECTED = "failed: no test was selected"
NO_BROWSER = "no Chromium found; install it with `apt-get install chromium`, then `make test`"

# what tests define travels to Spark's workers by the names of their modules, so these must find them
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(Path(__file__).parents[1])]))

# wall-clock deadlines fail on a busy machine, and the first call of a kernel compiles it
settings.register_profile(
    "dev", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile(
    "quick",
    settings.get_profile("dev"),
    max_examples=10,
    **({"derandomize": True, "database": None} if os.environ.get("CI") else {}),
)
settings.register_profile("ci", settings.get_profile("dev"), max_examples=100, derandomize=True, database=None)
settings.register_profile("long", settings.get_profile("dev"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite golden files with what the program says now")
    parser.addoption("--seeds", type=int, help="of a test that is tried with many seeds, try at most so many")


@pytest.fixture(scope="session")
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--accept"))


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """One session for the whole run: two tasks at a time, started the quick way."""
    from inkling.spark.session import spark_session

    session = spark_session(master="local[2]", app_name="inkling-tests", quick=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser is; tests marked `browser` are skipped on a machine that has none."""
    found = _chromium()
    assert found is not None, NO_BROWSER
    return found


def _chromium() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def pytest_itemcollected(item: pytest.Item) -> None:
    for name in {"spark", "browser"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(name)
    if item.path.is_relative_to(PROPERTIES):
        item.add_marker("property")
    if set(SEEDS) & set(_params(item)):
        item.add_marker("seeds")


def _params(item: pytest.Item) -> dict[str, object]:
    return dict(item.callspec.params) if hasattr(item, "callspec") else {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if "browser" in item.keywords and _chromium() is None:
        pytest.skip(NO_BROWSER)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    limit = config.getoption("--seeds")
    if limit is not None:
        _keep_first_seeds(config, items, limit)
    _order_by_cost(items)


def _keep_first_seeds(config: pytest.Config, items: list[pytest.Item], limit: int) -> None:
    """Of the selected tests that differ in nothing but a seed, keep the first ones."""
    tried: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        params = _params(item)
        is_one_of_many = any(params.pop(name, None) is not None for name in SEEDS)
        test = f"{item.nodeid.partition('[')[0]} {params}"
        tried[test] += is_one_of_many
        (left_out if is_one_of_many and tried[test] > limit else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def _order_by_cost(items: list[pytest.Item]) -> None:
    """Quick tests first: most errors show before a virtual machine or a browser has started.

    Several processes begin with the slow ones, so that none is left with them in the end while the others have nothing
    to do.
    """

    def cost(item: pytest.Item) -> int:
        return max(
            (SLOWER_LAST.index(mark.name) + 1 for mark in item.iter_markers() if mark.name in SLOWER_LAST), default=0
        )

    if "PYTEST_XDIST_WORKER" in os.environ:
        longest = {item.path for item in items if "killed" in item.name}
        items.sort(key=lambda item: (-cost(item), item.path not in longest, "streaming" not in item.path.parts))
    else:
        items.sort(key=cost)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> Iterator[None]:
    """One line in the end about tests that this machine cannot run, or that no test was selected."""
    yield
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        terminalreporter.write_line(f"{NOTHING_SELECTED}: see `-k`, `-m` and paths in the command", red=True, bold=True)
    skipped = terminalreporter.stats.get("skipped", [])
    if n_skipped := sum(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"left out: {n_skipped} browser tests ({NO_BROWSER})", yellow=True, bold=True)
