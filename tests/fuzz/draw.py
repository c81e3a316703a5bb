"""What the generators of both kinds share: variables with their shapes and dtypes, lines of text, numbers, shape rules."""

import contextlib
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

Shape = tuple[int, ...]

FLOATS = ("float32", "float64", "bfloat16")
COMPLEX = ("complex64", "complex128")
ORDER = ("bool", "int64", "bfloat16", "float32", "float64", "complex64", "complex128")
MAX_SIZE = 64
"""No operation that would give more elements is drawn."""


@dataclass(frozen=True)
class Variable:
    """A name with what the generator knows of it; where it is mistaken the program stops on both sides alike."""

    name: str
    shape: Shape
    dtype: str
    differentiable: bool = False
    """It probably has a history or is a leaf that wants a gradient."""
    leaf: bool = False
    """It is a leaf that wants a gradient, or a view of one: not to be written."""
    memory: int = 0
    """Views of one memory have one number."""
    expanded: bool = False

    @property
    def floating(self) -> bool:
        return self.dtype in FLOATS

    @property
    def complex(self) -> bool:
        return self.dtype in COMPLEX

    @property
    def inexact(self) -> bool:
        return self.floating or self.complex

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def real_of(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def promoted(*variables: Variable) -> str:
    """PyTorch's rule: kinds first, then dimensions, then widths."""
    kinds = {"bool": 0, "int64": 1, "bfloat16": 2, "float32": 2, "float64": 2, "complex64": 3, "complex128": 3}
    best: str | None = None
    for variable in sorted(variables, key=lambda v: v.shape == ()):
        if best is None or kinds[variable.dtype] > kinds[best]:
            wide = best in ("float64", "complex128") and variable.dtype == "complex64"
            best = "complex128" if wide else variable.dtype
        elif variable.shape != () and ORDER.index(variable.dtype) > ORDER.index(best):
            best = variable.dtype
    return best or "float32"


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that both extend to, or None."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def without(shape: Shape, axis: int, keep: bool = False) -> Shape:
    axis %= len(shape)
    return shape[:axis] + ((1,) if keep else ()) + shape[axis + 1 :]


def factorings(size: int) -> list[Shape]:
    """Shapes of at most three axes with `size` elements."""
    found: list[Shape] = [(size,)]
    for a in range(1, size + 1):
        if size and size % a == 0:
            found.append((a, size // a))
            found += [(a, b, size // a // b) for b in range(1, size // a + 1) if size // a % b == 0]
    return found


class Draw:
    """A program in the making: its random numbers, lines, and the variables that are in reach."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.variables: list[Variable] = []
        self.indent = 0
        self.counter = 0
        self.exact = self.chance(0.3)  # numbers on a coarse grid: ties, zeros, ones

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def choice(self, options: Sequence):
        return self.random.choice(options)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextlib.contextmanager
    def block(self, header: str) -> Iterator[None]:
        self.line(header)
        self.indent += 1
        try:
            yield
        finally:
            self.indent -= 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """What is defined inside is out of reach afterwards."""
        before = list(self.variables)
        try:
            yield
        finally:
            self.variables = before

    def name(self, letter: str = "v") -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def add(self, variable: Variable) -> Variable:
        self.variables.append(variable)
        return variable

    def update(self, variable: Variable, **changes: object) -> Variable:
        """The same name with other properties from here on."""
        new = replace(variable, **changes)  # type: ignore[arg-type]
        self.variables = [new if v.name == variable.name else v for v in self.variables]
        return new

    def pick(self, *tests: object) -> Variable | None:
        """A variable, late ones more often, for which every test holds."""
        fitting = [v for v in self.variables if all(test(v) for test in tests)]  # type: ignore[operator]
        if not fitting:
            return None
        return fitting[max(self.random.randrange(len(fitting)), self.random.randrange(len(fitting)))]

    def shape(self, at_most: int = 3) -> Shape:
        if self.chance(0.02):
            return self.choice([(0,), (2, 0), (0, 3)])
        axes = self.random.choices(range(at_most + 1), [2, 5, 6, 2][: at_most + 1])[0]
        return tuple(self.choice([1, 2, 2, 3, 3]) for _ in range(axes))

    def number(self, dtype: str) -> str:
        if dtype == "bool":
            return self.choice(["True", "False"])
        if dtype == "int64":
            return str(self.random.randint(-3, 4))
        if dtype in COMPLEX:
            return f"{self.random.uniform(-1.5, 1.5):.2f}{self.random.uniform(-1.5, 1.5):+.2f}j"
        if self.exact:
            return str(self.random.randint(-4, 4) / 2)
        return f"{self.random.choice([-1, 1]) * self.random.uniform(0.15, 1.9):.3f}"

    def numbers(self, shape: Shape, dtype: str) -> str:
        """A nested list."""
        if not shape:
            return self.number(dtype)
        return "[" + ", ".join(self.numbers(shape[1:], dtype) for _ in range(shape[0])) + "]"

    def axis(self, shape: Shape) -> int:
        axis = self.random.randrange(len(shape))
        return axis - len(shape) if self.chance(0.5) else axis
