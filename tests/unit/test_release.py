"""What a release says about itself is the same everywhere."""

import sys
import tomllib
from pathlib import Path

from tests.kit import release

import inkling
from inkling.extras import DISTRIBUTION, EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_names_and_versions_agree() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert f"\nversion: {inkling.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {inkling.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert {extra for extra, _ in EXTRAS.values()} <= set(PROJECT["optional-dependencies"])


def test_the_first_example_of_the_readme_runs_with_an_installed_command() -> None:
    release.run(str(Path(sys.executable).with_name("inkling")))
