"""What was told is corrected: rows that come late and rows that are withdrawn change the past."""
