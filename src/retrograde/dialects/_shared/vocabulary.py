"""What options are called in all dialects and what they mean, and examples of layers, losses, optimisers and functions.

The tables are text, each read when a docstring first needs it (documents.py); a test runs every example.
"""

from __future__ import annotations

import functools
import re
from typing import Any

_OPTIONS = """
accum initial_accumulator_value: what the sums of squares begin at
act: the activation that follows, as a name, or None
act_dropout: the probability with which elements between the linear maps are set to 0
activation [rnn]: "tanh" or "relu"
activation: the activation between the two linear maps, as a function or a name
add_bias_kv: whether a learned key and value are added to the sequences
add_zero_attn: whether a key and a value of zeros are added to the sequences
affine: whether a weight and a bias per channel are learned
align_corners: whether the corners of both grids lie on each other
alpha [elu]: what the exponential branch is multiplied with
alpha [leakyrelu]: the slope where the input is negative
alpha [lrn]: the factor of the sum of squares
alpha [responsenorm]: the factor of the sum of squares
alpha [rmsprop]: the decay of the mean of squared gradients
alpha: the factor
amsgrad: whether the largest second moment so far takes the place of the present one
approximate: whether the tanh formula is used in place of the error function
attn_dropout: the probability with which attention weights are set to 0
axis: the axis that is meant, counted from the end where it is negative
batch_first: whether the batch is the first axis, before time
begin_norm_axis: the first axis that is normalised
beta [smoothl1]: where the square turns into a straight line
beta [softplus]: the factor inside the exponential
beta power: the exponent
beta1: the decay of the first moment
beta2: the decay of the second moment
beta_init: what fills the shifts at the start
betas: the decays of the first and the second moment
bias has_bias: whether a bias is learned
bias_attr: a ParamAttr for the bias; False for none
bias_hh_attr: a ParamAttr for the bias of the state's map; False for none
bias_ih_attr: a ParamAttr for the bias of the input's map; False for none
bias_init: what fills the bias at the start
bidirectional: whether a second network reads the sequence from its end
blank: the class that stands for no label
capturable: taken for PyTorch's sake; it concerns GPUs
ceil_mode: whether windows that begin inside and end outside count
centered: whether the squared gradients are taken about their mean
channel num_parameters: how many slopes are learned: 1, or one per channel
count_include_pad: whether padding counts in the means
custom_decoder: a decoder in place of the usual one
custom_encoder: an encoder in place of the usual one
cutoffs: where the clusters of rarer classes begin
d_model: the length of the vectors that come in and go out
dampening: what is left out of each gradient that enters the momentum
data_format: the order of the axes
decay_rate factor gamma: the factor by which the rate falls
decay_steps: after how many steps the rate has fallen by one factor (or to its end)
decoder_layer encoder_layer: the layer that is copied
decoupled_weight_decay: whether the decay is taken off the parameter, not added to its gradient
delta: where the square turns into a straight line
differentiable: whether the step itself is recorded for derivatives
dilation dilations: the distance between neighbouring elements of the kernel, an int or one per axis
dim: the dimension that is meant, counted from the end where it is negative
dim_feedforward: the length of the vectors between the two linear maps
direction: "forward", or "bidirect" for a second network that reads the sequence from its end
distance_function: the distance of two vectors, as a function of both
div_value: by what the vectors of each rarer cluster are shorter
divisor_override: what sums are divided by in place of the number of elements
downscale_factor: by how much each side shrinks
dropout: the probability with which elements are set to 0 while training
dtype: the dtype of the parameters
elementwise_affine: whether a weight and a bias per element are learned
embed_dim: the length of the vectors
embedding_dim embedding_size: the length of each vector
end_dim: the last dimension that is joined
end_factor: the factor at the end
eps epsilon: what is added to a denominator (or to a variance) so that it is not 0
eta_min: the least rate
etas: by what steps shrink where the gradient's sign changes, and grow where it does not
exclusive: whether padding is left out of the means
foreach: taken for PyTorch's sake; steps are always taken over all parameters at once
full: whether the constant part of the likelihood is added
fused: taken for PyTorch's sake; steps are compiled where they can be
gamma [focal]: how much easy elements count less
gamma_init: what fills the scales at the start
grad_clip: how gradients are clipped before a step: a ClipGradBy... object, or None
group groups: into how many groups channels are divided that do not mix
groups [shuffle]: how many groups of channels are mixed
head_bias: whether the head has a bias
hidden_size: the length of the state
ignore_index: a class whose elements count for nothing
in1_channels in1_features: the length of the first input's vectors
in2_channels in2_features: the length of the second input's vectors
in_channels num_channels num_features: the channels that come in
in_features input_size: the length of the vectors that come in
init w: the slopes at the start
inplace: whether the result is written into the input
is_huber: whether the loss is that of Huber, which is delta times the smooth one
is_stair: whether the rate stays between two falls
k: what is added to the sum of squares
kdim: the length of the keys, if it is another
keep_dims keepdim: whether the axis stays with length 1
kernel_size kernel_sizes: the size of the windows, an int or one per axis
l1: how strongly absolute values are held down
l2: how strongly squares are held down
label_smoothing: how much of the probability is spread over all classes
lambd [asgd]: the decay that ASGD adds
lambd: up to which absolute value elements become 0
last_epoch: the epoch at which a schedule goes on; -1 begins anew
layer_norm_eps: the epsilon of the normalisations
lazy_mode: taken for PaddlePaddle's sake; gradients are dense
learning_rate: how far a step goes: a number or a schedule
log_input: whether the input is the logarithm of the mean
log_target: whether the target is a logarithm, too
loss_scale: what the loss was multiplied with; gradients are divided by it
lower: the least slope
lr: how far a step goes
lr_decay: how fast the rate falls with the number of steps
lr_lambda: the factor of the rate as a function of the epoch
margin: the distance that is wanted
max max_val: the upper bound
max_norm: the norm to which rows are scaled down when they are looked up
max_val [psnr]: the range of the images' values
max_val [ssim]: the range of the images' values
maximize: whether steps go uphill
milestones: the epochs at which the rate falls
min min_val: the lower bound
mode [bag]: "sum", "mean" or "max" of a bag's rows
mode: how values between elements are found
momentum [norm]: how much the running statistics change with each batch (in the dialect's own sense)
momentum: how much of the last steps enters the next one
momentum_decay: how fast the momentum's warm-up goes
moving_mean_init: what fills the running means at the start
moving_var_init: what fills the running variances at the start
multi_precision: whether halves are updated in float32
n_classes num_classes: how many classes there are
negative_slope: the slope where the input is negative
nesterov use_nesterov: whether the gradient is looked up a step ahead
nhead num_heads: how many attentions run side by side
nonlinearity: "tanh" or "relu"
norm: the normalisation after the last layer, or None
norm_first normalize_before: whether normalisation comes before attention and the linear maps
norm_type: which norm, by its exponent
normalized_shape: the trailing axes that are normalised, by their sizes
num_decoder_layers: how many layers the decoder has
num_embeddings vocab_size: how many vectors the table has
num_encoder_layers: how many layers the encoder has
num_groups: into how many groups channels are divided
num_layers: how many layers lie on each other
optimizer [lars]: the optimiser that takes the step
optimizer: the optimiser whose rate is set
out_channels: the channels that come out
out_features: the length of the vectors that come out
output_padding: what is added at one side of the result, an int or one per axis
output_ratio: the size of the result as a part of the input's
output_size output_sizes: the size of the result, an int or one per axis
p [dropout]: the probability with which elements (or channels) are set to 0
p [multimargin]: the power of the differences, 1 or 2
p: the exponent of the norm
pad_mode: "same", "valid" or "pad"
padding: what is added at both ends of each axis: an int or one per axis, or a name
padding_idx: a row that gets no gradient
padding_mode: what stands in the padding: zeros, or elements of the input
paddings: what is added at the ends of axes
parameters params: what is trained: an iterable of parameters, or of dicts with options of their own
pos_weight: a factor for the targets that are 1
process_group: the processes whose batches count as one
proj_size: the length to which the state is projected; 0 for no projection
recompute_scale_factor: whether the factor is computed anew from the sizes
reduce size_average: replaced by reduction
reduction: "mean" of all elements, their "sum", or "none" for all of them
return_indices return_mask: whether the places of the maxima are returned, too
rho: the decay of the mean of squares
scale_factor upscale_factor: by how much each side grows
scale_grad_by_freq: whether gradients are divided by how often a row occurs
sens: what the loss is multiplied with
size [lrn]: over how many channels squares are summed
size [responsenorm]: over how many channels squares are summed
size: the size of the result
sparse [softmaxcross]: whether the labels are class numbers
sparse: whether the gradient of the table is sparse
start_axis: the first axis that is joined
start_dim: the first dimension that is joined
start_factor: the factor at the start
step_size: after how many epochs the rate falls
step_sizes: the least and the greatest step
stop_axis: the last axis that is joined
stride: the distance between neighbouring windows, an int or one per axis (None: their size)
strides: the distance between neighbouring windows, an int or one per axis
swap: whether the negative's distance to the positive counts if it is smaller
t0: after how many steps the average begins
T_max: after how many epochs the rate is least
threshold: from where on the other branch holds
time_major: whether time is the first axis, before the batch
total_iters: after how many epochs the rate no longer changes
track_running_stats: whether running statistics are kept, for use outside of training
unflattened_size: the sizes into which the axis is split
upper: the greatest slope
use_batch_statistics: whether the batch's statistics are used; None: while training
use_global_stats: whether running statistics are used in training, too
use_locking: taken for MindSpore's sake; steps are never taken side by side
use_multi_tensor: taken for PaddlePaddle's sake; steps are always taken over all parameters at once
value [threshold]: what takes the place of elements that are not above it
value: what stands in the padding
vdim: the length of the values, if it is another
verbose: whether each new rate is printed
warmup_steps: over how many steps the rate rises
weight [entropy]: a factor for each class, or for each element
weight [loss]: a factor for each class, or for each element
weight_attr: a ParamAttr for the weight
weight_decay: how much of the parameter is added to its gradient (or, decoupled, taken off)
weight_hh_attr: a ParamAttr for the weight of the state's map
weight_ih_attr: a ParamAttr for the weight of the input's map
weight_init: what fills the weight at the start
zero_infinity: whether infinite losses count as 0
"""

# names | options | inputs | result. Names with {} stand for one, two and three axes, for as many of which `*n` is a size n; what
# holds in one dialect, or in one of its packages, has it in front. Inputs are sizes of tensors of ones, `i` in front: of integer
# zeros, `j`: of integer ones; anything else is an expression, in which {p} is the package and {t} makes a tensor. The result is
# its shape; `[0]`: that of the first of several.
_LAYERS = """
Sequential | {p}.Linear(3, 8), {p}.ReLU() | 4 3 | 4 8
SequentialCell | {p}.Dense(3, 8), {p}.ReLU() | 4 3 | 4 8
BiRNN | {p}.GRUCell(3, 8), {p}.GRUCell(3, 8) | 2 5 3 | [0]2 5 16
WithLossCell | {p}.Dense(3, 2), {p}.MSELoss() | 4 3, 4 2 |
WithEvalCell | {p}.Dense(3, 2), {p}.MSELoss() | 4 3, 4 2 | [1]4 2
ReLU ReLU6 ELU CELU SELU GELU SiLU Swish Mish Sigmoid LogSigmoid Tanh Tanhshrink Softsign Softplus | | 2 3 | 2 3
Softshrink Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU RReLU PReLU Identity ThresholdedReLU | | 2 3 | 2 3
HShrink HSigmoid HSwish FastGelu SeLU | | 2 3 | 2 3
Dropout AlphaDropout FeatureAlphaDropout | | 2 3 | 2 3
Dropout{}d | | 2 3 *4 | 2 3 *4
Softmax LogSoftmax Softmin | 1 | 2 3 | 2 3
Softmax2d Softmax2D | | 2 3 4 4 | 2 3 4 4
GLU | | 2 4 | 2 2
Maxout | 2 | 2 4 3 3 | 2 2 3 3
Threshold | 0.5, 0.0 | 2 3 | 2 3
Flatten | | 2 3 4 | 2 12
Unflatten | 1, (3, 4) | 2 12 | 2 3 4
Linear Dense | 3, 8 | 2 3 | 2 8
NonDynamicallyQuantizableLinear | 3, 8 | 2 3 | 2 8
LazyLinear | 8 | 2 3 | 2 8
Bilinear BiDense | 3, 4, 8 | 2 3, 2 4 | 2 8
Embedding EmbeddingLookup | 10, 4 | i2 5 | 2 5 4
EmbeddingBag | 10, 4 | i2 5 | 2 4
Conv{}d | 3, 8, 3 | 2 3 *8 | 2 8 *6
mindspore.nn.Conv{}d | 3, 8, 3 | 2 3 *8 | 2 8 *8
ConvTranspose{}d Conv{}dTranspose | 3, 8, 3 | 2 3 *6 | 2 8 *8
mindspore.nn.Conv{}dTranspose | 3, 8, 3 | 2 3 *6 | 2 8 *6
LazyConv{}d | 8, 3 | 2 3 *8 | 2 8 *6
LazyConvTranspose{}d | 8, 3 | 2 3 *6 | 2 8 *8
MaxPool{}d AvgPool{}d | 2, 2 | 2 3 *8 | 2 3 *4
LPPool{}d | 2, 2, 2 | 2 3 *8 | 2 3 *4
AdaptiveAvgPool{}d AdaptiveMaxPool{}d | 4 | 2 3 *8 | 2 3 *4
FractionalMaxPool2d FractionalMaxPool2D | 2, output_size=4 | 2 3 8 8 | 2 3 4 4
FractionalMaxPool3d FractionalMaxPool3D | 2, output_size=4 | 2 3 8 8 8 | 2 3 4 4 4
paddle.FractionalMaxPool2D | 4 | 2 3 8 8 | 2 3 4 4
paddle.FractionalMaxPool3D | 4 | 2 3 8 8 8 | 2 3 4 4 4
MaxUnpool{}d | 2 | 1 1 *2, i1 1 *2 | 1 1 *4
BatchNorm{}d InstanceNorm{}d | 3 | 2 3 *4 | 2 3 *4
mindspore.nn.BatchNorm1d | 3 | 2 3 | 2 3
LazyBatchNorm{}d LazyInstanceNorm{}d | | 2 3 *4 | 2 3 *4
BatchNorm SyncBatchNorm | 3 | 2 3 4 4 | 2 3 4 4
GroupNorm | 2, 4 | 2 4 3 3 | 2 4 3 3
LayerNorm RMSNorm | (4,) | 2 4 | 2 4
LocalResponseNorm CrossMapLRN2d | 3 | 2 4 5 5 | 2 4 5 5
LRN | | 2 4 5 5 | 2 4 5 5
SpectralNorm | [8, 4] | 8 4 | 8 4
RNN SimpleRNN LSTM GRU | 3, 8 | 5 2 3 | [0]5 2 8
paddle.RNN | {p}.SimpleRNNCell(3, 8) | 5 2 3 | [0]5 2 8
RNNCell GRUCell | 3, 8 | 2 3 | 2 8
LSTMCell SimpleRNNCell paddle.GRUCell | 3, 8 | 2 3 | [0]2 8
mindspore.RNNCell mindspore.GRUCell | 3, 8 | 2 3, 2 8 | 2 8
mindspore.LSTMCell | 3, 8 | 2 3, (mindspore.ops.ones((2, 8)), mindspore.ops.ones((2, 8))) | [0]2 8
MultiheadAttention | 8, 2 | 5 2 8, 5 2 8, 5 2 8 | [0]5 2 8
paddle.MultiHeadAttention | 8, 2 | 2 5 8, 2 5 8, 2 5 8 | 2 5 8
Transformer | 8, 2, 1, 1, 16 | 5 2 8, 3 2 8 | 3 2 8
paddle.Transformer | 8, 2, 1, 1, 16 | 2 5 8, 2 3 8 | 2 3 8
paddle.TransformerDecoderLayer | 8, 2, 16 | 2 3 8, 2 5 8 | 2 3 8
paddle.TransformerDecoder | {p}.TransformerDecoderLayer(8, 2, 16), 2 | 2 3 8, 2 5 8 | 2 3 8
TransformerEncoderLayer | 8, 2, 16 | 5 2 8 | 5 2 8
TransformerDecoderLayer | 8, 2, 16 | 3 2 8, 5 2 8 | 3 2 8
TransformerEncoder | {p}.TransformerEncoderLayer(8, 2, 16), 2 | 5 2 8 | 5 2 8
TransformerDecoder | {p}.TransformerDecoderLayer(8, 2, 16), 2 | 3 2 8, 5 2 8 | 3 2 8
CosineSimilarity PairwiseDistance | | 2 3, 2 3 | 2
ChannelShuffle | 2 | 1 4 2 2 | 1 4 2 2
PixelShuffle | 2 | 1 4 2 2 | 1 1 4 4
PixelUnshuffle | 2 | 1 1 4 4 | 1 4 2 2
Fold | (4, 4), 2 | 1 4 9 | 1 1 4 4
Unfold | 2 | 1 1 4 4 | 1 4 9
mindspore.nn.Unfold | [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1] | 1 1 4 4 | 1 4 3 3
Upsample | scale_factor=2.0 | 1 1 4 4 | 1 1 8 8
UpsamplingBilinear2d UpsamplingNearest2d UpsamplingBilinear2D UpsamplingNearest2D | scale_factor=2 | 1 1 4 4 | 1 1 8 8
ConstantPad{}d | 1, 0.0 | 1 2 *4 | 1 2 *6
ZeroPad{}d ReflectionPad{}d ReplicationPad{}d CircularPad{}d | 1 | 1 2 *4 | 1 2 *6
Pad{}d | 1 | 1 2 *4 | 1 2 *6
Pad | ((1, 1), (0, 2)) | 2 3 | 4 5
MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss SoftMarginLoss | | 4 3, 4 3 |
MultiLabelSoftMarginLoss PoissonNLLLoss HingeEmbeddingLoss DiceLoss RMSELoss MAELoss FocalLoss | | 4 3, 4 3 |
mindspore.nn.SmoothL1Loss | | 4 3, 4 3 | 4 3
MultiClassDiceLoss | | 4 3, 4 3 |
CrossEntropyLoss NLLLoss MultiMarginLoss | | 4 3, i4 |
NLLLoss2d | | 4 3 2 2, i4 2 2 |
LinearCrossEntropyLoss | 8, 3 | 4 8, i4 |
SoftmaxCrossEntropyWithLogits | sparse=True, reduction="mean" | 4 3, i4 |
MultiLabelMarginLoss | | 4 3, i4 3 |
GaussianNLLLoss | | 4 3, 4 3, 4 3 |
CosineEmbeddingLoss | | 4 3, 4 3, 4 |
MarginRankingLoss | | 4, 4, 4 |
TripletMarginLoss TripletMarginWithDistanceLoss | | 4 3, 4 3, 4 3 |
CTCLoss | | 5 2 4, j2 3, {t}([5, 5]), {t}([3, 3]) |
AdaptiveLogSoftmaxWithLoss | 8, 10, [4] | 3 8, i3 | [0]3
HSigmoidLoss | 8, 5 | 4 8, i4 1 | 4 1
RNNTLoss | | 1 3 3 4, j1 2, {t}([3], dtype="int32"), {t}([2], dtype="int32") |
PSNR SSIM | | 1 1 16 16, 1 1 16 16 | 1
MSSSIM | | 1 1 192 192, 1 1 192 192 | 1
CentralCrop | 0.5 | 3 8 8 | 3 4 4
ImageGradients | | 1 1 4 4 | [0]1 1 4 4
Conv2dBnAct | 3, 8, 3 | 2 3 8 8 | 2 8 8 8
DenseBnAct | 3, 8 | 2 3 | 2 8
TimeDistributed | {p}.Dense(3, 8), 1 | 2 5 3 | 2 5 8
Norm | 1 | 2 3 | 2
ClipByNorm | | 2 3, {t}(1.0) | 2 3
OneHot | depth=3 | i4 | 4 3
Roll | 1, 0 | 2 3 | 2 3
Tril Triu | | 3 3 | 3 3
L1Regularizer | 0.1 | 2 3 |
DiGamma LGamma | | 2 3 | 2 3
IGamma | | 2 3, 2 3 | 2 3
LBeta | | 2 3, 2 3 | 2 3
MatDet | | 2 3 3 | 2
MatInverse | | {t}([[2.0, 0.0], [0.0, 4.0]]) | 2 2
MatMul | | 2 3, 3 4 | 2 4
MatrixDiag | | 3 | 3 3
MatrixDiagPart | | 3 3 | 3
MatrixSetDiag | | 3 3, 3 | 3 3
Moments | axis=1 | 2 3 | [0]2
Range | 0, 6, 2 | | 3
ReduceLogSumExp | 1 | 2 3 | 2
"""

# Functions that are called otherwise than the layers of their names (`mse_loss` is called as MSELoss); `none`: no example.
_FUNCTIONS = """
gumbel_softmax | | 2 3 | 2 3
torch.gumbel_softmax | dim=1 | 2 3 | 2 3
normalize | | 2 3 | 2 3
prelu | | 2 3, 1 | 2 3
linear dense | | 2 3, 8 3 | 2 8
paddle.linear | | 2 3, 3 8 | 2 8
bilinear | | 2 3, 2 4, 8 3 4 | 2 8
embedding | | i2 5, 10 4 | 2 5 4
embedding_bag | | i2 5, 10 4 | 2 4
one_hot | 3 | i4 | 4 3
conv{}d | | 2 3 *8, 8 3 *3 | 2 8 *6
conv_transpose{}d conv{}d_transpose | | 2 3 *6, 3 8 *3 | 2 8 *8
lp_pool{}d | 2, 2 | 2 3 *8 | 2 3 *4
batch_norm | | 2 3 4 4, {t}([0.0, 0.0, 0.0]), {t}([1.0, 1.0, 1.0]) | 2 3 4 4
mindspore.ops.batch_norm | | 2 3 4 4, 3, 3, 3, 3 | 2 3 4 4
instance_norm | | 2 3 4 4 | 2 3 4 4
mindspore.ops.rms_norm | | 2 4, 4 | [0]2 4
group_norm | 2 | 2 4 3 3 | 2 4 3 3
interpolate | scale_factor=2.0 | 1 1 4 4 | 1 1 8 8
grid_sample | | 1 1 4 4, 1 3 3 2 | 1 1 3 3
affine_grid | (1, 1, 4, 4) | 1 2 3 | 1 4 4 2
pad | [1, 2] | 2 3 | 2 6
scaled_dot_product_attention | | 2 4 5 8, 2 4 5 8, 2 4 5 8 | 2 4 5 8
mindspore.ops.smooth_l1_loss square_error_cost | | 4 3, 4 3 | 4 3
multi_label_soft_margin_loss | | 4 3, 4 3 |
mindspore.ops.ctc_loss | | 5 2 4, j2 3, {t}([5, 5]), {t}([3, 3]) | [0]
mindspore.ops.norm | | 2 3 |
zeropad2d | [1, 1, 1, 1] | 1 2 4 4 | 1 2 6 6
dice_loss | | 4 3, i4 1 |
hsigmoid_loss adaptive_log_softmax_with_loss bidense matrix_diag_part | none | |
"""

_OPTIMISERS = """
mindspore.Momentum | momentum=0.9
mindspore.nn.AdaFactor | scale_parameter=False, relative_step=False
torch.LBFGS SparseAdam LARS Optimizer | none
"""

# Schedules: the options, where the first rate is 0.1, and the rate after two epochs (or of step 2).
_SCHEDULES = """
ConstantLR | factor=0.5 | 0.05
LinearLR | total_iters=4 | 0.066667
paddle.LinearLR | learning_rate=0.1, total_steps=4 | 0.066667
StepLR StepDecay | step_size=2, gamma=0.5 | 0.05
MultiStepLR MultiStepDecay | milestones=[1, 2], gamma=0.5 | 0.025
ExponentialLR ExponentialDecay | gamma=0.5 | 0.025
MultiplicativeLR MultiplicativeDecay | lr_lambda=lambda epoch: 0.5 | 0.025
LambdaDecay | lr_lambda=lambda epoch: 0.5**epoch | 0.025
PolynomialLR | total_iters=4 | 0.05
PolynomialDecay | decay_steps=4 | 0.05005
CosineAnnealingLR CosineAnnealingDecay | T_max=4 | 0.05
NaturalExpDecay | gamma=0.5 | 0.036788
InverseTimeDecay | gamma=0.5 | 0.05
paddle.NoamDecay | d_model=64, warmup_steps=4 | 0.03125
paddle.PiecewiseDecay | boundaries=[1, 2], values=[0.1, 0.05, 0.025] | 0.025
mindspore.nn.ExponentialDecayLR | 0.1, decay_rate=0.5, decay_steps=2 | 0.05
mindspore.nn.NaturalExpDecayLR | 0.1, decay_rate=0.5, decay_steps=2 | 0.036788
mindspore.nn.InverseDecayLR | 0.1, decay_rate=0.5, decay_steps=2 | 0.066667
mindspore.nn.CosineDecayLR | 0.0, 0.1, decay_steps=4 | 0.05
mindspore.nn.PolynomialDecayLR | 0.1, 0.01, decay_steps=4, power=1.0 | 0.055
mindspore.nn.WarmUpLR | 0.1, warmup_steps=4 | 0.05
"""


@functools.cache
def _options() -> dict[str, list[tuple[str, str]]]:
    """The meanings of each option, each with the part of the owner's name that it goes with; the general one last."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in _OPTIONS.strip().splitlines():
        head, meaning = line.split(": ", 1)
        names, _, part = head.partition(" [")
        for name in names.split():
            found.setdefault(name, []).append((part.rstrip("]"), meaning))
    return {name: sorted(meanings, key=lambda m: -len(m[0])) for name, meanings in found.items()}


def option(owner: str, name: str) -> str:
    """What an option of a class, or of a function, means; nothing if it is not in the table."""
    if name == "bias" and owner[0].islower():  # a function is given one, a layer is asked for one
        return ""
    return next((meaning for part, meaning in _options().get(name, ()) if part in owner.lower()), "")


@functools.cache
def _table(text: str) -> dict[str, tuple[str, str, str, int]]:
    """The rows of a table by name, in small letters, with the number of axes."""
    found = {}
    for line in text.strip().splitlines():
        names, *row = (part.strip() for part in line.split("|"))
        for name in names.lower().split():
            for n in (1, 2, 3) if "{}" in name else (int(digit[0]) if (digit := re.findall(r"\d(?=d)", name)) else 0,):
                found[name.replace("{}", str(n))] = (*row, n)
    return found  # type: ignore[return-value]


def _row(text: str, dialect: str, package: str, name: str) -> Any:
    """The row of a name: the package's, the dialect's, or that of all."""
    table, name = _table(text), name.lower()
    return table.get(f"{dialect}.{package}.{name}") or table.get(f"{dialect}.{name}") or table.get(name)


def _sizes(text: str, axes: int) -> list[int]:
    return [int(n.lstrip("*")) for n in text.split() for _ in range(axes if n[0] == "*" else 1)]


def _inputs(text: str, dialect: str, axes: int) -> list[str]:
    """The texts of inputs, between which there are commas."""
    parts = re.split(r",(?![^(\[]*[)\]])", text) if text else []
    return [_input(part.strip(), dialect, axes) for part in parts]


def _input(text: str, dialect: str, axes: int) -> str:
    """The text of an input."""
    if not re.fullmatch(r"[ij]?(\*?\d+ ?)*", text):
        return _filled(text, dialect, "")
    kind, sizes = text[:1], _sizes(text.lstrip("ij"), axes)
    whole = kind in ("i", "j")
    make = "zeros" if kind == "i" else "ones"
    if dialect == "torch":
        return f"torch.{make}({', '.join(map(str, sizes))}{', dtype=torch.int64' * whole})"
    if dialect == "paddle":
        return f"paddle.{make}({sizes}{', dtype=' * whole}{repr('int64') * whole})"
    return f"mindspore.ops.{make}({tuple(sizes)}{', mindspore.int32' * whole})"


def _filled(text: str, dialect: str, package: str) -> str:
    maker = {"torch": "torch.tensor", "paddle": "paddle.to_tensor", "mindspore": "mindspore.Tensor"}[dialect]
    return text.replace("{t}", maker).replace("{p}", f"{dialect}.{package}")


def _result(text: str, dialect: str, axes: int) -> tuple[str, str]:
    """What is taken of a result, and how its shape prints."""
    _, part, sizes = re.split(r"^((?:\[\d+\])*)", text)
    shape = _sizes(sizes, axes)
    return part, {"torch": f"torch.Size({shape})", "paddle": f"paddle.Size({shape})", "mindspore": str(tuple(shape))}[dialect]


def layer(dialect: str, package: str, name: str) -> list[str]:
    """The lines of a layer's example."""
    row = _row(_LAYERS, dialect, package, name)
    if not row:
        return []
    options, inputs, result, axes = row
    given = ", ".join(_inputs(inputs, dialect, axes))
    part, shape = _result(result, dialect, axes)
    return [
        f">>> layer = {dialect}.{package}.{name}({_filled(options, dialect, package)})",
        f">>> layer({given}){part}.shape",
        shape,
    ]


def optimiser(dialect: str, package: str, name: str) -> list[str]:
    """The lines of an optimiser's example, in which a step makes a sum of squares smaller."""
    given = (_row(_OPTIMISERS, dialect, package, name) or ("",))[0]
    if given == "none":
        return []
    options = f", {given}" if given else ""
    call = f">>> optimizer = {dialect}.{package}.{name}"
    if dialect == "torch":
        return [
            ">>> x = torch.ones(3, 3, requires_grad=True)",
            f"{call}([x], lr=0.1{options})",
            ">>> (x * x).sum().backward()",
            ">>> optimizer.step()",
            ">>> bool((x * x).sum() < 9)",
            "True",
        ]
    if dialect == "paddle":
        return [
            ">>> x = paddle.ones([3, 3])",
            ">>> x.stop_gradient = False",
            f"{call}(learning_rate=0.1, parameters=[x]{options})",
            ">>> (x * x).sum().backward()",
            ">>> optimizer.step()",
            ">>> bool((x * x).sum() < 9)",
            "True",
        ]
    rate = "learning_rate" if package == "nn" else "lr"
    return [
        '>>> x = mindspore.Parameter(mindspore.ops.ones((3, 3)), name="x")',
        f"{call}([x], {rate}=0.1{options})",
        ">>> gradients = mindspore.grad(lambda: (x * x).sum(), None, [x])()",
        ">>> done = optimizer(gradients)",
        ">>> bool((x * x).sum() < 9)",
        "True",
    ]


def schedule(dialect: str, package: str, name: str) -> list[str]:
    """The lines of a schedule's example: the rate after two epochs, or of step 2 where it is a function of the step."""
    options, rate, _ = _row(_SCHEDULES, dialect, package, name)
    call = f">>> schedule = {dialect}.{package}.{name}"
    if package == "nn":
        return [f"{call}({options})", ">>> round(float(schedule(mindspore.Tensor(2))), 6)", rate]
    step = [">>> for epoch in range(2):", "...     schedule.step()"]
    if dialect == "paddle":
        first = "" if options.startswith(("learning_rate", "d_model", "boundaries")) else "learning_rate=0.1, "
        return [f"{call}({first}{options})", *step, ">>> round(schedule(), 6)", rate]
    if dialect == "torch":
        made = ">>> optimizer = torch.optim.SGD([torch.ones(3, requires_grad=True)], lr=0.1)"
        step = [*step[:1], "...     optimizer.step()", *step[1:]]
    else:
        made = (
            '>>> optimizer = mindspore.experimental.optim.SGD([mindspore.Parameter(mindspore.ops.ones(3), name="x")], lr=0.1)'
        )
    return [made, f"{call}(optimizer, {options})", *step, ">>> round(float(schedule.get_last_lr()[0]), 6)", rate]


def function(dialect: str, package: str, name: str) -> list[str]:
    """The lines of a function's example."""
    row = _row(_FUNCTIONS, dialect, package, name) or _row(_LAYERS, dialect, package, name.replace("_", ""))
    if not row or row[0] == "none":
        return []
    options, inputs, result, axes = row
    given = _inputs(inputs, dialect, axes)
    part, shape = _result(result, dialect, axes)
    call = f"{dialect}.{package}.{name}({', '.join([*given, *filter(None, [_filled(options, dialect, package)])])})"
    return ["\n".join([f">>> from retrograde.dialects import {dialect}", f">>> {call}{part}.shape", shape])]
