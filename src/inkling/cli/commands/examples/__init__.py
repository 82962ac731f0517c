"""Commands about the examples: their data, their runs and reports, and how fast they run."""
