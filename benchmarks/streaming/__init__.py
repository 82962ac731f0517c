"""Programs on Structured Streaming: how many events a second, and what keeping state costs."""
