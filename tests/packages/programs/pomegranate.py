"""pomegranate: distributions, a Gaussian mixture, a hidden Markov model, a Markov chain and a Bayes classifier fitted."""
# packages: pomegranate==1.1.2, apricot-select==0.6.1
# needs: numpy, scipy, scikit-learn, networkx, numba, tqdm
import torch
from pomegranate.bayes_classifier import BayesClassifier
from pomegranate.distributions import Categorical, Exponential, Gamma, Normal, Poisson
from pomegranate.gmm import GeneralMixtureModel
from pomegranate.hmm import DenseHMM
from pomegranate.markov_chain import MarkovChain

torch.manual_seed(0)
X = torch.cat([torch.randn(60, 2), torch.randn(60, 2) * 0.5 + 3])
for kind, data in ((Normal, X), (Exponential, X.abs() + 0.1), (Gamma, X.abs() + 0.1), (Poisson, X.abs().round())):
    d = kind().fit(data)
    print(kind.__name__, f"{d.log_probability(data).sum().item():.4f}")
mixture = GeneralMixtureModel(
    [
        Normal(means=[0.0, 0.1], covs=[1.0, 1.0], covariance_type="diag"),
        Normal(means=[2.0, 2.0], covs=[1.0, 1.0], covariance_type="diag"),
    ],
    max_iter=6,
).fit(X)
print(
    f"{mixture.log_probability(X).sum().item():.4f}",
    mixture.predict(X).sum().item(),
    [round(v, 5) for v in mixture.priors.tolist()],
)
hmm = DenseHMM(
    [Categorical([[0.5, 0.3, 0.2]]), Categorical([[0.1, 0.2, 0.7]])],
    edges=[[0.8, 0.2], [0.3, 0.7]],
    starts=[0.6, 0.4],
    max_iter=4,
)
S = torch.randint(0, 3, (10, 12, 1))
hmm.fit(S)
print(
    f"{hmm.log_probability(S).sum().item():.4f}",
    hmm.predict(S[:1]).tolist(),
    [round(v, 4) for v in hmm.edges.exp().flatten().tolist()],
)
chain = MarkovChain(k=2).fit(S)
print(f"{chain.log_probability(S).sum().item():.4f}")
classifier = BayesClassifier([Normal(), Normal()]).fit(X, torch.arange(120) // 60)
print(f"{classifier.predict_proba(X)[:, 1].sum().item():.5f}")
