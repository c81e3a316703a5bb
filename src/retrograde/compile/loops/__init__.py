"""Loops and choices that a trace doesn't unroll: operations that run graphs of their own."""
