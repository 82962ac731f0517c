"""Certificates that Python trusts, as a file that Java reads: behind a company's proxy the two often disagree."""

import hashlib
import ssl
import struct
from collections.abc import Sequence
from pathlib import Path

_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_PASSWORD = "changeit"  # Java's own default; a list of public certificates is no secret


def trusted_like_python(file: Path) -> list[str]:
    """Options of a virtual machine that trusts what Python trusts; none if Python will not tell."""
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
