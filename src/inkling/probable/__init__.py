"""Events over probable streams that are answered without worlds: planned, run, and kept on streams."""
