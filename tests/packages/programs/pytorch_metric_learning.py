"""pytorch-metric-learning: ten losses with miners and distances, an embedding trained, accuracy of neighbours."""
# packages: pytorch-metric-learning==2.9.0
# needs: scikit-learn, tqdm
import torch
from pytorch_metric_learning import distances, losses, miners, reducers
from torch import nn

torch.manual_seed(0)
labels = torch.arange(30) % 5
centers = torch.randn(5, 8)
data = centers[labels] + 0.7 * torch.randn(30, 8)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
kinds = [
    losses.TripletMarginLoss(margin=0.2, distance=distances.CosineSimilarity(), reducer=reducers.ThresholdReducer(low=0)),
    losses.ContrastiveLoss(), losses.MultiSimilarityLoss(), losses.NTXentLoss(0.3), losses.SupConLoss(), losses.CircleLoss(),
    losses.LiftedStructureLoss(), losses.NPairsLoss(), losses.ArcFaceLoss(5, 6), losses.ProxyAnchorLoss(5, 6),
    losses.MarginLoss(), losses.GeneralizedLiftedStructureLoss(),
]  # fmt: skip
for loss in kinds:
    value = loss(net(data), labels)
    gradient = torch.autograd.grad(value, net[0].weight)[0]
    print(type(loss).__name__, f"{value.item():.6f}", f"{gradient.norm().item():.6f}")
miner, loss = miners.MultiSimilarityMiner(), losses.TripletMarginLoss()
hard = miners.TripletMarginMiner(margin=0.2, type_of_triplets="semihard")
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    embeddings = net(data)
    value = loss(embeddings, labels, miner(embeddings, labels)) + loss(embeddings, labels, hard(embeddings, labels))
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
    print(step, f"{value.item():.6f}", hard.num_triplets)
