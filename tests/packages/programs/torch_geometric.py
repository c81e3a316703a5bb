"""PyTorch Geometric: GCN, GAT, SAGE and GIN trained on a graph, batches of graphs, pooling, a layer of one's own."""
# packages: torch-geometric==2.8.1
# needs: aiohttp, fsspec, jinja2, psutil, pyparsing, requests, tqdm, xxhash
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, MessagePassing, SAGEConv, global_add_pool, global_mean_pool
from torch_geometric.transforms import Compose, NormalizeFeatures, ToUndirected
from torch_geometric.utils import add_self_loops, degree, softmax, to_dense_adj

torch.manual_seed(0)
edges = torch.randint(0, 20, (2, 50))
data = Compose([ToUndirected(), NormalizeFeatures()])(
    Data(x=torch.rand(20, 6), edge_index=edges, y=torch.randint(0, 3, (20,)))
)
print(
    data, data.is_undirected(), f"{degree(data.edge_index[0]).mean().item():.4f}", f"{to_dense_adj(edges).sum().item():.1f}"
)


class Own(MessagePassing):
    def __init__(self):
        super().__init__(aggr="max")
        self.lin = torch.nn.Linear(12, 3)

    def forward(self, x, edge_index):
        return self.propagate(add_self_loops(edge_index, num_nodes=x.size(0))[0], x=x)

    def message(self, x_i, x_j):
        return self.lin(torch.cat([x_i, x_j - x_i], dim=-1))


mlp = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
for name, layer in {
    "gcn": GCNConv(6, 3),
    "gat": GATConv(6, 3, heads=2, concat=False),
    "sage": SAGEConv(6, 3),
    "gin": GINConv(mlp),
    "own": Own(),
}.items():
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(layer(data.x, data.edge_index), data.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, f"{loss.item():.6f}")
graphs = [
    Data(x=torch.randn(n, 6), edge_index=torch.randint(0, n, (2, 3 * n)), y=torch.tensor([n % 2]))
    for n in (4, 5, 6, 7, 8, 9)
]
conv = GCNConv(6, 8)
for batch in DataLoader(graphs, batch_size=3):
    hidden = conv(batch.x, batch.edge_index).relu()
    pooled = torch.cat([global_mean_pool(hidden, batch.batch), global_add_pool(hidden, batch.batch)], 1)
    print(batch.num_graphs, batch.ptr.tolist(), batch.y.tolist(), f"{pooled.norm().item():.6f}")
print(
    Batch.from_data_list(graphs).to_data_list()[2],
    f"{softmax(torch.randn(5), torch.tensor([0, 0, 1, 1, 1])).sum().item():.6f}",
)
