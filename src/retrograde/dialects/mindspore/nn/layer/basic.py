"""Dense layers, embeddings, dropout, flattening and the other plain layers."""

from __future__ import annotations

import math
from typing import Any

from .....learn import initialise
from .....ops import manipulation as mp
from .....ops.contraction import affine, project
from ...._shared.checks import check
from ...._shared.layers import shown
from ... import _dropout, _linear
from ..._dtype import float32
from ..._parameter import Parameter
from ..._promote import tensor_argument
from ..._tensor import Tensor
from ...common.initializer import HeUniform, Uniform, initializer
from .._checks import a_bool, a_float, positive_int
from .._row import layer
from ..cell import Cell
from .activation import get_activation


def fan_in_bound(shape: tuple[int, ...]) -> float:
    """1 / sqrt(fan-in) of a weight: the bound of the default bias."""
    return 1 / math.sqrt(initialise.fans(shape)[0])


DEFAULT_WEIGHT = HeUniform(math.sqrt(5))
"""What fills the weights of dense and convolution layers."""


def weight_parameter(init: Any, shape: tuple[int, ...], dtype: Any) -> Parameter:
    """A weight, filled as it says or (None) with HeUniform of slope sqrt(5)."""
    return Parameter(initializer(DEFAULT_WEIGHT if init is None else init, shape, dtype), name="weight")


def bias_parameter(init: Any, size: int, dtype: Any) -> Parameter:
    """A bias, filled as it says."""
    return Parameter(initializer(init, [size], dtype), name="bias")


class Dense(Cell):
    """`activation(x @ weight.T + bias)` over the last axis; the weight is (out_channels, in_channels).

    weight_init, bias_init: a Tensor, a number, a name or an Initializer. activation: a name, a cell or a function.

    Raises:
        TypeError, ValueError: sizes that are no ints above 0, an input whose last axis is another one.
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None, has_bias: bool = True,
        activation: Any = None, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_channels = positive_int("Dense", "in_channels", in_channels)
        self.out_channels = positive_int("Dense", "out_channels", out_channels)
        self.has_bias = a_bool("Dense", "has_bias", has_bias)
        _shaped("Dense", "weight_init", weight_init, (out_channels, in_channels))
        self.weight = weight_parameter(weight_init, (out_channels, in_channels), dtype)
        self.bias: Any = None
        if has_bias:
            _shaped("Dense", "bias_init", bias_init, (out_channels,))
            bound = Uniform(1 / math.sqrt(in_channels))
            self.bias = bias_parameter(bound if bias_init is None else bias_init, out_channels, dtype)
        self.activation = get_activation(activation, "Dense") if isinstance(activation, str) else activation
        if self.activation is not None and not callable(self.activation):
            raise TypeError(f"Dense: activation must be a name, a cell or a function, got {type(activation).__name__}")
        self.activation_flag = self.activation is not None

    def construct(self, x: Any) -> Any:
        tensor_argument("Dense", x, "the input")
        if x.ndim == 0 or x.shape[-1] != self.in_channels:
            raise ValueError(
                f"Dense: the last axis of the input must have {self.in_channels} elements (in_channels), got shape {x.shape}; "
                "make the layer with as many as it has, or move the features to the last axis"
            )
        if x.dtype is not self.weight.dtype:
            raise TypeError(f"Dense: the input is {x.dtype}, the weight {self.weight.dtype}; use astype()")
        y = project(x, self.weight) if self.bias is None else affine(x, self.weight, self.bias)
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += ", has_bias=True"
        return text if self.activation is None else f"{text}, activation={self.activation}"


def _shaped(op: str, name: str, init: Any, shape: tuple[int, ...]) -> None:
    if isinstance(init, Tensor) and init.shape != shape:
        raise ValueError(f"{op}: {name} must have shape {shape}, got {init.shape}")


class Linear(Dense):
    """`x @ weight.T + bias` over the last axis."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, weight_init: Any = None, bias_init: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, weight_init, bias_init, bias, dtype=dtype or float32)
        self.in_features, self.out_features = in_features, out_features

    def extend_repr(self) -> str:
        return super().extend_repr().replace("_channels=", "_features=")


class BiDense(Cell):
    """`x1 weight x2 + bias` for a weight (out, in1, in2)."""

    def __init__(
        self, in1_channels: int, in2_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
        has_bias: bool = True, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in1_channels = positive_int("BiDense", "in1_channels", in1_channels)
        self.in2_channels = positive_int("BiDense", "in2_channels", in2_channels)
        self.out_channels = positive_int("BiDense", "out_channels", out_channels)
        self.has_bias = a_bool("BiDense", "has_bias", has_bias)
        bound = Uniform(1 / math.sqrt(in1_channels))
        shape = (out_channels, in1_channels, in2_channels)
        _shaped("BiDense", "weight_init", weight_init, shape)
        self.weight = Parameter(
            initializer(bound if weight_init is None else weight_init, shape, dtype), name="weight"
        )
        given = bound if bias_init is None else bias_init
        self.bias: Any = bias_parameter(given, out_channels, dtype) if has_bias else None

    def construct(self, input1: Any, input2: Any) -> Any:
        return _linear.bidense(input1, input2, self.weight, self.bias)

    extend_repr = shown("in1_channels, in2_channels, output_channels:out_channels, has_bias", "extend_repr")


class Identity(Cell):
    """The input as it is; arguments of the constructor are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        return input


class Flatten(Cell):
    """The axes from `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        check("Flatten", "start_dim: int; end_dim: int", locals())
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Any) -> Any:
        shape = tensor_argument("Flatten", x, "the input").shape or (1,)
        n = len(shape)
        start, end = self._axis(self.start_dim, n), self._axis(self.end_dim, n)
        if start > end:
            raise ValueError(f"Flatten: start_dim {self.start_dim} lies behind end_dim {self.end_dim}")
        return x.reshape((*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))

    def _axis(self, axis: int, n: int) -> int:
        if not -n <= axis < n:
            raise ValueError(f"Flatten: a tensor of {n} axes has no axis {axis}")
        return axis % n


def _unflatten(self: Any, input_x: Any) -> Any:
    axis, shape = self.axis % input_x.ndim, input_x.shape
    return input_x.reshape((*shape[:axis], *self.unflattened_size, *shape[axis + 1 :]))


def _make_sizes(unflatten: Any) -> None:
    unflatten.unflattened_size = tuple(unflatten.unflattened_size)


Unflatten = layer(
    "Unflatten", "axis: int, unflattened_size: Any", _unflatten, "One axis as several, of the sizes given.",
    then=_make_sizes,
)  # fmt: skip


class Dropout(Cell):
    """In training, elements dropped with probability `p` (or 1 - `keep_prob`) and the rest scaled by 1 / (1 - p)."""

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: Any = float32) -> None:
        super().__init__()
        if p is None:
            a_float("Dropout", "keep_prob", keep_prob)
            check("Dropout", "keep_prob in (0, 1]", locals())
        else:
            if isinstance(p, bool) or not isinstance(p, (int, float)):
                raise TypeError(f"Dropout: p must be a float, got {type(p).__name__}")
            check("Dropout", "p in [0, 1)", locals())
        self.keep_prob, self.p = keep_prob, p

    def construct(self, x: Any) -> Any:
        return _dropout.dropout(x, 1 - self.keep_prob if self.p is None else float(self.p), self.training)

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


def _check_rate(dropout: Any) -> None:
    name, p = type(dropout).__name__, dropout.p
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"{name}: p must be a float, got {type(p).__name__}")
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: p must lie in [0, 1], got {p}")


Dropout1d, Dropout2d, Dropout3d = (
    layer(
        f"Dropout{n}d", "p: float = 0.5", drop, f"Dropout of whole channels of {shapes}.", shows=True,
        training=True, then=_check_rate,
    )
    for n, drop, shapes in (
        (1, _dropout.dropout1d, "(N, C, L) or (C, L)"), (2, _dropout.dropout2d, "(N, C, H, W)"),
        (3, _dropout.dropout3d, "(N, C, D, H, W)"),
    )
)  # fmt: skip


def _rows(op: str, indices: Any, table: Any) -> Any:
    try:
        return _linear.embedding(indices, table)
    except IndexError as error:  # users of MindSpore's layers expect this
        raise RuntimeError(f"{op}: {str(error).removeprefix('embedding: ')}") from None


class Embedding(Cell):
    """The rows of a table (vocab_size, embedding_size) that integers name; row `padding_idx` begins with zeros."""

    def __init__(
        self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal",
        dtype: Any = float32, padding_idx: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.vocab_size = positive_int("Embedding", "vocab_size", vocab_size)
        self.embedding_size = positive_int("Embedding", "embedding_size", embedding_size)
        self.use_one_hot = a_bool("Embedding", "use_one_hot", use_one_hot)
        self.dtype, self.padding_idx = dtype, padding_idx
        start = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        table = Parameter(start, name="embedding_table")
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(f"Embedding: padding_idx must lie in [0, {vocab_size}), got {padding_idx}")
            table._a[padding_idx] = 0
        self.embedding_table = table

    def construct(self, ids: Any) -> Any:
        return _rows("Embedding", ids, self.embedding_table)

    extend_repr = shown(
        "vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx", "extend_repr"
    )


class EmbeddingLookup(Cell):
    """The rows of a table that integers name, scaled down to `max_norm` if that is given."""

    def __init__(
        self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", manual_shapes: Any = None, max_norm: float | None = None, sparse: bool = True,
        dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.vocab_size = positive_int("EmbeddingLookup", "vocab_size", vocab_size)
        self.embedding_size = positive_int("EmbeddingLookup", "embedding_size", embedding_size)
        if target == "CPU" and not sparse:
            raise ValueError("EmbeddingLookup: target 'CPU' goes with sparse=True only")
        self.max_norm = max_norm
        self.embedding_table = Parameter(
            initializer(param_init, (vocab_size, embedding_size), dtype), name="embedding_table"
        )

    def construct(self, indices: Any) -> Any:
        rows = _rows("EmbeddingLookup", indices, self.embedding_table)
        if self.max_norm is None:
            return rows
        size = (rows * rows).sum(-1, keepdims=True).sqrt()
        return rows * (self.max_norm / size.maximum(float(self.max_norm)))


def _one_hot(self: Any, indices: Any) -> Any:
    on, off = (Tensor(value, self.dtype) for value in (self.on_value, self.off_value))
    return _linear.one_hot(indices, self.depth, on, off, self.axis)


OneHot = layer(
    "OneHot", "axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = float32",
    _one_hot, "A new axis on which the class that an integer names has `on_value`, all others `off_value`.",
)  # fmt: skip


class Unfold(Cell):
    """The patches of (N, C, H, W) as channels (N, kh kw C, rows, columns); sizes as [1, kh, kw, 1]."""

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        if str(padding).lower() not in ("valid", "same"):
            raise ValueError(f"Unfold: padding must be 'valid' or 'same', got {padding!r}")
        if str(padding).lower() == "same":
            raise NotImplementedError("Unfold: padding='same' is not supported; pad before")
        self.ksizes, self.strides, self.rates = (tuple(x)[1:3] for x in (ksizes, strides, rates))

    def construct(self, input_x: Any) -> Any:
        n, c, h = input_x.shape[:3]
        columns = mp.im2col(input_x, kernel=self.ksizes, stride=self.strides, padding=(0, 0),
                            dilation=self.rates)  # fmt: skip
        rows = (h - self.rates[0] * (self.ksizes[0] - 1) - 1) // self.strides[0] + 1
        kernel = math.prod(self.ksizes)
        patches = columns.reshape((n, c, kernel, rows, -1)).transpose(0, 2, 1, 3, 4)
        return patches.reshape((n, c * kernel, rows, -1))


def _norm(self: Any, x: Any) -> Any:
    axis = None if self.axis == () else self.axis
    return (x * x).sum(axis, keepdims=self.keep_dims).sqrt()


def _clip_by_norm(self: Any, x: Any, clip_norm: Any) -> Any:
    size = (x * x).sum(self.axis, keepdims=True).sqrt()
    limit = clip_norm if isinstance(clip_norm, Tensor) else Tensor(float(clip_norm), x.dtype)
    return x * (limit / size.maximum(limit))


def _check_scale(regularizer: Any) -> None:
    scale = regularizer.scale
    if isinstance(scale, bool) or not isinstance(scale, (int, float)):
        raise TypeError(f"L1Regularizer: scale must be a number, got {type(scale).__name__}")
    if scale <= 0 or not math.isfinite(scale):
        raise ValueError(f"L1Regularizer: scale must be a number above 0, got {scale}")


Norm = layer("Norm", "axis: Any = (), keep_dims: bool = False", _norm, "The Euclidean norm over axes.", shows=True)
ClipByNorm = layer(
    "ClipByNorm", "axis: Any = None", _clip_by_norm, "A tensor scaled down to a Euclidean norm over axes."
)
Tril = layer("Tril", "", lambda self, x, k=0: x.tril(k), "The lower triangle of matrices, zeros above.")
Triu = layer("Triu", "", lambda self, x, k=0: x.triu(k), "The upper triangle of matrices, zeros below.")
Roll = layer(
    "Roll", "shift: Any, axis: Any", lambda self, input_x: input_x.roll(self.shift, self.axis),
    "The elements shifted along axes; those that leave come in at the other end.",
)  # fmt: skip
L1Regularizer = layer(
    "L1Regularizer", "scale: float", lambda self, weights: weights.abs().sum() * self.scale,
    "`scale` times the sum of the absolute values.", then=_check_scale,
)  # fmt: skip
