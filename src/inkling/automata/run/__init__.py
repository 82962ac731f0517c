"""Automata over batches of rows: tables for kernels, open runs of many keys, detections."""
