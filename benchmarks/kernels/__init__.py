"""Evaluators alone, on one core, over batches that are ready: what is left when reading and moving rows cost nothing."""
