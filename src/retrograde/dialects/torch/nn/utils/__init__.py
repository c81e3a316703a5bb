"""`torch.nn.utils`: helpers around parameters and modules."""

from __future__ import annotations

from ..._api import attributes as _attributes
from . import (
    clip_grad, convert_parameters, fusion, init, parametrizations, parametrize, prune, rnn, stateless,
)  # fmt: skip
from .clip_grad import (
    clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm, parameters_to_vector,
    vector_to_parameters,
)  # fmt: skip
from .fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights
from .init import skip_init
from .memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

__getattr__ = _attributes(globals())
