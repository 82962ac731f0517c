"""Phases return numbers to kernels: Numba would release an array that no reference is counted for."""

import ast
from collections.abc import Iterator
from pathlib import Path

import inkling.kernels

KERNELS = Path(inkling.kernels.__file__).parent
PHASES = {"phase", "long_phase"}


def decorators(function: ast.FunctionDef) -> set[str]:
    calls = (one.func if isinstance(one, ast.Call) else one for one in function.decorator_list)
    return {one.id for one in calls if isinstance(one, ast.Name)}


def functions() -> Iterator[ast.FunctionDef]:
    for path in KERNELS.rglob("*.py"):
        yield from (one for one in ast.parse(path.read_text()).body if isinstance(one, ast.FunctionDef))


def array_fields() -> set[str]:
    """Fields of named tuples that are arrays."""
    trees = [ast.parse(path.read_text()) for path in KERNELS.rglob("*.py")]
    fields = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(one.target) for one in fields if "ndarray" in ast.unparse(one.annotation)}


def called(function: ast.FunctionDef) -> set[str]:
    return {
        node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def returned_arrays(function: ast.FunctionDef, fields: set[str]) -> Iterator[str]:
    """Expressions after `return` that are arrays as far as the text shows: they are indexed elsewhere, or slices."""
    indexed = {ast.unparse(node.value) for node in ast.walk(function) if isinstance(node, ast.Subscript)}
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            for value in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
                is_slice = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)
                is_field = isinstance(value, ast.Attribute) and value.attr in fields
                if is_slice or is_field or ast.unparse(value) in indexed:
                    yield ast.unparse(value)


def test_phases_that_kernels_call_return_no_arrays() -> None:
    phases = {one.name: one for one in functions() if decorators(one) & PHASES}
    kernels = [one for one in functions() if "njit" in decorators(one)]
    fields = array_fields()
    assert len(phases) > 50
    assert kernels
    wrong = {
        f"{name}, called by {kernel.name}": found
        for kernel in kernels
        for name in called(kernel) & set(phases)
        if (found := list(returned_arrays(phases[name], fields)))
    }
    assert wrong == {}


def test_an_array_that_is_returned_is_noticed() -> None:
    (function,) = ast.parse("def f(a, b):\n    b[0] = 1\n    return a[1:], b, a.c, b[0] + 1, 3").body
    assert isinstance(function, ast.FunctionDef)
    assert list(returned_arrays(function, {"c"})) == ["a[1:]", "b", "a.c"]
