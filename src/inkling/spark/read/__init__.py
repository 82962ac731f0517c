"""Inputs as Spark reads them: frames, tables and files become typed and checked rows, and rejects."""
