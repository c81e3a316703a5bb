"""Record the order of samples with an installed PyTorch: `python record_data.py` writes data/dataloader.json."""

import json
from pathlib import Path

import data_cases
import torch


def main():
    document = {"torch": torch.__version__}
    document["cases"] = {label: data_cases.run(torch, label) for label in data_cases.CASES}
    path = Path(__file__).parent / "data" / "dataloader.json"
    path.write_text(json.dumps(document).replace('], "', '],\n"') + "\n")


if __name__ == "__main__":
    main()
