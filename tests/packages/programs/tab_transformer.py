"""tab-transformer-pytorch: TabTransformer and FT-Transformer trained on categories and numbers."""
# packages: tab-transformer-pytorch==0.6.1, x-mlps-pytorch==0.6.9, discrete-continuous-embed-readout==0.2.12
# packages: einops==0.8.2, hyper-connections==0.4.11, torch-einops-utils==0.2.0
# needs: beartype
import torch
from tab_transformer_pytorch import FTTransformer, TabTransformer

torch.manual_seed(0)
categories, numbers = torch.stack([torch.randint(0, n, (16,)) for n in (4, 5, 3)], 1), torch.randn(16, 4)
y = torch.randn(16, 1)
for model in (
    TabTransformer(
        categories=(4, 5, 3),
        num_continuous=4,
        dim=16,
        dim_out=1,
        depth=2,
        heads=2,
        attn_dropout=0.1,
        ff_dropout=0.1,
        mlp_hidden_mults=(4, 2),
        mlp_act=torch.nn.ReLU(),
    ),
    FTTransformer(
        categories=(4, 5, 3), num_continuous=4, dim=16, dim_out=1, depth=2, heads=2, attn_dropout=0.1, ff_dropout=0.1
    ),
):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(4):
        loss = (model(categories, numbers) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(type(model).__name__, step, f"{loss.item():.6f}")
