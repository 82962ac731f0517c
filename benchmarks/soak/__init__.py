"""Whether a stream that runs for long needs more and more memory; ``python -m benchmarks.soak`` runs one and looks."""
