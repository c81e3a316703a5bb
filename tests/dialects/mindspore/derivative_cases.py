"""The table of differentiable functions of the mindspore dialect, each with inputs away from its kinks and poles.

`FUNCTIONS` holds those of `mindspore.ops` by name, `PRIMITIVES` the Primitive classes with static arguments; the classes
without are checked with the cases of their functions. A case is (function of tensors, inputs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, ops

Case = tuple[Callable[..., Any], tuple[np.ndarray, ...]]


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers in [low, high), no two of them near each other."""
    n = int(np.prod(shape))
    rng = np.random.default_rng(seed + n)
    return ((rng.permutation(n) + rng.uniform(0.2, 0.8, n)) / n * (high - low) + low).reshape(shape)


def whole(*values: Any) -> Tensor:
    """A tensor of positions."""
    return Tensor(np.asarray(values[0] if len(values) == 1 else values, np.int64))


def params(x: Any) -> Any:
    """A copy that may be written into."""
    return x.copy()


V, W = uniform(-2.03, 2.02, 3), uniform(-1.9, 2.1, 3, seed=1)
X, Y = uniform(-2.03, 2.02, 2, 3), uniform(-1.9, 2.1, 2, 3, seed=1)
POS, POS2 = uniform(0.3, 2.2, 2, 3), uniform(0.4, 2.1, 2, 3, seed=1)
UNIT = uniform(-0.9, 0.9, 2, 3)
SQUARE = np.array([[2.1, 0.3, -0.4], [0.5, 1.7, 0.2], [-0.1, 0.6, 1.3]])
SPD = SQUARE @ SQUARE.T
TALL = uniform(-1, 1, 3, 2)
CUBE = uniform(-2.03, 2.02, 2, 3, 2)
IMAGE = uniform(-2.03, 2.02, 1, 2, 4, 4)
LINE = uniform(-2.03, 2.02, 1, 2, 6)
SPACE = uniform(-2.03, 2.02, 1, 1, 3, 4, 3)
KERNEL = uniform(-1, 1, 2, 2, 2, 2)
MASK = np.array([[True, False, True], [False, True, True]])
LABELS = np.array([[1.0, 0.0, 0.0], [0.0, 0.3, 0.7]])

FUNCTIONS: dict[str, Case] = {}
PRIMITIVES: dict[str, Case] = {}


def _each(names: str, *inputs: np.ndarray) -> None:
    """Functions that take these inputs as they are."""
    for name in names.split():
        FUNCTIONS[name] = (getattr(ops, name), inputs)


_each("acos arccos asin arcsin atanh arctanh erfinv", UNIT)
_each("sin cos tan sinh cosh tanh asinh arcsinh atan arctan exp exp2 expm1 tensor_exp tensor_expm1 square sinc "
      "deg2rad rad2deg erf erfc i0 bessel_i0 bessel_i1 bessel_j0 bessel_j1 sigmoid silu mish logsigmoid softsign "
      "fast_gelu gelu tanhshrink neg negative positive identity conj real softplus softmax log_softmax softmin "
      "clone deepcopy floor ceil rint round trunc sign sgn frac nan_to_num", UNIT)  # fmt: skip
_each("abs absolute relu leaky_relu elu selu celu hardshrink softshrink soft_shrink hardsigmoid hardswish hardtanh "
      "relu6 bessel_i0e bessel_i1e", X)  # fmt: skip
_each("log log2 log10 log1p sqrt rsqrt reciprocal inv lgamma digamma bessel_k0 bessel_k0e bessel_k1 bessel_k1e "
      "bessel_y0 bessel_y1", POS)  # fmt: skip
_each("acosh arccosh", POS + 1.2)
_each("add sub subtract mul multiply maximum minimum fmax fmin copysign", X, Y)
_each("div divide true_divide pow atan2 arctan2 hypot logaddexp logaddexp2 xlogy xdivy float_power polar complex", POS, POS2)
_each("floor_div floor_divide floor_mod fmod remainder truncate_div truncate_mod", POS + 1.1, POS2 * 0.4)
_each("sum mean prod amax amin max min aminmax nansum nanmean reduce_sum reduce_mean reduce_max reduce_min "
      "median nanmedian norm vector_norm matrix_norm sort msort flatten ravel t "
      "atleast_1d atleast_2d atleast_3d diagflat fliplr flipud diag unbind unstack tril triu adjoint diff", X)  # fmt: skip
_each("trapz", X, Y)
_each("var std var_mean std_mean cov", POS)
_each("mm", X, X.T)
_each("outer ger", V, W)
_each("kron", X, Y)
_each("vecdot cosine_similarity mse_loss l1_loss smooth_l1_loss huber_loss dist cdist", X, Y)
_each("inverse det matrix_determinant slogdet log_matrix_determinant logdet matrix_exp pinv", SQUARE)
_each("trace", SQUARE)
_each("fft ifft rfft ihfft fft2 ifft2 rfft2 ihfft2 fftn ifftn rfftn ihfftn hfft irfft fftshift ifftshift", X)
_each("hfft2 irfft2 hfftn irfftn", uniform(-2, 2, 3, 3))
_each("bmm", CUBE, CUBE.transpose(0, 2, 1).copy())
_each("cosine_similarity", X, Y)
_each("binary_cross_entropy", uniform(0.1, 0.9, 2, 3), uniform(0.2, 0.8, 2, 3, seed=1))
_each("binary_cross_entropy_with_logits", X, uniform(0.2, 0.8, 2, 3, seed=1))
_each("lerp addcmul", X, Y, UNIT)
_each("addcdiv", X, Y, POS)
_each("addmm", uniform(-1, 1, 2, 2), X, X.T)
_each("addmv", uniform(-1, 1, 2), X, V)
_each("addr", X, uniform(-1, 1, 2), V)
_each("addbmm", uniform(-1, 1, 3, 3), CUBE, CUBE.transpose(0, 2, 1).copy())
_each("baddbmm", uniform(-1, 1, 2, 3, 3), CUBE, CUBE.transpose(0, 2, 1).copy())
_each("mv", X, V)
_each("dense", X, uniform(-1, 1, 4, 3), uniform(-1, 1, 4))
_each("bias_add", X, V)
_each("bidense", X, Y[:, :2], uniform(-1, 1, 2, 3, 2))
_each("conv2d", IMAGE, KERNEL, uniform(-1, 1, 2))
_each("conv1d", LINE, KERNEL[:, :, 0])
_each("conv3d", SPACE, uniform(-1, 1, 2, 1, 2, 2, 2))
_each("conv_transpose2d", IMAGE, KERNEL)
_each("conv3d_transpose", SPACE, uniform(-1, 1, 1, 2, 2, 2, 2))
_each("prelu", X, np.array([0.25]))
_each("gaussian_nll_loss", X, Y, POS)
_each("triplet_margin_loss", X, Y, UNIT * 3)
_each("rms_norm", X, V)
_each("cross", X, Y)

_LAMBDAS: dict[str, Case] = {
    "kl_div": (lambda x: ops.kl_div(x, Tensor(POS)), (X,)),
    "angle": (lambda x: ops.angle(ops.complex(x, x * x)), (POS,)),
    "imag": (lambda x: ops.imag(ops.complex(x, x * x)), (POS,)),
    "view_as_real": (lambda x: ops.view_as_real(ops.complex(x, x * x)), (POS,)),
    "logit": (lambda x: ops.logit(x, eps=0.01), (uniform(0.1, 0.9, 2, 3),)),
    "polygamma": (lambda x: ops.polygamma(1, x), (POS,)), "mvlgamma": (lambda x: ops.mvlgamma(x, 2), (POS + 1,)),
    "zeta": (lambda q: ops.zeta(Tensor(np.full(q.shape, 2.5)), q), (POS,)),
    "igamma": (lambda x: ops.igamma(Tensor(np.full(x.shape, 1.5)), x), (POS,)),
    "igammac": (lambda x: ops.igammac(Tensor(np.full(x.shape, 1.5)), x), (POS,)),
    "ldexp": (ops.ldexp, (X, UNIT)), "heaviside": (ops.heaviside, (X, Y)),
    "clamp": (lambda x: ops.clamp(x, -1.0, 1.0), (X,)), "clip": (lambda x: ops.clip(x, -1.0, 1.0), (X,)),
    "clip_by_value": (lambda x: ops.clip_by_value(x, -1.0, 1.0), (X,)),
    "clip_by_norm": (lambda x: ops.clip_by_norm(x, 1.0), (X,)),
    "clip_by_global_norm": (lambda x, y: ops.clip_by_global_norm((x, y), 1.0), (X, V)),
    "addn": (lambda x, y: ops.addn((x, y)), (X, Y)), "accumulate_n": (lambda x, y: ops.accumulate_n((x, y)), (X, Y)),
    "threshold": (lambda x: ops.threshold(x, 0.5, 0.1), (X,)), "glu": (ops.glu, (uniform(-2, 2, 2, 4),)),
    "swiglu": (ops.swiglu, (uniform(-2, 2, 2, 4),)),
    "cumsum": (lambda x: ops.cumsum(x, 1), (X,)), "cumprod": (lambda x: ops.cumprod(x, 1), (X,)),
    "logcumsumexp": (lambda x: ops.logcumsumexp(x, 1), (X,)), "logsumexp": (lambda x: ops.logsumexp(x, 1), (X,)),
    "cummax": (lambda x: ops.cummax(x, 1), (X,)), "cummin": (lambda x: ops.cummin(x, 1), (X,)),
    "quantile": (lambda x: ops.quantile(x, 0.3, 1), (X,)), "nanquantile": (lambda x: ops.nanquantile(x, 0.3, 1), (X,)),
    "renorm": (lambda x: ops.renorm(x, 2.0, 0, 1.0), (X,)), "pdist": (ops.pdist, (uniform(-1, 1, 3, 2),)),
    "topk": (lambda x: ops.topk(x, 2), (X,)), "top_k": (lambda x: ops.top_k(x, 2), (X,)),
    "cast": (lambda x: ops.cast(x, ms.float64), (X,)), "type_as": (lambda x: ops.type_as(x, Tensor(X)), (X,)),
    "reshape": (lambda x: ops.reshape(x, (3, 2)), (X,)), "view_as": (lambda x: ops.view_as(x, ops.ones((3, 2))), (X,)),
    "reshape_as": (lambda x: ops.reshape_as(x, ops.ones((3, 2))), (X,)),
    "expand_dims": (lambda x: ops.expand_dims(x, 1), (X,)), "unsqueeze": (lambda x: ops.unsqueeze(x, 1), (X,)),
    "squeeze": (lambda x: ops.squeeze(x), (X[None],)), "broadcast_to": (lambda x: ops.broadcast_to(x, (2, 2, 3)), (X,)),
    "expand": (lambda x: ops.expand(x, (2, 2, 3)), (X,)),
    "expand_as": (lambda x: ops.expand_as(x, ops.ones((2, 2, 3))), (X,)),
    "transpose": (lambda x: ops.transpose(x, (1, 0)), (X,)), "permute": (lambda x: ops.permute(x, (1, 0)), (X,)),
    "swapaxes": (lambda x: ops.swapaxes(x, 0, 1), (X,)), "swapdims": (lambda x: ops.swapdims(x, 0, 1), (X,)),
    "moveaxis": (lambda x: ops.moveaxis(x, 0, 1), (X,)), "movedim": (lambda x: ops.movedim(x, 0, 1), (X,)),
    "flip": (lambda x: ops.flip(x, (0,)), (X,)), "reverse": (lambda x: ops.reverse(x, [1]), (X,)),
    "roll": (lambda x: ops.roll(x, 1, 1), (X,)), "rot90": (lambda x: ops.rot90(x, 1, (0, 1)), (X,)),
    "tile": (lambda x: ops.tile(x, (2, 1)), (X,)),
    "repeat_interleave": (lambda x: ops.repeat_interleave(x, 2, 0), (X,)),
    "repeat_elements": (lambda x: ops.repeat_elements(x, 2, 1), (X,)),
    "cat": (lambda x, y: ops.cat((x, y)), (X, Y)), "concat": (lambda x, y: ops.concat((x, y), 1), (X, Y)),
    "stack": (lambda x, y: ops.stack((x, y)), (X, Y)), "hstack": (lambda x, y: ops.hstack((x, y)), (X, Y)),
    "vstack": (lambda x, y: ops.vstack((x, y)), (X, Y)), "dstack": (lambda x, y: ops.dstack((x, y)), (X, Y)),
    "row_stack": (lambda x, y: ops.row_stack((x, y)), (X, Y)),
    "column_stack": (lambda x, y: ops.column_stack((x, y)), (X, Y)),
    "block_diag": (lambda x, y: ops.block_diag(x, y), (X, Y)), "meshgrid": (lambda x, y: ops.meshgrid(x, y), (V, W)),
    "cartesian_prod": (lambda x, y: ops.cartesian_prod(x, y), (V, W)), "combinations": (ops.combinations, (V,)),
    "split": (lambda x: ops.split(x, 2, 1), (X,)), "chunk": (lambda x: ops.chunk(x, 2, 1), (X,)),
    "tensor_split": (lambda x: ops.tensor_split(x, 2, 1), (X,)), "hsplit": (lambda x: ops.hsplit(x, 3), (X,)),
    "vsplit": (lambda x: ops.vsplit(x, 2), (X,)), "dsplit": (lambda x: ops.dsplit(x, 2), (CUBE,)),
    "narrow": (lambda x: ops.narrow(x, 1, 0, 2), (X,)), "slice": (lambda x: ops.slice(x, (0, 1), (2, 2)), (X,)),
    "tensor_slice": (lambda x: ops.tensor_slice(x, (0, 1), (2, 2)), (X,)),
    "strided_slice": (lambda x: ops.strided_slice(x, (0, 0), (2, 3), (1, 2)), (X,)),
    "space_to_batch_nd": (lambda x: ops.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]), (IMAGE,)),
    "batch_to_space_nd": (lambda x: ops.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]), (uniform(-1, 1, 4, 1, 2, 2),)),
    "padding": (lambda x: ops.padding(x, 3), (X[..., None],)), "pad": (lambda x: ops.pad(x, (1, 1)), (X,)),
    "mirror_pad": (lambda x: ops.mirror_pad(x, whole([[0, 0], [1, 1]]), "REFLECT"), (X,)),
    "pixel_shuffle": (lambda x: ops.pixel_shuffle(x, 2), (uniform(-1, 1, 1, 4, 2, 1),)),
    "pixel_unshuffle": (lambda x: ops.pixel_unshuffle(x, 2), (IMAGE,)),
    "channel_shuffle": (lambda x: ops.channel_shuffle(x, 2), (IMAGE,)),
    "unfold": (lambda x: ops.unfold(x, 2), (IMAGE,)),
    "fold": (lambda x: ops.fold(x, (2, 3), 2), (uniform(-1, 1, 1, 4, 2),)),
    "interpolate": (lambda x: ops.interpolate(x, (3, 5), mode="bilinear"), (IMAGE,)),
    "upsample": (lambda x: ops.upsample(x, (6, 5)), (IMAGE,)),
    "deformable_conv2d": (
        lambda x, w, o: ops.deformable_conv2d(x, w, o, (2, 2), (1, 1, 2, 2), (0, 0, 0, 0)),
        (uniform(-1, 1, 1, 2, 3, 3), uniform(-1, 1, 1, 2, 2, 2), uniform(0.15, 0.85, 1, 12, 1, 1)),
    ),
    "grid_sample": (ops.grid_sample, (IMAGE, uniform(-0.83, 0.81, 1, 2, 2, 2))),
    "affine_grid": (lambda t: ops.affine_grid(t, (1, 1, 2, 3)), (X[None],)),
    "gather": (lambda x: ops.gather(x, whole(0, 2, 0), 1), (X,)), "take": (lambda x: ops.take(x, whole(0, 5, 0)), (X,)),
    "gather_elements": (lambda x: ops.gather_elements(x, 1, whole([[0, 0], [1, 2]])), (X,)),
    "gather_d": (lambda x: ops.gather_d(x, 1, whole([[0, 0], [1, 2]])), (X,)),
    "gather_nd": (lambda x: ops.gather_nd(x, whole([[0, 1], [1, 2]])), (X,)),
    "index_select": (lambda x: ops.index_select(x, 1, whole(0, 2)), (X,)),
    "embedding": (lambda w: ops.embedding(whole(1, 0, 1), w), (X,)),
    "masked_select": (lambda x: ops.masked_select(x, Tensor(MASK)), (X,)),
    "masked_fill": (lambda x, v: ops.masked_fill(x, Tensor(MASK), v), (X, np.array(0.3))),
    "where": (lambda x, y: ops.where(Tensor(MASK), x, y), (X, Y)),
    "select": (lambda x, y: ops.select(Tensor(MASK), x, y), (X, Y)),
    "one_hot": (lambda a, b: ops.one_hot(whole(0, 2), 3, a, b), (np.array(1.2), np.array(0.3))),
    "tensor_scatter_elements": (lambda x, u: ops.tensor_scatter_elements(x, whole([[0, 1], [2, 1]]), u, 1), (X, Y[:, :2])),
    "scatter": (lambda x, u: ops.scatter(x, 1, whole([[0, 1], [2, 1]]), u), (X, Y[:, :2])),
    "scatter_nd": (lambda u: ops.scatter_nd(whole([[0], [2], [0]]), u, (4,)), (V,)),
    "index_fill": (lambda x: ops.index_fill(x, 1, whole(0), 2.0), (X,)),
    "index_add": (lambda x, y: ops.index_add(params(x), whole(1, 0), y, 0), (X, Y)),
    "inplace_update": (lambda x, v: ops.inplace_update(x, v, (1,)), (X, Y[:1])),
    "inplace_add": (lambda x, v: ops.inplace_add(x, v, (1,)), (X, Y[:1])),
    "inplace_sub": (lambda x, v: ops.inplace_sub(x, v, (1,)), (X, Y[:1])),
    "select_scatter": (lambda x, s: ops.select_scatter(x, s, 1, 0), (X, Y[:, 0])),
    "slice_scatter": (lambda x, s: ops.slice_scatter(x, s, 1, 0, 2), (X, Y[:, :2])),
    "diagonal_scatter": (lambda x, s: ops.diagonal_scatter(x, s), (X, Y[0, :2])),
    "reverse_sequence": (lambda x: ops.reverse_sequence(x, whole(1, 3), 1), (X,)),
    "unsorted_segment_sum": (lambda x: ops.unsorted_segment_sum(x, whole(0, 1, 0), 2), (V,)),
    "unsorted_segment_prod": (lambda x: ops.unsorted_segment_prod(x, whole(0, 1, 0), 2), (V,)),
    "unsorted_segment_max": (lambda x: ops.unsorted_segment_max(x, whole(0, 1, 0), 2), (V,)),
    "unsorted_segment_min": (lambda x: ops.unsorted_segment_min(x, whole(0, 1, 0), 2), (V,)),
    "diagonal": (ops.diagonal, (X,)), "diag_embed": (ops.diag_embed, (X,)),
    "matrix_band_part": (lambda x: ops.matrix_band_part(x, 0, 1), (SQUARE,)),
    "matmul": (ops.matmul, (X, TALL)), "inner": (ops.inner, (X, Y)), "dot": (ops.dot, (X, TALL)),
    "tensor_dot": (lambda x, y: ops.tensor_dot(x, y, 1), (X, TALL)),
    "batch_dot": (lambda x, y: ops.batch_dot(x, y, 1), (X, Y)),
    "einsum": (lambda x, y: ops.einsum("ij,jk->ik", x, y), (X, TALL)),
    "matrix_power": (lambda x: ops.matrix_power(x, 3), (SQUARE,)), "cond": (ops.cond, (SQUARE,)),
    "cholesky": (lambda x: ops.cholesky(x + x.T), (SPD,)),
    "cholesky_inverse": (lambda x: ops.cholesky_inverse(ops.tril(x)), (SPD,)),
    "cholesky_solve": (lambda b, x: ops.cholesky_solve(b, ops.tril(x)), (TALL, SPD)),
    "matrix_solve": (ops.matrix_solve, (SQUARE, TALL)),
    "svd": (lambda x: ops.svd(x, compute_uv=False), (SQUARE,)),
    "eigvals": (lambda x: ops.abs(ops.eigvals(x)).sum(), (SPD,)),
    "eig": (lambda x: ops.abs(ops.eig(x)[0]).sum(), (SPD,)), "qr": (ops.qr, (SQUARE,)),
    "lstsq": (ops.lstsq, (TALL, uniform(-1, 1, 3, 1))),
    "orgqr": (ops.orgqr, (np.tril(SQUARE, -1), np.array([1.1, 1.2, 0.4]))),
    "ormqr": (ops.ormqr, (np.tril(SQUARE, -1), np.array([1.1, 1.2, 0.4]), TALL)),
    "lu_solve": (lambda b, a: ops.lu_solve(b, a, Tensor(np.array([1, 1, 2], np.int32))), (TALL, SQUARE)),
    "vander": (ops.vander, (V,)),
    "batch_norm": (lambda x, w, b: ops.batch_norm(x, Tensor(np.zeros(2)), Tensor(np.ones(2)), w, b, training=True),
                   (IMAGE, V[:2], W[:2])),
    "layer_norm": (lambda x, w, b: ops.layer_norm(x, (3,), w, b), (X, V, W)),
    "group_norm": (lambda x, w, b: ops.group_norm(x, 2, w, b), (IMAGE, V[:2], W[:2])), "lrn": (ops.lrn, (IMAGE,)),
    "avg_pool1d": (lambda x: ops.avg_pool1d(x, 2), (LINE,)), "avg_pool2d": (lambda x: ops.avg_pool2d(x, 2), (IMAGE,)),
    "avg_pool3d": (lambda x: ops.avg_pool3d(x, 2), (SPACE,)), "max_pool2d": (lambda x: ops.max_pool2d(x, 2), (IMAGE,)),
    "max_pool3d": (lambda x: ops.max_pool3d(x, 2), (SPACE,)),
    "lp_pool1d": (lambda x: ops.lp_pool1d(x, 3.0, 2), (abs(LINE) + 0.2,)),
    "lp_pool2d": (lambda x: ops.lp_pool2d(x, 3.0, 2), (abs(IMAGE) + 0.2,)),
    "adaptive_avg_pool1d": (lambda x: ops.adaptive_avg_pool1d(x, 4), (LINE,)),
    "adaptive_avg_pool2d": (lambda x: ops.adaptive_avg_pool2d(x, 3), (IMAGE,)),
    "adaptive_avg_pool3d": (lambda x: ops.adaptive_avg_pool3d(x, 2), (SPACE,)),
    "adaptive_max_pool1d": (lambda x: ops.adaptive_max_pool1d(x, 4), (LINE,)),
    "adaptive_max_pool2d": (lambda x: ops.adaptive_max_pool2d(x, 3), (IMAGE,)),
    "adaptive_max_pool3d": (lambda x: ops.adaptive_max_pool3d(x, 2), (SPACE,)),
    "dropout": (lambda x: ops.dropout(x, 0.3, training=False), (X,)),
    "cross_entropy": (lambda x: ops.cross_entropy(x, whole(0, 2), label_smoothing=0.1), (X,)),
    "nll_loss": (lambda x: ops.nll_loss(x, whole(0, 2), Tensor(POS[0])), (X,)),
    "soft_margin_loss": (lambda x: ops.soft_margin_loss(x, Tensor(np.sign(Y))), (X,)),
    "hinge_embedding_loss": (lambda x: ops.hinge_embedding_loss(x, Tensor(np.sign(Y))), (X,)),
    "margin_ranking_loss": (lambda x, y: ops.margin_ranking_loss(x, y, Tensor(np.ones(3)), 0.5), (V, W)),
    "cosine_embedding_loss": (lambda x, y: ops.cosine_embedding_loss(x, y, whole(1, -1), -0.9), (X, Y)),
    "multilabel_soft_margin_loss": (lambda x: ops.multilabel_soft_margin_loss(x, Tensor(LABELS)), (X,)),
    "multi_margin_loss": (lambda x: ops.multi_margin_loss(x, whole(0, 2), p=2), (X,)),
    "multilabel_margin_loss": (lambda x: ops.multilabel_margin_loss(x, whole([[0, 2, -1], [1, -1, 0]])), (X,)),
    "ctc_loss": (lambda x: ops.ctc_loss(ops.log_softmax(x, 2), whole([[1, 2]]), whole([4]), whole([2]))[0],
                 (uniform(-1, 1, 4, 1, 3),)),
    "depend": (lambda x: ops.depend(x * x, x), (X,)),
}  # fmt: skip
_LAMBDAS |= {
    "matrix_diag": (lambda x: ops.matrix_diag(x, 1, padding_value=0.5), (X,)), "sgn": (ops.sgn, (X,)),
    "matrix_diag_part": (lambda x: ops.matrix_diag_part(x, 1, 0.0), (SQUARE,)),
    "matrix_set_diag": (ops.matrix_set_diag, (SQUARE, V)),
    "lu_unpack": (lambda x: ops.lu_unpack(x, Tensor(np.array([1, 1, 2], np.int32)))[1:], (SQUARE,)),
    "col2im": (lambda x: ops.col2im(x, (2, 3), (2, 2), (1, 1), (0, 0), (1, 1)), (uniform(-1, 1, 1, 1, 4, 2),)),
    "max_unpool1d": (lambda x: ops.max_unpool1d(x, whole([[[1, 2], [0, 3]]]), 2), (LINE[:, :, :2],)),
    "max_unpool2d": (lambda x: ops.max_unpool2d(x, whole([[[[1, 7]], [[0, 6]]]]), 2), (IMAGE[:, :, :1, :2],)),
    "max_unpool3d": (lambda x: ops.max_unpool3d(x, whole([[[[[1, 13]]]]]), 2), (SPACE[:, :, :1, :1, :2],)),
    "iou": (ops.iou, (np.array([[0.1, 0.2, 2.1, 2.6]]), np.array([[1.0, 1.1, 3.2, 3.3]]))),
}  # fmt: skip
FUNCTIONS.update(_LAMBDAS)

for _how in ("update", "add", "sub", "mul", "div", "max", "min"):
    for _name, _target in ((f"tensor_scatter_{_how}", False), (f"scatter_{_how}", True), (f"scatter_nd_{_how}", True)):
        if hasattr(ops, _name):
            def _scatter(name: str, copied: bool) -> Callable[..., Any]:
                places = whole(1, 0) if name.startswith("scatter_") and "_nd_" not in name else whole([[1], [0]])
                return lambda x, u: getattr(ops, name)(params(x) if copied else x, places, u)

            FUNCTIONS[_name] = (_scatter(_name, _target), (POS, POS2))

PRIMITIVES.update({
    "SegmentSum": (lambda x: ops.SegmentSum()(x, whole(0, 0, 1)), (V,)),
    "SegmentProd": (lambda x: ops.SegmentProd()(x, whole(0, 0, 1)), (V,)),
    "SegmentMax": (lambda x: ops.SegmentMax()(x, whole(0, 0, 1)), (V,)),
    "SegmentMin": (lambda x: ops.SegmentMin()(x, whole(0, 0, 1)), (V,)),
    "SegmentMean": (lambda x: ops.SegmentMean()(x, whole(0, 0, 1)), (V,)),
    "CumulativeLogsumexp": (lambda x: ops.CumulativeLogsumexp()(x, 1), (X,)),
    "ConjugateTranspose": (lambda x: ops.ConjugateTranspose()(x, (1, 0)), (X,)),
    "MaxPoolWithArgmax": (ops.MaxPoolWithArgmax(2, 2), (IMAGE,)),
    "NthElement": (lambda x: ops.NthElement()(x, 1), (X,)),
    "NuclearNorm": (ops.NuclearNorm(), (SQUARE,)), "Lstsq": (ops.Lstsq(), (TALL, uniform(-1, 1, 3, 1))),
    "LuUnpack": (lambda x: ops.LuUnpack()(x, Tensor(np.array([1, 1, 2], np.int32)))[1:], (SQUARE,)),
    "MatrixDiagV3": (lambda x: ops.MatrixDiagV3()(x, 1), (X,)),
    "MatrixDiagPartV3": (lambda x: ops.MatrixDiagPartV3()(x, 1, 0.0), (SQUARE,)),
    "MatrixSetDiagV3": (lambda x, d: ops.MatrixSetDiagV3()(x, d, 0), (SQUARE, V)),
    "MaxUnpool2D": (lambda x: ops.MaxUnpool2D(2)(x, whole([[[[1, 7]], [[0, 6]]]])), (IMAGE[:, :, :1, :2],)),
    "MultilabelMarginLoss": (lambda x: ops.MultilabelMarginLoss()(x, whole([[0, 2, -1], [1, -1, 0]]))[0], (X,)),
    "AdaptiveMaxPool3D": (lambda x: ops.AdaptiveMaxPool3D()(x, (2, 2, 2)), (SPACE,)),
    "IOU": (ops.IOU(), FUNCTIONS["iou"][1]),
    "Quantile": (lambda x: ops.Quantile(1)(x, 0.3), (X,)),
    "AdaptiveAvgPool2D": (ops.AdaptiveAvgPool2D(3), (IMAGE,)),
    "AdaptiveAvgPool3D": (ops.AdaptiveAvgPool3D(2), (SPACE,)),
    "AdaptiveMaxPool2D": (ops.AdaptiveMaxPool2D(3), (IMAGE,)),
    "AffineGrid": (lambda t: ops.AffineGrid()(t, (1, 1, 2, 3)), (X[None],)),
    "ArgMaxWithValue": (ops.ArgMaxWithValue(1), (X,)), "ArgMinWithValue": (ops.ArgMinWithValue(1), (X,)),
    "AvgPool": (ops.AvgPool(2, 2), (IMAGE,)), "AvgPool3D": (ops.AvgPool3D(2, 1), (SPACE,)),
    "BCEWithLogitsLoss": (lambda x, y: ops.BCEWithLogitsLoss()(x, y, Tensor(POS), Tensor(POS2)), (X, UNIT * 0.3 + 0.5)),
    "BatchMatMul": (ops.BatchMatMul(transpose_b=True), (CUBE, CUBE + 0.1)),
    "BatchNorm": (lambda x, w, b: ops.BatchNorm(is_training=True)(x, w, b, Tensor(np.zeros(2)), Tensor(np.ones(2)))[0],
                  (IMAGE, V[:2], W[:2])),
    "BatchToSpaceND": (ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]]), (uniform(-1, 1, 4, 1, 2, 2),)),
    "BiasAdd": (ops.BiasAdd(), (X, V)), "BroadcastTo": (ops.BroadcastTo((2, 2, 3)), (X,)),
    "BinaryCrossEntropy": (ops.BinaryCrossEntropy(), (uniform(0.1, 0.9, 2, 3), uniform(0.2, 0.8, 2, 3, seed=1))),
    "CTCLossV2": (lambda x: ops.CTCLossV2(reduction="mean")(ops.log_softmax(x, 2), whole([[1, 2]]), whole([4]), whole([2]))[0],
                  (uniform(-1, 1, 4, 1, 3),)),
    "Cdist": (ops.Cdist(), (X, Y)), "CeLU": (ops.CeLU(), (X,)), "ChannelShuffle": (ops.ChannelShuffle(2), (IMAGE,)),
    "CheckNumerics": (ops.CheckNumerics(), (X,)),
    "Cholesky": (lambda x: ops.Cholesky()(x + x.T), (SPD,)),
    "CholeskyInverse": (lambda x: ops.CholeskyInverse()(ops.tril(x)), (SPD,)),
    "CholeskySolve": (lambda b, x: ops.CholeskySolve()(b, ops.tril(x)), (TALL, SPD)),
    "Col2Im": (lambda x: ops.Col2Im(2)(x, (2, 3)), (uniform(-1, 1, 1, 1, 4, 2),)),
    "Concat": (lambda x, y: ops.Concat(1)((x, y)), (X, Y)), "Conv2D": (ops.Conv2D(2, 2), (IMAGE, KERNEL)),
    "Conv2DBackpropInput": (lambda g, w: ops.Conv2DBackpropInput(2, 2)(g, w, (1, 2, 5, 5)), (IMAGE, KERNEL)),
    "Conv2DTranspose": (lambda g, w: ops.Conv2DTranspose(2, 2)(g, w, (1, 2, 5, 5)), (IMAGE, KERNEL)),
    "Conv3D": (ops.Conv3D(2, 2), (SPACE, uniform(-1, 1, 2, 1, 2, 2, 2))), "Cross": (ops.Cross(), (X, Y)),
    "CumProd": (lambda x: ops.CumProd(exclusive=True)(x, 1), (X,)),
    "CumSum": (lambda x: ops.CumSum(reverse=True)(x, 1), (X,)),
    "Cummax": (ops.Cummax(1), (X,)), "Cummin": (ops.Cummin(1), (X,)),
    "DepthToSpace": (ops.DepthToSpace(2), (uniform(-1, 1, 1, 4, 2, 1),)),
    "DiagPart": (ops.DiagPart(), (SQUARE,)), "DivNoNan": (ops.DivNoNan(), (X, POS)),
    "Dropout": (lambda x: ops.Dropout(keep_prob=1.0)(x)[0], (X,)),
    "Dropout2D": (lambda x: ops.Dropout2D(1.0)(x)[0], (IMAGE,)),
    "Dropout3D": (lambda x: ops.Dropout3D(1.0)(x)[0], (SPACE,)),
    "Eig": (lambda x: ops.abs(ops.Eig()(x)[0]).sum(), (SPD,)),
    "Einsum": (lambda x, y: ops.Einsum("ij,jk->ik")((x, y)), (X, TALL)),
    "Elu": (ops.Elu(), (X,)), "EmbeddingLookup": (lambda w: ops.EmbeddingLookup()(w, whole(1, 0), 0), (X,)),
    "EuclideanNorm": (ops.EuclideanNorm(), (X,)), "FFTWithSize": (ops.FFTWithSize(1, False, True), (X,)),
    "GLU": (ops.GLU(), (uniform(-2, 2, 2, 4),)), "Gather": (lambda x: ops.Gather()(x, whole(0, 1), 1), (X,)),
    "GatherV2": (lambda x: ops.GatherV2()(x, whole(0, 1), 1), (X,)), "GeLU": (ops.GeLU(), (X,)),
    "Gelu": (ops.Gelu(), (X,)),
    "GridSampler2D": (ops.GridSampler2D(), (IMAGE, uniform(-0.83, 0.81, 1, 2, 2, 2))),
    "GridSampler3D": (ops.GridSampler3D(), (SPACE, uniform(-0.43, 0.41, 1, 1, 1, 2, 3))),
    "HShrink": (ops.HShrink(), (X,)), "IdentityN": (lambda x: ops.IdentityN()((x, x * x)), (X,)),
    "Im2Col": (ops.Im2Col(2), (IMAGE,)), "IndexAdd": (lambda x, y: ops.IndexAdd(0)(params(x), whole(1, 0), y), (X, Y)),
    "IndexFill": (lambda x: ops.IndexFill()(x, 1, whole(0), 2.0), (X,)),
    "InplaceAdd": (ops.InplaceAdd((1,)), (X, Y[:1])), "InplaceSub": (ops.InplaceSub((1,)), (X, Y[:1])),
    "InplaceUpdate": (ops.InplaceUpdate((1,)), (X, Y[:1])), "KLDivLoss": (lambda x: ops.KLDivLoss()(x, Tensor(POS)), (X,)),
    "L2Loss": (ops.L2Loss(), (X,)), "L2Normalize": (ops.L2Normalize(1), (X,)), "LRN": (ops.LRN(), (IMAGE,)),
    "LayerNorm": (lambda x, w, b: ops.LayerNorm(epsilon=1e-3)(x, w, b), (X, V, W)),
    "LogSoftmax": (ops.LogSoftmax(), (X,)),
    "LogSoftmaxExt": (ops.LogSoftmaxExt(), (X,)), "Logit": (ops.Logit(), (uniform(0.1, 0.9, 2, 3),)),
    "LpNorm": (ops.LpNorm(1, 3), (X,)), "MatMul": (ops.MatMul(transpose_b=True), (X, Y)),
    "MatrixInverse": (ops.MatrixInverse(), (SQUARE,)), "MatrixPower": (ops.MatrixPower(3), (SQUARE,)),
    "MatrixSolve": (ops.MatrixSolve(), (SQUARE, TALL)),
    "MatrixTriangularSolve": (ops.MatrixTriangularSolve(), (np.tril(SQUARE), TALL)),
    "MaxPool": (ops.MaxPool(2, 2), (IMAGE,)), "MaxPool3D": (ops.MaxPool3D(2, 1), (SPACE,)),
    "MaxPoolWithArgmaxV2": (ops.MaxPoolWithArgmaxV2(2), (IMAGE,)), "Median": (ops.Median(axis=1), (X,)),
    "Meshgrid": (lambda x, y: ops.Meshgrid()((x, y)), (V, W)),
    "MirrorPad": (lambda x: ops.MirrorPad()(x, whole([[0, 0], [1, 1]])), (X,)), "MulNoNan": (ops.MulNoNan(), (X, Y)),
    "MultiMarginLoss": (lambda x: ops.MultiMarginLoss(p=2)(x, whole(0, 2), Tensor(POS[0])), (X,)),
    "Mvlgamma": (ops.Mvlgamma(2), (POS + 1,)),
    "NLLLoss": (lambda x: ops.NLLLoss()(x, whole(0, 2), Tensor(POS[0]))[0], (X,)),
    "NanToNum": (ops.NanToNum(), (X,)),
    "OneHot": (lambda a, b: ops.OneHot()(whole(0, 2), 3, a, b), (np.array(1.2), np.array(0.3))),
    "Ormqr": (ops.Ormqr(), (np.tril(SQUARE, -1), np.array([1.1, 1.2, 0.4]), TALL)),
    "Pack": (lambda x, y: ops.Pack()((x, y)), (X, Y)), "Pad": (ops.Pad(((0, 1), (1, 0))), (X,)),
    "PadV3": (lambda x: ops.PadV3()(x, (1, 1)), (X,)), "Padding": (ops.Padding(3), (X[..., None],)),
    "Pdist": (ops.Pdist(), (uniform(-1, 1, 3, 2),)), "Qr": (ops.Qr(), (SQUARE,)), "RealDiv": (ops.RealDiv(), (X, POS)),
    "ReduceMax": (ops.ReduceMax(), (X,)), "ReduceMean": (ops.ReduceMean(True), (X,)),
    "ReduceMin": (ops.ReduceMin(), (X,)),
    "ReduceProd": (ops.ReduceProd(), (X,)), "ReduceStd": (ops.ReduceStd(1), (X,)),
    "ReduceSum": (ops.ReduceSum(), (X * X,)),
    "Renorm": (ops.Renorm(2, 0, 1.0), (X,)),
    "ResizeBilinearV2": (lambda x: ops.ResizeBilinearV2()(x, (3, 5)), (IMAGE,)),
    "ResizeBicubic": (lambda x: ops.ResizeBicubic(half_pixel_centers=True)(x, (3, 5)), (IMAGE,)),
    "ResizeNearestNeighbor": (ops.ResizeNearestNeighbor((6, 5)), (IMAGE,)),
    "ReverseSequence": (lambda x: ops.ReverseSequence(1)(x, whole(1, 3)), (X,)),
    "ReverseV2": (ops.ReverseV2([1]), (X,)),
    "RmsNorm": (ops.RmsNorm(), (X, V)), "Roll": (ops.Roll(1, 1), (X,)),
    "SigmoidCrossEntropyWithLogits": (
        lambda x: ops.SigmoidCrossEntropyWithLogits()(x, Tensor(uniform(0.2, 0.8, 2, 3))), (X,)),
    "SmoothL1Loss": (ops.SmoothL1Loss(), (X, Y)),
    "SoftMarginLoss": (lambda x: ops.SoftMarginLoss()(x, Tensor(np.sign(Y))), (X,)),
    "SoftShrink": (ops.SoftShrink(), (X,)), "Softmax": (ops.Softmax(0), (X,)),
    "SoftmaxCrossEntropyWithLogits": (lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, Tensor(LABELS)), (X,)),
    "Sort": (ops.Sort(), (X,)), "SpaceToBatchND": (ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]]), (IMAGE,)),
    "SpaceToDepth": (ops.SpaceToDepth(2), (IMAGE,)),
    "SparseGatherV2": (lambda x: ops.SparseGatherV2()(x, whole(0, 1), 1), (X,)),
    "SparseSoftmaxCrossEntropyWithLogits": (lambda x: ops.SparseSoftmaxCrossEntropyWithLogits()(x, whole(0, 2)), (X,)),
    "Split": (ops.Split(1, 3), (X,)), "SplitV": (ops.SplitV([1, 2], 1, 2), (X,)),
    "SquareSumAll": (ops.SquareSumAll(), (X, Y)),
    "SquaredDifference": (ops.SquaredDifference(), (X, Y)), "Squeeze": (ops.Squeeze(0), (X[None],)),
    "Stack": (lambda x, y: ops.Stack(1)((x, y)), (X, Y)),
    "StridedSlice": (lambda x: ops.StridedSlice()(x, (0, 0), (2, 3), (1, 2)), (X,)),
    "Svd": (lambda x: ops.Svd(compute_uv=False)(x)[0], (SQUARE,)),
    "TensorScatterElements": (lambda x, u: ops.TensorScatterElements(1)(x, whole([[0, 1], [2, 1]]), u), (X, Y[:, :2])),
    "TopK": (lambda x: ops.TopK()(x, 2), (X,)), "Tril": (ops.Tril(), (X,)), "Triu": (ops.Triu(), (X,)),
    "TripletMarginLoss": (lambda x, y, z: ops.TripletMarginLoss()(x, y, z, 1.0), (X, Y, UNIT * 3)),
 "Unpack": (ops.Unpack(), (X,)), "Unstack": (ops.Unstack(), (X,)),
})  # fmt: skip
for _how in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min"):
    for _stem, _places in (("Scatter", whole(1, 0)), ("ScatterNd", whole([[1], [0]]))):
        def _primitive_scatter(name: str, places: Any) -> Callable[..., Any]:
            return lambda x, u: getattr(ops, name)()(params(x), places, u)

        PRIMITIVES[_stem + _how] = (_primitive_scatter(_stem + _how, _places), (POS, POS2))


# ------------------------------------------------------------------------------------------ sparse matrices


def _coo(values: Any) -> Any:
    """A COOTensor of one column with these values."""
    n = values.size
    return ms.COOTensor(whole([[i, 0] for i in range(n)]), values.reshape(-1), (n, 1))


def _csr(values: Any) -> Any:
    """A 2 x 3 CSRTensor of three values."""
    return ms.CSRTensor(whole(0, 2, 3), whole(0, 2, 1), values, (2, 3))


def _sparse(name: str, make: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x: getattr(ops, name)(make(x)).values


for _name in sorted(ms.ops.__dict__):
    _base = FUNCTIONS.get(_name[4:])
    if _name.startswith(("coo_", "csr_")) and _base is not None and len(_base[1]) == 1 and _name[4:] not in ("concat", "mul"):
        FUNCTIONS[_name] = (_sparse(_name, _coo if _name.startswith("coo") else _csr), (_base[1][0].reshape(-1)[:3],))
FUNCTIONS.update({
    "coo_add": (lambda v, w: ops.coo_add(_coo(v), _coo(w), 0.0).values, (V, W)),
    "sparse_add": (lambda v, w: ops.sparse_add(_coo(v), _coo(w), 0.0).values, (V, W)),
    "coo_concat": (lambda v, w: ops.coo_concat((_coo(v), _coo(w))).values, (V, W)),
    "coo_tensor_get_values": (lambda v: ops.coo_tensor_get_values(_coo(v)), (V,)),
    "csr_add": (lambda v, w: ops.csr_add(_csr(v), _csr(w), 2.0, 3.0).values, (V, W)),
    "csr_div": (lambda v, x: ops.csr_div(_csr(v), x).values, (V, POS)),
    "csr_mul": (lambda v, x: ops.csr_mul(_csr(v), x).values, (V, X)),
    "csr_mm": (lambda v, x: ops.csr_mm(_csr(v), x), (V, TALL)),
    "csr_mv": (lambda v, x: ops.csr_mv(_csr(v), x), (V, TALL[:, :1])),
    "csr_reduce_sum": (lambda v: ops.csr_reduce_sum(_csr(v), 1), (V,)),
    "csr_softmax": (lambda v: ops.csr_softmax(_csr(v), ms.float64).values, (V,)),
    "csr_tensor_get_values": (lambda v: ops.csr_tensor_get_values(_csr(v)), (V,)),
    "csr_to_coo": (lambda v: ops.csr_to_coo(_csr(v)).values, (V,)),
    "csr_to_dense": (lambda v: ops.csr_to_dense(_csr(v)), (V,)),
    "dense_to_sparse_coo": (lambda x: ops.dense_to_sparse_coo(x).values, (X,)),
    "dense_to_sparse_csr": (lambda x: ops.dense_to_sparse_csr(x).values, (X,)),
})  # fmt: skip
PRIMITIVES["SparseToDense"] = (lambda v: ops.SparseToDense()(whole([[0, 1], [1, 0], [1, 2]]), v, (2, 3)), (V,))
PRIMITIVES["SparseTensorDenseMatmul"] = (
    lambda v, x: ops.SparseTensorDenseMatmul()(whole([[0, 1], [1, 0], [1, 2]]), v, (2, 3), x), (V, TALL),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ images, regions, bands

BOXES, OTHERS = np.array([[1.2, 2.1, 4.3, 5.7], [0.4, 0.9, 3.8, 3.1]]), np.array([[1.7, 2.9, 6.1, 6.4], [0.2, 1.3, 4.9, 5.2]])
PIXELS = uniform(-2.03, 2.02, 2, 3, 4, 2)
BANDS = uniform(0.4, 2.3, 3, 3)


def _single(x: Any) -> Tensor:
    return Tensor(np.asarray(x, np.float64))


FUNCTIONS.update({
    "bounding_box_encode": (ops.bounding_box_encode, (BOXES, OTHERS)),
    "bounding_box_decode": (lambda a, d: ops.bounding_box_decode(a, d, (20, 30)), (BOXES + 5, OTHERS / 9)),
    "crop_and_resize": (
        lambda x: ops.crop_and_resize(x, _single([[0.1, 0.2, 0.8, 0.9], [0.0, 0.1, 1.3, 1.0]]), whole(0, 1), (3, 2)), (PIXELS,)),
    "fractional_max_pool2d": (lambda x: ops.fractional_max_pool2d(x, 2, 2, _random_samples=_single([[[0.2, 0.7], [0.6, 0.1]]])),
                              (IMAGE,)),
    "fractional_max_pool3d": (lambda x: ops.fractional_max_pool3d(x, 2, (2, 2, 1), _random_samples=_single([[[0.2, 0.7, 0.4]]])),
                              (SPACE,)),
    "mixed_precision_cast": (lambda x: ops.mixed_precision_cast(ms.float64, (x, 3))[0], (X,)),
    "stft": (lambda x: ops.stft(x, 4, 2), (uniform(-2.03, 2.02, 9),)),
})  # fmt: skip
PRIMITIVES.update({
    "Coalesce": (lambda v: ops.Coalesce()(whole([[1, 0, 0], [2, 1, 1]]), v, whole(3, 3))[1], (V,)),
    "TransposeView": (lambda x: ops.operations.TransposeView()(x, (1, 0)), (X,)),
    "TransposeExtView": (lambda x: ops.operations.TransposeExtView()(x, 0, 1), (X,)),
    "SelectView": (lambda x: ops.operations.SelectView()(x, 1, 0), (X,)),
    "BoundingBoxEncode": (ops.BoundingBoxEncode(), (BOXES, OTHERS)),
    "BoundingBoxDecode": (ops.BoundingBoxDecode((20, 30)), (BOXES + 5, OTHERS / 9)),
    "CropAndResize": (lambda x: ops.CropAndResize()(x, _single([[0.1, 0.2, 0.8, 0.9]]), whole([1]), (2, 3)), (PIXELS,)),
    "ROIAlign": (lambda x: ops.ROIAlign(2, 2, 0.5)(x, _single([[0.0, 0.2, 0.3, 5.0, 6.0]])), (IMAGE,)),
    "AdjustContrastv2": (lambda x: ops.AdjustContrastv2()(x, _single(1.5)), (PIXELS,)),
    "ResizeNearestNeighborV2": (lambda x: ops.ResizeNearestNeighborV2(True)(x, (3, 5)), (IMAGE,)),
    "ResizeLinear1D": (lambda x: ops.ResizeLinear1D()(x, (4,)), (LINE,)),
    "UpsampleNearest3D": (lambda x: ops.UpsampleNearest3D()(x, (4, 5, 3)), (SPACE,)),
    "UpsampleTrilinear3D": (lambda x: ops.UpsampleTrilinear3D()(x, (4, 5, 3)), (SPACE,)),
    "FractionalMaxPoolWithFixedKsize": (
        lambda x: ops.FractionalMaxPoolWithFixedKsize((2, 2), (2, 2))(x, _single([[[0.2, 0.7], [0.6, 0.1]]]))[0], (IMAGE,)),
    "FractionalMaxPool3DWithFixedKsize": (
        lambda x: ops.FractionalMaxPool3DWithFixedKsize((2, 2, 2), (2, 2, 1))(x, _single([[[0.2, 0.7, 0.4]]]))[0], (SPACE,)),
    "MaxPool3DWithArgmax": (lambda x: ops.MaxPool3DWithArgmax(2, 1, 0)(x)[0], (SPACE,)),
    "MaxUnpool3D": (lambda x: ops.MaxUnpool3D(1, 1, 0)(x, whole(np.arange(36).reshape(1, 1, 3, 4, 3))), (SPACE,)),
    "Conv3DTranspose": (ops.Conv3DTranspose(1, 1, (3, 4, 3)), (SPACE, SPACE * 0.7)),
    "AddV2": (ops.AddV2(), (X, Y)), "ReLUV3": (ops.ReLUV3(), (X,)), "Unsqueeze": (ops.Unsqueeze(1), (X,)),
    "ParallelConcat": (lambda x, y: ops.ParallelConcat()((x, y)), (X, Y)),
    "FillDiagonal": (ops.FillDiagonal(2.0), (SQUARE,)), "MaskedScatter": (
        lambda x, y: ops.MaskedScatter()(x, Tensor(MASK), y), (X, Y)),
    "IndexPut": (lambda x, v: ops.IndexPut(1)(x, v, (whole(0, 1), whole(1, 1))), (X, V[:2])),
    "InplaceUpdateV2": (lambda x, v: ops.InplaceUpdateV2()(x, whole([1]), v), (X, X[:1] * 2)),
    "InplaceIndexAdd": (lambda x, y: ops.InplaceIndexAdd(0)(params(x), whole(0, 0), y), (X, Y)),
    "ScatterAddWithAxis": (lambda x, y: ops.ScatterAddWithAxis(0)(params(x), whole([[1, 0, 1], [0, 0, 1]]), y), (X, Y)),
    "SparseTensorDenseAdd": (lambda v, x: ops.SparseTensorDenseAdd()(whole([[0, 0], [1, 2], [0, 1]]), v, (2, 3), x), (V, X)),
    "SparseSegmentSum": (lambda x: ops.SparseSegmentSum()(x, whole(0, 1, 1), whole(0, 0, 1)), (X,)),
    "SparseSegmentMean": (lambda x: ops.SparseSegmentMean()(x, whole(0, 1, 1), whole(0, 0, 1)), (X,)),
    "SparseSegmentSqrtN": (lambda x: ops.SparseSegmentSqrtN()(x, whole(0, 1, 1), whole(0, 0, 1)), (X,)),
    "SparseSegmentSumWithNumSegments": (
        lambda x: ops.SparseSegmentSumWithNumSegments()(x, whole(0, 1, 1), whole(0, 0, 2), whole(4)), (X,)),
    "SparseSegmentMeanWithNumSegments": (
        lambda x: ops.SparseSegmentMeanWithNumSegments()(x, whole(0, 1, 1), whole(0, 0, 2), whole(4)), (X,)),
    "SparseSegmentSqrtNWithNumSegments": (
        lambda x: ops.SparseSegmentSqrtNWithNumSegments()(x, whole(0, 1, 1), whole(0, 0, 2), whole(4)), (X,)),
    "SparseSlice": (
        lambda v: ops.SparseSlice()(whole([[0, 1], [1, 0], [1, 2]]), v, whole(2, 3), whole(1, 0), whole(1, 3))[1], (V,)),
    "SparseReorder": (lambda v: ops.SparseReorder()(whole([[1, 2], [1, 0], [0, 2]]), v, whole(2, 3))[1], (V,)),
    "SparseDenseCwiseAdd": (
        lambda v, x: ops.SparseDenseCwiseAdd()(whole([[0, 1], [1, 0], [1, 2]]), v, whole(2, 3), x), (V, W)),
    "SparseDenseCwiseMul": (
        lambda v, x: ops.SparseDenseCwiseMul()(whole([[0, 1], [1, 0], [1, 2]]), v, whole(2, 3), x), (V, W)),
    "SparseDenseCwiseDiv": (
        lambda v, x: ops.SparseDenseCwiseDiv()(whole([[0, 1], [1, 0], [1, 2]]), v, whole(2, 3), x), (V, POS)),
    "ClipByNorm": (lambda x: ops.ClipByNorm()(x, _single(1.5)), (X,)), "MaxDim": (lambda x: ops.MaxDim()(x, 1)[0], (X,)),
    "MinDim": (lambda x: ops.MinDim()(x, 1)[0], (X,)),
    "SpaceToBatch": (ops.SpaceToBatch(2, [[0, 0], [0, 0]]), (IMAGE,)),
    "BatchToSpace": (ops.BatchToSpace(2, [[0, 0], [0, 0]]), (np.concatenate([IMAGE] * 4),)),
    "BatchToSpaceNDV2": (
        lambda x: ops.BatchToSpaceNDV2()(x, whole(2, 2), whole([[0, 0], [0, 0]])), (np.concatenate([IMAGE] * 4),)),
    "TridiagonalMatMul": (ops.TridiagonalMatMul(), (V[None], W[None], V[None] * 0.7, SQUARE)),
    "TridiagonalSolve": (ops.TridiagonalSolve(), (BANDS + np.array([[0.0], [4.0], [0.0]]), SQUARE)),
    "MatrixSolveLs": (lambda a, b: ops.MatrixSolveLs()(a, b, _single(0.5)), (TALL, SQUARE)),
    "Eigh": (lambda x: ops.Eigh(False)(x @ x.T)[0], (SQUARE,)),
    "SelfAdjointEig": (lambda x: ops.SelfAdjointEig(False)(x @ x.T)[0], (SQUARE,)),
    "STFT": (lambda x, w: ops.STFT(4, 2, 3, False, True, False)(x, w), (uniform(-2.03, 2.02, 9), POS[0])),
    "RNNTLoss": (lambda x: ops.RNNTLoss()(x, whole([[1, 2]]), whole([2]), whole([2]))[0], (uniform(-1, 1, 1, 2, 3, 3),)),
    "CTCLoss": (lambda x: ops.CTCLoss()(x, whole([[0, 0], [0, 1]]), whole(1, 0), whole([3]))[0], (uniform(-1, 1, 3, 1, 3),)),
})  # fmt: skip

_CONSTANT = """
AdamNoUpdateParam Bincount HistogramSummary ImageSummary MapUniform MatrixLogarithm NewOnes NewZeros ScalarSummary TensorSummary
AdjustHue AdjustSaturation AllFinite BartlettWindow BlackmanWindow CTCGreedyDecoder CheckValid CompareAndBitpack
ComputeAccidentalHits ConcatOffset ConfusionMatrix DataFormatDimMap DataFormatVecPermute FloatStatus HSVToRGB HammingWindow
HistogramFixedWidth ListDiff LogNormalReverse LogUniformCandidateSampler MultinomialWithReplacement NMSWithMask NoRepeatNGram
EditDistance NonDeterministicInts NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps PyFunc RGBToHSV RaggedRange Randperm RangeV2
SubAndFilter Uniform UniformCandidateSampler check_valid stop_gradient_ switch_layer tail
scalar_add scalar_sub scalar_mul scalar_div scalar_floordiv scalar_mod scalar_pow scalar_eq scalar_lt scalar_gt
scalar_le scalar_ge scalar_max scalar_min scalar_uadd scalar_usub scalar_log
coo2csr csr2coo coo_isfinite coo_isinf coo_isnan csr_isfinite csr_isinf csr_isnan coo_tensor_get_dense_shape
coo_tensor_get_indices csr_tensor_get_dense_shape csr_tensor_get_indices csr_tensor_get_indptr
from_dlpack
Adam ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradV2 ApplyAddSign ApplyCenteredRMSProp ApplyFtrl
ApplyGradientDescent ApplyMomentum ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp
ApproximateEqual Argmax Argmin Assert Bernoulli Bucketize Cauchy CountNonZero Dropout EqualCount FillV2 Gamma Histogram
InTopK InvertPermutation IsClose LogSpace LowerBound Multinomial Poisson Print RandomCategorical RandomChoiceWithMask
RandomGamma RandomPoisson RandomShuffle RandpermV2 Range ReduceAll ReduceAny SGD SearchSorted StandardLaplace
StandardNormal TensorToTuple TrilIndices TriuIndices TruncatedNormal UniformInt UniformReal UniqueConsecutive
UnravelIndex UpperBound all any approximate_equal arange argmax argmin argsort argwhere assign assign_add assign_sub
bartlett_window bernoulli bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
bitwise_xor blackman_window bucketize choice_with_mask constexpr count_nonzero dropout1d dropout2d dropout3d dtype
dyn_shape eps eq equal eye fftfreq fill fills from_numpy full full_like gamma gcd ge geqrf greater greater_equal gt
gumbel_softmax hamming_window hann_window histc intopk invert is_ is_complex is_floating_point is_nonzero is_not
is_tensor isclose isfinite isinf isnan isneginf isposinf isreal kaiser_window laplace lcm le less less_equal linspace
logical_and logical_not logical_or logical_xor logspace lt multinomial ne nextafter nonzero normal not_equal numel
ones ones_like partial poisson population_count print_ rand rand_like randint randint_like randn randn_like
random_categorical random_gamma random_poisson randperm range rank rfftfreq rrelu scalar_cast scalar_to_tensor
searchsorted sequence_mask shape shape_ shuffle signbit size standard_laplace standard_normal stop_gradient tensor
tril_indices triu_indices tuple_to_array uniform unique unique_consecutive unique_with_pad zeros zeros_like
"""
# ResizeArea is float32 whatever it is given; its derivative is in test_primitive_classes.py.
NOT_DIFFERENTIABLE = frozenset(_CONSTANT.split()) | {"ResizeArea"}
"""Functions of integers and booleans, of random numbers, those that make tensors from none; and `geqrf`, whose Householder
vectors have no derivative here (that of `qr` is there)."""

_OF_FUNCTIONS = """
Custom ForiLoop custom_vjp GradOperation HookBackward HyperMap InsertGradientOf Map MultitypeFuncGraph Partial Scan WhileLoop
derivative get_grad grad
jacfwd jacrev jet jvp linearize value_and_grad vjp vmap
"""
GRADIENTS = frozenset(_OF_FUNCTIONS.split())
"""Functions of functions, which have tests of their own."""
