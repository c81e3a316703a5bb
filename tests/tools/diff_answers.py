"""Compares the pairs of programs in diff_pairs in one process, where the dialects are active; prints the answers."""

import json
import sys
import traceback
import warnings

from diff_programs import program

import retrograde
from retrograde.tools.diff.compare import compare
from retrograde.tools.diff.program import recorded


def main(names: list[str], first_only: bool = False) -> None:
    warnings.simplefilter("ignore")
    retrograde.activate("mindspore", "paddle", "torch")
    answers = {}
    for name in names:
        a, b = (program(name, side) for side in "ab")
        try:
            records = recorded(a), recorded(b)
            answers[name] = compare(
                *records, file_a=str(a), file_b=str(b), first_only=first_only,
                widened=lambda a=a, b=b: (recorded(a, widened=True), recorded(b, widened=True)),
            ).as_json()  # fmt: skip
        except Exception:
            answers[name] = {"failed": traceback.format_exc()}
    print(json.dumps(answers))


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name != "--first"], "--first" in sys.argv)
