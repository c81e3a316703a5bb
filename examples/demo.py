"""`make demo`: the reference documents' figures against what retrograde computes, then physics-informed networks.

First one written three times, once per dialect, trained side by side and compared bit by bit; then a larger one as a plain
PyTorch program, with a picture (README.md's is made by `python examples/demo.py --png docs/demo.png`).
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import retrograde

HERE = Path(__file__).resolve().parent
DOCUMENTS = {
    "torch_autograd_grad": "torch.autograd.grad",
    "paddle_grad": "paddle.grad",
    "paddle_fluid_dygraph_grad": "paddle.fluid.dygraph.grad",
    "mindspore_grad_operation": "mindspore.ops.GradOperation",
    "mindspore_versus_torch": "GradOperation and torch.autograd",
}


def load(name):
    """A program of this folder as a module."""
    spec = importlib.util.spec_from_file_location(name.replace("/", "."), HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(figures):
    """All numbers in nested lists."""
    return [n for part in figures for n in numbers(part)] if isinstance(figures, list) else [figures]


def agree(documented, obtained):
    """Whether figures agree as single precision can: the documents print more digits than it has."""
    a, b = numbers(documented), numbers(obtained)
    return len(a) == len(b) and all(abs(x - y) <= 1e-6 * max(abs(x), 0.1) for x, y in zip(a, b))


def show(figures):
    """Figures as text, one row a line."""
    if isinstance(figures, list) and isinstance(figures[0], list):
        return "\n".join(show(row) for row in figures)
    return ", ".join(f"{x:.6g}" for x in figures) if isinstance(figures, list) else f"{figures:.6g}"


def documents(console):
    """The figures of each document; returns how many differ."""
    wrong = 0
    for name, title in DOCUMENTS.items():
        program = load(name)
        table = Table(title=f"{title}  (examples/{name}.py)", title_justify="left", show_lines=True)
        for column in ("figure", "documented", "obtained", ""):
            table.add_column(column)
        got = program.obtained()
        for figure, documented in program.DOCUMENTED.items():
            same = agree(documented, got[figure])
            wrong += not same
            verdict = "[green]same[/green]" if same else "[red]differs[/red]"
            table.add_row(figure, show(documented), show(got[figure]), verdict)
        console.print(table)
        console.print()
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--png", default="out/pinn.png", help="where the picture goes")
    options = parser.parse_args()
    start = time.time()
    retrograde.activate("torch", "paddle", "mindspore")
    console = Console()
    console.print(
        f"[bold]retrograde {retrograde.__version__}[/bold]: programs written for PyTorch, PaddlePaddle and MindSpore, "
        "without any of them\n"
    )
    wrong = documents(console)
    console.print("[bold]One network, three programs, one engine[/bold]  (examples/three_ways/)")
    compare = load("three_ways/compare")
    for optimizer, lr, steps in (("SGD", 1e-2, 200), ("Adam", 1e-3, 200)):
        comparison = compare.Comparison(optimizer, lr, steps).run(console)
        comparison.report(console)
        wrong += optimizer == "SGD" and not comparison.all_equal()
    console.print(
        "      MindSpore adds epsilon to the root of the second moment before that is corrected for its start at zero, PyTorch "
        "and PaddlePaddle after: in the first step the same epsilon counts for 32 times as much, and weights whose gradient "
        "is near epsilon move less\n"
    )
    console.print("[bold]A physics-informed network with a picture[/bold]  (examples/pinn.py, a plain PyTorch program)")
    sys.argv = ["pinn.py", "--png", options.png]
    load("pinn").main()
    console.print(f"\nall in {time.time() - start:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
