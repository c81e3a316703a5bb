"""`mindspore.ops`: the functions that topic files register (see ../_api.py), and the Primitive-style classes.

`operations` and `functional`, the older names, are this module's content too.
"""

from __future__ import annotations

from typing import Any

from ..._shared.documents import shown
from .._api import FUNCTIONS, missing, named, submodule
from .._paths import offer_paths


_OWN = frozenset(("Any", "annotations", "missing", "named", "offer_paths", "publish", "shown", "submodule"))


_OF_CLASSES = frozenset((
    "ctc_greedy_decoder", "inplace_index_add", "log_uniform_candidate_sampler", "multinomial_with_replacement",
    "sparse_segment_mean", "uniform_candidate_sampler",
))  # fmt: skip
"""The functions that are made of classes when they are asked for (_functions.py)."""


def publish() -> None:
    """Put the registered functions into this module; called once every topic file has been imported."""
    globals().update({name: named(f, name) for name, f in FUNCTIONS.items() if name not in globals()})
    shown(globals(), "mindspore", "ops")


def _of_mint(name: str) -> Any:
    """What `mint` offers under a name, which MindSpore's files have as NAME_ext."""
    from .. import mint
    from ..mint.nn import functional

    return getattr(mint, name, None) or getattr(functional, name, None)


def __getattr__(name: str) -> Any:
    if name[:1].isupper():  # the classes are made when they are asked for
        if name == "ReduceOp":
            from ._between import ReduceOp

            return ReduceOp
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
    elif name in ("prim_attr_register", "_get_cache_prim"):
        return getattr(submodule(__name__, "primitive"), name)
    elif name.endswith("_ext") and (found := _of_mint(name[:-4])) is not None:
        return found
    elif name in _OF_CLASSES:
        from ._functions import make

        globals()[name] = made = make(name)
        return made
    elif name == "__all__":
        return [n for n in __dir__() if not n.startswith("_") and n not in _OWN]
    raise missing("mindspore.ops", name, __dir__)


def __dir__() -> list[str]:
    from ._table import ROWS

    return sorted({*globals(), *ROWS, *_OF_CLASSES, "Primitive"})


offer_paths(__name__)
