"""Record the cases of linalg_cases.py with an installed PyTorch: `python record_linalg.py` writes data/linalg.npz."""

import warnings
from pathlib import Path

import linalg_cases
import numpy as np
import torch


def main():
    warnings.simplefilter("ignore")
    found = {}
    for name, f, xs in linalg_cases.cases(torch):
        results = linalg_cases.run(torch, f, xs, lambda t: t.resolve_conj().numpy(force=True))
        for part, values in zip(("out", "grad", "second"), results):
            for i, x in enumerate(values):
                if x is not None:
                    found[f"{name}/{part}/{i}"] = x
    np.savez_compressed(Path(__file__).parent / "data" / "linalg.npz", **found)


if __name__ == "__main__":
    main()
