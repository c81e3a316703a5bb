import torch

torch.manual_seed(0)
q, k, v = (torch.randn(2, 5, 8, requires_grad=True) for _ in range(3))
out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
out.pow(2).mean().backward()
