"""Relations between the segments of two keys: events of many partitions in, pairs of keys out."""
