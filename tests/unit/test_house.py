"""The project keeps its own rules: light imports, one direction of imports, pinned versions, a full help."""

import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest

import inkling

ROOT = Path(__file__).parents[2]
HEAVY = ("numba", "pandas", "pyarrow", "pyspark")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {canonical(name): version for name, version in (line.split("==") for line in lines)}


def test_import_loads_neither_spark_nor_numba() -> None:
    program = f"import sys, inkling; print([name for name in {HEAVY} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_no_module_is_named_like_a_public_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules(inkling.__path__)}
    assert not modules & set(inkling.__all__)


@pytest.mark.slow
def test_imports_point_down() -> None:
    checker = shutil.which("lint-imports", path=Path(sys.executable).parent)
    if checker is None:
        pytest.skip("import-linter is not installed")
    ran = subprocess.run([checker, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._!+-]+", line), line


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {canonical(re.match(r"[A-Za-z0-9._-]+", requirement)[0]) for group in groups for requirement in group}
    assert names - {project["name"]} <= pinned().keys()


def test_what_dependencies_bring_is_pinned_too() -> None:
    """Follows requirements from pinned package to package, as far as they are installed here."""
    installed = {canonical(each.metadata["Name"]): each for each in distributions()}
    missing = {
        f"{name} needs {requirement}"
        for name in pinned().keys() & installed.keys()
        for requirement in installed[name].requires or ()
        if "extra ==" not in requirement
        and (needed := canonical(re.match(r"[A-Za-z0-9._-]+", requirement)[0])) in installed
        and needed not in pinned()
    }
    assert not missing


def test_every_target_has_a_line_in_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^\.PHONY: (\S+)", makefile, re.MULTILINE))
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert targets
    assert targets == set(re.findall(r"^  make (\S+) ", shown, re.MULTILINE))


def test_no_source_file_is_ignored_by_git() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    files = [
        str(path.relative_to(ROOT))
        for folder in ("src", "tests", "docs", "examples", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    ran = subprocess.run(command, cwd=ROOT, input="\n".join(files), capture_output=True, text=True, check=False)
    assert ran.stdout == ""
