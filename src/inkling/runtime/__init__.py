"""How a plan is run, whatever its evaluators are.

Enters: a physical plan and what its evaluators need. Leaves: evaluators behind one protocol. Runners import this
package and `inkling.evaluators.protocol`, and no evaluator.
"""
