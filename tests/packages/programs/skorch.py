"""skorch: a classifier and a regressor in scikit-learn's pipelines, grid search, callbacks, pickling."""
# packages: skorch==1.4.0
# needs: scikit-learn, tabulate, tqdm
import pickle

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EarlyStopping, EpochScoring, GradientNormClipping, LRScheduler
from torch import nn

generator = np.random.default_rng(0)
x = generator.standard_normal((120, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.int64)


class Net(nn.Module):
    def __init__(self, width=8, out=2):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, X):
        return self.layers(X)


torch.manual_seed(0)
net = NeuralNetClassifier(
    Net,
    criterion=nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    lr=0.02,
    max_epochs=6,
    batch_size=20,
    verbose=0,
    callbacks=[
        EarlyStopping(patience=4),
        LRScheduler("StepLR", step_size=3),
        EpochScoring("accuracy", name="acc", lower_is_better=False),
        GradientNormClipping(1.0),
    ],
)
net.fit(x, y)
for row in net.history[:, ("train_loss", "valid_loss", "valid_acc", "acc")]:
    print([f"{v:.6f}" for v in row])
print([f"{v:.6f}" for v in net.predict_proba(x[:2]).flatten()], net.predict(x[:5]).tolist(), f"{net.score(x, y):.6f}")
again = pickle.loads(pickle.dumps(net))
print(np.array_equal(again.predict_proba(x), net.predict_proba(x)))
torch.manual_seed(0)
search = GridSearchCV(
    Pipeline(
        [
            ("scale", StandardScaler()),
            ("net", NeuralNetClassifier(Net, criterion=nn.CrossEntropyLoss, max_epochs=3, verbose=0, train_split=None)),
        ]
    ),
    {"net__lr": [0.05, 0.2], "net__module__width": [4, 8]},
    cv=2,
    scoring="accuracy",
)
search.fit(x, y)
print([f"{v:.6f}" for v in search.cv_results_["mean_test_score"]], search.best_params_)
torch.manual_seed(0)
regressor = NeuralNetRegressor(Net, module__out=1, max_epochs=5, lr=0.05, verbose=0, optimizer__momentum=0.9)
regressor.fit(x, x[:, :1] * 2)
print([f"{row['train_loss']:.6f}" for row in regressor.history])
print(f"{np.mean(cross_val_predict(net.set_params(max_epochs=2), x, y, cv=2)):.6f}")
