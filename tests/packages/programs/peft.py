"""PEFT: LoRA on a small GPT-2 and IA3 on a BERT: a training step, merging, saving and loading of adapters."""
# packages: peft==0.21.2, transformers==5.24.0, accelerate==1.15.0
# needs: huggingface_hub, tokenizers, safetensors, pyyaml, regex, tqdm, requests, filelock, packaging, psutil
import tempfile

import torch
from peft import IA3Config, LoraConfig, PeftModel, get_peft_model
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

ids = torch.tensor([[5, 8, 13, 21, 34, 1], [3, 1, 4, 1, 5, 9]])
torch.manual_seed(0)
base = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32))
state = {name: x.clone() for name, x in base.state_dict().items()}
model = get_peft_model(
    base,
    LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], lora_dropout=0.0, fan_in_fan_out=True, task_type="CAUSAL_LM"),
)
model.print_trainable_parameters()
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=0.02)
for step in range(6):
    loss = model.eval()(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
with torch.no_grad(), model.disable_adapter():
    print("without", f"{model(input_ids=ids, labels=ids).loss.item():.6f}")
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    fresh = GPT2LMHeadModel(base.config)
    fresh.load_state_dict(state)
    loaded = PeftModel.from_pretrained(fresh, folder).eval()
    with torch.no_grad():
        print("loaded", f"{loaded(input_ids=ids, labels=ids).loss.item():.6f}")
merged = model.merge_and_unload()
with torch.no_grad():
    print("merged", type(merged).__name__, f"{merged(input_ids=ids, labels=ids).loss.item():.6f}")
torch.manual_seed(1)
bert = BertForSequenceClassification(
    BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=3
    )
)
tuned = get_peft_model(
    bert,
    IA3Config(task_type="SEQ_CLS", target_modules=["key", "value", "output.dense"], feedforward_modules=["output.dense"]),
).eval()
tuned(input_ids=ids, labels=torch.tensor([0, 2])).loss.backward()
print(
    [(n.rsplit("layer.", 1)[-1], f"{p.grad.norm().item():.6f}") for n, p in tuned.named_parameters() if p.grad is not None][
        :6
    ]
)
