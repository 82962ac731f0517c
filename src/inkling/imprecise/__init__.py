"""Events over imprecise times whose probabilities need no worlds: planned, run, and kept on streams."""
