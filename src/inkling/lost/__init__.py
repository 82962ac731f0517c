"""Relations between segments with lost ends that need no worlds: planned, run, and kept on streams."""
