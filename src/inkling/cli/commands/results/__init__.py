"""Commands about the results of a program: over files, over streams, explained, compared with the truth."""
