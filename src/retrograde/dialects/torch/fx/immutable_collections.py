"""The lists and dicts that arguments of nodes are kept in: a node is told of a change only by an assignment to it."""

from __future__ import annotations

from typing import Any, NoReturn

from ...._tree import register as _register


def _refusing(base: type, name: str, mutators: str) -> type:
    """A subclass of list or dict whose changing methods raise TypeError."""

    def refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{name}: arguments of a node are not changed in place, since its users would not be told; assign to node.args or "
            "node.kwargs, or use node.update_arg() and node.update_kwarg()"
        )

    members: dict[str, Any] = dict.fromkeys(mutators.split(), refused)
    members["__hash__"] = lambda self: hash(tuple(self if base is list else self.items()))
    members["__reduce__"] = lambda self: (type(self), (base(self),))
    members["__doc__"] = f"A {base.__name__} that refuses to be changed."
    return type(name, (base,), {**members, "__module__": __name__})


immutable_list: Any = _refusing(
    list, "immutable_list",
    "__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove reverse sort",
)  # fmt: skip
immutable_dict: Any = _refusing(
    dict, "immutable_dict", "__delitem__ __ior__ __setitem__ clear pop popitem setdefault update"
)

_register(immutable_list, lambda x: (list(x), None), lambda _, children: immutable_list(children))
_register(immutable_dict, lambda x: (list(x.values()), tuple(x)), lambda keys, children: immutable_dict(zip(keys, children)))
