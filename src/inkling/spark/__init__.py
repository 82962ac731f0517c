"""Runs a physical plan on Apache Spark.

It takes a plan and DataFrames, and gives a DataFrame of matches per event: in batch (`batch`) and on Structured
Streaming (`streaming`). Reading and checking inputs (`read`), the session (`session`), Java (`jvm`) and Kafka (`kafka`)
are here, too. `query` and `cli` may import this package.
"""
