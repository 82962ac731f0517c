"""From syntax to plan: every name is looked up, every type checked, every condition put where it is tested.

Enters: a `syntax.Program` and its text. Leaves: a `ProgramPlan` with warnings, or a `ProgramError` that lists
every error. Only `inkling.logical` imports it; others call `inkling.logical.bind`.
"""
