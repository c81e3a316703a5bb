"""transformers: Trainer on a small BERT classifier, with evaluation, a schedule and gradient accumulation."""
# packages: transformers==5.24.0, accelerate==1.15.0
# needs: huggingface_hub, tokenizers, safetensors, pyyaml, regex, tqdm, requests, filelock, packaging, psutil
import tempfile

import numpy as np
import torch
import transformers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

transformers.utils.logging.set_verbosity_error()
set_seed(0)
generator = torch.Generator().manual_seed(1)
ids = torch.randint(1, 50, (64, 8), generator=generator)
labels = (ids.sum(1) > 200).long()
rows = [{"input_ids": i, "attention_mask": torch.ones(8, dtype=torch.long), "labels": y} for i, y in zip(ids, labels)]
config = BertConfig(
    vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=2
)


class Losses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(
            {
                k: f"{v:.5f}"
                for k, v in logs.items()
                if k in ("loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy")
            }
        )


def accuracy(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=2,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        learning_rate=2e-3,
        weight_decay=0.01,
        warmup_steps=2,
        lr_scheduler_type="cosine",
        logging_steps=2,
        eval_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=0,
    )
    trainer = Trainer(
        BertForSequenceClassification(config),
        arguments,
        train_dataset=rows[:48],
        eval_dataset=rows[48:],
        compute_metrics=accuracy,
        callbacks=[Losses()],
    )
    trainer.remove_callback(transformers.PrinterCallback)  # it prints times
    result = trainer.train()
    print(result.global_step, f"{result.training_loss:.5f}")
    trainer.save_model(folder)
    again = BertForSequenceClassification.from_pretrained(folder)
    print(torch.equal(again.bert.embeddings.word_embeddings.weight, trainer.model.bert.embeddings.word_embeddings.weight))
    print([f"{v:.5f}" for v in trainer.predict(rows[:2]).predictions.flatten()])
