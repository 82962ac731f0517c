"""The join network: patterns whose parts depend on each other, as joins of partial matches with candidates.

The evaluation follows the definition (`meaning.occurrences`) part by part, but for all partial matches of all keys at
once. Candidates are found with indexes on key, equality conditions and time. ETALIS stores partial matches as goals of
binary rules (Anicic 2011, section 7.2); here they are rows of tables.
"""
