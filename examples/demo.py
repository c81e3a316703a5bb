"""`make demo`: the reference documents' figures against what retrograde computes, then a physics-informed network."""

import importlib.util
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import retrograde

HERE = Path(__file__).resolve().parent
DOCUMENTS = {"torch_autograd_grad": "torch.autograd.grad", "mindspore_versus_torch": "GradOperation and torch.autograd"}


def load(name):
    """A program of this folder as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def show(figures):
    return (
        "\n".join(str(row) for row in figures)
        if isinstance(figures, list) and isinstance(figures[0], list)
        else str(figures)
    )


def main():
    start = time.time()
    retrograde.activate("torch")
    console = Console()
    console.print(f"[bold]retrograde {retrograde.__version__}[/bold]: programs written for PyTorch, without PyTorch\n")
    wrong = 0
    for name, title in DOCUMENTS.items():
        program = load(name)
        table = Table(title=f"{title}  (examples/{name}.py)", title_justify="left", show_lines=True)
        for column in ("figure", "documented", "obtained", ""):
            table.add_column(column)
        got = program.obtained()
        for figure, documented in program.DOCUMENTED.items():
            same = got[figure] == documented
            wrong += not same
            table.add_row(
                figure, show(documented), show(got[figure]), "[green]same[/green]" if same else "[red]differs[/red]"
            )
        console.print(table)
        console.print()
    console.print("[bold]A physics-informed network[/bold]  (examples/pinn.py, a plain PyTorch program)")
    sys.argv = ["pinn.py"]
    load("pinn").main()
    console.print(f"\nall in {time.time() - start:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
