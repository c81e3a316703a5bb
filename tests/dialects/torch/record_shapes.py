"""Write data/shapes.json anew from PyTorch: `python record_shapes.py`, in an environment that has it.

Expressions are added to the file with any value, and recorded by running this.
"""

import json

import torch
from shape_cases import PATH, evaluate, load

if __name__ == "__main__":
    found = evaluate(torch, load())
    lines = [
        f"{json.dumps(area)}: {{\n"
        + ",\n".join(f" {json.dumps(e)}: {json.dumps(result)}" for e, result in expressions.items())
        + "\n}"
        for area, expressions in found.items()
    ]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")
