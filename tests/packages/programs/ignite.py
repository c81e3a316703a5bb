"""Ignite: trainer and evaluator engines with metrics, handlers, early stopping, checkpoints."""
# packages: pytorch-ignite==0.5.5
# needs: packaging
import tempfile

import torch
from ignite.contrib.handlers import CosineAnnealingScheduler
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping, global_step_from_engine
from ignite.metrics import Accuracy, ConfusionMatrix, Fbeta, Loss, Precision, Recall, RunningAverage
from ignite.utils import manual_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

manual_seed(0)
x = torch.randn(96, 5)
y = (x[:, :3].argmax(1)).long()
train, val = DataLoader(TensorDataset(x[:64], y[:64]), 16, shuffle=True), DataLoader(TensorDataset(x[64:], y[64:]), 16)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion)
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
precision, recall = Precision(average=False), Recall(average=False)
metrics = {
    "accuracy": Accuracy(),
    "nll": Loss(criterion),
    "precision": precision,
    "recall": recall,
    "f1": Fbeta(1, True, precision, recall),
    "confusion": ConfusionMatrix(3),
}
evaluator = create_supervised_evaluator(model, metrics=metrics)
trainer.add_event_handler(Events.ITERATION_STARTED, CosineAnnealingScheduler(optimizer, "lr", 0.03, 0.001, 20))


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    evaluator.run(val)
    found = evaluator.state.metrics
    print(
        engine.state.epoch,
        f"{engine.state.metrics['loss']:.6f}",
        f"{found['accuracy']:.6f}",
        f"{found['nll']:.6f}",
        f"{found['f1']:.6f}",
    )
    print(found["confusion"].tolist(), [f"{v:.6f}" for v in found["precision"].tolist()])


with tempfile.TemporaryDirectory() as folder:
    saver = Checkpoint(
        {"model": model, "optimizer": optimizer},
        DiskSaver(folder, require_empty=False),
        n_saved=1,
        score_function=lambda e: e.state.metrics["accuracy"],
        global_step_transform=global_step_from_engine(trainer),
    )
    evaluator.add_event_handler(Events.COMPLETED, saver)
    evaluator.add_event_handler(Events.COMPLETED, EarlyStopping(5, lambda e: -e.state.metrics["nll"], trainer))
    state = trainer.run(train, max_epochs=4)
    print(
        state.iteration,
        saver.last_checkpoint.name if hasattr(saver.last_checkpoint, "name") else saver.last_checkpoint.rsplit("/")[-1],
    )
    Checkpoint.load_objects(
        {"model": model},
        torch.load(f"{folder}/{saver.last_checkpoint}")
        if isinstance(saver.last_checkpoint, str)
        else torch.load(saver.last_checkpoint),
    )
print(f"{model(x).sum().item():.6f}")
