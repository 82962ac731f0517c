"""Patterns whose parts depend on each other: joins of partial matches with candidates, set at a time.

The evaluation follows the definition part by part, but for all partial matches of all keys at once; candidates are
found through indexes on key, equality conditions and time.
"""
