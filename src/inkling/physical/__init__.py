"""The physical plan: the evaluator and the stage of each event, and the conditions that Spark tests itself.

Enters: a logical plan with the verdicts of the analysis. Leaves: an immutable `PhysicalPlan`.
"""
