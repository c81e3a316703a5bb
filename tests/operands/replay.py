"""Recorded calls that differentiate every operand: what a framework gave, beside what the dialect gives.

A file FRAMEWORK.jsonl begins with a line that holds named arrays, and has one call on each further line: its code, which
names arrays and what the framework's table (FRAMEWORK_calls.py) offers beside them; its results; and the gradient of every
array in it that can have one, each result weighted with `weights`. Of a call, or a gradient, that raises there is the
exception's type. FRAMEWORK_differences.txt lists the calls whose answer is another one here, with the reasons: a line holds
the code of one, or that of several with "..." for what differs between them.

    cd tests; python -m operands.torch_calls       in an environment that has the framework: writes its file
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
Arrays = Mapping[str, np.ndarray]
Pull = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray | None]]


class Framework(NamedTuple):
    """What a replay needs of a framework, or of its dialect.

    names: what the code of a call may use beside arrays. call: `call(function, arrays)` gives the results of `function` on
    tensors that hold the arrays and want gradients, and `pull(weights)`, the gradients of the results weighted with one array
    each (those of results that have none are left aside): for each array one, or None where the framework has none.
    """

    names: Mapping[str, Any]
    call: Callable[[Callable[..., Any], Sequence[np.ndarray]], tuple[list[np.ndarray], Pull]]


def weights(results: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the results are weighted with: fixed numbers, of which no two are the same."""
    found = []
    for k, y in enumerate(results):
        at = np.arange(y.size, dtype=np.float64).reshape(y.shape)
        w = np.sin(1 + 0.7 * at + 0.9 * k)
        if y.dtype.kind == "c":
            w = w + 1j * np.cos(1 + 0.3 * at)
        found.append(w if y.dtype.kind in "iub" else w.astype(y.dtype))
    return found


def evaluate(framework: Framework, arrays: Arrays, code: str) -> dict[str, Any]:
    """A call's record: its results and gradients, or the types of the exceptions in their place."""
    program = compile(code, code, "eval")
    used = [name for name in arrays if name in _names(program)]

    def function(*tensors: Any) -> Any:
        return eval(program, {**framework.names, **dict(zip(used, tensors))})

    record: dict[str, Any] = {"code": code}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results, pull = framework.call(function, [arrays[name].copy() for name in used])
        except Exception as error:
            return {**record, "error": type(error).__name__}
        record["results"] = [[str(y.dtype), list(y.shape), numbers(y)] for y in results]
        try:
            gradients = pull(weights(results))
        except Exception as error:
            return {**record, "gradient_error": type(error).__name__}
        record["gradients"] = {
            name: None if g is None else numbers(g)
            for name, g in zip(used, gradients) if g is not None or arrays[name].dtype.kind in "fc"
        }  # fmt: skip
    return record


def _names(program: Any) -> set[str]:
    """The names that code uses, also in functions inside it."""
    found = set(program.co_names)
    for constant in program.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found


def numbers(a: np.ndarray, digits: int = 9) -> list[Any]:
    """The elements of an array for a file: rounded to what can be the same on two machines, the parts of complex ones in turn."""
    flat = np.asarray(a).ravel()
    if flat.dtype.kind in "iub":
        return [int(x) for x in flat]
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return [
        x if not math.isfinite(x) or x == int(x) else float(f"{x:.{digits}g}") for x in flat.astype(np.float64).tolist()
    ]


def difference(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> str | None:
    """How a call's record differs from the one in the file; None where it does not."""
    for key in ("error", "gradient_error"):
        if wanted.get(key) != got.get(key):
            return f"{key.replace('_', ' ')}: {got.get(key) or 'none'}, wanted {wanted.get(key) or 'none'}"
    dtypes = {"float64"}
    for i, (a, b) in enumerate(zip(wanted.get("results", ()), got.get("results", ()))):
        if a[:2] != b[:2]:
            return f"result {i} is {b[0]} of shape {b[1]}, wanted {a[0]} of shape {a[1]}"
        if not _same(a[2], b[2], a[0]):
            return f"result {i} is {b[2]}, wanted {a[2]}"
        dtypes.add(a[0])
    if len(wanted.get("results", ())) != len(got.get("results", ())):
        return f"{len(got['results'])} results, wanted {len(wanted['results'])}"
    coarsest = max(dtypes, key=_tolerance)
    for name, b in got.get("gradients", {}).items():
        a = wanted["gradients"].get(name)
        if (a is None) != (b is None) or (a is not None and not _same(a, b, coarsest)):
            return f"the gradient of {name} is {b}, wanted {a}"
    return None


_DIGITS = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "complex64": 2e-5}


def _tolerance(dtype: str) -> float:
    return _DIGITS.get(dtype, 1e-8)


def _same(a: Sequence[float], b: Sequence[float], dtype: str) -> bool:
    if len(a) != len(b):
        return False
    limit = _tolerance(dtype)
    scale = max((abs(x) for x in a if math.isfinite(x)), default=0.0)
    return all(
        x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= limit * (abs(x) + 0.1 * scale + 1e-3)
        for x, y in zip(a, b)
    )


def record(framework: Framework, arrays: Arrays, calls: Iterable[str], path: Path) -> None:
    """Write the file of a framework."""
    lines = [
        json.dumps({"arrays": {name: [str(a.dtype), list(a.shape), numbers(a, 17)] for name, a in arrays.items()}})
    ]
    lines += [json.dumps(evaluate(framework, arrays, code)) for code in dict.fromkeys(calls)]
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.name}: {len(lines) - 1} calls")


def recorded(path: Path) -> tuple[dict[str, np.ndarray], Iterator[dict[str, Any]]]:
    """The arrays and the calls of a file."""
    first, *rest = path.read_text().splitlines()
    arrays = {name: _array(*content) for name, content in json.loads(first)["arrays"].items()}
    return arrays, (json.loads(line) for line in rest)


def _array(dtype: str, shape: Sequence[int], content: Sequence[Any]) -> np.ndarray:
    if dtype.startswith("complex"):
        return np.asarray(content, np.float64).view(np.complex128).astype(dtype).reshape(shape)
    return np.asarray(content, dtype).reshape(shape)


def differences(path: Path) -> dict[str, str]:
    """The calls of a framework that are listed as different, and why: lines `code  # reason`, "..." for anything in the code."""
    listed = path.with_name(f"{path.stem}_differences.txt")
    found = {}
    for line in listed.read_text().splitlines() if listed.exists() else ():
        if line.strip() and not line.startswith("#"):
            code, _, reason = line.partition("  # ")
            found[code.strip()] = reason.strip()
    return found


def replay(framework: Framework, path: Path) -> dict[str, str]:
    """The calls of a file whose answer is another one here, with how it differs."""
    arrays, calls = recorded(path)
    found = {}
    for wanted in calls:
        problem = difference(wanted, evaluate(framework, arrays, wanted["code"]))
        if problem is not None:
            found[wanted["code"]] = problem
    return found


def check(framework: Framework, path: Path) -> None:
    """Fail for a call that differs and is not listed, for a line of the list with no such call, and for one without a reason."""
    listed, found = differences(path), replay(framework, path)
    patterns = {code: re.compile(".*".join(map(re.escape, code.split("...")))) for code in listed}
    matches = {code: [line for line in patterns if patterns[line].fullmatch(code)] for code in found}
    new = [f"{code}: {found[code]}" for code in found if not matches[code]]
    assert not new, f"{len(new)} calls differ from what was recorded:\n" + "\n".join(new)
    used = {line for lines in matches.values() for line in lines}
    assert used == set(listed), f"listed as different, and not so: {sorted(set(listed) - used)}"
    assert all(listed.values()), f"listed without a reason: {[code for code in listed if not listed[code]]}"
