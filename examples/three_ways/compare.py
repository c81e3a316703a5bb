"""The three programs of this folder side by side, from the same starting weights, on one engine.

With SGD the weights and gradients of all three must agree to the last bit after every step. With Adam MindSpore's do not,
because it defines the rule differently: it adds epsilon to the root of the uncorrected second moment.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

DIALECTS = ("torch", "paddle", "mindspore")


def trainings(optimizer, lr):
    """The three programs' trainings by dialect."""
    folder = str(Path(__file__).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return {name: importlib.import_module(f"{name}_pinn").Training(optimizer, lr) for name in DIALECTS}


def same_bits(mine, other):
    """Whether arrays by name are equal in every bit."""
    return all(np.array_equal(a.view(np.uint32), other[name].view(np.uint32)) for name, a in mine.items())


def furthest(mine, other):
    """The largest difference between arrays by name."""
    return max(float(np.abs(a - other[name]).max()) for name, a in mine.items())


class Comparison:
    """The three programs trained side by side: losses, steps equal to the torch one's in every bit, distances from it."""

    def __init__(self, optimizer, lr, steps):
        self.optimizer, self.lr, self.steps = optimizer, lr, steps
        self.losses = {name: [] for name in DIALECTS}
        self.equal = dict.fromkeys(DIALECTS[1:], 0)
        self.distance = {name: [] for name in DIALECTS[1:]}

    def run(self, console=None):
        """Train; a step counts as equal when all weights and gradients agree in every bit."""
        trained = trainings(self.optimizer, self.lr)
        first = trained["torch"]
        columns = [TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn(),
                   TextColumn("loss {task.fields[loss]:.6f}")]  # fmt: skip
        with Progress(*columns, console=console) as progress:
            tasks = {name: progress.add_task(name, total=self.steps, loss=float("nan")) for name in DIALECTS}
            for _ in range(self.steps):
                for name, training in trained.items():
                    self.losses[name].append(training.step())
                    progress.update(tasks[name], advance=1, loss=self.losses[name][-1])
                for name in self.equal:
                    other = trained[name]
                    self.equal[name] += same_bits(first.weights(), other.weights()) and same_bits(
                        first.gradients(), other.gradients()
                    )
                    self.distance[name].append(furthest(first.weights(), other.weights()))
        return self

    def all_equal(self):
        """Whether every step was equal in all three."""
        return set(self.equal.values()) == {self.steps}

    def report(self, console):
        """What to say about it."""
        if self.all_equal():
            console.print(
                f"{self.optimizer}: weights and gradients of all three agree [green]bit for bit[/green] after each of "
                f"{self.steps} steps"
            )
            return
        for name, count in self.equal.items():
            distances = self.distance[name]
            console.print(
                f"{self.optimizer}: {name} equals torch bit for bit after {count} of {self.steps} steps"
                + (f"; weights differ by up to {distances[0]:.1e} after the first step (its rate is {self.lr:g}) and "
                   f"{distances[-1]:.1e} after the last" if count < self.steps else "")
            )  # fmt: skip


def main():
    """Both comparisons."""
    import retrograde

    retrograde.activate(*DIALECTS)
    from rich.console import Console

    console = Console()
    for optimizer, lr, steps in (("SGD", 1e-2, 200), ("Adam", 1e-3, 200)):
        Comparison(optimizer, lr, steps).run(console).report(console)


if __name__ == "__main__":
    main()
