"""Write data/ops.json anew from MindSpore: `python record_ops.py`, in an environment that has it.

Expressions are added to the file with any value, and recorded by running this; those without a kernel on a CPU go.
"""

import json

import mindspore
import mindspore.mint
import mindspore.numpy
from ops_cases import PATH, evaluate, load


def record(expression: str) -> str:
    """The result of an expression; an error that the one before left in MindSpore's queue is waited for first."""
    for _ in range(2):
        evaluate(mindspore, "(T([1.0]) + 1).asnumpy()")
    return evaluate(mindspore, expression)


if __name__ == "__main__":
    found = {expression: record(expression) for expression in load()}
    PATH.write_text(json.dumps({k: v for k, v in found.items() if v != "RuntimeError"}, indent=0) + "\n")
