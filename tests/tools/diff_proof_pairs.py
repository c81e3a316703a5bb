"""Short programs in pairs: those that are proven to be the same, and those that only are on their own values."""

START = """\
import math
import numpy as np
import torch
import torch.nn.functional as F
torch.manual_seed(0)
w = (torch.rand(4, 3) + 0.1).requires_grad_()
s = (torch.rand(4, 4) - 0.4).requires_grad_()
x = torch.rand(5, 4) - 0.3
labels = torch.tensor(np.array([2, 0, 1, 2, 2]))
q, k, v = (torch.rand(2, 6, 4) for _ in range(3))
image = torch.rand(2, 3, 6, 6)
filters = (torch.rand(4, 3, 3, 3) - 0.5).requires_grad_()
n = torch.rand(5, 3)
h = x @ w
g = (x + 0.4) @ w
"""
END = """
loss = (out * torch.arange(1, out.numel() + 1).reshape(out.shape) * 0.1).sum()
loss.backward()
"""

EQUAL = {
    "embedding": ("F.embedding(labels, w)", "F.one_hot(labels, 4).float() @ w"),
    "index_rows": ("w[labels]", "torch.index_select(w, 0, labels)"),
    "gather": (
        "torch.log_softmax(h, 1).gather(1, labels[:, None])",
        "(torch.log_softmax(h, 1) * F.one_hot(labels, 3)).sum(1)",
    ),
    "cross_entropy": ("F.cross_entropy(h, labels)", "-torch.log_softmax(h, 1).gather(1, labels[:, None]).mean()"),
    "smoothing": (
        "F.cross_entropy(h, labels, label_smoothing=0.1)",
        "-((0.9 * F.one_hot(labels, 3) + 0.1 / 3) * torch.log_softmax(h, 1)).sum(1).mean()",
    ),
    "scatter": ("torch.zeros(3, 3).index_add(0, labels, h)", "F.one_hot(labels, 3).float().T @ h"),
    "scatter_add": (
        "torch.zeros(5, 3).scatter_add(1, labels[:, None].expand(5, 1), h[:, :1])",
        "F.one_hot(labels, 3) * h[:, :1]",
    ),
    "halves": ("torch.cat([h[:2], h[2:]])", "h"),
    "rows": ("torch.stack([torch.tanh(h[i]) for i in range(5)])", "torch.tanh(h)"),
    "products": ("torch.stack([x[i] @ w for i in range(5)])", "x @ w"),
    "padding": ("F.pad(h, (1, 1))[:, 1:4]", "h"),
    "pad_zeros": ("F.pad(h, (1, 0))", "torch.cat([torch.zeros(5, 1), h], 1)"),
    "roll": ("torch.roll(h, 2, 0)", "torch.cat([h[3:], h[:3]])"),
    "triangle": ("torch.tril(s)", "s - torch.triu(s, 1)"),
    "causal": (
        "F.scaled_dot_product_attention(q @ s, k, v, is_causal=True)",
        "torch.softmax(((q @ s) @ k.mT / 2).masked_fill(torch.triu(torch.ones(6, 6), 1).bool(), float('-inf')), -1) @ v",
    ),
    "causal_added": (
        "F.scaled_dot_product_attention(q @ s, k, v, is_causal=True)",
        "torch.softmax((q @ s) @ k.transpose(1, 2) / math.sqrt(4) + torch.triu(torch.full((6, 6), float('-inf')), 1), -1) @ v",
    ),
    "attention": (
        "F.scaled_dot_product_attention(q @ s, k, v)",
        "torch.einsum('bij,bjd->bid', torch.softmax(torch.einsum('bid,bjd->bij', q @ s, k) / 2, -1), v)",
    ),
    "einsum": ("torch.einsum('ij,jk->ki', x, w)", "(x @ w).T"),
    "einsum_trace": ("torch.einsum('ii', s)", "torch.diagonal(s).sum()"),
    "unfold": ("F.conv2d(image, filters)", "(filters.reshape(4, 27) @ F.unfold(image, 3)).reshape(2, 4, 4, 4)"),
    "unfold_padded": (
        "F.conv2d(image, filters, padding=1, stride=2)",
        "(filters.reshape(4, 27) @ F.unfold(image, 3, padding=1, stride=2)).reshape(2, 4, 3, 3)",
    ),
    "pool": (
        "F.avg_pool2d(F.conv2d(image, filters), 2)",
        "F.conv2d(image, filters).reshape(2, 4, 2, 2, 2, 2).mean((3, 5))",
    ),
    "max_pool": (
        "F.max_pool2d(F.conv2d(image, filters), 2)",
        "F.conv2d(image, filters).reshape(2, 4, 2, 2, 2, 2).amax((3, 5))",
    ),
    "batch_norm": (
        "F.batch_norm(h, None, None, training=True)",
        "(h - h.mean(0)) / torch.sqrt(h.var(0, unbiased=False) + 1e-5)",
    ),
    "smooth_l1": (
        "F.smooth_l1_loss(h, n)",
        "torch.where((h - n).abs() < 1, 0.5 * (h - n) ** 2, (h - n).abs() - 0.5).mean()",
    ),
    "huber": ("F.huber_loss(h, n, delta=2.0)", "2 * F.smooth_l1_loss(h, n, beta=2.0)"),
    "bce": (
        "F.binary_cross_entropy_with_logits(h, n)",
        "-(n * torch.log(torch.sigmoid(h)) + (1 - n) * torch.log(1 - torch.sigmoid(h))).mean()",
    ),
    "hinge": ("torch.clamp(1 - h, min=0)", "torch.relu(1 - h)"),
    "leaky": ("F.leaky_relu(h, 0.2)", "torch.maximum(h, 0.2 * h)"),
    "elu": ("F.elu(h)", "torch.where(h > 0, h, torch.exp(h) - 1)"),
    "sigmoid": ("1 / (1 + torch.exp(-h))", "torch.exp(h) / (1 + torch.exp(h))"),
    "cumsum": ("torch.cumsum(h, 0)", "torch.tril(torch.ones(5, 5)) @ h"),
    "flip": ("torch.flip(h, (0,))", "torch.stack([h[4 - i] for i in range(5)])"),
    "filled_zeros": ("h + torch.zeros(3)", "h"),
    "slices_later": ("torch.stack([h[i + 1] - h[i] for i in range(4)])", "h[1:] - h[:-1]"),
    "logsumexp": ("torch.logsumexp(h, 1)", "(h - h.amax(1, keepdim=True)).exp().sum(1).log() + h.amax(1)"),
    "glu": ("F.glu(s, 1)", "s[:, :2] * torch.sigmoid(s[:, 2:])"),
    "multi_head": ("(q @ s).reshape(2, 6, 2, 2).transpose(1, 2)", "torch.stack(torch.split(q @ s, 2, 2), 1)"),
}

HERE_ONLY = {
    "relu_of_positive": ("torch.relu(g)", "g"),
    "clip_not_active": ("g.clamp(max=100.0)", "g"),
    "absolute_of_positive": ("g.abs()", "g"),
    "branch_not_taken": ("torch.where(g > 0, g, 2 * g)", "g"),
    "maximum_with_negative": ("torch.maximum(g, -g)", "g"),
    "sign_of_positive": ("g * torch.sign(g)", "g"),
    "root_of_square": ("torch.sqrt(g * g)", "g"),
    "clip_for_relu": ("g.clamp(0.0, 9.0)", "torch.relu(g)"),
    "norm_above_epsilon": ("F.normalize(g, dim=1)", "g / g.norm(dim=1, keepdim=True)"),
    "zeros_from_data": ("h + torch.tensor(np.zeros(3), dtype=torch.float32)", "h"),
    "ones_from_data": ("h * torch.tensor(np.ones(3), dtype=torch.float32)", "h"),
    "range_from_data": ("h[torch.tensor(np.array([0, 1, 2]))]", "h[:3]"),
    "labels_in_order": ("h[torch.tensor(np.arange(3)), torch.tensor(np.arange(3))]", "torch.diagonal(h[:3])"),
    "mask_all_kept": ("h.masked_fill(torch.tensor(np.zeros((5, 3), bool)), 0.0)", "h"),
    "added_mask_of_zeros": ("torch.softmax(h + torch.tensor(np.zeros((5, 3), 'float32')), 1)", "torch.softmax(h, 1)"),
    "padding_row_not_there": ("F.embedding(labels, w, padding_idx=3)", "F.embedding(labels, w)"),
    "greater_or_equal": ("h * (h >= 0)", "h * (h > 0)"),
    "labels_all_one": ("h[torch.tensor(np.ones(5, int)), torch.arange(5) % 3]", "h[1, torch.arange(5) % 3].clone()"),
    "mask_never_set": ("torch.where(torch.tensor(np.zeros((5, 3), bool)), 2 * h, h)", "h"),
}
"""The same on these values, but not for others of the same shapes."""
