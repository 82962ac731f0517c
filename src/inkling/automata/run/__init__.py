"""Execution of automata over batches of rows: tables for kernels, runs of many keys, detections."""
