"""Objects of any class in the files that are written: how they are taken apart, and the names of their classes."""

from __future__ import annotations

import _compat_pickle
import copyreg
import importlib
import pickle
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

_PACKAGE = __package__.rpartition(".")[0]

Resolve = Callable[[str, str], Any]
"""What a module has under a (dotted) name; raises ImportError or AttributeError where there is no such thing."""


def resolver(package: str) -> Resolve:
    """Finds names by importing their modules; "torch" stands for the dialect whose package is given."""

    def resolve(module: str, name: str) -> Any:
        if module.startswith("torch._C"):  # where PyTorch has the functions that it offers elsewhere
            module = "torch" if hasattr(sys.modules[package], name) else "torch.nn.functional"
        place = package + module[5:] if module == "torch" or module.startswith("torch.") else module
        found = sys.modules.get(place) or importlib.import_module(place)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    return resolve


def module_in_files(module: str) -> str:
    """The name of a module as files give it: those of the dialect are `torch`, whatever a program imports them as."""
    return "torch" + module[len(_PACKAGE) :] if module == _PACKAGE or module.startswith(_PACKAGE + ".") else module


def global_name(obj: Any, resolve: Resolve) -> str:
    """The full name under which a class or function is found again.

    Raises AttributeError for what is defined inside a function, PicklingError for what its module does not have.
    """
    name = getattr(obj, "__qualname__", None) or obj.__name__
    module = getattr(obj, "__module__", None) or "builtins"
    public = () if module.startswith("torch") or isinstance(obj, type) else ("torch", "torch.nn.functional")
    module = module_in_files(module)
    if "<locals>" in name:
        raise AttributeError(f"torch.save: {module}.{name} is defined inside a function, so a file cannot name it")
    for place in (*public, module):
        try:
            found = resolve(place, name)
            # A function that was taken before subclasses of Tensor are asked stands there behind the question.
            if found is obj or (place.startswith("torch") and getattr(found, "__wrapped__", None) is obj):
                module = place
                break
        except (ImportError, AttributeError):
            continue
    else:
        raise pickle.PicklingError(f"torch.save: {module} has no {name!r}, or another one, so a file cannot name it")
    if (module, name) in _compat_pickle.REVERSE_NAME_MAPPING:
        module, name = _compat_pickle.REVERSE_NAME_MAPPING[module, name]
    return f"{_compat_pickle.REVERSE_IMPORT_MAPPING.get(module, module)}.{name}"


def is_global(obj: Any) -> bool:
    """Whether an object is saved as its name."""
    return isinstance(obj, (type, FunctionType, BuiltinFunctionType))


def reduced(obj: Any) -> Any:
    """An object as a name, or as callable, arguments, state, list items and dict items; PicklingError where it has none."""
    reduce = copyreg.dispatch_table.get(type(obj))
    parts = reduce(obj) if reduce is not None else obj.__reduce_ex__(2)
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, tuple) or not 2 <= len(parts) <= 5:
        raise pickle.PicklingError(f"torch.save: __reduce__ of {type(obj).__qualname__} gave {type(parts).__name__}")
    return (*parts, *(None,) * (5 - len(parts)))
