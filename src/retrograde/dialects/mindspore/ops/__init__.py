"""`mindspore.ops`: the functions that topic files register (see ../_api.py), and the Primitive-style classes.

`operations` and `functional`, the older names, are this module's content too.
"""

from __future__ import annotations

from typing import Any

from .._api import FUNCTIONS, missing, named, submodule


_OWN = frozenset(("Any", "annotations", "missing", "named", "publish", "submodule"))


def publish() -> None:
    """Put the registered functions into this module; called once every topic file has been imported."""
    globals().update({name: named(f, name) for name, f in FUNCTIONS.items() if name not in globals()})


def __getattr__(name: str) -> Any:
    if name[:1].isupper():  # the classes are made when they are asked for
        if name in ("Primitive", "PrimitiveWithInfer", "PrimitiveWithCheck"):
            from . import primitive

            return getattr(primitive, name)
        from ._table import find

        found = find(name)
        if found is not None:
            globals()[name] = found
            return found
    elif name in ("operations", "functional", "function", "composite", "primitive", "auto_generate"):
        return submodule(__name__, name)
    elif name == "prim_attr_register":
        from .primitive import prim_attr_register

        return prim_attr_register
    elif name == "__all__":
        return [n for n in __dir__() if not n.startswith("_") and n not in _OWN]
    raise missing("mindspore.ops", name, __dir__)


def __dir__() -> list[str]:
    from ._table import ROWS

    return sorted({*globals(), *ROWS, "Primitive"})
