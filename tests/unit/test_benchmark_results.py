"""What a report of benchmarks says about the machine that it was made on."""

from importlib.metadata import version

from benchmarks.results import Report

import inkling


def test_a_report_names_the_versions_that_ran() -> None:
    machine = Report({}, quick=True).machine
    assert machine["inkling"] == inkling.__version__
    assert machine["pyarrow"] == version("pyarrow")
