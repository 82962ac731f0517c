"""A class name means one concept; nodes of trees share names, so they are written with the prefix of their tree."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "inkling"
TREES = {
    "language/syntax/expressions.py",
    "language/syntax/nodes.py",
    "language/syntax/patterns.py",
    "language/syntax/statements.py",
    "language/ele/terms.py",
    "language/epsparql/terms.py",
    "language/lahar/terms.py",
    "language/sase/terms.py",
    "language/sre/terms.py",
    "logical/expr.py",
    "logical/plan.py",
}
TREE_MODULES = {f"inkling.{path[:-3].replace('/', '.')}" for path in TREES} | {"inkling.language.syntax"}


@cache
def parsed() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")
    }


def classes(modules: dict[str, ast.Module]) -> dict[str, list[str]]:
    """The modules that define a public class, by the name of the class."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, module in modules.items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    return found


def test_a_class_name_is_defined_once_outside_of_trees() -> None:
    clashes = {name: paths for name, paths in classes(parsed()).items() if len(set(paths) - TREES) > 1}
    assert clashes == {}


def test_nodes_with_a_shared_name_are_written_with_a_prefix() -> None:
    modules = parsed()
    shared = {name for name, paths in classes(modules).items() if len(paths) > 1}
    bare = [
        f"{path}:{node.lineno}: {alias.name}"
        for path, module in modules.items()
        if path not in TREES and path != "language/syntax/__init__.py"
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module in TREE_MODULES
        for alias in node.names
        if alias.name in shared
    ]
    assert bare == []
