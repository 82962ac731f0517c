"""The same program on streams without an end: what has arrived, what is decided, what must still be kept."""
