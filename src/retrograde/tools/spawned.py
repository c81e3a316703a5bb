"""What `spawn` of a dialect starts in each process of a job: `python -m retrograde.tools.spawned FOLDER`."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from multiprocessing import process, spawn

from .. import _activate
from ..backend import launch, processes


def main(folder: str) -> int:
    """Call the function that the folder holds, and leave there the traceback of what it raises."""
    _activate.take_over(_activate.available())
    rank, _ = launch.started()
    try:
        with open(os.path.join(folder, "main"), "rb") as file:
            prepared = pickle.load(file)  # noqa: S301 - written by the process that has started this one
        process.current_process()._inheriting = True  # type: ignore[attr-defined]  # a program without a guard is told so
        try:
            spawn.prepare(prepared)
        finally:
            del process.current_process()._inheriting  # type: ignore[attr-defined]
        with open(os.path.join(folder, "work"), "rb") as file:
            function, arguments, numbered = pickle.load(file)  # noqa: S301
        function(*((rank, *arguments) if numbered else arguments))
    except BaseException as error:
        if isinstance(error, SystemExit) and not error.code:
            return 0
        with open(os.path.join(folder, f"{rank}.txt"), "w", encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(error)))
        sys.stdout.flush()
        processes.end_all(1)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
