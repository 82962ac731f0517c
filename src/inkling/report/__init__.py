"""The report of a run: one HTML file that opens without a network.

`report_data` collects the data of a report from a program and its results; `write_report` writes the page.
"""

from inkling.report.build import build_report, write_report
from inkling.report.data import ReportData, ReportTable
from inkling.report.from_results import report_data

__all__ = ["ReportData", "ReportTable", "build_report", "report_data", "write_report"]
