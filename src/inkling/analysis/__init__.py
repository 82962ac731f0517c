"""What can be proved about a program before it runs; every verdict comes with the reason that `explain` prints.

Enters: a logical plan. Leaves: verdicts that the physical planner follows.
"""
