"""Record what a dialect's functions give, for the stubs of those whose annotations say `Any`.

A plugin of pytest: `RETROGRADE_STUB_RESULTS=torch pytest -p tests.stub_results -n0 tests/dialects/torch` wraps what the
stubs show, runs the tests and adds the types that were seen to src/retrograde/tools/stubs/results/torch.txt.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import FunctionType
from typing import Any

import retrograde

DIALECT = os.environ.get("RETROGRADE_STUB_RESULTS", "")
PLACE = Path(retrograde.__file__).parent / "tools" / "stubs" / "results" / f"{DIALECT}.txt"
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_OTHERS = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem", "enter")
OPERATORS = {f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r", "i")} | {f"__{name}__" for name in _OTHERS}

_seen: dict[str, set[str]] = {}
_stubs: Any = None


def described(x: Any, depth: int = 0) -> str:
    """The type of a value as a stub says it."""
    if x is None:
        return "None"
    if type(x) in (bool, int, float, complex, str, bytes):
        return type(x).__name__
    for cls in type(x).__mro__:
        if cls.__name__ == "Tensor" and cls in _stubs.homes:
            return "Tensor"
    if type(x) in _stubs.homes and not _stubs.homes[type(x)].startswith(tuple(_stubs.hidden)):
        return _stubs.homes[type(x)]
    if type(x) in (tuple, list) and depth < 2:
        parts = [described(i, depth + 1) for i in x]
        if type(x) is list:
            return f"list[{parts[0]}]" if len(set(parts)) == 1 else "list[Any]"
        if len(set(parts)) == 1:
            return f"tuple[{parts[0]}, ...]"  # how many there are may depend on the arguments
        return f"tuple[{', '.join(parts)}]" if parts else "tuple[()]"
    return "Any"


def merged(types: set[str]) -> str:
    """The type of a function that gave values of several."""
    long = {t for t in types if t.startswith("tuple[")}
    if len(long) > 1:
        parts = {p for t in long for p in t[6:-1].replace("()", "").split(", ") if p not in ("", "...")}
        types = types - long | {f"tuple[{parts.pop()}, ...]" if len(parts) == 1 else "tuple[Any, ...]"}
    if len({t for t in types if t.startswith("list[")}) > 1:
        types = {t for t in types if not t.startswith("list[")} | {"list[Any]"}
    if {"int", "float"} <= types:
        types = types - {"int"}
    if "Tensor" in types:  # what stands for a tensor while a function is traced is no type of its own
        types = types - {"Any", "torch.fx.proxy.Proxy"}
    # A checker would refuse what is right for one of several.
    return "Any" if "Any" in types or len(types - {"None"}) > 1 else " | ".join(sorted(types, key=lambda t: (t == "None", t)))


def _watched(f: Any, key: str) -> Any:
    @functools.wraps(f)
    def watch(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        if out is not NotImplemented:
            _seen.setdefault(key, set()).add(described(out))
        return out

    return watch


def pytest_configure() -> None:
    global _stubs
    if not DIALECT:
        return
    from retrograde import _activate
    from retrograde.tools.stubs.writer import Stubs, modules

    _activate.take_over([DIALECT])
    found = modules(DIALECT)
    _stubs = Stubs(found)
    for name, module in found.items():
        if name.startswith("torch.fx"):  # its functions ask who calls them
            continue
        for label, x in _stubs.offered(name):
            key = f"{name}.{label}".removeprefix(DIALECT + ".")
            if isinstance(x, FunctionType):
                setattr(module, label, _watched(x, key))
            elif isinstance(x, type) and _stubs.homes.get(x) == f"{name}.{label}":
                for base in (x, *(b for b in x.__mro__ if b not in _stubs.homes and _stubs.owns(b))):
                    for attribute, f in list(vars(base).items()):
                        if attribute.startswith("__") and attribute not in OPERATORS:
                            continue
                        if isinstance(f, FunctionType):
                            setattr(x, attribute, _watched(f, f"{key}.{attribute}"))
                        elif isinstance(f, property) and f.fget is not None:
                            setattr(x, attribute, property(_watched(f.fget, f"{key}.{attribute}"), f.fset, f.fdel, f.__doc__))


def pytest_sessionfinish() -> None:
    if not DIALECT:
        return
    known = {}
    if PLACE.is_file():
        known = dict(line.split(None, 1) for line in PLACE.read_text().splitlines())
    for key, types in _seen.items():
        if any(part.startswith("_") and not part.endswith("__") for part in key.split(".")):
            continue
        known[key] = merged(types | set(known[key].split(" | ") if key in known else ()))
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text("".join(f"{key} {known[key]}\n" for key in sorted(known) if known[key] != "Any"))
