"""pytorch-tabnet: a TabNet classifier and a regressor fitted with early stopping, masks, predictions."""
# packages: pytorch-tabnet==4.1.0
# needs: numpy, scikit-learn, scipy, tqdm
import numpy as np
from pytorch_tabnet.tab_model import TabNetClassifier, TabNetRegressor

r = np.random.default_rng(0)
x = r.normal(size=(128, 6)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(int)
options = {
    "n_d": 4,
    "n_a": 4,
    "n_steps": 2,
    "seed": 0,
    "verbose": 0,
    "optimizer_params": {"lr": 0.02},
    "device_name": "cpu",
}
net = TabNetClassifier(**options)
net.fit(
    x[:96],
    y[:96],
    eval_set=[(x[96:], y[96:])],
    eval_metric=["logloss"],
    max_epochs=3,
    batch_size=32,
    virtual_batch_size=16,
)
print([f"{v:.6f}" for v in net.history["loss"]], [f"{v:.6f}" for v in net.history["val_0_logloss"]])
print([f"{v:.5f}" for v in net.predict_proba(x[:3])[:, 0]], [f"{v:.5f}" for v in net.feature_importances_])
net = TabNetRegressor(**options)
net.fit(x, x[:, :1] ** 2, max_epochs=2, batch_size=32, virtual_batch_size=16)
print([f"{v:.6f}" for v in net.history["loss"]])
