"""The dialects: a package each, with a framework's names, argument order, dtype rules, error types and printing.

A package here is a dialect (`retrograde.activate` finds it by its folder); none of them imports another.
"""
