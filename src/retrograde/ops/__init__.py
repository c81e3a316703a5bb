"""Floor 3: the primitives, one record each, by topic.

Every function here takes raw arrays (and then computes on them directly) or values (and then records). Arrays are
positional, static parameters keyword-only and already normalised (axes are non-negative tuples, shapes are tuples).
"""
