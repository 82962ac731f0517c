"""What the daemon loads before it forks, and that it survives what cannot be loaded."""

from pathlib import Path

import pytest

from inkling.spark.worker_daemon import KERNELS, LIBRARIES, preload


def test_libraries_and_every_kernel_module_are_loaded() -> None:
    loaded = preload()
    assert set(LIBRARIES) <= set(loaded)
    assert any(name.startswith(f"{KERNELS}.") for name in loaded)


def test_what_is_missing_is_passed_over() -> None:
    assert preload(("json", "no_such_library"), "no_such_package") == ["json"]


def test_module_that_fails_to_import_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "broken_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").touch()
    (package / "bad.py").write_text("raise RuntimeError")
    monkeypatch.syspath_prepend(tmp_path)
    assert preload((), "broken_kernels") == ["broken_kernels.good"]
