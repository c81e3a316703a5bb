"""Calls made from a table of expressions: each with every kind of numbers for its operands.

A table FRAMEWORK_calls.txt has sections, which begin with the operands in brackets, and in them an expression a line; a line
of names only stands for the calls of these functions with all operands. An operand is `name:KIND` and its shape. Kinds: r
any numbers, p positive, q between 0 and 1, u between -1 and 1, s probabilities along the last axis, g signs, n a regular
matrix, m a positive definite one; `i:N@SHAPE` are integers below N. Each expression is called once per variant (`VARIANTS`,
or those that stand behind a bar) of its floating operands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

VARIANTS = ("plain", "ties", "zeros", "nan", "inf")
_OPERAND = re.compile(r"(\w):(?:i?(\d+)@|([a-z]))([\d,]*)")


def read(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays and the calls of a table; the calls name the arrays."""
    arrays: dict[str, np.ndarray] = {}
    calls: dict[str, None] = {}
    operands: list[tuple[str, str, str, str]] = []
    variants: Sequence[str] = VARIANTS
    for line in path.read_text().splitlines():
        if line.startswith("["):
            operands = _OPERAND.findall(line)
            variants = line.strip("]").partition("|")[2].split() or VARIANTS
        elif line.strip() and not line.startswith("#"):
            for expression in _expressions(line.strip(), [name for name, *_ in operands]):
                for variant in variants:
                    labels = {name: _add(arrays, place, *operand, variant) for place, (name, *operand) in enumerate(operands)}
                    calls[_NAMES.sub(lambda m, labels=labels: labels.get(m[1], m[1]), expression)] = None
    return arrays, list(calls)


_NAMES = re.compile(r"(?<![\w.'])([a-z])(?![\w'(=])")


def _add(arrays: dict[str, np.ndarray], place: int, below: str, kind: str, sizes: str, variant: str) -> str:
    """Put the array of an operand to the others; returns its name."""
    shape = tuple(int(n) for n in sizes.split(",") if n)
    label = f"{'xyzw'[place] if kind else 'i'}_{kind or f'i{below}'}{'x'.join(map(str, shape))}{f'_{variant}' if kind else ''}"
    arrays[label] = _numbers(kind, shape, variant, place) if kind else _integers(int(below), shape)
    return label


def _expressions(line: str, names: list[str]) -> list[str]:
    if re.fullmatch(r"[\w. ]+", line):
        return [f"{f}({', '.join(names)})" for f in line.split()]
    return [line]


def _integers(below: int, shape: tuple[int, ...]) -> np.ndarray:
    return (np.arange(int(np.prod(shape)), dtype=np.int64)[::-1] * 2 % below).reshape(shape)


_TIES = {"r": (1.0, -0.5, 1.0, 2.0, -0.5), "p": (1.0, 2.0, 1.0), "q": (0.5, 1.0, 0.25), "u": (0.5, -1.0, 1.0), "s": (1.0,),
         "g": (1.0, -1.0), "n": (1.0, 1.0), "m": (1.0,)}  # fmt: skip
"""Numbers that every operand has at the same places, on kinks and ends of the kinds."""


def _numbers(kind: str, shape: tuple[int, ...], variant: str, place: int) -> np.ndarray:
    """The numbers of a kind, for the operand at a place; float32."""
    at = np.arange(int(np.prod(shape)), dtype=np.float64)
    wave = np.sin(0.4 + 1.7 * at + 1.1 * place)
    plain = {
        "r": 2.2 * wave, "p": 1.3 + wave, "q": 0.5 + 0.45 * wave, "u": 0.9 * wave, "s": 1.3 + wave, "g": np.sign(wave),
        "n": 1.5 * wave, "m": 0.5 * wave,
    }[kind]  # fmt: skip
    if variant == "ties":
        plain = np.resize(_TIES[kind], at.shape)
    elif variant == "zeros":
        plain[::2] = 0.0
        plain[1 + place :: 4] = 0.0
    a = plain.reshape(shape)
    if kind == "s":
        a = a / np.maximum(a.sum(-1, keepdims=True), 1e-3)
    elif kind == "n" and variant == "plain":
        a = a + 3.0 * np.eye(shape[0])
    elif kind == "m":
        a = a @ a.T + (0.0 if variant in ("ties", "zeros") else 1.0) * np.eye(shape[0])
    flat = a.reshape(-1)
    if variant == "nan":
        flat[place % flat.size] = np.nan
    elif variant == "inf":
        flat[place % flat.size] = np.inf
        if kind in "rn" and flat.size > 1:
            flat[(place + 1) % flat.size] = -np.inf
    return a.astype(np.float32)
