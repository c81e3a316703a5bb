"""Whether two records are the same function of their inputs: a proof as a list of rule applications, and its check.

`algebra.py` has the terms and the rules; `meaning.py` says what operations are in those terms; `prove.py` looks for the proof;
`check.py` checks it, without any of the code that found it.
"""
