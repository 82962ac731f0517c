"""One rewrite per file: an event enters, an event with the same results leaves.

Each rule returns the very event it was given when it has nothing to change. Only `rewrite` imports them.
"""
