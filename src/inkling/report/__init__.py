"""A run of a program as one HTML file that opens without a network.

`ReportData` enters, HTML text or a file leaves. Whoever has finished a run may import it; it knows no
runner.
"""

from inkling.report.build import build_report, write_report
from inkling.report.data import ReportData

__all__ = ["ReportData", "build_report", "write_report"]
