"""Uncertain streams on Spark: workers hold all worlds of some keys, or some worlds of all rows."""
