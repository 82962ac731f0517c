"""Programs on Structured Streaming: one query per program, whose state Spark keeps per bucket of keys.

On the driver, `query` starts the query and delivers its micro-batches. Rows become messages (`intake`, `messages`) that
pass a chain of stateful operators (`operator`). `checkpoint` holds versions of the program and learned models,
`sources` reads streams, and `sinks` writes results.
"""
