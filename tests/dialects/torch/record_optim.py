"""Record optimisers and schedules with an installed PyTorch: `python record_optim.py` writes data/optim.json.

Kept are the text of each optimiser with default options, trajectories of LBFGS, and what each schedule of
schedule_cases.py does to the parameter groups.
"""

import json
from pathlib import Path

import optim_cases
import schedule_cases
import torch


def main():
    document = {
        "torch": torch.__version__,
        "reprs": {name: repr(optim_cases.default(torch, name)) for name in optim_cases.OPTIMIZERS},
        "lbfgs": {label: optim_cases.run_lbfgs(torch, label) for label in optim_cases.LBFGS_CASES},
        "averages": {label: optim_cases.run_average(torch, label) for label in optim_cases.AVERAGES},
        "schedules": {},
    }
    for label in schedule_cases.CASES:
        history, state, keys = schedule_cases.run(torch, label)
        document["schedules"][label] = {"history": history, "state": state, "keys": keys}
    text = json.dumps(document)
    path = Path(__file__).parent / "data" / "optim.json"
    path.write_text(
        text.replace('{"history"', '\n{"history"').replace('"averages"', '\n"averages"').replace('"lbfgs"', '\n"lbfgs"')
        + "\n"
    )


if __name__ == "__main__":
    main()
