"""From syntax to logical plan: names are resolved, types inferred, conditions bound to the slots where they are tested.

Enters: a `syntax.Program` and its text. Leaves: a `ProgramPlan` with warnings, or a `ProgramError` that lists
every error. Only `inkling.logical` imports it; others call `inkling.logical.bind`.
"""
