"""`torch.nn.functional`: layers as functions. The functions live in topic files, named here one by one."""

from __future__ import annotations

import sys as _sys

from ...._shared.documents import shown as _shown
from ...._shared.guard import at_home as _at_home
from ..._api import attributes as _attributes
from ..._api import with_out as _with_out
from ..._statistics import cosine_similarity, pairwise_distance, pdist
from ._activations import (
    celu, celu_, elu, elu_, gelu, glu, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu,
    leaky_relu_, logsigmoid, mish, prelu, relu, relu6, relu_, rrelu, rrelu_, selu, selu_, sigmoid, silu, softplus,
    softshrink, softsign, tanh, tanhshrink, threshold, threshold_,
)  # fmt: skip
from ._class_losses import (
    cross_entropy, ctc_loss, linear_cross_entropy, multi_margin_loss, multilabel_margin_loss, nll_loss,
)  # fmt: skip
from ._losses import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, gaussian_nll_loss,
    hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss, multilabel_soft_margin_loss,
    poisson_nll_loss, smooth_l1_loss, soft_margin_loss, triplet_margin_loss, triplet_margin_with_distance_loss,
)  # fmt: skip
from ._softmax import gumbel_softmax, log_softmax, softmax, softmin
from ._linear import bilinear, embedding, embedding_bag, linear, one_hot
from ._patches import channel_shuffle, fold, native_channel_shuffle, pixel_shuffle, pixel_unshuffle, unfold
from ._padding import pad
from ._attention import multi_head_attention_forward, scaled_dot_product_attention
from ._convolution import (
    conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d,
)  # fmt: skip
from ._dropout import (
    alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout,
)  # fmt: skip
from ._normalization import (
    batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize, rms_norm,
)  # fmt: skip
from ._pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices, adaptive_max_pool2d, adaptive_max_pool2d_with_indices, adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices, avg_pool1d, avg_pool2d, avg_pool3d, fractional_max_pool2d,
    fractional_max_pool2d_with_indices, fractional_max_pool3d, fractional_max_pool3d_with_indices, lp_pool1d,
    lp_pool2d, lp_pool3d, max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool2d_with_indices, max_pool3d,
    max_pool3d_with_indices, max_unpool1d, max_unpool2d, max_unpool3d,
)  # fmt: skip
from ._resample import (
    affine_grid, grid_sample, interpolate, upsample, upsample_bilinear, upsample_nearest,
)  # fmt: skip

avg_pool2d, avg_pool3d = _with_out("avg_pool2d", avg_pool2d), _with_out("avg_pool3d", avg_pool3d)
gelu, softplus, logsigmoid = _with_out("gelu", gelu), _with_out("softplus", softplus), _with_out("logsigmoid", logsigmoid)
hardshrink, softshrink = _with_out("hardshrink", hardshrink), _with_out("softshrink", softshrink)
for _name, _f in list(globals().items()):
    if _name[0] != "_":
        _at_home(_f, _sys.modules[__name__], _name)
_shown(globals(), "torch", "nn.functional")

__getattr__ = _attributes(globals())
