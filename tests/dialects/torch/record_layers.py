"""Write data/layers.json from PyTorch: `python record_layers.py`, in an environment that has it."""

import json

import torch
from layer_cases import PATH, cases, run

if __name__ == "__main__":
    found = {key: run(torch, expression, inputs, options) for key, expression, inputs, options in cases()}
    PATH.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
