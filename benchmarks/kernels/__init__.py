"""Evaluators alone, on one core, over batches that are ready: no reading, no moving of rows."""
