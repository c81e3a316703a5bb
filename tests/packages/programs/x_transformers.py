"""x-transformers: a decoder with rotary positions and RMSNorm trained, an encoder-decoder, a ViT, generation."""
# packages: x-transformers==2.31.10, torch-einops-utils==0.2.0, einx==0.4.3, loguru==0.7.3, einops==0.8.2
# needs: packaging, frozendict, sympy
import torch
from x_transformers import (
    AutoregressiveWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)

torch.manual_seed(0)
decoder = TransformerWrapper(
    num_tokens=40,
    max_seq_len=32,
    attn_layers=Decoder(
        dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True, use_rmsnorm=True, ff_glu=True, attn_qk_norm=True
    ),
)
model = AutoregressiveWrapper(decoder)
tokens = torch.randint(0, 40, (4, 17))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(6):
    loss = model(tokens)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(step, f"{loss.item():.6f}")
model.eval()
print(model.generate(tokens[:2, :4], 6, temperature=0.0).tolist())
encoder = TransformerWrapper(
    num_tokens=40, max_seq_len=32, attn_layers=Encoder(dim=32, depth=2, heads=4, attn_dim_head=8, alibi_pos_bias=True)
)
mask = torch.ones(4, 17, dtype=torch.bool)
mask[:, 12:] = False
print([f"{v:.6f}" for v in encoder(tokens, mask=mask)[0, 0, :4].tolist()])
both = XTransformer(
    dim=32,
    enc_num_tokens=40,
    enc_depth=1,
    enc_heads=4,
    enc_max_seq_len=32,
    enc_attn_dim_head=8,
    dec_num_tokens=40,
    dec_depth=1,
    dec_heads=4,
    dec_max_seq_len=32,
    dec_attn_dim_head=8,
    tie_token_emb=True,
)
loss = both(tokens, tokens, mask=mask)
loss.backward()
print(f"{loss.item():.6f}", f"{sum(p.grad.norm() for p in both.parameters() if p.grad is not None).item():.5f}")
vit = ViTransformerWrapper(
    image_size=16, patch_size=4, num_classes=5, attn_layers=Encoder(dim=32, depth=2, heads=4, attn_dim_head=8)
)
print([f"{v:.6f}" for v in vit(torch.randn(1, 3, 16, 16))[0].tolist()])
