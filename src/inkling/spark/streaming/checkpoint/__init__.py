"""What is stored beside Spark's checkpoint: versions of the program and learned models; and the handover of queries."""
