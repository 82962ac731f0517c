"""One stage over one partition: rows of all its inputs become event batches, evaluators turn them into matches."""
