"""Write data/nested.json: what PyTorch gives for the calls of nested_cases.py. Run with an interpreter that has PyTorch."""

import json
import warnings
from pathlib import Path

import nested_cases as cases
import torch

warnings.simplefilter("ignore")
found = {
    layout: {
        **{call: cases.outcome(torch, call, cases.scope(torch, layout)) for call in cases.CALLS},
        **{f"gradient of {call}": cases.gradient(torch, call, cases.scope(torch, layout)) for call in cases.GRADIENTS},
    }
    for layout in ("strided", "jagged")
}
(Path(__file__).parent / "data" / "nested.json").write_text(json.dumps(found, indent=0) + "\n")
