"""`make ports`: `retrograde diff` on models that timm, MindCV and PaddleClas each have; writes docs/ports.md's table.

    .venv-packages/bin/python -m tests.ports.run [--only NAMES] [--installed] [--show] [--no-table]

A pair is a model of timm and the same of another package, built by `programs/`, which name what they install as those of
`tests/packages/` do. Both start from timm's weights (`--start-from A`) and compute the loss of four images of 64x64 and all
its gradients, in training mode and in evaluation mode. No framework is there.

What is measured, on one thread: processor time of `retrograde diff` over that of running both programs plainly, imports
included on both sides, and the most memory that its processes hold together.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..packages.run import ROOT, install, machine, read

PROGRAMS = Path(__file__).resolve().parent / "programs"
TABLE = ROOT / "docs" / "ports.md"
BEGIN, END = "<!-- written by make ports -->", "<!-- to here -->"
MODES = ("train", "eval")
SIZE = 64
PACKAGES = {"mindcv": "MindCV", "paddleclas": "PaddleClas"}


@dataclass
class Pair:
    """A model of timm and the same of another package: names, and what they are built with."""

    name: str
    package: str
    a: str
    a_options: dict[str, Any]
    b: str
    b_options: dict[str, Any]


# What timm lets begin with nothing (the last norm of a block, the scale of a layer) would hide the layers before it.
_RESNET = {"zero_init_last": False}
_VIT = {"img_size": SIZE}
_CONVNEXT = {"ls_init_value": 1.0}
_EFFICIENTNET = {"arch": "efficientnet_b0", "dropout_rate": 0.0, "width_mult": 1.0, "depth_mult": 1.0, "drop_path_prob": 0.0}
PAIRS = [
    Pair("resnet18", "mindcv", "resnet18", _RESNET, "resnet18", {}),
    Pair("resnet18", "paddleclas", "resnet18", _RESNET, "ResNet18", {}),
    Pair("mobilenet_v2", "mindcv", "mobilenetv2_100", {}, "mobilenet_v2_100", {}),
    Pair("mobilenet_v2", "paddleclas", "mobilenetv2_100", {}, "MobileNetV2", {}),
    Pair("vit_tiny", "mindcv", "vit_tiny_patch16_224", _VIT, "VisionTransformer",
         {"image_size": SIZE, "embed_dim": 192, "num_heads": 3}),
    Pair("vit_tiny", "paddleclas", "vit_tiny_patch16_224", _VIT, "DeiT_tiny_patch16_224", {"img_size": SIZE}),
    Pair("efficientnet_b0", "mindcv", "efficientnet_b0", {}, "EfficientNet", _EFFICIENTNET),
    Pair("efficientnet_b0", "paddleclas", "efficientnet_b0", {}, "EfficientNetB0",
         {"override_params": {"dropout_rate": 0.0, "drop_connect_rate": 0.0}}),
    Pair("convnext_tiny", "mindcv", "convnext_tiny", _CONVNEXT, "convnext_tiny", {}),
    Pair("convnext_tiny", "paddleclas", "convnext_tiny", _CONVNEXT, "ConvNeXt_tiny", {}),
    Pair("densenet121", "mindcv", "densenet121", {}, "densenet121", {}),
    Pair("densenet121", "paddleclas", "densenet121", {}, "DenseNet121", {}),
]  # fmt: skip


@dataclass
class Measured:
    """What one run took, and said."""

    output: str
    errors: str
    seconds: float
    """Of processor time, children included."""
    mebibytes: int
    """The most that it and its children held together."""


def arguments(model: str, mode: str, options: dict[str, Any]) -> list[str]:
    """What a program is called with."""
    return [model, mode, str(SIZE), json.dumps(options, separators=(",", ":"))]


def measured(command: list[str]) -> Measured:
    """Run a command on one thread."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RETROGRADE_NUM_THREADS"), "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    most = [0]

    def watch() -> None:
        while process.poll() is None:
            most[0] = max(most[0], _held(process.pid))
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, errors = process.communicate()
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(output, errors, seconds, most[0] // 2**20)


def _held(pid: int) -> int:
    """The memory of a process and those that it has started, in bytes."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):  # it has ended
        return 0
    return pages * resource.getpagesize() + sum(_held(int(child)) for child in children)


def compared(pair: Pair, mode: str) -> tuple[dict[str, Any], float, int]:
    """What diff says of a pair, its time over that of both programs, and its memory in MiB; raises SystemExit where it fails."""
    programs = [str(PROGRAMS / f"{package}_model.py") for package in ("timm", pair.package)]
    given = [arguments(pair.a, mode, pair.a_options), arguments(pair.b, mode, pair.b_options)]
    plain = 0.0
    for program, words in zip(programs, given):
        run = measured([sys.executable, "-m", "retrograde", "run", program, *words])
        if "Error" in run.errors:
            raise SystemExit(f"{pair.name} of {program}: {run.errors}")
        plain += run.seconds
    quoted = [" ".join(f"'{word}'" for word in words) for words in given]
    run = measured([sys.executable, "-m", "retrograde", "diff", "--json", "--start-from", "A", "--inside", "timm",
                    "--inside", pair.package, "--args-a", quoted[0], "--args-b", quoted[1], *programs])  # fmt: skip
    if not run.output:
        raise SystemExit(f"{pair.name} with {pair.package}, {mode}: {run.errors}")
    return json.loads(run.output), run.seconds / plain, run.mebibytes


def said(answer: dict[str, Any]) -> list[str]:
    """What an answer says, a line each."""
    if answer["verdict"] != "different":
        return [f"{answer['verdict']}{', proven' if answer['proven'] else ''}"]
    lines = []
    for one in answer["differences"]:
        sides = [one[side] and f"{_file(one[side]['place'])} `{one[side]['what']}`" for side in "ab"]
        lines.append(f"{one['reason']}: {' / '.join(side or 'nothing' for side in sides)}")
    return lines


def _file(place: dict[str, Any]) -> str:
    return f"{re.sub('^.*-packages/', '', place['file'])}:{place['line']}"


def _counted(n: int) -> str:
    return f"{n} difference" + ("s" if n != 1 else "")


def _figure(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:.0e}"


def row(pair: Pair, mode: str, answer: dict[str, Any], times: float, mebibytes: int) -> str:
    """A row of the table."""
    verdict = said(answer)[0] if answer["verdict"] != "different" else _counted(len(answer["differences"]))
    largest = f"{_figure(answer['largest'])} in {answer['largest_in']}" if answer["largest"] else "0"
    cells = [pair.name, PACKAGES[pair.package], mode, verdict, largest, f"{times:.1f}", str(mebibytes), time.strftime("%Y-%m-%d")]
    return f"| {' | '.join(cells)} |"


def write(rows: list[str]) -> None:
    """Put rows into the table, in the place of those of the same pairs."""
    text = TABLE.read_text()
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    kept = {tuple(line.split(" | ")[:3]): line for line in table.splitlines() if line.startswith("| ")}
    kept.update((tuple(line.split(" | ")[:3]), line) for line in rows)
    order = {(f"| {p.name}", PACKAGES[p.package], mode): n for n, (p, mode) in enumerate((p, m) for p in PAIRS for m in MODES)}
    lines = [kept[key] for key in sorted((key for key in kept if key in order), key=lambda key: order[key])]
    head = [
        "", f"Machine: {machine()}.", "",
        "| model | beside timm's | mode | answer | largest difference | time | MiB | date |", "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    TABLE.write_text(f"{before}{BEGIN}\n" + "\n".join([*head, *lines]) + f"\n{END}{after}")


def main() -> int:
    """Install, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", help="names of models or of packages, with commas")
    parser.add_argument("--installed", action="store_true", help="do not install anything")
    parser.add_argument("--show", action="store_true", help="print every difference")
    parser.add_argument("--no-table", action="store_true", help="do not write docs/ports.md")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else []
    if not options.installed:
        install([read(path) for path in sorted(PROGRAMS.glob("*.py"))])
    for package in ("timm", *PACKAGES):
        print(package, metadata.version(package))
    for pair in PAIRS:
        if wanted and not {pair.name, pair.package, f"{pair.name}-{pair.package}"} & set(wanted):
            continue
        for mode in MODES:
            answer, times, mebibytes = compared(pair, mode)
            line = row(pair, mode, answer, times, mebibytes)
            print(line, flush=True)
            if options.show:
                print(*(f"    {text}" for text in [*said(answer), *answer["notes"]]), sep="\n", flush=True)
            if not options.no_table:
                write([line])
    return 0


if __name__ == "__main__":
    sys.exit(main())
