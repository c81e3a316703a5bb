"""`paddle.nn.functional` and layers as expressions, optimisers and schedules as short runs: with PaddlePaddle this records
data/nn.json.

    python tests/dialects/paddle/nn_cases.py      (in an environment with PaddlePaddle)
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).parent / "data" / "nn.json"

FUNCTIONS = """
F.relu(K(0.,-1.,2.))
F.relu6(K(0.,6.,7.,3.))
F.leaky_relu(K(0.,-1.,2.),0.1)
F.elu(K(0.,-1.,1.),0.5)
F.hardtanh(K(-1.,1.,.5))
F.hardsigmoid(K(-3.,3.,.1))
F.hardswish(K(-3.,3.,.1,1.))
F.hardshrink(K(-.5,.5,0.,1.))
F.softshrink(K(-.5,.5,0.,1.))
F.thresholded_relu(K(1.,2.,.5),1.0,3.0)
F.celu(K(0.,-1.),0.5)
F.selu(K(0.,-1.,1.))
F.softplus(K(10.,10.5,9.9,-3.),2.0,20.0)
F.log_sigmoid(K(0.,-100.,5.))
F.mish(K(0.,-30.,30.,1.))
F.gelu(K(0.,1.,-2.))
F.gelu(K(0.,1.,-2.),True)
F.softsign(K(0.,-2.))
F.swish(K(0.,-2.,1.))
F.tanhshrink(K(0.,1.))
F.glu(K(1.,2.,3.,4.))
F.swiglu(K(1.,2.,3.,4.))
F.softmax(K(1.,2.,4.))
F.log_softmax(K(1.,2.,4.))
F.prelu(K(0.,-1.,2.).reshape([1,3]),T([.25]))
F.l1_loss(K(0.,1.,2.),T([0.,2.,2.]),reduction='sum')
F.smooth_l1_loss(K(0.,1.,2.),T([1.,0.,5.]),reduction='none',delta=0.5)
F.smooth_l1_loss(K(0.,1.,2.),T([1.,0.,5.]),reduction='none',delta=2.0,is_huber=False)
F.max_pool1d(A(1,1,5),2,3,ceil_mode=True)
F.avg_pool1d(A(1,1,4),3,2,ceil_mode=True)
F.avg_pool1d(A(1,1,4),3,2,ceil_mode=True,exclusive=False)
F.avg_pool1d(A(1,1,4),3,2,padding=1,exclusive=False,ceil_mode=True)
F.avg_pool1d(A(1,1,4),3,2,padding=1,exclusive=False)
F.avg_pool2d(A(1,1,4,4),[3,2],2,padding=[[0,0],[0,0],[1,0],[0,1]])
F.max_pool2d(A(1,1,4,4),3,2,padding='VALID')
F.max_pool2d(A(1,4,4,1),2,data_format='NHWC')
F.max_pool2d(A(1,1,4,4),2,ceil_mode=True,padding='VALID')
F.max_pool1d(A(1,1,6),2,return_mask=True)
F.max_pool3d(A(1,1,2,2,2),2,return_mask=True)
F.avg_pool3d(A(1,1,2,2,2),2)
F.max_pool2d(A(1,1,4,4),2,padding=[0,1])
F.max_unpool2d(*F.max_pool2d(A(1,1,4,4),2,return_mask=True),2)
F.lp_pool1d(A(1,1,4),2,2)
F.lp_pool1d(-A(1,1,4),3,2)
F.lp_pool2d(A(1,1,4,4),float('inf'),2)
F.conv1d(A(1,1,6),T([[[1.,2.,3.]]]),padding='SAME',dilation=2)
F.conv1d(A(1,1,6),T([[[1.,2.,3.]]]),padding='SAME',stride=2)
F.conv1d(A(1,1,6),T([[[1.,2.,3.,4.]]]),padding='SAME')
F.conv1d(A(1,1,6),T([[[1.,2.,3.]]]),padding='VALID',dilation=2)
F.conv1d(A(1,6,1),T([[[1.,2.,3.]]]),bias=T([10.]),data_format='NLC')
F.conv1d_transpose(A(1,1,3),T([[[1.,2.,3.]]]),stride=2,padding='SAME')
F.conv1d_transpose(A(1,1,3),T([[[1.,2.,3.]]]),stride=2,padding=[1,0])
F.conv1d_transpose(A(1,1,3),T([[[1.,2.,3.]]]),stride=2,output_size=8)
F.conv1d_transpose(A(1,1,3),T([[[1.,2.,3.]]]),stride=2,output_size=[8])
F.conv1d_transpose(A(1,1,3),T([[[1.,2.,3.]]]),stride=2,output_padding=1)
F.conv1d_transpose(A(1,1,3),T([[[1.,2.,3.]]]),stride=3,output_padding=3)
F.conv2d_transpose(A(1,2,2,2),T(np.arange(16,dtype='float32').reshape(2,2,2,2)),groups=2)
F.conv2d(A(1,1,3,3),A(1,1,2,2),padding=[1,0],stride=2,bias=T([1.]))
F.conv3d(A(1,1,2,2,2),A(1,1,2,2,2),padding=1).shape
F.conv2d(A(1,1,3,3),A(1,1,2,2),stride=0)
F.conv2d(A(1,1,3,3),A(1,1,2,2),padding=-1)
F.conv2d(A(1,1,3,3),A(1,1,2,2),groups=2)
F.batch_norm(A(3,2),T([0.,0.]),T([1.,1.]),T([1.,2.]),T([0.,1.]),training=True)
F.batch_norm(A(1,2,3),T([0.,0.]),T([1.,1.]),T([1.,2.]),T([0.,1.]),training=True,use_global_stats=True)
F.batch_norm(A(1,3,2),T([0.,0.]),T([1.,1.]),training=True,data_format='NLC')
F.batch_norm(A(1,2),T([0.,0.]),T([1.,1.]),training=True)
F.batch_norm(A(4),T([0.,0.]),T([1.,1.]))
F.instance_norm(A(1,2,3))
F.instance_norm(A(1,2,3),T([0.,0.]),T([1.,1.]),use_input_stats=False)
F.instance_norm(A(1,2))
F.layer_norm(A(2,3),3,T([1.,2.,3.]))
F.layer_norm(A(2,2,2),[2,2],weight=T([1.,2.,3.,4.]))
F.layer_norm(A(2,2,2),[2,2],weight=T([[1.,2.],[3.,4.]]))
F.group_norm(A(1,4,2),2,weight=T([1.,2.,3.,4.]))
F.local_response_norm(A(1,4,2),3,alpha=1.0)
F.local_response_norm(A(1,5,2,1),2,alpha=1.0)
F.normalize(A(2,2)+1,p=1,axis=0)
F.normalize(A(2,2)+1,p=3)
F.normalize(A(2)+1)
F.normalize(A(2)+1,axis=0)
F.cosine_similarity(A(2,2),A(2,2)+1,axis=0)
F.cosine_similarity(A(2),A(2)+1,axis=0)
F.pairwise_distance(A(2,2),A(2,2)+1,keepdim=True)
F.pairwise_distance(A(2,2),A(2,2)+1,p=1)
F.pairwise_distance(A(2,2),A(2,2)+1,p=float('inf'))
F.label_smooth(T([[0.,1.,0.]]),epsilon=0.3)
F.label_smooth(T([[0.,1.,0.]]),T([[.5,.3,.2]]),0.3)
F.log_loss(T([[.5],[.1]]),T([[1.],[0.]]))
F.dice_loss(T(np.array([[[.2,.8],[.3,.7]]],'float32')),T([[[1],[0]]]))
F.npair_loss(A(2,2),A(2,2)+1,T([0.,1.]))
F.sigmoid_focal_loss(A(2,2)-1,T([[0.,1.],[1.,0.]]),reduction='none')
F.sigmoid_focal_loss(A(2,2)-1,T([[0.,1.],[1.,0.]]),normalizer=T([2.]))
F.hinge_embedding_loss(A(4)-1,T([1.,-1.,1.,-1.]),reduction='none')
F.cosine_embedding_loss(A(2,2),A(2,2)+1,T([1,-1]),reduction='none')
F.margin_ranking_loss(A(3),A(3)*2-1,T([1.,-1.,1.]),margin=0.5,reduction='none')
F.triplet_margin_loss(A(2,2),A(2,2)+1,A(2,2)*2,reduction='none')
F.triplet_margin_loss(A(2,2),A(2,2)+1,A(2,2)*2,swap=True,p=1,reduction='none')
F.triplet_margin_with_distance_loss(A(2,2),A(2,2)+1,A(2,2)*2,reduction='none')
F.soft_margin_loss(A(4)-1,T([1.,-1.,1.,-1.]))
F.multi_label_soft_margin_loss(A(2,2)-1,T([[1.,0.],[0.,1.]]))
F.multi_label_soft_margin_loss(A(2,2)-1,T([[1.,-1.],[-1.,1.]]),weight=T([.5,2.]),reduction='none')
F.multi_margin_loss(A(2,3),T([0,2]),reduction='none')
F.multi_margin_loss(A(2,3),T([0,2]),p=2,weight=T([1.,2.,3.]),margin=.5)
F.multi_label_margin_loss(A(2,3),T([[0,2,-1],[1,-1,0]]),reduction='none')
F.poisson_nll_loss(A(3),T([1.,2.,3.]))
F.poisson_nll_loss(A(3)+1,T([1.,2.,3.]),log_input=False,full=True,reduction='none')
F.gaussian_nll_loss(A(3),T([1.,2.,3.]),T([.5,1.,2.]),full=True,reduction='none')
F.gaussian_nll_loss(A(3),T([1.,2.,3.]),T([.5,-1.,2.]))
F.kl_div(A(2,2)-3,T([[.5,.5],[0.,1.]]),'none')
F.kl_div(A(2,2)-3,T([[.5,.5],[0.,1.]]),'batchmean')
F.kl_div(A(2,2)-3,T([[.5,.5],[0.,1.]]),'mean',log_target=True)
F.binary_cross_entropy(T([0.,1.,.3]),T([1.,1.,.5]),reduction='none')
F.binary_cross_entropy(T([.1,.9,.3]),T([1.,1.,.5]),weight=T([1.,2.,3.]))
F.binary_cross_entropy_with_logits(A(3)-1,T([1.,0.,.5]),pos_weight=T([2.]),weight=T([1.,2.,3.]),reduction='none')
F.cross_entropy(A(2,3),T([0,2]),label_smoothing=0.1)
F.cross_entropy(A(2,3),T([0,2]),label_smoothing=0.1,weight=T([1.,2.,3.]))
F.cross_entropy(A(2,3),T([0,2]),label_smoothing=0.1,reduction='none')
F.cross_entropy(A(2,3),T([0,2]),weight=T([1.,2.,3.]))
F.cross_entropy(A(2,3),T([0,2]),weight=T([1.,2.,3.]),reduction='none')
F.cross_entropy(A(2,3),T([[0],[2]]),weight=T([1.,2.,3.]),reduction='none')
F.cross_entropy(A(2,3),T([0,1]),weight=T([1.,2.,3.]),ignore_index=1)
F.cross_entropy(A(2,3),T([0,1]),ignore_index=1,reduction='none')
F.cross_entropy(A(2,3),T([1,1]),ignore_index=1)
F.cross_entropy(A(2,3),T([1,1]),ignore_index=1,weight=T([1.,2.,3.]))
F.cross_entropy(A(2,3,2),T([[0,1],[2,0]]),axis=1,reduction='none')
F.cross_entropy(A(2,3,2),T([[[0,1]],[[2,0]]]),axis=1,reduction='none')
F.cross_entropy(A(2,2,3),T([[0,1],[2,0]]),reduction='none')
F.cross_entropy(A(2,2,3),T([[0,1],[2,0]]),weight=T([1.,2.,3.]))
F.cross_entropy(A(2,2,3),F.softmax(A(2,2,3)),soft_label=True,weight=T([1.,2.,3.]))
F.cross_entropy(A(2,2,3),F.softmax(A(2,2,3)),soft_label=True,weight=T([1.,2.,3.]),reduction='none')
F.cross_entropy(A(2,3),F.softmax(A(2,3)),soft_label=True,label_smoothing=.2)
F.cross_entropy(F.softmax(A(2,3)),T([0,2]),use_softmax=False)
F.cross_entropy(F.softmax(A(2,3)),F.softmax(A(2,3)),soft_label=True,use_softmax=False)
F.cross_entropy(A(3),T(1))
F.cross_entropy(A(3),T([1]))
F.softmax_with_cross_entropy(A(2,3),T([[0],[1]]),ignore_index=1)
F.nll_loss(A(2,3),T([0,2]),weight=T([1.,2.,3.]))
F.nll_loss(A(2,3,2),T([[0,1],[2,0]]),reduction='none')
F.nll_loss(A(2,3),T([1,1]),ignore_index=1)
F.ctc_loss(T(np.sin(np.arange(24)).reshape(4,2,3).astype('float32')),T([[1,2],[2,0]],dtype='int32'),T([4,3]),T([2,1]),reduction='none')
F.ctc_loss(T(np.sin(np.arange(24)).reshape(4,2,3).astype('float32')),T([[1,2],[2,0]],dtype='int32'),T([4,3]),T([2,1]))
F.ctc_loss(T(np.sin(np.arange(24)).reshape(4,2,3).astype('float32')),T([[1,2],[2,0]],dtype='int32'),T([4,3]),T([2,1]),norm_by_times=True,reduction='sum')
F.hsigmoid_loss(A(2,2),T([[0],[3]]),4,A(3,2),A(3,1))
F.square_error_cost(A(2),A(2)+1)
F.pad(A(1,1,3),[1,2],mode='reflect')
F.pad(A(1,1,3),[1,2],mode='replicate',data_format='NCL')
F.pad(A(1,1,3),[1,2],mode='circular')
F.pad(A(1,3,1),[1,2],mode='circular',data_format='NLC')
F.pad(A(2,2),[1,0],value=9.0)
F.pad(A(2,2),[1,0,0,2],value=9.0)
F.pad(A(2,2),[1,0,0,2],value=9.0,pad_from_left_axis=False)
F.pad(A(1,2,2),[1,0,0,2],value=9.0)
F.pad(A(1,1,2,2),[1,0],value=9.0)
F.pad(A(1,1,1,2,2),[1,0,0,1,1,0]).shape
F.pad(T([[1,2]]),[1,1])
F.pixel_shuffle(A(1,4,1,2),2)
F.pixel_unshuffle(A(1,1,2,4),2)
F.pixel_shuffle(A(1,1,2,4),2,data_format='NHWC')
F.channel_shuffle(A(1,4,1,2),2)
F.unfold(A(1,1,3,3),2,paddings=[1,0,0,1])
F.unfold(A(1,1,3,3),[2,2],strides=1)
F.fold(A(1,4,4),3,2)
F.temporal_shift(A(4,4,1,1),2)
F.interpolate(A(1,1,2,2),size=[3,3])
F.interpolate(A(1,1,2,2),size=[3,3],align_corners=True)
F.interpolate(A(1,1,2,2),size=[3,3],mode='bilinear')
F.interpolate(A(1,1,2,2),size=[3,3],mode='bilinear',align_corners=True)
F.interpolate(A(1,1,2,2),size=[3,3],mode='bilinear',align_mode=1)
F.interpolate(A(1,1,2,2),scale_factor=1.5,mode='bilinear')
F.interpolate(A(1,1,3,3),scale_factor=1.5,mode='nearest')
F.interpolate(A(1,1,4,4),scale_factor=0.5,mode='bicubic')
F.interpolate(A(1,1,3,3),size=[5,5],mode='bicubic')
F.interpolate(A(1,1,3,3),size=[5,5],mode='bicubic',align_corners=True)
F.interpolate(A(1,1,4),size=[6],mode='linear')
F.interpolate(A(1,1,4),size=6,mode='linear')
F.interpolate(A(1,1,4,4),size=[2,3],mode='area')
F.interpolate(A(1,1,2,2,2),size=[3,3,3],mode='trilinear').shape
F.interpolate(A(1,2,2,1),size=[3,3],data_format='NHWC')
F.interpolate(A(1,1,2,2),size=[3,3],mode='linear')
F.interpolate(A(1,1,2,2),scale_factor=[1.5,2],mode='nearest')
F.upsample(A(1,1,2,2),size=[3,3],mode='bilinear')
F.affine_grid(T([[[1.,0.,0.],[0.,1.,0.]]]),[1,1,2,2])
F.affine_grid(T([[[1.,0.,0.],[0.,1.,0.]]]),[1,1,2,2],align_corners=False)
F.grid_sample(A(1,1,3,3),T([[[[0.5,0.2],[-1.2,0.9]]]]))
F.grid_sample(A(1,1,3,3),T([[[[0.5,0.2],[-1.2,0.9]]]]),mode='nearest',padding_mode='border',align_corners=False)
F.grid_sample(A(1,1,3,3),T([[[[0.5,0.2],[-1.2,0.9]]]]),padding_mode='reflection')
F.sequence_mask(T([1,3]),4,'bool')
F.diag_embed(A(2,2),offset=1)
F.bilinear(A(2,2),A(2,3),A(2,2,3),T([[1.,2.]]))
F.scaled_dot_product_attention(A(1,3,2,2)*.1,A(1,3,2,2)*.1,A(1,3,2,2),is_causal=True)
F.scaled_dot_product_attention(A(1,3,2,2)*.1,A(1,3,2,2)*.1,A(1,3,2,2),attn_mask=T(np.triu(np.full((1,1,3,3),-1e9,'float32'),1)))
F.scaled_dot_product_attention(A(1,3,2,2)*.1,A(1,3,2,2)*.1,A(1,3,2,2),attn_mask=T(np.tril(np.ones((1,1,3,3),'bool'))))
F.embedding(T([[0,1],[1,2]]),A(3,2),padding_idx=-1)
F.embedding(T(1),A(3,2))
F.one_hot(T([[0],[1]]),3)
F.one_hot(T(1),3)
F.dropout(A(3),0.4,training=False)
F.dropout(A(3),1)
F.alpha_dropout(A(3),training=False)
F.maxout(A(1,4,1),2)
F.glu(A(2,2),axis=0)
F.adaptive_avg_pool1d(A(1,1,5),3)
F.adaptive_max_pool1d(A(1,1,5),3,return_mask=True)
F.gather_tree(T([[[2,2],[6,1]],[[3,9],[6,1]],[[0,1],[9,0]]]),T([[[0,0],[1,1]],[[1,0],[1,0]],[[0,0],[0,1]]]))
F.pdist(A(3,2))
F.rrelu(A(3)-2,0.1,0.3,training=False)
F.thresholded_relu(A(3))
F.log_softmax(A(2,2),axis=0)
""".strip().split("\n")

# An input, then layers whose trained parameters are filled with seeded numbers.
LAYERS = {
    "R(2,3)": "nn.Linear(3,2) nn.BatchNorm1D(3) nn.LayerNorm(3) nn.Softmax() nn.Identity(7) nn.PReLU(3) nn.GELU()",
    "R(2,4,5)": "nn.Conv1D(4,6,3,stride=2,padding=1) nn.Conv1D(4,4,2,groups=2,padding='SAME') nn.Conv1DTranspose(4,3,3,stride=2) "
    "nn.BatchNorm1D(4) nn.InstanceNorm1D(4) nn.GroupNorm(2,4) nn.MaxPool1D(2) nn.AvgPool1D(3,2,1) nn.AdaptiveMaxPool1D(3) "
    "nn.LayerNorm([4,5]) nn.SimpleRNN(5,3) nn.LSTM(5,3) nn.LSTM(5,3,2,direction='bidirect') nn.GRU(5,3,time_major=True) "
    "nn.RNN(nn.GRUCell(5,3)) nn.BiRNN(nn.LSTMCell(5,3),nn.LSTMCell(5,3)) nn.Pad1D(1) nn.Flatten() nn.LocalResponseNorm(3)",
    "R(2,4,6,6)": "nn.Conv2D(4,6,3) nn.Conv2D(4,4,3,padding=1,padding_mode='reflect') "
    "nn.Conv2D(4,4,3,padding=[1,2],dilation=2,groups=4) "
    "nn.Conv2DTranspose(4,2,3,stride=2,output_padding=1,padding=1) nn.BatchNorm2D(4) nn.InstanceNorm2D(4) nn.GroupNorm(2,4) "
    "nn.MaxPool2D(2) nn.AvgPool2D(3,2,1) nn.AdaptiveAvgPool2D((2,3)) nn.PixelShuffle(2) nn.Upsample(scale_factor=2) "
    "nn.Upsample(size=[4,9],mode='bilinear') nn.UpsamplingBilinear2D(scale_factor=2) nn.ZeroPad2D([1,0,2,1]) nn.Unfold(2) "
    "nn.Softmax2D() nn.LeakyReLU() nn.ReflectionPad2D(2) nn.PReLU(4)",
    "R(2,5,8)": "nn.MultiHeadAttention(8,2) nn.TransformerEncoderLayer(8,2,16,0.0) "
    "nn.TransformerEncoderLayer(8,2,16,0.0,'gelu',normalize_before=True) "
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(8,4,6,0.0),2,nn.LayerNorm(8))",
}

OPTIMIZERS = """
SGD(0.1,parameters=ps,weight_decay=0.1)
SGD(0.1,parameters=ps,weight_decay=paddle.regularizer.L1Decay(0.1))
Momentum(0.1,0.8,parameters=ps,use_nesterov=True,weight_decay=0.1)
Adam(0.1,parameters=ps,weight_decay=0.1,epsilon=0.01)
Adam(0.1,parameters=ps,amsgrad=True)
AdamW(0.1,parameters=ps,weight_decay=0.3)
Adamax(0.1,epsilon=0.5,parameters=ps)
Adagrad(0.1,parameters=ps,initial_accumulator_value=0.5)
Adadelta(1.0,parameters=ps,rho=0.9,epsilon=0.5)
RMSProp(0.1,epsilon=0.5,parameters=ps,momentum=0.9,centered=True)
Lamb(0.1,0.1,epsilon=0.5,parameters=ps)
Lamb(0.1,0.0,parameters=ps)
NAdam(0.1,parameters=ps,weight_decay=0.1)
RAdam(0.1,parameters=ps,weight_decay=0.1)
ASGD(0.1,3,parameters=ps,weight_decay=0.1)
Rprop(0.1,parameters=ps)
SGD(0.1,parameters=ps,weight_decay=0.5,grad_clip=nn.ClipGradByGlobalNorm(0.5))
Adam(0.1,parameters=ps,grad_clip=nn.ClipGradByNorm(0.5),epsilon=0.1)
Momentum(0.1,parameters=ps,grad_clip=nn.ClipGradByValue(0.3,-0.1))
AdamW(0.1,parameters=[{"params":ps[:1],"weight_decay":0.5,"learning_rate":0.3},{"params":ps[1:]}],epsilon=0.1)
SGD(lr.StepDecay(0.1,2),parameters=ps)
""".strip().split("\n")

SCHEDULES = """
NoamDecay(16,4) PiecewiseDecay([3,6],[0.1,0.01,0.001]) NaturalExpDecay(0.5,0.1) InverseTimeDecay(0.5,0.1) PolynomialDecay(0.5,5)
PolynomialDecay(0.5,5,power=2.0,cycle=True) LinearWarmup(0.5,4,0.0,0.4) LinearWarmup(lr.StepDecay(0.5,2),4,0.0,0.5)
ExponentialDecay(0.5,0.9) MultiStepDecay(0.5,[2,5]) StepDecay(0.5,3) LambdaDecay(0.5,lambda_e:0.9**e)
CosineAnnealingDecay(0.5,5,eta_min=0.1)
MultiplicativeDecay(0.5,lambda_e:0.9) OneCycleLR(1.0,12) OneCycleLR(1.0,12,three_phase=True)
OneCycleLR(1.0,12,anneal_strategy="linear")
CyclicLR(0.1,0.5,3) CyclicLR(0.1,0.5,3,2,mode="triangular2") CyclicLR(0.1,0.5,3,2,mode="exp_range",exp_gamma=0.9) LinearLR(0.5,5)
CosineAnnealingWarmRestarts(0.5,3,2,0.01)
""".replace("lambda_", "lambda ").replace("lambda e", "lambda\0e").split()
SCHEDULES = [s.replace("\0", " ") for s in SCHEDULES]


def scope(paddle: Any) -> dict[str, Any]:
    """The names that the expressions use; K makes an input that gradients are wanted of."""

    def tensor(*shape: int) -> Any:
        return paddle.to_tensor(np.arange(int(np.prod(shape)), dtype="float32").reshape(shape), stop_gradient=False)

    def random(*shape: int) -> Any:
        array = np.random.RandomState(0).uniform(-1, 1, shape).astype("float32")
        return paddle.to_tensor(array, stop_gradient=False)

    def points(*values: float) -> Any:
        return paddle.to_tensor(np.array(values, "float32"), stop_gradient=False)

    return {
        "paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional, "T": paddle.to_tensor, "np": np, "A": tensor,
        "R": random, "K": points, "lr": paddle.optimizer.lr,
    }  # fmt: skip


def plain(x: Any) -> Any:
    """A result as nested lists of numbers."""
    if isinstance(x, (list, tuple)):
        return [plain(part) for part in x]
    return x.numpy().astype("float64").tolist() if hasattr(x, "numpy") else str(x)


def tensors(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [t for part in x for t in tensors(part)]
    return [x]


def function(paddle: Any, expression: str) -> Any:
    """What an expression gives; of one that raises, the type; and for K the gradient of its sum."""
    names, leaves = scope(paddle), []

    def noted(*values: float) -> Any:
        leaves.append(scope(paddle)["K"](*values))
        return leaves[-1]

    try:
        out = eval(expression, {**names, "K": noted})
    except Exception as error:
        return [type(error).__name__]
    if not leaves:
        return plain(out)
    out.sum().backward()
    return [plain(out), plain(leaves[0].grad)]


def fill(layer: Any) -> Any:
    draw = np.random.RandomState(0)
    for p in layer.parameters():
        if p.trainable:
            p.set_value(draw.uniform(-0.5, 0.5, p.shape).astype("float32"))
    return layer


def layer(paddle: Any, given: str, expression: str) -> dict[str, Any]:
    """The text of a layer, what it computes, sums of the gradients of input and parameters, and its state."""
    names = scope(paddle)
    made = fill(eval(expression, names))
    x = eval(given, names)
    out = list(tensors(made(x)))
    loss = sum((t * t).sum() + t.sum() for t in out)
    loss.backward()
    grads = [x.grad, *(p.grad for p in made.parameters() if p.trainable)]
    made.eval()
    return {
        "text": repr(made), "shapes": [list(t.shape) for t in out], "sums": [float(t.sum()) for t in out],
        "squares": float(loss), "gradients": [[float(g.sum()), float((g * g).sum())] for g in grads],
        "state": list(made.state_dict()), "evaluated": [float(t.sum()) for t in tensors(made(x))],
    }  # fmt: skip


def optimizer(paddle: Any, expression: str) -> Any:
    """The parameters after each of seven steps, and the kinds of state."""
    names = scope(paddle)
    ps = [
        paddle.create_parameter([len(v)], "float32", default_initializer=paddle.nn.initializer.Assign(np.array(v, "float32")))
        for v in ([1.0, -0.5, 2.0], [0.3, 0.2, 0.1])
    ]
    opt = eval("paddle.optimizer." + expression, {**names, "ps": ps})
    c, found = paddle.to_tensor([1.0, 5.0, -0.3]), []
    for _ in range(7):
        ((ps[0] * ps[0] * c).sum() + ps[0][0] * ps[0][1] + (ps[1] * ps[0] * ps[1]).sum()).backward()
        opt.step()
        opt.clear_grad()
        if isinstance(opt._learning_rate, paddle.optimizer.lr.LRScheduler):
            opt._learning_rate.step()
        found.append([plain(p) for p in ps])
    kinds = [k.replace(ps[0].name, "0").replace(ps[1].name, "1") for k in opt.state_dict()]
    return [found, kinds]


def schedule(paddle: Any, expression: str) -> list[float]:
    """Thirteen rates."""
    made = eval("lr." + expression, scope(paddle))
    rates = [made()]
    for _ in range(12):
        made.step()
        rates.append(made())
    return [float(r) for r in rates]


def cases() -> Any:
    """Kind, key and arguments of every case."""
    for expression in FUNCTIONS:
        yield function, expression, (expression,)
    for given, expressions in LAYERS.items():
        for expression in expressions.split(" "):
            yield layer, f"{expression} {given}", (given, expression)
    for expression in OPTIMIZERS:
        yield optimizer, expression, (expression,)
    for expression in SCHEDULES:
        yield schedule, expression, (expression,)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder has the package's name
    warnings.simplefilter("ignore")
    import paddle as framework

    found = {key: f(framework, *args) for f, key, args in cases()}
    RECORD.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
