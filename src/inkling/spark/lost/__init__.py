"""Relations between segments with lost ends on Spark: workers hold whole groups of keys, and compare shares of them."""
