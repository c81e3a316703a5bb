"""Pruning: entries of a parameter set to zero by a mask, which a hook applies before each call.

A pruned parameter NAME becomes the parameter NAME_orig and the buffer NAME_mask; NAME itself is their product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from ... import _creation, _joining, _statistics, random
from ..._creation import ones_like
from ..._tensor import Tensor
from ..modules.module import Module
from ._norms import hook_of, take_away

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def _amount(amount: Any) -> None:
    """Raise TypeError or ValueError for an amount that is neither a share in [0, 1] nor a number of entries."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"prune: amount must be a number, got {type(amount).__name__}")
    if (isinstance(amount, int) and amount < 0) or (not isinstance(amount, int) and not 0.0 <= amount <= 1.0):
        raise ValueError(f"prune: amount must be a share in [0, 1] or a number of entries, got {amount}")


def _count(amount: Any, size: int) -> int:
    """How many entries of `size` an amount means; raises ValueError for more than there are."""
    if not isinstance(amount, int):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"prune: {amount} entries are to be pruned, but there are {size}")
    return amount


def _axis(t: Tensor, dim: int) -> None:
    if dim >= t.dim() or dim < -t.dim():
        raise IndexError(f"prune: dim {dim} is out of range for {t.dim()} dimensions")
    if t.dim() <= 1:
        raise ValueError(f"prune: whole slices need 2 dimensions or more, got {t.dim()}")


class BasePruningMethod(ABC):
    """A way to choose what is pruned: `compute_mask` says it, PRUNING_TYPE to which entries it applies."""

    _tensor_name: str
    PRUNING_TYPE = "unstructured"

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of `t` that goes on from `default_mask`."""

    def apply_mask(self, module: Module) -> Tensor:
        """The original parameter times its mask."""
        mask, original = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune the parameter `name` of a module, on top of what has been pruned."""
        key, found = hook_of(module, BasePruningMethod, name)
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if found is not None:
            container = found if isinstance(found, PruningContainer) else PruningContainer(found)
            container.add_pruning_method(method)
            del module._forward_pre_hooks[key]
            method = container
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"prune: importance_scores of shape {tuple(importance_scores.shape)} do not fit {tuple(original.shape)}"
            )
        if found is None:
            module.register_parameter(name + "_orig", module._parameters[name])
            del module._parameters[name]
            default_mask = ones_like(original)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if found is None:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """`t` with what the method chooses set to zero."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"prune: importance_scores of shape {tuple(scores.shape)} do not fit {tuple(t.shape)}")
        mask = default_mask if default_mask is not None else ones_like(t)
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the pruned tensor a plain parameter."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods on one parameter, each applied to what the ones before have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method of the same parameter; raises TypeError or ValueError for another."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"prune: {type(method).__name__} is no pruning method")
        if method is not None and self._pruning_methods and self._tensor_name != method._tensor_name:
            raise ValueError(f"prune: methods of {self._tensor_name!r} and {method._tensor_name!r} cannot be joined")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask after the latest method, which sees only what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            where: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            axis = method.dim % t.dim()  # type: ignore[attr-defined]
            kept = mask.sum(dim=[d for d in range(t.dim()) if d != axis]) != 0
            where = [slice(None)] * t.dim()
            where[axis] = kept
            where = tuple(where)
        elif method.PRUNING_TYPE == "global":
            where = (slice(None),) * t.dim()
        else:
            raise ValueError(f"prune: PRUNING_TYPE {method.PRUNING_TYPE!r} is not known")
        if isinstance(method, PruningContainer):
            return method.compute_mask(t, mask)
        new = mask.clone()
        new[where] = method.compute_mask(t[where], mask[where]).to(dtype=new.dtype)
        return new


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The default mask."""
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _amount(amount)
        self.amount = amount

    def _without(self, scores: Callable[[Tensor], Tensor], t: Tensor, default_mask: Tensor, largest: bool) -> Tensor:
        """The default mask, and zero where the scores are largest, or smallest."""
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[scores(t).view(-1).topk(count, largest=largest).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes entries at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The entries with the largest of as many uniform numbers are pruned."""
        return self._without(random.rand_like, t, default_mask, True)


class L1Unstructured(_Unstructured):
    """Prunes the entries of the smallest absolute value."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The smallest entries are pruned."""
        return self._without(lambda t: t.detach().abs(), t, default_mask, False)


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"
    amount: Any
    dim: int

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The default mask, and zero in the slices along `dim` that are chosen."""
        _axis(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        mask = _creation.zeros_like(t)
        where: list[Any] = [slice(None)] * t.dim()
        where[self.dim] = self._kept(t, size, count)
        mask[tuple(where)] = 1
        return mask * default_mask.to(dtype=mask.dtype)

    @abstractmethod
    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        """The slices that stay when `count` of them go."""


class RandomStructured(_Structured):
    """Prunes whole slices along an axis at random."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _amount(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        drawn = random.rand(size)
        return drawn > drawn.kthvalue(count).values  # type: ignore[no-any-return]


class LnStructured(_Structured):
    """Prunes the slices along an axis of the smallest n-norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = _statistics.norm(t.detach(), p=self.n, dim=others)
        return norms.topk(size - count, largest=True).indices  # type: ignore[no-any-return]


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask of the user's."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"prune: a mask of shape {tuple(self.mask.shape)} does not fit {tuple(default_mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _pruned(method: type[BasePruningMethod], module: Module, name: str, *args: Any, **options: Any) -> Module:
    method.apply(module, name, *args, **options)
    return module


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones; returns the module."""
    return _pruned(Identity, module, name)


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune a share (float) or number (int) of entries at random; returns the module."""
    return _pruned(RandomUnstructured, module, name, amount)


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Module:
    """Prune the entries of the smallest absolute value (or score); returns the module."""
    return _pruned(L1Unstructured, module, name, amount=amount, importance_scores=importance_scores)


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune slices along `dim` at random; returns the module."""
    return _pruned(RandomStructured, module, name, amount, dim)


def ln_structured(
    module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices along `dim` of the smallest n-norm; returns the module."""
    return _pruned(LnStructured, module, name, amount, n, dim, importance_scores=importance_scores)


def global_unstructured(
    parameters: Any, pruning_method: type[BasePruningMethod], importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters (module, name) as if they were one; raises TypeError for structured methods."""
    if not isinstance(parameters, Iterable):
        raise TypeError("prune: parameters must be an iterable of pairs (module, name)")
    pairs = list(parameters)
    scores = importance_scores if importance_scores is not None else {}
    if not isinstance(scores, dict):
        raise TypeError("prune: importance_scores must map pairs (module, name) to tensors")
    flat = _joining.cat([scores.get((m, n), getattr(m, n)).detach().reshape(-1) for m, n in pairs])
    default = _joining.cat([
        getattr(m, n + "_mask", ones_like(getattr(m, n))).detach().reshape(-1) for m, n in pairs
    ])  # fmt: skip
    container = PruningContainer()
    container._tensor_name = "temp"
    method: Any = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f"prune: only unstructured methods prune globally, {pruning_method.__name__} is {method.PRUNING_TYPE}"
        )
    mask = container.compute_mask(flat, default)
    start = 0
    for module, name in pairs:
        parameter = getattr(module, name)
        count = parameter.numel()
        custom_from_mask(module, name, mask=mask[start : start + count].view_as(parameter))
        start += count


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter by a mask; returns the module."""
    return _pruned(CustomFromMask, module, name, mask)


def remove(module: Module, name: str) -> Module:
    """Make pruning permanent: the parameter is a plain one again; raises ValueError where it is not pruned."""
    return take_away("prune.remove", module, BasePruningMethod, name, "is not pruned")  # type: ignore[no-any-return]


def is_pruned(module: Module) -> bool:
    """Whether a module or one below it has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values()
    )
