"""What an event, a time, a column and a world are; everything else is built from these.

Enters: nothing. Leaves: value types that every later stage shares. May be imported by every package of ours.
"""
