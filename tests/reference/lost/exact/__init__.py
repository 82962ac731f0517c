"""Two keys at a time, in fractions, written to be read: what the kernels are tested against."""
