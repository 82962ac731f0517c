"""Secrets of addresses: read from the environment or a file, and masked in everything that is shown."""

from pathlib import Path

import pytest

from inkling.errors import Diagnostic, InklingError
from inkling.masking import masked, without_secrets
from inkling.source import SourceText, Span
from inkling.spark.streaming.addresses import address_of
from inkling.spark.streaming.failures import FailedRun, sink_name, stream_failed
from inkling.spark.streaming.sinks.protocol import sink_of

LOGIN = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="ada" password="hush-{}";'


@pytest.mark.parametrize(
    "address",
    [
        "kafka://db:9092/found?kafka.sasl.jaas.config=" + LOGIN.format(1),
        "kafka://db:9092/found?kafka.ssl.key.password=hush-2&format=json",
        "kafka://db:9092/found?kafka.ssl.keystore.key=hush-2",
        "s3a://KEY:hush-3@bucket/found",
        "s3a://bucket/found?fs.s3a.secret.key=hush-4&fs.s3a.access.key=hush-5",
        "table://found?jdbc.password=hush-6",
        "postgresql://ada:hush-7@db/found",
        "out?password=hush-8",
        "kafka://db:9092/found?kafka.ssl.key.password=hush-9&hush-9?more",
    ],
)
def test_no_secret_is_shown(address: str) -> None:
    """Neither in the address, nor in texts that hold it, nor in what a library says of the secret itself."""
    parsed = address_of(address)
    assert "hush" not in parsed.text
    assert "hush" not in repr(parsed)
    assert "hush" not in without_secrets(address)
    assert "hush" not in masked(f"tried `{address}` for `Reading`")
    assert "hush" not in str(Diagnostic("INK0901", f"`{address}`", notes=(address,), helps=(address,)).to_dict())
    source = SourceText("x.ink", f"TABLE t FROM '{address}';")
    assert "hush" not in Diagnostic("INK0901", "no table", Span(0, 5), source).render()


@pytest.mark.parametrize(
    ("to", "secret"), [("s3a://KEY:hush-10@bucket/found", "hush-10"), ("postgresql://ada:hush-11@db/found", "hush-11")]
)
def test_no_secret_in_failures_of_a_sink(to: str, secret: str) -> None:
    sink = sink_of(to)
    run = FailedRun("s3a://KEY:hush-10@bucket/checkpoint", sink_name(sink), 7)
    assert "hush" not in str(stream_failed(RuntimeError(f"403 for {to}; key {secret}"), run))


def test_the_caret_stays_below_its_text() -> None:
    source = SourceText("x.ink", "TABLE t FROM 's3a://KEY:hush-12@bucket/t'; EVNT e;")
    place = source.text.index("EVNT")
    shown = Diagnostic("INK0120", "unknown", Span(place, place + 4), source).render().splitlines()
    line, underline = (next(one for one in shown if mark in one) for mark in ("EVNT", "^^^^"))
    assert line.index("EVNT") == underline.index("^^^^")


def test_options_from_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOGIN", LOGIN.format(13))
    (tmp_path / "key").write_text("hush-14\n")
    place = tmp_path / "key"
    found = address_of(f"kafka://db:1/x?kafka.sasl.jaas.config=env:LOGIN&kafka.ssl.key.password=file:{place}")
    assert found.options == {"kafka.sasl.jaas.config": LOGIN.format(13), "kafka.ssl.key.password": "hush-14"}
    assert found.text.endswith(f"?kafka.sasl.jaas.config=env:LOGIN&kafka.ssl.key.password=file:{place}")
    assert masked("the password hush-13, the key hush-14") == "the password …, the key …"


def test_a_missing_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    with pytest.raises(InklingError, match=r"INK0517.*has no value[^$]*no environment variable `NOWHERE`"):
        address_of("kafka://db:1/x?kafka.ssl.key.password=env:NOWHERE")


def test_other_texts_stay_as_they_are() -> None:
    for text in ("write `-i token=PATH`", "kafka://a:9092,b:9092/t?format=json", "password 12", "at 10:15 ada@x.org"):
        assert masked(text) == text


@pytest.mark.parametrize("secret", ["mine", "$ink!", "gr\u00fcn_9"])
def test_short_secrets_are_masked_as_words(secret: str) -> None:
    """`mine` is part of many words, and a reader must still be able to read them."""
    address_of(f"postgresql://ada:{secret}@db/found")
    whole = f"it is {secret}, '{secret}', {secret}"
    assert masked(whole) == "it is …, '…', …"
    word = f"pre{secret}d" if secret.isidentifier() else "determined"
    assert masked(f"this {word} it") == f"this {word} it"
    source = SourceText("x.ink", f"EVENT {word} AS {secret};")
    assert "…" * len(secret) in Diagnostic("INK0901", "no", Span(0, 5), source).render()
    assert word in Diagnostic("INK0901", "no", Span(0, 5), source).render()


def test_long_secrets_are_masked_everywhere() -> None:
    address_of("postgresql://ada:correct-horse-9@db/found")
    assert masked("xcorrect-horse-9x") == "x…x"
