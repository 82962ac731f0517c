"""Jars from Maven's central repository, pinned by checksum and fetched once with the Ivy that Spark includes.

``INKLING_IVY_SETTINGS`` names a settings file of Ivy for machines that must use a mirror.
"""

import hashlib
import os
import re
import ssl
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

from inkling.caches import cache_directory
from inkling.errors import InklingError
from inkling.spark.jvm.java import find_java

SETTINGS_VARIABLE = "INKLING_IVY_SETTINGS"

_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="public"/>
  <resolvers><ibiblio name="public" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""
_TIME_LIMIT_S = 600


class NoJarsError(InklingError):
    """Jars are not on this machine and could not be fetched."""


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar of the repository, and its checksum."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    def is_in(self, folder: Path) -> bool:
        """Whether the folder has the file with the right checksum."""
        file = folder / self.file_name
        return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == self.sha256


def read_jars(text: str) -> list[Jar]:
    """One jar per line, as ``group:artifact:version sha256``.

    >>> read_jars("# logging\\norg.slf4j:slf4j-api:2.0.17 7b75\\n")[0].file_name
    'slf4j-api-2.0.17.jar'
    """
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [Jar(*re.split("[: ]", line)) for line in lines]


def jar_folder() -> Path:
    """The folder of fetched jars."""
    return cache_directory() / "jars"


def fetched(jars: Sequence[Jar], what: str) -> list[Path]:
    """The files of the jars, fetched if they are missing; `what` describes them in an error."""
    folder = jar_folder()
    folder.mkdir(parents=True, exist_ok=True)
    missing = [jar for jar in jars if not jar.is_in(folder)]
    if missing:
        _fetch(missing, folder, what)
    return [folder / jar.file_name for jar in jars]


def _fetch(jars: Sequence[Jar], folder: Path, what: str) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix="fetch-") as scratch:
        here = Path(scratch)
        log = _run_ivy(jars, here)
        for jar in jars:
            if not jar.is_in(here):
                raise _not_fetched(jars, here, folder, what, log)
        for jar in jars:
            # renamed into place, so that another process never finds half a file
            (here / jar.file_name).replace(folder / jar.file_name)


def _run_ivy(jars: Sequence[Jar], here: Path) -> str:
    """Fetch jars into `here`; returns the output of Ivy."""
    (here / "settings.xml").write_text(_SETTINGS)
    (here / "ivy.xml").write_text(_module(jars))
    settings = os.environ.get(SETTINGS_VARIABLE) or str(here / "settings.xml")
    command = [
        *(str(find_java().executable), "-XX:TieredStopAtLevel=1", *trust_of_python(here / "trusted.jks")),
        *("-cp", str(_ivy()), "org.apache.ivy.Main"),
        *("-settings", settings, "-cache", str(here / "ivy"), "-ivy", str(here / "ivy.xml")),
        *("-retrieve", f"{here}/[artifact]-[revision].[ext]"),
    ]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_TIME_LIMIT_S, check=False)
    except (OSError, subprocess.SubprocessError) as problem:
        return str(problem)
    return ran.stdout + ran.stderr


def _ivy() -> Path:
    return next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))


def _module(jars: Sequence[Jar]) -> str:
    """The jars as an Ivy module, without their own dependencies."""
    dependencies = "".join(
        f'<dependency org="{jar.group}" name="{jar.artifact}" rev="{jar.version}" transitive="false"/>' for jar in jars
    )
    return (
        '<ivy-module version="2.0"><info organisation="inkling" module="jars"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _not_fetched(jars: Sequence[Jar], here: Path, folder: Path, what: str, log: str) -> NoJarsError:
    damaged = [jar.file_name for jar in jars if (here / jar.file_name).is_file() and not jar.is_in(here)]
    absent = [jar.file_name for jar in jars if not (here / jar.file_name).is_file()]
    notes = []
    if absent:
        notes.append(f"not found: {', '.join(absent)}")
    if damaged:
        notes.append(f"with unexpected contents: {', '.join(damaged)}")
    return NoJarsError.of(
        "INK0603",
        f"{what} could not be fetched from Maven's repository",
        notes=(*notes, *_reasons(log)),
        helps=(
            f"copy the jars into {folder}, or name the settings of a mirror for Ivy in {SETTINGS_VARIABLE}",
            "behind a proxy, set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=... -Dhttps.proxyPort=...'",
        ),
    )


def _reasons(log: str) -> tuple[str, ...]:
    """The first error in the output of Ivy."""
    errors = [line.strip() for line in log.splitlines() if "error" in line.lower() and "::::" not in line]
    return tuple(dict.fromkeys(errors))[:1]


_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_PASSWORD = "changeit"  # Java's default; a list of public certificates is not secret


def trust_of_python(file: Path) -> list[str]:
    """Options of a virtual machine that trusts the certificates of Python; none if Python does not list them."""
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not certificates:
        return []
    file.write_bytes(java_key_store(certificates))
    return [
        f"-Djavax.net.ssl.trustStore={file}",
        "-Djavax.net.ssl.trustStoreType=JKS",
        f"-Djavax.net.ssl.trustStorePassword={_PASSWORD}",
    ]


def java_key_store(certificates: Sequence[bytes]) -> bytes:
    """Trusted certificates in the format of Java's `keytool`, signed with its keyed digest."""
    entries = b"".join(
        struct.pack(">I", _TRUSTED) + _text(f"c{number}") + struct.pack(">Q", 0) + _text("X.509") + _sized(one)
        for number, one in enumerate(certificates)
    )
    store = struct.pack(">III", _MAGIC, _VERSION, len(certificates)) + entries
    keyed = _PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + store  # the phrase is part of the format
    return store + hashlib.sha1(keyed, usedforsecurity=False).digest()


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data
