"""transformers: BERT, GPT-2, Llama, T5 and ViT from configurations: losses, gradients, generation."""
# packages: transformers==5.24.0
# needs: huggingface_hub, tokenizers, safetensors, pyyaml, regex, tqdm, requests, filelock, packaging
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
)

ids = torch.tensor([[5, 8, 13, 21, 34, 1], [3, 1, 4, 1, 5, 9]])
mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def report(name, model, **inputs):
    model.eval()
    out = model(**inputs)
    out.loss.backward()
    grads = [p.grad.norm() for p in model.parameters() if p.grad is not None]
    print(
        name,
        sum(p.numel() for p in model.parameters()),
        f"{out.loss.item():.6f}",
        f"{torch.stack(grads).norm().item():.6f}",
    )
    print([f"{v:.5f}" for v in out.logits.flatten()[:4].tolist()])


torch.manual_seed(0)
report(
    "bert",
    BertForSequenceClassification(BertConfig(vocab_size=50, num_labels=3, **small)),
    input_ids=ids,
    attention_mask=mask,
    labels=torch.tensor([2, 0]),
)
torch.manual_seed(0)
gpt = GPT2LMHeadModel(
    GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32, bos_token_id=0, eos_token_id=49)
)
report("gpt2", gpt, input_ids=ids, attention_mask=mask, labels=ids)
torch.manual_seed(0)
llama = LlamaForCausalLM(LlamaConfig(vocab_size=50, num_key_value_heads=2, max_position_embeddings=64, **small))
report("llama", llama, input_ids=ids, attention_mask=mask, labels=ids)
torch.manual_seed(0)
t5 = T5ForConditionalGeneration(
    T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
)
report("t5", t5, input_ids=ids, attention_mask=mask, labels=ids)
torch.manual_seed(0)
vit = ViTForImageClassification(ViTConfig(image_size=16, patch_size=4, num_labels=3, **small))
report("vit", vit, pixel_values=torch.randn(2, 3, 16, 16), labels=torch.tensor([1, 2]))
for name, model in (("gpt2", gpt), ("llama", llama)):
    for way in ({"do_sample": False}, {"num_beams": 3, "do_sample": False}):
        print(name, model.generate(ids[:1], max_new_tokens=6, pad_token_id=0, attention_mask=mask[:1], **way).tolist())
torch.manual_seed(3)
print(
    gpt.generate(
        ids, attention_mask=mask, max_new_tokens=5, do_sample=True, top_k=10, temperature=0.8, pad_token_id=0
    ).tolist()
)
