"""How a program will run: which evaluator per event, which stage, which conditions Spark answers itself.

Enters: a logical plan with the verdicts of the analysis. Leaves: an immutable `PhysicalPlan`.
"""
