"""The kinds of events in a record. Imports nothing: the side on an installed framework loads this file by its path."""

OP, SOURCE, WRITE, REREAD, UPDATE, DETACH, CLEAR, PASS, COTANGENT, ACCUMULATE, RESULT, PASSED, GAVE = range(13)
"""OP: an operation. SOURCE: a value that no operation made. WRITE: memory got new content in place. REREAD: memory is
read that was written through another array. UPDATE: an optimiser's rule on one parameter. DETACH: history cut off.
CLEAR: `.grad` set. PASS: a backward pass begins. COTANGENT: a gradient arrives at an operation. ACCUMULATE: one is added
to `.grad`. RESULT: one is returned. PASSED: the pass has ended. GAVE: what a derivative of the user's own gave."""
