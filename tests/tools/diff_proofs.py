"""Says of pairs of short programs whether they are proven to be the same: `diff_proofs.py FOLDER` reads NAME_a.py and NAME_b.py
there and prints for each name whether it is proven, and what is wrong with the proof if something is, and
whether they compute the same here, as JSON."""

import json
import sys
import warnings
from pathlib import Path

import retrograde
from retrograde.tools.diff.align import align
from retrograde.tools.diff.judge import Judgement
from retrograde.tools.diff.leaves import LeafPairs
from retrograde.tools.diff.program import recorded
from retrograde.tools.diff.proof.check import check
from retrograde.tools.diff.proof.prove import Prover


def main(folder):
    warnings.simplefilter("ignore")
    retrograde.activate("mindspore", "paddle", "torch")
    answers = {}
    for path in sorted(folder.glob("*_a.py")):
        name = path.stem[:-2]
        a, b = (recorded(folder / f"{name}_{side}.py") for side in "ab")
        alignment = align(a, b, LeafPairs(a, b))
        results = Judgement(alignment).results
        found = Prover(alignment).prove(results)
        same = all(result.distance is not None and result.distance.relative < 1e-5 for result in results)
        answers[name] = [found.proven, check(found, alignment, results) if found.proven else sorted(found.operations), same]
    print(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
