"""What stands beside Spark's checkpoint: versions of the program, learned models, and who may continue the query."""
