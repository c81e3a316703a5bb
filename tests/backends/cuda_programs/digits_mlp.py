"""A multilayer perceptron on synthetic 28x28 digits: training, validation, scheduler, early checkpoint."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

templates = torch.randn(10, 28 * 28)
labels = torch.randint(0, 10, (480,))
images = (templates[labels] + 1.5 * torch.randn(480, 28 * 28)).view(-1, 1, 28, 28)
train = DataLoader(TensorDataset(images[:384], labels[:384]), batch_size=64, shuffle=True, pin_memory=True)
test = DataLoader(TensorDataset(images[384:], labels[384:]), batch_size=96)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 64)
        self.norm = nn.BatchNorm1d(64)
        self.drop = nn.Dropout(0.25)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = torch.flatten(x, 1)
        return F.log_softmax(self.fc2(self.drop(F.relu(self.norm(self.fc1(x))))), dim=1)


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
best, kept = 0.0, None
for epoch in range(1, 4):
    model.train()
    total = 0.0
    for data, target in train:
        data, target = data.to(device, non_blocking=True), target.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(data)
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in test:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    scheduler.step()
    accuracy = correct / len(test.dataset)
    rate = scheduler.get_last_lr()[0]
    print(f"epoch {epoch} train {total / 384:.4f} test {test_loss / 96:.4f} accuracy {accuracy:.3f} lr {rate:.2e}")
    if accuracy >= best:
        best, kept = accuracy, {k: v.cpu().clone() for k, v in model.state_dict().items()}
fresh = Net()
print(fresh.load_state_dict(kept), sum(p.numel() for p in fresh.parameters()))
confusion = torch.zeros(10, 10, dtype=torch.int64)
for t, p in zip(target, pred.view(-1)):
    confusion[t.long(), p.long()] += 1
print("diagonal", confusion.diag().tolist())
