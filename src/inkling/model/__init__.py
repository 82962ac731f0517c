"""Value types that all stages share: events, worlds, times, columns, schemas, batches.

Every package of inkling except `kernels` may import them; they import nothing else of inkling.
"""
