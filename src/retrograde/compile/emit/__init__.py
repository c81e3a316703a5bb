"""Emitters: from a graph to a function."""
