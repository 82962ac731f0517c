"""Programs on Structured Streaming: one query per program, its state kept by Spark per bucket of keys."""
