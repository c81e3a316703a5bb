"""TorchMetrics: classification, regression, retrieval and text metrics over batches, a collection, a gradient."""
# packages: torchmetrics==1.9.0, lightning-utilities==0.15.3
import torch
import torchmetrics
from torchmetrics.functional import pairwise_cosine_similarity, structural_similarity_index_measure

torch.manual_seed(0)
metrics = torchmetrics.MetricCollection(
    {
        "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=4),
        "f1": torchmetrics.F1Score(task="multiclass", num_classes=4, average="macro"),
        "auroc": torchmetrics.AUROC(task="multiclass", num_classes=4),
        "precision": torchmetrics.AveragePrecision(task="multiclass", num_classes=4),
        "calibration": torchmetrics.CalibrationError(task="multiclass", num_classes=4, n_bins=5),
        "kappa": torchmetrics.CohenKappa(task="multiclass", num_classes=4),
    }
)
for _ in range(4):
    scores, labels = torch.randn(32, 4).softmax(-1), torch.randint(0, 4, (32,))
    now = metrics(scores, labels)
    print("batch", f"{now['accuracy'].item():.6f}")
for name, value in sorted(metrics.compute().items()):
    print(name, f"{value.item():.6f}")
confusion = torchmetrics.ConfusionMatrix(task="multiclass", num_classes=4)
print("confusion", confusion(scores, labels).tolist())

a, b = torch.randn(40), torch.randn(40)
for metric in (
    torchmetrics.MeanSquaredError(squared=False), torchmetrics.R2Score(), torchmetrics.PearsonCorrCoef(),
    torchmetrics.SpearmanCorrCoef(), torchmetrics.ExplainedVariance(), torchmetrics.MeanAbsolutePercentageError(),
):  # fmt: skip
    metric.update(a, b)
    print(type(metric).__name__, f"{metric.compute().item():.6f}")
print("retrieval", f"{torchmetrics.RetrievalMAP()(a, b > 0, indexes=torch.arange(40) // 10).item():.6f}")
print("words", f"{torchmetrics.text.WordErrorRate()(['this is one', 'that'], ['this was one', 'that two']).item():.6f}")
image = torch.rand(1, 3, 24, 24, requires_grad=True)
other = (image.detach() + 0.1 * torch.rand(1, 3, 24, 24)).clamp(0, 1)
similar = structural_similarity_index_measure(image, other, data_range=1.0)
similar.backward()
print("ssim", f"{similar.item():.6f}", f"{image.grad.norm().item():.6f}")
print("noise ratio", f"{torchmetrics.image.PeakSignalNoiseRatio(data_range=1.0)(image.detach(), other).item():.5f}")
print("cosines", [[f"{v:.5f}" for v in row] for row in pairwise_cosine_similarity(torch.randn(3, 5)).tolist()])
mean = torchmetrics.MeanMetric()
tracker = torchmetrics.wrappers.BootStrapper(torchmetrics.MeanSquaredError(), num_bootstraps=4)
tracker.update(a, b)
mean.update(torch.tensor([1.0, 2.0, 4.0]), weight=torch.tensor([1.0, 1.0, 2.0]))
print("mean", f"{mean.compute().item():.6f}", f"{tracker.compute()['mean'].item():.6f}")
