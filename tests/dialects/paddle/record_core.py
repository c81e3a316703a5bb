"""Record what the programs of data/core_programs.json print on PaddlePaddle: run this with an interpreter that has it.

    python tests/dialects/paddle/record_core.py

A program that ends the interpreter there (some wrong arguments do) has no place in the file.
"""

import contextlib
import io
import json
from pathlib import Path

RECORD = Path(__file__).parent / "data" / "core_programs.json"
PREAMBLE = """
import paddle, numpy as np
T = paddle.to_tensor
def X(v=[1.0, 2.0]):
    return T(v, stop_gradient=False)
def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__)
"""


def printed(lines: list[str]) -> str:
    """What a program prints, with the options and the default dtype as they are when PaddlePaddle starts."""
    import paddle

    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(PREAMBLE + "\n".join(lines), "<program>", "exec"), {"__name__": "__main__"})
    finally:
        paddle.set_default_dtype("float32")
        paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, sci_mode=False, linewidth=80)
    return out.getvalue()


if __name__ == "__main__":
    programs = json.loads(RECORD.read_text())
    for program in programs:
        program["stdout"] = printed(program["code"]).split("\n")
    RECORD.write_text(json.dumps(programs, indent=0) + "\n")
