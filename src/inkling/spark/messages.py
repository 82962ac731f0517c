"""The columns of a message that readers of all encodings are given."""

VALUE = "@value"
WHERE = "@where"
"""Where the message stands in its topic, in words that end a sentence; empty if that is unknown."""

NO_VALUE = "no value"
