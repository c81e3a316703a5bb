"""What constructors of Primitive classes refuse: a table of checks by class and static argument.

Classes and arguments that are missing here take anything, and the call judges it, as in MindSpore.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dtype import Number, float16, float32, float64, int32, int64, uint32, uint64
from ..nn._checks import a_bool, a_float, not_negative_float, one_of, positive_int

Check = Callable[[str, str, Any], Any]


def _of_type(wanted: str, *types: type) -> Check:
    def check(op: str, name: str, value: Any) -> None:
        if not isinstance(value, types) or isinstance(value, bool):
            raise TypeError(f"{op}: {name} must be {wanted}, got {type(value).__name__}")

    return check


_int = _of_type("an int", int)
_axes = _of_type("an int or a tuple of ints", int, tuple, list)
_axis_or_axes = _of_type("an int or a tuple of ints", int, tuple)
_sequence = _of_type("a tuple or list of ints", tuple, list)
_tuple = _of_type("a tuple of ints", tuple)
_paddings = _of_type("a tuple of pairs", tuple)


def _sizes(axes: int) -> Check:
    def check(op: str, name: str, value: Any) -> None:
        _axis_or_axes(op, name, value)
        given = (value,) if isinstance(value, int) else value
        if len(given) not in (1, axes, axes + 2) or (len(given) == 1 and not isinstance(value, int)):
            raise ValueError(f"{op}: {name} must be an int or {axes} of them, got {value!r}")
        for n in given:
            positive_int(op, name, n)

    return check


def _one_of(*known: str) -> Check:
    def check(op: str, name: str, value: Any) -> None:
        one_of(op, name, value.lower() if isinstance(value, str) else value, known)

    return check


def _known(*values: Any) -> Check:
    def check(op: str, name: str, value: Any) -> None:
        if value not in values:
            raise ValueError(f"{op}: {name} must be {' or '.join(map(repr, values))}, got {value!r}")

    return check


def _at_least(least: int) -> Check:
    def check(op: str, name: str, value: Any) -> None:
        _int(op, name, value)
        if value < least:
            raise ValueError(f"{op}: {name} must be {least} or more, got {value}")

    return check


def _dtype_in(*known: Number) -> Check:
    def check(op: str, name: str, value: Any) -> None:
        if value not in known:
            raise TypeError(f"{op}: {name} must be {' or '.join(map(str, known))}, got {value!r}")

    return check


_modes, _reduction, _seed = _one_of("valid", "same"), _one_of("none", "mean", "sum"), _at_least(0)


def _convolution(axes: int, layout: str, channels: str = "out_channel") -> dict[str, Check]:
    return {
        channels: positive_int, "kernel_size": _sizes(axes), "stride": _sizes(axes), "dilation": _sizes(axes),
        "group": positive_int, "pad_mode": _one_of("valid", "same", "pad"), "mode": _known(1),
        "data_format": _known(layout, layout.replace("C", "") + "C"),
    }  # fmt: skip


CHECKS: dict[str, dict[str, Check]] = {
    "Conv2D": _convolution(2, "NCHW"), "Conv3D": _convolution(3, "NCDHW"), "Conv2DTranspose": _convolution(2, "NCHW"),
    "MaxPool": {"kernel_size": _sizes(2), "strides": _sizes(2), "pad_mode": _modes}, "AvgPool": {"pad_mode": _modes},
    "Softmax": {"axis": _axis_or_axes}, "Stack": {"axis": _int}, "Unstack": {"axis": _int}, "Squeeze": {"axis": _axis_or_axes},
    "TopK": {"sorted": a_bool}, "Sort": {"axis": _int, "descending": a_bool},
    "L2Normalize": {"axis": _axes, "epsilon": a_float}, "LpNorm": {"axis": _axes}, "Pad": {"paddings": _paddings},
    "MirrorPad": {"mode": _known("REFLECT", "SYMMETRIC")}, "ReverseV2": {"axis": _sequence},
    "Meshgrid": {"indexing": _known("xy", "ij")}, "BroadcastTo": {"shape": _tuple},
    "Tril": {"diagonal": _int}, "Triu": {"diagonal": _int}, "Roll": {"shifts": _axes},
    "DepthToSpace": {"block_size": _at_least(2)}, "SpaceToDepth": {"block_size": _at_least(2)},
    "BiasAdd": {"data_format": _known("NCHW", "NHWC", "NCDHW")},
    "SparseSoftmaxCrossEntropyWithLogits": {"is_grad": a_bool},
    "SmoothL1Loss": {"beta": a_float, "reduction": _reduction}, "BinaryCrossEntropy": {"reduction": _reduction},
    "KLDivLoss": {"reduction": _one_of("none", "mean", "sum", "batchmean")}, "NLLLoss": {"reduction": _reduction},
    "HShrink": {"lambd": a_float}, "SoftShrink": {"lambd": a_float}, "RandomChoiceWithMask": {"count": positive_int},
    "HistogramFixedWidth": {"nbins": positive_int, "dtype": _known("int32")}, "ComputeAccidentalHits": {"num_true": positive_int},
    "NonDeterministicInts": {"dtype": _dtype_in(int32, int64, uint32, uint64)},
    "LogNormalReverse": {"mean": a_float, "std": a_float},
    "Uniform": {"minval": not_negative_float, "maxval": not_negative_float, "seed": _int, "offset": _int},
    "MultinomialWithReplacement": {"numsamples": _at_least(0), "replacement": a_bool}, "Assert": {"summarize": _int},
    "TruncatedNormal": {"dtype": _dtype_in(float16, float32, float64), "seed": _int, "seed2": _int},
    **{name: {"seed": _seed, "seed2": _seed} for name in (
        "StandardNormal", "StandardLaplace", "UniformReal", "UniformInt", "Gamma", "Poisson", "Multinomial",
    )},
}  # fmt: skip


def check_static(op: str, attrs: dict[str, Any]) -> None:
    """Raise TypeError or ValueError for static arguments that a class does not take."""
    for name, check in CHECKS.get(op, {}).items():
        if name in attrs:
            check(op, name, attrs[name])
    if op == "Uniform" and attrs["minval"] > attrs["maxval"]:
        raise ValueError(f"Uniform: minval must be at most maxval, got {attrs['minval']} and {attrs['maxval']}")
    if op in ("Conv2D", "Conv3D"):
        pad = attrs["pad"]
        given = pad if isinstance(pad, (tuple, list)) else (pad,)
        if any(n < 0 for n in given) or (any(given) and attrs["pad_mode"].lower() != "pad"):
            raise ValueError(f"{op}: pad must not be negative, and 0 unless pad_mode='pad', got {pad}")
