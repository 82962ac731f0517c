"""Runs a physical plan on Apache Spark.

A plan and Spark frames enter, a frame of matches per event leaves; `query` and `cli` may import it. The
session that suits the plan, the Java it runs on and the Python workers it starts live here too.
"""
