"""Lightning: a LightningModule trained with validation, early stopping, checkpoints, a schedule, prediction."""
# packages: lightning==2.6.6, pytorch-lightning==2.6.6, lightning-utilities==0.15.3, torchmetrics==1.9.0
# needs: fsspec, pyyaml, tqdm, packaging, typing_extensions
import logging
import tempfile
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
logging.getLogger("lightning.fabric").setLevel(logging.ERROR)


class Net(L.LightningModule):
    def __init__(self, width=16, lr=0.02):
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))
        self.seen = []

    def forward(self, x):
        return self.layers(x)

    def training_step(self, batch, index):
        loss = nn.functional.mse_loss(self(batch[0]), batch[1])
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def predict_step(self, batch, index):
        return self(batch[0])

    def validation_step(self, batch, index):
        self.log("val_loss", nn.functional.mse_loss(self(batch[0]), batch[1]))

    def on_validation_epoch_end(self):
        self.seen.append(self.trainer.callback_metrics["val_loss"].item())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)}


L.seed_everything(0)
x = torch.randn(80, 4)
y = x.prod(1, keepdim=True) + x.sum(1, keepdim=True)
train, val = DataLoader(TensorDataset(x[:64], y[:64]), 16, shuffle=True), DataLoader(TensorDataset(x[64:], y[64:]), 16)
with tempfile.TemporaryDirectory() as folder:
    best = ModelCheckpoint(folder, monitor="val_loss", mode="min")
    trainer = L.Trainer(
        max_epochs=4,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        gradient_clip_val=1.0,
        callbacks=[EarlyStopping("val_loss", patience=3), best],
        default_root_dir=folder,
    )
    model = Net()
    trainer.fit(model, train, val)
    print([f"{v:.6f}" for v in model.seen], f"{trainer.callback_metrics['train_loss'].item():.6f}", trainer.global_step)
    loaded = Net.load_from_checkpoint(best.best_model_path)
    print(
        loaded.hparams.width,
        f"{best.best_model_score.item():.6f}",
        f"{trainer.validate(loaded, val, verbose=False)[0]['val_loss']:.6f}",
    )
    print(f"{torch.cat(trainer.predict(loaded, val)).sum().item():.6f}")
fabric = L.Fabric(accelerator="cpu", devices=1)
net, optimizer = fabric.setup(nn.Linear(4, 1), torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1))
fabric.backward(net(x).pow(2).mean())
print(f"{net.weight.grad.norm().item():.6f}")
