"""How a plan is run, whatever its evaluators are.

Enters: a physical plan and what its evaluators need. Leaves: evaluators behind one protocol, and the operators of a
running program. Only `registry` names evaluators; runners import this package and `inkling.evaluators.protocol`.
"""
