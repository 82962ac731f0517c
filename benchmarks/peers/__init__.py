"""Other engines on the same data and the same patterns; ``python -m benchmarks.peers`` writes the published table."""
