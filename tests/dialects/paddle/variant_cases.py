"""Further cases of differentiable functions: the other branches of their arguments, as (name, function, inputs...)."""

from __future__ import annotations

from typing import Any

from dialects.paddle.layer_derivative_cases import fixed, seeded
from dialects.paddle.points import BATCH, IMAGE, LINE, MASK, SPACE, TALL, A, B, Case, M, P, Q, U, V, W, ints, spread

from retrograde.dialects import paddle
from retrograde.dialects.paddle import linalg, signal
from retrograde.dialects.paddle.nn import functional as F

_LABELS, _SHARES = ints([1, 0]), fixed([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
_CLASS_WEIGHTS = fixed([0.5, 1.5, 0.7])
_KERNEL, _SPARSE = spread(-1, 1, 2, 2, 2, 2), spread(-1, 1, 2, 1, 2, 2)
_HEADS = [spread(-1, 1, 1, 3, 2, 2, seed=k) for k in range(3)]

_ROWS: list[tuple[Any, ...]] = [
    # elementwise and reductions
    ("abs of complex", lambda x, y: paddle.abs(paddle.complex(x, y)), A, B),
    ("sgn of complex", lambda x, y: paddle.sgn(paddle.complex(x, y)), A, B),
    ("exp of complex", lambda x, y: paddle.exp(paddle.complex(x, y)), A, B),
    ("tanh of complex", lambda x, y: paddle.tanh(paddle.complex(x, y)), U, U * 0.7),
    ("sqrt of complex", lambda x, y: paddle.sqrt(paddle.complex(x, y)), P, Q),
    ("power by 2.5", lambda x: x**2.5, P),
    ("power by -2", lambda x: x**-2, P),
    ("number to a power", lambda x: 1.7**x, A),
    ("number over x", lambda x: 2.0 / x - 3.0 % x, P),
    ("logit eps", lambda x: paddle.logit(x, 0.05), spread(0.1, 0.9, 2, 3)),
    ("scale of sum", lambda x: paddle.scale(x, 2.0, 1.0, bias_after_scale=False), A),
    ("lerp by number", lambda x, y: paddle.lerp(x, y, 0.3), A, B),
    ("add alpha", lambda x, y: paddle.add(x, y, alpha=0.4), A, B),
    ("broadcast product", lambda x, y: x * y + x / (y + 4.0), A, V),
    ("sum axis", lambda x: paddle.sum(x * x, axis=1, keepdim=True) * x, A),
    ("max axes", lambda x: paddle.max(x, axis=[0, 1]) * x, A),
    ("prod axis", lambda x: paddle.prod(x, axis=0), A),
    ("prod with a zero", paddle.prod, V * [1.0, 0.0, 1.0]),
    ("std axis", lambda x: paddle.std(x, axis=1, unbiased=False, keepdim=True), A),
    ("logsumexp axis", lambda x: paddle.logsumexp(x, axis=0, keepdim=True), A),
    ("median even", lambda x: paddle.median(x, axis=1), spread(-1, 1, 2, 4)),
    ("median min", lambda x: paddle.median(x, axis=1, mode="min")[0], A),
    ("nanmedian even", lambda x: paddle.nanmedian(x, axis=1), spread(-1, 1, 2, 4)),
    ("quantile nearest", lambda x: paddle.quantile(x, 0.3, axis=0, interpolation="higher"), A),
    ("cumprod with a zero", lambda x: paddle.cumprod(x, 0), V * [1.0, 0.0, 1.0]),
    ("cumsum axis", lambda x: paddle.cumsum(x * x, axis=1), A),
    ("logcumsumexp axis", lambda x: paddle.logcumsumexp(x, axis=1), A),
    ("norm 1", lambda x: paddle.norm(x, p=1), A),
    ("norm inf", lambda x: paddle.norm(x, p=float("inf"), axis=1), A),
    ("norm 2.5", lambda x: paddle.norm(x, p=2.5, axis=1), A),
    ("dist 3", lambda x, y: paddle.dist(x, y, 3), A, B),
    ("cdist 1", lambda x, y: paddle.cdist(x, y, 1.0), A, M),
    ("cdist 3", lambda x, y: paddle.cdist(x, y, 3.0), A, M),
    # shapes, positions
    ("getitem", lambda x: x[:, 1:] * x[0, 0], A),
    ("getitem positions", lambda x: x[[0, 1, 1], [2, 0, 0]], A),
    ("getitem mask", lambda x: x[paddle.to_tensor(MASK)] ** 2, A),
    ("setitem", lambda x, y: _written(x, y), A, V),
    ("scatter adding", lambda x, y: paddle.scatter(x, ints([1, 1]), y, overwrite=False), A, B),
    ("put_along_axis add", lambda x, y: paddle.put_along_axis(x, ints([[0], [2]]), y, 1, "add"), A, TALL[:2, :1]),
    ("put_along_axis mean", lambda x, y: paddle.put_along_axis(x, ints([[0], [2]]), y, 1, "mean"), A, TALL[:2, :1]),
    ("index_put", lambda x, y: paddle.index_put(x, (ints([0, 1]),), y), A, B),
    ("matmul transposed", lambda x, y: paddle.matmul(x, y, True, True), A, TALL),
    ("matmul vectors", lambda x, y: paddle.matmul(x, y), V, W),
    ("matmul batches", lambda x, y: paddle.matmul(x, y), BATCH, TALL),
    ("einsum diagonal", lambda x: paddle.einsum("ii,jj->i", x, x), M),
    # linalg, signal
    ("solve vector", lambda x, y: linalg.solve(x, y), M, V),
    ("solve right", lambda x, y: linalg.solve(x, y, left=False), M, A),
    ("matrix_power -2", lambda x: linalg.matrix_power(x, -2), M),
    ("pinv wide", linalg.pinv, A),
    ("norm 2 of matrices", lambda x: linalg.norm(x, 2, [0, 1]), A),
    ("cond fro", lambda x: linalg.cond(x, "fro"), M),
    ("svd vectors", lambda x: _projections(linalg.svd(x)), A),
    ("cov weighted", lambda x: linalg.cov(x, aweights=fixed([1.0, 0.5, 2.0])), A),
    ("cholesky_solve upper", lambda y, x: linalg.cholesky_solve(y, x.triu(), upper=True), A.T, M),
    ("stft window", lambda x, w: signal.stft(x, 4, 2, window=w, onesided=False), spread(-1, 1, 9), P.ravel()[:4]),
    # layers and losses
    ("gelu tanh", lambda x: F.gelu(x, approximate=True), A),
    ("leaky_relu slope", lambda x: F.leaky_relu(x, 0.3), A),
    ("softplus beta", lambda x: F.softplus(x, beta=2.0, threshold=1.5), A),
    ("prelu channels", F.prelu, IMAGE, V[:2] * 0.2),
    ("softmax axis", lambda x: F.softmax(x, axis=0), A),
    ("gumbel hard", seeded(lambda x: F.gumbel_softmax(x, temperature=0.7)), A),
    ("cross_entropy weights", lambda x: F.cross_entropy(x, _LABELS, weight=_CLASS_WEIGHTS), A),
    ("cross_entropy soft", lambda x: F.cross_entropy(x, _SHARES, soft_label=True, reduction="sum"), A),
    ("cross_entropy smooth", lambda x: F.cross_entropy(x, _LABELS, label_smoothing=0.1), A),
    ("cross_entropy ignore", lambda x: F.cross_entropy(x, ints([1, -100]), reduction="none"), A),
    ("cross_entropy of shares", lambda x: F.cross_entropy(F.softmax(x), _LABELS, use_softmax=False), A),
    ("nll_loss weights", lambda x: F.nll_loss(x, _LABELS, weight=_CLASS_WEIGHTS, reduction="sum"), A),
    ("bce weights", lambda x: F.binary_cross_entropy_with_logits(x, _SHARES, pos_weight=_CLASS_WEIGHTS), A),
    ("kl_div sum", lambda x: F.kl_div(x, fixed(P), reduction="batchmean"), A),
    ("smooth_l1 delta", lambda x, y: F.smooth_l1_loss(x, y, delta=0.5, reduction="none"), A, B),
    ("triplet swap", lambda x, y, z: F.triplet_margin_loss(x, y, z, margin=3.0, swap=True), A, B, P),
    ("batch_norm eval", lambda x, w: F.batch_norm(x, fixed([0.1, -0.2]), fixed([1.3, 0.7]), w, w), IMAGE, V[:2]),
    ("layer_norm plain", lambda x: F.layer_norm(x.unsqueeze(0), [2, 3]), A),
    ("conv2d strided", lambda x, w: F.conv2d(x, w, stride=2, padding=1), IMAGE, _KERNEL),
    ("conv2d groups", lambda x, w: F.conv2d(x, w, groups=2, dilation=2), IMAGE, _SPARSE),
    ("conv2d last", lambda x, w: F.conv2d(x, w, data_format="NHWC"), IMAGE.transpose(0, 2, 3, 1), _KERNEL),
    ("conv2d_transpose strided", lambda x, w: F.conv2d_transpose(x, w, stride=2, output_padding=1), IMAGE, _KERNEL),
    ("max_pool2d overlapping", lambda x: F.max_pool2d(x, 3, stride=1, padding=1), IMAGE),
    ("avg_pool2d padded", lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, exclusive=False), IMAGE),
    ("adaptive_avg_pool2d uneven", lambda x: F.adaptive_avg_pool2d(x, 3), IMAGE),
    ("pad replicate", lambda x: F.pad(x, [1, 2], mode="replicate", data_format="NCL"), LINE),
    ("pad circular", lambda x: F.pad(x, [1, 2, 1, 1], mode="circular"), IMAGE),
    ("interpolate nearest", lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), IMAGE),
    ("interpolate bilinear", lambda x: F.interpolate(x, size=[3, 6], mode="bilinear", align_corners=True), IMAGE),
    ("interpolate area", lambda x: F.interpolate(x, size=[2, 2], mode="area"), IMAGE),
    ("interpolate trilinear", lambda x: F.interpolate(x, size=[2, 5, 2], mode="trilinear", data_format="NCDHW"), SPACE),
    ("grid_sample nearest", lambda x, g: F.grid_sample(x, g, mode="nearest"), IMAGE, spread(-0.8, 0.8, 1, 2, 2, 2)),
    ("grid_sample reflected", lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False),
     IMAGE, spread(-1.4, 1.4, 1, 2, 2, 2)),
    ("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *_HEADS),
    ("dropout axis", seeded(lambda x: F.dropout(x, 0.3, axis=1)), A),
    ("embedding padded", lambda w: F.embedding(ints([[0, 2], [1, 1]]), w, padding_idx=0), M),
    ("normalize 3", lambda x: F.normalize(x, p=3, axis=0), A),
]  # fmt: skip


def _written(x: Any, y: Any) -> Any:
    z = x * 1
    z[1] = y * y
    z[:, 0] += 1.0
    return z * z


def _projections(parts: Any) -> Any:
    """What singular vectors give whatever their signs are."""
    u, s, vh = parts
    return u @ (s.sqrt().unsqueeze(1) * vh), s


CASES: dict[str, Case] = {name: (f, tuple(inputs)) for name, f, *inputs in _ROWS}
