"""Relations between segments whose ends were lost: sums over orders of points."""
