"""Write data/reductions.json anew from PyTorch: `python record_reductions.py`, in an environment that has it.

Expressions are added to the file with any value, and recorded by running this.
"""

import json

import torch
from reduction_cases import PATH, evaluate, load

if __name__ == "__main__":
    PATH.write_text(json.dumps(evaluate(torch, load()), indent=1) + "\n")
