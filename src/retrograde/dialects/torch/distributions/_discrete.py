"""Distributions over whole numbers, vectors of them, and their continuous relatives."""

from __future__ import annotations

from typing import Any

from ....learn.distributions import continuous
from ....learn.distributions import discrete as families
from ... import torch
from . import constraints as c
from ._continuous import Gamma, _by_icdf
from ._rows import F, checked, entered, extended, row
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform
from .utils import alike, broadcast_all, clamp_probs, lazy_property, logits_to_probs, one_of, probs_to_logits

TRIALS = {"probs": c.unit_interval, "logits": c.real}
CLASSES = {"probs": c.simplex, "logits": c.real_vector}

cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits


# ------------------------------------------------------------------------------------------ trials


class BinaryParameter(Distribution):
    """A distribution over trials that succeed with probability `probs`, or log odds `logits`."""

    def _take(self, probs: Any, logits: Any, *_: Any) -> tuple[Any, ...]:
        """Keep the parameter that was given; returns the shape of the batch."""
        given = one_of(type(self).__name__, probs=probs, logits=logits)
        setattr(self, given, broadcast_all(probs if given == "probs" else logits)[0])
        return (self._param.size(),)

    @property
    def _param(self) -> Any:
        given = self.__dict__.get("probs")
        return self.logits if given is None else given

    @lazy_property
    def logits(self) -> Any:
        """The log odds of a success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability of a success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def _enumerated(self, count: int, expand: bool) -> Any:
        """The numbers below `count` along a new first dimension."""
        values = torch.arange(count, **alike(self._param)).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values


BINARY = (BinaryParameter,)
take = BinaryParameter._take


def _take_counted(self: Any, total_count: Any, *given: Any) -> Any:
    """Keep the parameter that was given, and how many trials there are, as numbers of its dtype."""
    self._take(*given)
    name = "probs" if "probs" in self.__dict__ else "logits"
    count, parameter = broadcast_all(total_count, self.__dict__[name])
    setattr(self, name, parameter)
    self.total_count = count.type_as(parameter)
    return (parameter.size(),)


def _bernoulli_mode(self: Any) -> Any:
    mode = (self.probs >= 0.5).to(self.probs)
    return torch.where(self.probs == 0.5, torch.nan, mode)


def _detached(draw: Any) -> Any:
    """Samples without history."""
    return torch.no_grad()(extended(draw))


@checked
def _bernoulli_log_prob(self: Any, value: Any) -> Any:
    logits, value = broadcast_all(self.logits, value)
    return -cross_entropy(logits, value, reduction="none")


Bernoulli = row(
    families.Bernoulli, "probs=None, logits=None", TRIALS, c.boolean, bases=(BinaryParameter, ExponentialFamily),
    take=take, has_enumerate_support=True, _mean_carrier_measure=0, mode=property(_bernoulli_mode),
    sample=_detached(lambda self, shape: torch.bernoulli(self.probs.expand(shape))),
    log_prob=_bernoulli_log_prob, enumerate_support=lambda self, expand=True: self._enumerated(2, expand),
    entropy=lambda self: cross_entropy(self.logits, self.probs, reduction="none"),
)  # fmt: skip


def _continuous_bernoulli_take(self: Any, probs: Any, logits: Any, lims: Any, validate_args: Any) -> Any:
    shapes = self._take(probs, logits)
    if logits is None:
        if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
            raise ValueError("ContinuousBernoulli: the parameter probs has values outside [0, 1]")
        self.probs = clamp_probs(self.probs)
    self._lims = lims
    return shapes


def _near(self: Any, x: Any, half: float) -> Any:
    """Where x is between the limits, moved from around 1/2 to around `half`."""
    return (x > self._lims[0] - 0.5 + half) & (x <= self._lims[1] - 0.5 + half)


def _continuous_bernoulli_icdf(self: Any, value: Any) -> Any:
    # In PyTorch's order of operations, so that samples keep their bits.
    cut = torch.where(self._near, self._lims[0], self.probs)
    above = torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)
    return torch.where(self._near, value, above / (torch.log(cut) - torch.log1p(-cut)))


ContinuousBernoulli = row(
    continuous.ContinuousBernoulli, "probs=None, logits=None, lims: tuple[float, float] = (0.499, 0.501)",
    TRIALS, c.unit_interval, bases=(BinaryParameter, ExponentialFamily),
    take=_continuous_bernoulli_take, has_rsample=True, _mean_carrier_measure=0,
    probs=lazy_property(lambda self: clamp_probs(logits_to_probs(self.logits, is_binary=True))),
    _odds=property(lambda self: self.logits), _near=property(lambda self: _near(self, self.probs, 0.5)),
    _natural_params=property(lambda self: (self.logits,)),
    _log_normalizer=lambda self, x: continuous.ContinuousBernoulli.log_mass(F, x, _near(self, x, 0.0)),
    icdf=_continuous_bernoulli_icdf, rsample=_by_icdf("probs"), copied="_lims",
)  # fmt: skip


def _geometric_possible(self: Any) -> None:
    if "probs" in self.__dict__ and not (self.probs > 0).all():
        raise ValueError(f"Geometric: probs must be positive, got\n{self.probs}")


def _geometric(self: Any, shape: Any) -> Any:
    u = torch.empty(shape, **alike(self.probs)).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
    return (u.log() / (-self.probs).log1p()).floor()


@checked
def _geometric_log_prob(self: Any, value: Any) -> Any:
    value, probs = broadcast_all(value, self.probs)
    failing = torch.where((probs == 1) & (value == 0), 0, probs)
    return value * (-failing).log1p() + probs.log()


Geometric = row(
    families.Geometric, "probs=None, logits=None", TRIALS, c.nonnegative_integer, bases=BINARY, take=take,
    then=_geometric_possible, formulas="mean mode variance", sample=_detached(_geometric), log_prob=_geometric_log_prob,
    entropy=lambda self: cross_entropy(self.logits, self.probs, reduction="none") / self.probs,
)  # fmt: skip


def _same_count(self: Any, what: str) -> int:
    total = int(self.total_count.max())
    if not self.total_count.min() == total:
        raise NotImplementedError(f"Binomial.{what}: only offered where every total_count is the same")
    return total


@checked
def _binomial_log_prob(self: Any, value: Any) -> Any:
    return families.Binomial.log_prob_of_logits(F, value, self.total_count, self.logits)


def _binomial_entropy(self: Any) -> Any:
    _same_count(self, "entropy")
    log_prob = self.log_prob(self.enumerate_support(False))
    return -(torch.exp(log_prob) * log_prob).sum(0)


def _binomial_values(self: Any, expand: bool = True) -> Any:
    return self._enumerated(1 + _same_count(self, "enumerate_support"), expand)


Binomial = row(
    families.Binomial, "total_count=1, probs=None, logits=None", {"total_count": c.nonnegative_integer, **TRIALS},
    c.dependent_property(lambda self: c.integer_interval(0, self.total_count), is_discrete=True, event_dim=0),
    bases=BINARY, take=_take_counted, formulas="mean mode variance", has_enumerate_support=True,
    sample=_detached(lambda self, shape: torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))),
    log_prob=_binomial_log_prob, entropy=_binomial_entropy, enumerate_support=_binomial_values,
)  # fmt: skip


def _negative_binomial(self: Any, sample_shape: Any = ()) -> Any:
    with torch.no_grad():
        return torch.poisson(self._gamma.sample(sample_shape=sample_shape))


NegativeBinomial = row(
    families.NegativeBinomial, "total_count, probs=None, logits=None", {
        "total_count": c.greater_than_eq(0), "probs": c.half_open_interval(0.0, 1.0), "logits": c.real,
    }, c.nonnegative_integer, bases=BINARY, take=_take_counted, sample=_negative_binomial,
    # Not checked, since the rate is 0 where the probability is 1.
    _gamma=lazy_property(lambda self: Gamma(
        concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)),
)  # fmt: skip


@checked
def _poisson_log_prob(self: Any, value: Any) -> Any:
    rate, value = broadcast_all(self.rate, value)
    return families.Poisson.log_prob(F, value, rate)


Poisson = row(
    families.Poisson, "rate", {"rate": c.nonnegative}, c.nonnegative_integer, bases=(ExponentialFamily,),
    sample=_detached(lambda self, shape: torch.poisson(self.rate.expand(shape))),
    log_prob=_poisson_log_prob,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ classes


class Categorical(Distribution):
    """Indices drawn with the probabilities `probs`, or log probabilities `logits`, not necessarily normalised."""

    arg_constraints = CLASSES
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = one_of("Categorical", probs=probs, logits=logits)
        if (probs if logits is None else logits).dim() < 1:
            raise ValueError(f"Categorical: {given} must have at least 1 dimension, got a single number")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @property
    def _param(self) -> Any:
        given = self.__dict__.get("probs")
        return self.logits if given is None else given

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(Categorical, batch_shape, _instance, ("probs", "logits"), (self._num_events,))
        new._num_events = self._num_events
        return new

    @c.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The indices."""
        return c.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """Normalised log probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """Probabilities."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), torch.nan, **alike(self.probs))

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        return torch.full(self._extended_shape(), torch.nan, **alike(self.probs))

    def sample(self, sample_shape: Any = ()) -> Any:
        sample_shape = torch.Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        drawn = torch.multinomial(rows.detach(), sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    @checked
    def log_prob(self, value: Any) -> Any:
        index, log_pmf = value.long().unsqueeze(-1), self.logits
        if index.shape[:-1] != log_pmf.shape[:-1]:
            index, log_pmf = torch.broadcast_tensors(index, log_pmf)
        return log_pmf.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return families.Categorical.entropy(F, self.probs, logits)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values


entered(families.Categorical, Categorical)


class OfCategorical(Distribution):
    """A distribution over vectors with an element for each index of a categorical distribution."""

    _categorical: Any

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def logits(self) -> Any:
        """Normalised log probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape


def _of_categorical(self: Any, probs: Any, logits: Any, _: Any) -> Any:
    self._categorical = Categorical(probs, logits)
    return self._categorical.batch_shape, self._categorical.param_shape[-1:]


ON_CATEGORICAL = {"_categorical": lambda self: self._categorical}


def _one_hot_mode(self: Any) -> Any:
    return torch.nn.functional.one_hot(self.probs.argmax(dim=-1), num_classes=self.probs.shape[-1]).to(self.probs)


def _one_hot(self: Any, sample_shape: Any = ()) -> Any:
    drawn = self._categorical.sample(torch.Size(sample_shape))
    return torch.nn.functional.one_hot(drawn, self._categorical._num_events).to(self.probs)


def _one_hot_values(self: Any, expand: bool = True) -> Any:
    n = self.event_shape[0]
    values = torch.eye(n, **alike(self._param)).view((n,) + (1,) * len(self.batch_shape) + (n,))
    return values.expand((n,) + tuple(self.batch_shape) + (n,)) if expand else values


OneHotCategorical = row(
    families.OneHotCategorical, "probs=None, logits=None", CLASSES, c.one_hot, bases=(OfCategorical,), take=_of_categorical,
    parts=ON_CATEGORICAL, has_enumerate_support=True, mean=property(lambda self: self.probs), mode=property(_one_hot_mode),
    variance=property(lambda self: self.probs * (1 - self.probs)), sample=_one_hot,
    log_prob=checked(lambda self, value: self._categorical.log_prob(value.max(-1)[1])),
    entropy=lambda self: self._categorical.entropy(), enumerate_support=_one_hot_values,
)  # fmt: skip


class OneHotCategoricalStraightThrough(OneHotCategorical):  # type: ignore[misc,valid-type]
    """The same, with gradients passed to the probabilities as if the sample were they (Bengio et al. 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


def _multinomial_take(self: Any, total_count: Any, probs: Any, logits: Any, _: Any) -> Any:
    one_of("Multinomial", probs=probs, logits=logits)
    if not isinstance(total_count, int):
        raise NotImplementedError("Multinomial: total_count must be an int, the same for the whole batch")
    self.total_count = total_count
    return _of_categorical(self, probs, logits, _)


def _multinomial(self: Any, sample_shape: Any = ()) -> Any:
    sample_shape = torch.Size(sample_shape)
    drawn = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
    order = list(range(drawn.dim()))
    order.append(order.pop(0))
    drawn = drawn.permute(*order)
    counts = drawn.new_zeros(self._extended_shape(sample_shape))
    counts.scatter_add_(-1, drawn, torch.ones_like(drawn))
    return counts.type_as(self.probs)


@checked
def _multinomial_log_prob(self: Any, value: Any) -> Any:
    logits, value = broadcast_all(self.logits, value)
    never = (value == 0) & (logits == -torch.inf)
    return families.Multinomial.log_ways(F, value) + (torch.where(never, 0, logits) * value).sum(-1)


def _multinomial_entropy(self: Any) -> Any:
    counts = self._binomial.enumerate_support(expand=False)[1:]
    once, log_probs = self._categorical.entropy(), self._binomial.log_prob(counts)
    return families.Multinomial.entropy(F, self.total_count, once, counts, log_probs)


Multinomial = row(
    families.Multinomial, "total_count: int = 1, probs=None, logits=None", CLASSES,
    c.dependent_property(lambda self: c.multinomial(self.total_count), is_discrete=True, event_dim=1),
    bases=(OfCategorical,), take=_multinomial_take, parts=ON_CATEGORICAL, copied="total_count", formulas="mean variance",
    sample=_multinomial, log_prob=_multinomial_log_prob, entropy=_multinomial_entropy,
    _binomial=lazy_property(lambda self: Binomial(total_count=self.total_count, probs=self.probs)),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ relaxations


def _relaxed(take: Any) -> Any:
    """What keeps the temperature besides the other parameters."""

    def take_relaxed(self: Any, temperature: Any, *given: Any) -> Any:
        self.temperature = temperature
        return take(self, *given)

    return take_relaxed


def _logit_relaxed(self: Any, sample_shape: Any = ()) -> Any:
    shape = self._extended_shape(sample_shape)
    probs = clamp_probs(self.probs.expand(shape))
    u = clamp_probs(torch.rand(shape, **alike(probs)))
    return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature


@checked
def _logit_relaxed_log_prob(self: Any, value: Any) -> Any:
    logits, value = broadcast_all(self.logits, value)
    d = logits - value.mul(self.temperature)
    return self.temperature.log() + d - 2 * d.exp().log1p()


LogitRelaxedBernoulli = row(
    families.LogitRelaxedBernoulli, "temperature, probs=None, logits=None", TRIALS, c.real, bases=BINARY,
    take=_relaxed(take), copied="temperature", rsample=_logit_relaxed, log_prob=_logit_relaxed_log_prob,
)  # fmt: skip
RelaxedBernoulli = row(
    families.RelaxedBernoulli, "temperature, probs=None, logits=None", TRIALS, c.unit_interval,
    bases=(TransformedDistribution,), of_base="base_dist", has_rsample=True,
    build=lambda self, temperature, probs, logits, _: (
        LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform()),
)  # fmt: skip


def _exp_relaxed(self: Any, sample_shape: Any = ()) -> Any:
    u = clamp_probs(torch.rand(self._extended_shape(sample_shape), **alike(self.logits)))
    scores = (self.logits - (-(u.log())).log()) / self.temperature
    return scores - scores.logsumexp(dim=-1, keepdim=True)


@checked
def _exp_relaxed_log_prob(self: Any, value: Any) -> Any:
    k = self._categorical._num_events
    logits, value = broadcast_all(self.logits, value)
    log_scale = torch.full_like(self.temperature, float(k)).lgamma() - self.temperature.log().mul(-(k - 1))
    score = logits - value.mul(self.temperature)
    return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


ExpRelaxedCategorical = row(
    # The values are logarithms of points of the simplex, which is not checked.
    families.ExpRelaxedCategorical, "temperature, probs=None, logits=None", CLASSES, c.real_vector, bases=(OfCategorical,),
    take=_relaxed(_of_categorical), parts=ON_CATEGORICAL, copied="temperature", has_rsample=True, rsample=_exp_relaxed,
    log_prob=_exp_relaxed_log_prob,
)  # fmt: skip
RelaxedOneHotCategorical = row(
    families.RelaxedOneHotCategorical, "temperature, probs=None, logits=None", CLASSES, c.simplex,
    bases=(TransformedDistribution,), of_base="base_dist", has_rsample=True,
    build=lambda self, temperature, probs, logits, valid: (
        ExpRelaxedCategorical(temperature, probs, logits, validate_args=valid), ExpTransform()),
)  # fmt: skip
