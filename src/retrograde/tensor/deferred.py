"""`compute` and `persist`: what is recorded over Dask arrays, evaluated together on whatever scheduler is active."""

from __future__ import annotations

from typing import Any

from .._tree import map_structure
from ..core.value import Value


def compute(*values: Any, **options: Any) -> tuple[Any, ...]:
    """Evaluate tensors over Dask arrays in one pass over the data: shared work, such as a loss and its gradients, is done once.

    values: tensors, or containers of them as `dask.compute` takes; what is not deferred comes back as it is.
    options: those of `dask.compute`, such as `scheduler="processes"`.

    Returns a tuple with tensors over NumPy arrays, which have no history.

    Examples
    --------
    >>> import dask.array as da
    >>> import retrograde as rg
    >>> w = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> x = rg.asarray(da.ones((6, 2), chunks=3))
    >>> loss = rg.sum(rg.matmul(x, w) ** 2)
    >>> rg.compute(loss, *rg.autograd.grad(loss, w))
    (Tensor(54.), Tensor([36., 36.]))
    """
    import dask

    found: tuple[Any, ...] = dask.compute(*_detached(values), **options)
    return found


def persist(*values: Any, **options: Any) -> tuple[Any, ...]:
    """Evaluate tensors over Dask arrays where the workers are and keep them there, in blocks; as `compute` otherwise.

    A loop of steps persists its parameters in each, or computes them: else the graph grows with every step.

    Examples
    --------
    >>> import dask.array as da
    >>> import retrograde as rg
    >>> x, = rg.persist(rg.asarray(da.ones(4, chunks=2)) * 2)
    >>> rg.compute(rg.sum(x))
    (Tensor(8.),)
    """
    import dask

    found: tuple[Any, ...] = dask.persist(*_detached(values), **options)
    return found


def _detached(values: Any) -> Any:
    """The same with tensors that have no history, in containers, too."""
    return map_structure(lambda x: x.detach() if isinstance(x, Value) and x._node is not None else x, values)
