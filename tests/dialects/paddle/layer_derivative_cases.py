"""The table of differentiable functions of `paddle.nn.functional`: activations, losses, layers, each away from its kinks.

Random ones are seeded at each call, so that they are one function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dialects.paddle.points import BATCH, IMAGE, LINE, SPACE, TALL, A, B, Case, M, P, V, W, ints, spread, words

from retrograde.dialects import paddle
from retrograde.dialects.paddle.nn import functional as F

CASES: dict[str, Case] = {}


def rows(**cases: Any) -> None:
    """Cases given as name=(function, inputs...)."""
    for name, (f, *inputs) in cases.items():
        CASES["F." + name] = (f, tuple(inputs))


def seeded(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` with the same random numbers at every call."""

    def same(*xs: Any) -> Any:
        paddle.seed(7)
        return f(*xs)

    return same


def fixed(values: Any) -> Any:
    """A constant tensor in float64."""
    return paddle.to_tensor(np.asarray(values, np.float64))


# ------------------------------------------------------------------------------------------ activations

for _name in words("celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid logsigmoid mish relu relu6 "
                   "selu sigmoid silu softplus softshrink softsign swish tanh tanhshrink thresholded_relu softmax log_softmax "
                   "normalize"):  # fmt: skip
    CASES["F." + _name] = (getattr(F, _name), (A,))
rows(
    glu=(F.glu, BATCH.reshape(2, 6)), maxout=(lambda x: F.maxout(x, 2), IMAGE), swiglu=(F.swiglu, A, B),
    prelu=(F.prelu, A, np.array([0.3])), rrelu=(seeded(F.rrelu), A),
    gumbel_softmax=(seeded(F.gumbel_softmax), A),
    dropout=(seeded(F.dropout), A), dropout1d=(seeded(F.dropout1d), LINE), dropout2d=(seeded(F.dropout2d), IMAGE),
    dropout3d=(seeded(F.dropout3d), SPACE), alpha_dropout=(seeded(F.alpha_dropout), A),
    feature_alpha_dropout=(seeded(F.feature_alpha_dropout), IMAGE),
)

# ------------------------------------------------------------------------------------------ losses

_LABELS = ints([1, 0])
_SIGNS = fixed([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
_SHARES = fixed([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
_TREE = spread(-1.1, 1.0, 2, 3)
rows(
    mse_loss=(F.mse_loss, A, B), l1_loss=(F.l1_loss, A, B), smooth_l1_loss=(F.smooth_l1_loss, A, B),
    square_error_cost=(F.square_error_cost, A, B),
    cross_entropy=(lambda x: F.cross_entropy(x, _LABELS), A),
    softmax_with_cross_entropy=(lambda x: F.softmax_with_cross_entropy(x, ints([[1], [0]])), A),
    nll_loss=(lambda x: F.nll_loss(x, _LABELS), A), kl_div=(lambda x: F.kl_div(x, fixed(P)), A),
    binary_cross_entropy=(lambda x: F.binary_cross_entropy(x, fixed(spread(0.15, 0.8, 2, 3, seed=1))), spread(0.1, 0.9, 2, 3)),
    binary_cross_entropy_with_logits=(lambda x: F.binary_cross_entropy_with_logits(x, _SHARES), A),
    log_loss=(lambda x: F.log_loss(x, fixed([[1.0], [0.0]])), spread(0.1, 0.9, 2, 1)),
    poisson_nll_loss=(F.poisson_nll_loss, A, P), gaussian_nll_loss=(lambda x, y: F.gaussian_nll_loss(x, y, fixed(P)), A, B),
    hinge_embedding_loss=(lambda x: F.hinge_embedding_loss(x, _SIGNS), A),
    margin_ranking_loss=(lambda x, y: F.margin_ranking_loss(x, y, _SIGNS, 0.3), A, B),
    cosine_embedding_loss=(lambda x, y: F.cosine_embedding_loss(x, y, ints([1, -1])), A, B),
    triplet_margin_loss=(F.triplet_margin_loss, A, B, P),
    triplet_margin_with_distance_loss=(F.triplet_margin_with_distance_loss, A, B, P),
    soft_margin_loss=(lambda x: F.soft_margin_loss(x, _SIGNS), A),
    multi_label_soft_margin_loss=(lambda x: F.multi_label_soft_margin_loss(x, _SIGNS * 0.5 + 0.5), A),
    multi_label_margin_loss=(lambda x: F.multi_label_margin_loss(x, ints([[2, 0, -1], [1, -1, 0]])), A),
    multi_margin_loss=(lambda x: F.multi_margin_loss(x, _LABELS, p=2), A),
    sigmoid_focal_loss=(lambda x: F.sigmoid_focal_loss(x, _SIGNS * 0.5 + 0.5), A),
    dice_loss=(lambda x: F.dice_loss(x, ints([[1], [0]])), spread(0.1, 0.9, 2, 3)),
    npair_loss=(lambda x, y: F.npair_loss(x, y, fixed([0.0, 1.0])), A, B),
    rnnt_loss=(lambda x: F.rnnt_loss(x, paddle.to_tensor([[1, 2]], dtype="int32"), ints([3]), ints([2]), fastemit_lambda=0.0),
               spread(-2, 1, 1, 3, 3, 4)),
    ctc_loss=(lambda x: F.ctc_loss(x, paddle.to_tensor([[1, 2]], dtype="int32"), ints([4]), ints([2])),
              spread(-1, 1, 4, 1, 3)),
    hsigmoid_loss=(lambda x, w: F.hsigmoid_loss(x, ints([[1], [2]]), 3, w), A, _TREE),
    adaptive_log_softmax_with_loss=(
        lambda x, w, a, b: F.adaptive_log_softmax_with_loss(x, ints([0, 3]), w, [[a, b]], [2, 4]),
        A, spread(-1, 1, 3, 3), spread(-1, 1, 3, 2), spread(-1, 1, 2, 2, seed=1)),
    label_smooth=(F.label_smooth, A),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ layers

_STATS = (fixed([0.1, -0.2]), fixed([1.3, 0.7]))
rows(
    linear=(F.linear, A, TALL, V[:2]), bilinear=(F.bilinear, A, B[:, :2], spread(-1, 1, 2, 3, 2)),
    embedding=(lambda w: F.embedding(ints([[0, 2], [1, 1]]), w), M),
    layer_norm=(lambda x, w, b: F.layer_norm(x, [3], w, b), A, V, W), rms_norm=(lambda x, w: F.rms_norm(x, [3], w), A, V),
    batch_norm=(lambda x, w, b: F.batch_norm(x, *(s.clone() for s in _STATS), w, b, training=True), IMAGE, V[:2], W[:2]),
    instance_norm=(lambda x, w, b: F.instance_norm(x, weight=w, bias=b), IMAGE, V[:2], W[:2]),
    group_norm=(lambda x, w, b: F.group_norm(x, 1, weight=w, bias=b), IMAGE, V[:2], W[:2]),
    local_response_norm=(lambda x: F.local_response_norm(x, 3, alpha=0.3), IMAGE),
    conv1d=(F.conv1d, LINE, spread(-1, 1, 2, 2, 2), V[:2]), conv2d=(F.conv2d, IMAGE, spread(-1, 1, 2, 2, 2, 2), V[:2]),
    conv3d=(F.conv3d, SPACE, spread(-1, 1, 1, 1, 2, 2, 2), V[:1]),
    conv1d_transpose=(F.conv1d_transpose, LINE, spread(-1, 1, 2, 2, 2), V[:2]),
    conv2d_transpose=(F.conv2d_transpose, IMAGE, spread(-1, 1, 2, 2, 2, 2), V[:2]),
    conv3d_transpose=(F.conv3d_transpose, SPACE, spread(-1, 1, 1, 1, 2, 2, 2), V[:1]),
    avg_pool1d=(lambda x: F.avg_pool1d(x, 2), LINE), avg_pool2d=(lambda x: F.avg_pool2d(x, 2), IMAGE),
    avg_pool3d=(lambda x: F.avg_pool3d(x, 2), SPACE), max_pool1d=(lambda x: F.max_pool1d(x, 2), LINE),
    fractional_max_pool2d=(lambda x: F.fractional_max_pool2d(x, 2, random_u=0.3), IMAGE),
    fractional_max_pool3d=(lambda x: F.fractional_max_pool3d(x, 2, 1, 0.3), SPACE),
    max_pool2d=(lambda x: F.max_pool2d(x, 2), IMAGE), max_pool3d=(lambda x: F.max_pool3d(x, 2), SPACE),
    adaptive_avg_pool1d=(lambda x: F.adaptive_avg_pool1d(x, 3), LINE),
    adaptive_avg_pool2d=(lambda x: F.adaptive_avg_pool2d(x, 2), IMAGE),
    adaptive_avg_pool3d=(lambda x: F.adaptive_avg_pool3d(x, 2), SPACE),
    adaptive_max_pool1d=(lambda x: F.adaptive_max_pool1d(x, 3), LINE),
    adaptive_max_pool2d=(lambda x: F.adaptive_max_pool2d(x, 2), IMAGE),
    adaptive_max_pool3d=(lambda x: F.adaptive_max_pool3d(x, 2), SPACE),
    lp_pool1d=(lambda x: F.lp_pool1d(x, 3, 2), np.abs(LINE) + 0.2),
    lp_pool2d=(lambda x: F.lp_pool2d(x, 3, 2), np.abs(IMAGE) + 0.2),
    max_unpool1d=(lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_mask=True), 2), LINE),
    max_unpool2d=(lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_mask=True), 2), IMAGE),
    max_unpool3d=(lambda x: F.max_unpool3d(*F.max_pool3d(x, 2, return_mask=True), 2), spread(-2, 2, 1, 1, 2, 4, 2)),
    scaled_dot_product_attention=(
        F.scaled_dot_product_attention, *(spread(-1, 1, 1, 3, 2, 2, seed=k) for k in range(3))),
    cosine_similarity=(F.cosine_similarity, A, B), pairwise_distance=(F.pairwise_distance, A, B), pdist=(F.pdist, M),
    pad=(lambda x: F.pad(x, [1, 1, 0, 2], mode="reflect"), IMAGE), zeropad2d=(lambda x: F.zeropad2d(x, [1, 0, 2, 1]), IMAGE),
    interpolate=(lambda x: F.interpolate(x, size=[6, 5], mode="bicubic"), IMAGE),
    upsample=(lambda x: F.upsample(x, scale_factor=2, mode="bilinear"), IMAGE),
    grid_sample=(F.grid_sample, IMAGE, spread(-0.9, 0.9, 1, 2, 2, 2)),
    affine_grid=(lambda x: F.affine_grid(x, [1, 1, 3, 2]), spread(-1, 1, 1, 2, 3)),
    fold=(lambda x: F.fold(x, [3, 3], 2), spread(-1, 1, 1, 4, 4)), unfold=(lambda x: F.unfold(x, 2), IMAGE),
    pixel_shuffle=(lambda x: F.pixel_shuffle(x, 2), spread(-1, 1, 1, 4, 2, 2)),
    pixel_unshuffle=(lambda x: F.pixel_unshuffle(x, 2), IMAGE), channel_shuffle=(lambda x: F.channel_shuffle(x, 2), IMAGE),
    temporal_shift=(lambda x: F.temporal_shift(x, 2), spread(-1, 1, 2, 4, 2, 2)), diag_embed=(F.diag_embed, A),
)  # fmt: skip

NOT_DIFFERENTIABLE = {"F." + name for name in words("gather_tree one_hot sequence_mask")}
