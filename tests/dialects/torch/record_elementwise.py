"""Write data/elementwise.json from PyTorch: `python record_elementwise.py`, in an environment that has it."""

import json
from pathlib import Path

import torch
from elementwise_cases import dtypes, edges


def text(record):
    """JSON with a line per call."""
    parts = []
    for part, calls in record.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in calls.items())
        parts.append(f" {json.dumps(part)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    path = Path(__file__).parent / "data" / "elementwise.json"
    path.write_text(text({"edges": edges(torch), "dtypes": dtypes(torch)}))
