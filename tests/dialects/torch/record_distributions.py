"""Record distribution_cases.py with an installed PyTorch; `python record_distributions.py` writes the JSON in data/."""

import json
import warnings
from pathlib import Path

import distribution_cases
import torch


def rounded(x):
    """The document with floats to 8 digits."""
    if isinstance(x, float):
        return float(f"{x:.8g}")
    if isinstance(x, list):
        return [rounded(y) for y in x]
    return {k: rounded(y) for k, y in x.items()} if isinstance(x, dict) else x


def main():
    warnings.simplefilter("ignore")
    document = rounded(distribution_cases.record(torch))
    text = "{" + ",\n".join(
        f"{json.dumps(part)}: " + (
            "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in content.items()) + "}"
            if isinstance(content, dict) else json.dumps(content))
        for part, content in document.items()
    ) + "}\n"  # fmt: skip
    (Path(__file__).parent / "data" / "distributions.json").write_text(text)


if __name__ == "__main__":
    main()
