"""A broker that has a second listener with TLS, where users log in with SCRAM."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kafka.broker import HOST, Broker, free_port

USER, PASSWORD = "ada", "hush-of-the-broker"
LOGIN = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="{USER}" password="{PASSWORD}";'


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine, which signs itself; and a file that also has its key."""
    key, public, both = folder / "key.pem", folder / "public.pem", folder / "both.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={HOST}"]
    make += ["-addext", f"subjectAltName=IP:{HOST}", "-keyout", str(key), "-out", str(public)]
    subprocess.run(make, check=True, capture_output=True)
    both.write_text(key.read_text() + public.read_text())
    return public, both


@contextmanager
def secure_broker(folder: Path) -> Iterator[tuple[Broker, str, Path]]:
    """A started broker, the address of its secure listener, and the certificate that clients must trust."""
    public, both = certificate(folder)
    broker = Broker.in_folder(folder / "broker")
    secure = f"{HOST}:{free_port()}"
    inside = f"PLAINTEXT://{broker.address},CONTROLLER://{HOST}:{broker.controller_port}"
    of_secure = "listener.name.sasl_ssl."
    broker.settings |= {
        "listeners": f"{inside},SASL_SSL://{secure}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        f"{of_secure}sasl.enabled.mechanisms": "SCRAM-SHA-512",
        f"{of_secure}scram-sha-512.sasl.jaas.config": LOGIN.partition(" username")[0] + ";",
        f"{of_secure}ssl.keystore.type": "PEM",
        f"{of_secure}ssl.keystore.location": str(both),
    }
    broker.users = {USER: PASSWORD}
    broker.start()
    try:
        yield broker, secure, public
    finally:
        broker.stop()
