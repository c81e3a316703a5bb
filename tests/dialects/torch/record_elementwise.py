"""Write data/elementwise.json from PyTorch: `python record_elementwise.py`, in an environment that has it."""

import json
from pathlib import Path

import torch
from elementwise_cases import dtypes, edges

if __name__ == "__main__":
    record = {"edges": edges(torch), "dtypes": dtypes(torch)}
    path = Path(__file__).parent / "data" / "elementwise.json"
    path.write_text("{\n" + ",\n".join(
        f" {json.dumps(part)}: {{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in calls.items()) + "\n }"
        for part, calls in record.items()
    ) + "\n}\n")  # fmt: skip
