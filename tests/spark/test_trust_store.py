"""Java finds in the file what Python trusts."""

import ssl
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from inkling.spark.jvm.jars import trust_of_python


def test_java_reads_the_certificates(spark: SparkSession, tmp_path: Path) -> None:
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not certificates:
        pytest.skip("Python names no certificates on this machine")
    file = tmp_path / "trusted.jks"
    options = dict(option.removeprefix("-D").split("=", 1) for option in trust_of_python(file))
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    store = jvm.java.security.KeyStore.getInstance(options["javax.net.ssl.trustStoreType"])
    password = options["javax.net.ssl.trustStorePassword"]
    letters = spark.sparkContext._gateway.new_array(jvm.char, len(password))
    for place, letter in enumerate(password):
        letters[place] = letter
    stream = jvm.java.io.FileInputStream(options["javax.net.ssl.trustStore"])
    store.load(stream, letters)
    stream.close()
    found = [store.getCertificate(f"c{number}").getEncoded() for number in range(len(certificates))]
    assert [bytes(one) for one in found] == certificates
