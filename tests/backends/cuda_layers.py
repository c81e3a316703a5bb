"""Every layer and function of tests/dialects/torch/layer_cases.py on the stand-in's second device, against the CPU.

`python cuda_layers.py` prints what differs, and "all ..." at the end where nothing does; `python cuda_layers.py TEXT` those whose
name has a text in it, with both results.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import cupy_stand_in

cupy_stand_in.installed()
sys.path.insert(0, str(Path(__file__).parent.parent / "dialects" / "torch"))

import layer_cases  # noqa: E402

import retrograde.dialects.torch as torch  # noqa: E402

WHERE = "cuda:1"
ON_THE_CPU = "pad_packed_sequence"
"""What has a part of its result on the CPU, in PyTorch too: lengths."""

summary = layer_cases._summary
elsewhere: list[str] = []


def summary_on_the_cpu(torch_: Any, t: Any) -> Any:
    if t is not None:
        elsewhere.append(str(t.device))
    with torch.device("cpu"):
        return summary(torch_, None if t is None else t.cpu())


layer_cases._summary = summary_on_the_cpu


def close(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5)
    return bool(a == b)


def main(text: str) -> int:
    count, wrong = 0, 0
    for key, expression, inputs, options in layer_cases.cases():
        if text not in key:
            continue
        expected = layer_cases.run(torch, expression, inputs, options)
        elsewhere.clear()
        torch.set_default_device(WHERE)
        try:
            found = layer_cases.run(torch, expression, inputs, options)
        finally:
            torch.set_default_device(None)
        count += 1
        places = set(elsewhere) - {WHERE}
        if not close(expected, found) or (places and ON_THE_CPU not in key):
            wrong += 1
            print(key, found.get("error", "differs"), *places)
            if text:
                print(expected, found, sep="\n")
    print(f"all {count} alike" if not wrong else f"{wrong} of {count} differ")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1] if len(sys.argv) > 1 else "")))
