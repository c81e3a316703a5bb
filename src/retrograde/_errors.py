"""The exceptions of the engine.

They are raised where no dialect is involved; a dialect names the exception types that its users expect
through its `TapePolicy` (core/policy.py), which `core.value.error_type` and `core.bind.fail` ask.
"""

from __future__ import annotations


class RetrogradeError(Exception):
    """Base of every exception that only retrograde raises; under a framework's API users get what that framework raises.

    Examples
    --------
    >>> import retrograde as rg
    >>> try:
    ...     rg.matmul(rg.ones((2, 3)), rg.ones((2, 3)))
    ... except rg.RetrogradeError as error:
    ...     print(type(error).__name__)
    ShapeError
    """


class ShapeError(RetrogradeError, ValueError):
    """Operand shapes do not fit the operation; a ValueError, too.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.matmul(rg.ones((2, 3)), rg.ones((2, 3)))
    Traceback (most recent call last):
        ...
    retrograde.ShapeError: matmul: shapes [2, 3] and [2, 3] cannot be multiplied: ...
    """


class GradError(RetrogradeError, RuntimeError):
    """A derivative was asked for that the recorded graph cannot give; a RuntimeError, too.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> (x * x).backward()
    Traceback (most recent call last):
        ...
    retrograde.GradError: backward: the output, `x * y` of shape (2,), has several elements; reduce it to one ...
    """


class FreedGraphError(GradError):
    """A graph was used again after its saved values had been freed.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> loss = (x * x).sum()
    >>> loss.backward()
    >>> loss.backward()
    Traceback (most recent call last):
        ...
    retrograde.FreedGraphError: this graph has been through a backward pass already, which freed what `x * y` had saved; ...
    """


class MutationError(GradError):
    """A value needed by the backward pass was changed in place after it had been recorded.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> y = x * 1.0
    >>> loss = (y * y).sum()
    >>> y += 1.0
    >>> loss.backward()
    Traceback (most recent call last):
        ...
    retrograde.MutationError: the derivative of `x * y` needs an operand, of shape (2,), as it was, but it was changed ...
    """


class RecomputeError(GradError):
    """A function did something else when it was computed again than the first time."""


class LevelError(GradError):
    """A value left the functional transform it belongs to.

    Examples
    --------
    >>> import retrograde as rg
    >>> kept = []
    >>> def f(x):
    ...     kept.append(x)
    ...     return (x * x).sum()
    >>> rg.grad(f)(rg.asarray([1.0, 2.0]))
    Tensor([2., 4.])
    >>> kept[0] + 1
    Traceback (most recent call last):
        ...
    retrograde.LevelError: a value created inside grad (level ...) was used after grad had returned; ...
    """


class UnsupportedError(RetrogradeError, NotImplementedError):
    """The operation is known but not offered for these operands; the message names the remedy.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.vmap(lambda x: float(x.sum()))(rg.ones((2, 3)))
    Traceback (most recent call last):
        ...
    retrograde._errors.ElementsError: float: inside vmap a tensor stands for one of many, ...
    """


class ElementsError(UnsupportedError):
    """The elements of a value were asked for where it stands for many: inside vmap."""


for _kind in (RetrogradeError, ShapeError, GradError, FreedGraphError, MutationError, LevelError, UnsupportedError):
    _kind.__module__ = "retrograde"  # where users find them
