"""Runs each program of nan_programs that is named under a Watch, in this process, and prints as JSON what is found of each."""

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path
from types import ModuleType

import retrograde
from retrograde._state import observe
from retrograde.tools.nan import report_of
from retrograde.tools.nan.watch import Watch

PROGRAMS = Path(__file__).parent / "nan_programs"


def answer(name):
    path = str(PROGRAMS / f"{name}.py")
    main = ModuleType("__main__")
    main.__file__ = path
    watch = Watch()
    code = compile(Path(path).read_text(encoding="utf-8"), path, "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()), observe(watch, everywhere=True):
        exec(code, main.__dict__)
    return report_of(watch.finding()).as_json()


if __name__ == "__main__":
    retrograde.activate("torch", "paddle", "mindspore")
    answers = {}
    for program in sys.argv[1:]:
        try:
            answers[program] = answer(program)
        except Exception:
            answers[program] = {"failed": traceback.format_exc()}
    print(json.dumps(answers))
