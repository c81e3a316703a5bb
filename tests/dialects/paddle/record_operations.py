"""Write what PaddlePaddle gives for each expression of data/operations.jsonl: run it where that is installed.

python record_operations.py [more.txt]: expressions of a text file, one per line, are added.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import paddle
from operation_cases import DATA, Expressions, cases

expressions = list(dict.fromkeys([e for e, _ in cases()] + [
    line for name in sys.argv[1:] for line in Path(name).read_text().splitlines() if line and not line.startswith("#")
]))  # fmt: skip
evaluated = Expressions(paddle)
DATA.write_text("".join(json.dumps([e, evaluated.evaluate(e)]) + "\n" for e in expressions))
