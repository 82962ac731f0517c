"""Reading on Spark: DataFrames, tables and files become typed and checked rows, and rejects."""
