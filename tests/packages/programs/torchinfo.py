"""torchinfo: summaries of a convolution network, a transformer and an LSTM, with sizes and multiplications."""
# packages: torchinfo==1.8.0
import torch
from torch import nn
from torchinfo import summary

columns = ("input_size", "output_size", "num_params", "kernel_size", "mult_adds", "trainable")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.ModuleList([nn.Linear(8 * 64, 16), nn.Linear(16, 10)])

    def forward(self, x):
        x = self.features(x).flatten(1)
        for layer in self.head:
            x = layer(x)
        return x


print(summary(Net(), input_size=(2, 3, 16, 16), col_names=columns, verbose=0, row_settings=("depth", "var_names")))
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)
print(summary(encoder, input_data=torch.zeros(2, 5, 16), depth=3, verbose=0))
lstm = nn.LSTM(8, 16, num_layers=2, bidirectional=True)
result = summary(lstm, input_size=(7, 2, 8), dtypes=[torch.float32], verbose=0)
print(result.total_params, result.trainable_params, result.total_mult_adds, result.total_output_bytes)
