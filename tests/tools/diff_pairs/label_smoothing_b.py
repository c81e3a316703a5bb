import torch

torch.manual_seed(10)
model = torch.nn.Linear(5, 3)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
x, labels = torch.randn(12, 5), torch.randint(0, 3, (12,))
loss = criterion(model(x), labels)  # parts
loss.backward()
