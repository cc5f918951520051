"""The policy network: one torso shared by actor and critic, as a policy class of sb3-contrib and as a frozen player."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from agents.base import Actions, AgentSpecError, Masks, Observations, Rows
from agents.config import NetworkConfig
from agents.sampling import DIVERGED, LARGEST, best, draw, legal_actions, probabilities
from agents.spread_features import SpreadFeatures
from tonk_env.actions import num_actions
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}
ILLEGAL = -1e9  # logit of an action outside the mask


class Torso(BaseFeaturesExtractor):
    """The layers that actor and critic share."""

    def __init__(
        self, observation_space: spaces.Box, widths: Sequence[int], activation: type[nn.Module], first: SpreadFeatures | None
    ) -> None:
        super().__init__(observation_space, widths[-1])
        self.layers = _torso(int(np.prod(observation_space.shape)), widths, activation, first)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return float32[B, last width] for float32[B, O]."""
        features: torch.Tensor = self.layers(observations)
        return features


@dataclass(frozen=True)
class Judgement:
    """What a policy says of decisions that were taken, float32[B] each; ``hidden`` float32[B, H]."""

    log_probs: torch.Tensor  # of the actions
    all_log_probs: torch.Tensor  # of all legal ones, float32[B, K]
    advised: torch.Tensor  # log-probabilities of the teacher's actions
    entropy: torch.Tensor  # in nats
    values: torch.Tensor  # of the critic that sees what the player sees
    oracle: torch.Tensor | None  # values of the critic that sees all hands
    belief: torch.Tensor | None  # logits of the others' cards


class TonkPolicy(MaskableActorCriticPolicy):
    """The library's masked policy with less work around the arithmetic, and heads that only training needs.

    Actor and critic share a torso, and since few of the many actions are legal at a time, probabilities are computed
    for the legal ones alone. ``forward`` and ``evaluate_actions`` give what the library's own give (a test compares
    them); in place of its checks of distributions they check for legal actions and finite numbers directly.

    ``hidden_size`` H is the length of what the player may not see (``SelfPlayVecEnv.hidden_hands``). With ``oracle_head``
    a second critic reads it beside the torso's features; with ``belief`` a head guesses it from them. Neither is in the
    ``frozen_copy``, so what plays and what is exported knows nothing of it.
    """

    def __init__(
        self, *args: Any, hidden_size: int = 0, oracle_head: Sequence[int] = (), belief: bool = False, **kwargs: Any
    ) -> None:
        self.hidden_size, self.oracle_head, self.belief = hidden_size, list(oracle_head), belief
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        """Build the heads of the library and those of this class."""
        super()._build_mlp_extractor()
        self.oracle_net: nn.Sequential | None = None
        self.belief_net: nn.Linear | None = None
        if self.oracle_head:
            self.oracle_net = _layers([self.features_dim + self.hidden_size, *self.oracle_head], self.activation_fn)
            self.oracle_net.append(nn.Linear(self.oracle_head[-1], 1))
        if self.belief:
            self.belief_net = nn.Linear(self.features_dim, self.hidden_size)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: NDArray[np.int8] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions int64[B], values float32[B, 1] and log-probabilities float32[B] for int8[B, O]."""
        features = self._features(obs)
        actions, log_probs = self._legal_log_probs(features, action_masks)
        chosen = (log_probs.argmax(dim=1) if deterministic else _draw(log_probs))[:, None]
        values = self.value_net(self.mlp_extractor.forward_critic(features))
        return actions.gather(1, chosen).squeeze(1), values, log_probs.gather(1, chosen).squeeze(1)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Return values float32[B, 1], log-probabilities float32[B] and entropies float32[B]."""
        features = self._features(obs)
        legal, log_probs = self._legal_log_probs(features, action_masks)
        values = self.value_net(self.mlp_extractor.forward_critic(features))
        return values, _of(actions, legal, log_probs), _entropy(log_probs)

    def decide(
        self, obs: torch.Tensor, legal: torch.Tensor, hidden: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions int64[B], drawn, and values and log-probabilities float32[B] for decisions of training.

        ``obs`` int8[B, O], ``legal`` int64[B, K] filled up with -1, ``hidden`` int8[B, H]. The values are those of the
        critic that sees most.
        """
        features = self._features(obs)
        log_probs = self._log_probs(features, legal)
        chosen = _draw(log_probs)[:, None]
        return legal.gather(1, chosen).squeeze(1), self._values(features, hidden), log_probs.gather(1, chosen).squeeze(1)

    def foresee(self, obs: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Return the values float32[B] of ``decide`` alone."""
        return self._values(self._features(obs), hidden)

    def judge(
        self, obs: torch.Tensor, legal: torch.Tensor, hidden: torch.Tensor, actions: torch.Tensor, advice: torch.Tensor
    ) -> Judgement:
        """Return what an update needs, with gradients; ``advice`` int64[B] is -1 where there is none."""
        features = self._features(obs)
        log_probs = self._log_probs(features, legal)
        return Judgement(
            _of(actions, legal, log_probs),
            log_probs,
            _of(advice, legal, log_probs),
            _entropy(log_probs),
            self.value_net(self.mlp_extractor.forward_critic(features)).squeeze(1),
            self._oracle(features, hidden) if self.oracle_net is not None else None,
            self.belief_net(features) if self.belief_net is not None else None,
        )

    def _values(self, features: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        if self.oracle_net is not None:
            return self._oracle(features, hidden)
        values: torch.Tensor = self.value_net(self.mlp_extractor.forward_critic(features)).squeeze(1)
        return values

    def _oracle(self, features: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        assert self.oracle_net is not None
        values: torch.Tensor = self.oracle_net(torch.cat((features, hidden.float()), dim=1)).squeeze(1)
        return values

    def _features(self, obs: torch.Tensor) -> torch.Tensor:
        features = self.extract_features(obs)
        assert isinstance(features, torch.Tensor), "actor and critic share their torso"
        return features

    def _legal_log_probs(
        self, features: torch.Tensor, masks: NDArray[np.int8] | torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the legal actions int64[B, K], filled up with -1, and their log-probabilities."""
        assert isinstance(self.action_net, nn.Linear)
        count = self.action_net.out_features
        if masks is None:
            legal = torch.arange(count, device=features.device).expand(len(features), count)
        else:
            rows = np.asarray(torch.as_tensor(masks).cpu()).reshape(len(features), count)
            legal = torch.from_numpy(legal_actions(rows)).to(features.device).long()
        return legal, self._log_probs(features, legal)

    def _log_probs(self, features: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        logits = _finite(self.action_net(self.mlp_extractor.forward_actor(features)))
        return torch.log_softmax(logits.gather(1, legal.clamp(min=0)).masked_fill(legal < 0, ILLEGAL), dim=1)


class Network(nn.Module):
    """Torso and heads without any library around them: what is frozen for the pool and written to a file.

    ``forward`` takes float32[B, O] and gives raw logits float32[B, A] and values float32[B].
    """

    def __init__(self, torso: nn.Sequential, actor: nn.Sequential, critic: nn.Sequential) -> None:
        super().__init__()
        self.torso, self.actor, self.critic = torso, actor, critic

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return raw logits and values."""
        features = self.torso(observations)
        return self.actor(features), self.critic(features).squeeze(-1)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    @property
    def sizes(self) -> tuple[int, int]:
        """Inputs O and actions A."""
        first, last = self.torso[0], self.actor[-1]
        assert isinstance(first, (nn.Linear, SpreadFeatures))
        assert isinstance(last, nn.Linear)
        return first.in_features, last.out_features

    def is_sound(self, observations: Observations) -> bool:
        """Whether all weights are finite, and what comes out for int8[B, O] is of a size to calculate with."""
        with torch.inference_mode():
            inputs = torch.from_numpy(np.ascontiguousarray(observations)).to(self.device).float()
            finite = all(bool(torch.isfinite(part).all()) for part in self.parameters())
            return finite and all(bool((part.abs() <= LARGEST).all()) for part in self(inputs))

    def logits(self, observations: Observations) -> NDArray[np.float32]:
        """Return raw logits float32[B, A] for int8[B, O], without gradients."""
        with torch.inference_mode():
            inputs = torch.from_numpy(np.ascontiguousarray(observations)).to(self.device).float()
            values: NDArray[np.float32] = self.actor(self.torso(inputs)).cpu().numpy()
            return values


class NetworkAgent:
    """A frozen network as an agent, with a generator of its own."""

    compiled: tuple[int, int] | None = None

    def __init__(self, network: Network, name: str = "policy", seed: int = 0, *, greedy: bool = False) -> None:
        self.network, self.name, self.greedy = network, name, greedy
        self.seed(seed)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], drawn from the policy, or its likeliest legal actions."""
        logits = self.network.logits(observations)
        if self.greedy:
            return best(logits, masks)
        return draw(logits, masks, self.generator.random(len(logits), dtype=np.float32))

    def check_game(self, rules: RuleSet, num_players: int) -> None:
        """Raise ``AgentSpecError`` for a game whose spaces are of other sizes than the network."""
        sizes = ObservationLayout(rules, num_players).size, num_actions(rules)
        if sizes != self.network.sizes:
            raise AgentSpecError(
                f"agent {self.name!r} is a network of {self.network.sizes} inputs and actions, this game has {sizes}"
            )

    def probabilities(self, observations: Observations, masks: Masks) -> NDArray[np.float64]:
        """Return float64[B, A]: how likely it chooses each action."""
        return probabilities(self.network.logits(observations), masks, self.greedy)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: the observation holds all that a policy remembers."""

    def seed(self, seed: int) -> None:
        """Start the generator anew."""
        self.generator = np.random.default_rng(seed)


def policy_kwargs(
    config: NetworkConfig, rules: RuleSet, num_players: int, hidden_size: int = 0, belief: bool = False
) -> dict[str, Any]:
    """Return the arguments that make ``TonkPolicy`` the network of the configuration, for a game."""
    activation = ACTIVATIONS[config.activation]
    first = SpreadFeatures(rules, num_players) if config.spread_features else None
    return {
        "hidden_size": hidden_size,
        "oracle_head": list(config.oracle_head),
        "belief": belief,
        "features_extractor_class": Torso,
        "features_extractor_kwargs": {"widths": list(config.torso), "activation": activation, "first": first},
        "net_arch": {"pi": list(config.policy_head), "vf": list(config.value_head)},
        "activation_fn": activation,
        "optimizer_kwargs": {"eps": 1e-5, "fused": True},
    }


def new_network(config: NetworkConfig, rules: RuleSet, num_players: int) -> Network:
    """Return a network for a game, to be filled with saved weights."""
    activation = ACTIVATIONS[config.activation]
    first = SpreadFeatures(rules, num_players) if config.spread_features else None
    torso = _torso(ObservationLayout(rules, num_players).size, config.torso, activation, first)
    actor = _layers([config.torso[-1], *config.policy_head], activation)
    critic = _layers([config.torso[-1], *config.value_head], activation)
    actor.append(nn.Linear(([*config.torso, *config.policy_head])[-1], num_actions(rules)))
    critic.append(nn.Linear(([*config.torso, *config.value_head])[-1], 1))
    return freeze(Network(torso, actor, critic))


def frozen_copy(policy: MaskableActorCriticPolicy) -> Network:
    """Return a copy of the policy's weights that shares nothing with it and never changes."""
    with torch.no_grad():
        torso = policy.features_extractor
        assert isinstance(torso, Torso)
        parts = (
            torso.layers,
            nn.Sequential(*policy.mlp_extractor.policy_net, policy.action_net),
            nn.Sequential(*policy.mlp_extractor.value_net, policy.value_net),
        )
        copies = [_copy(part) for part in parts]
    return freeze(Network(*copies))


def freeze(network: Network) -> Network:
    """Set evaluation mode and switch gradients off; return the network."""
    return network.eval().requires_grad_(False)


def _torso(size: int, widths: Sequence[int], activation: type[nn.Module], first: SpreadFeatures | None) -> nn.Sequential:
    if first is None:
        return _layers([size, *widths], activation)
    return nn.Sequential(first, *_layers([first.out_features, *widths], activation))


def _layers(sizes: Sequence[int], activation: type[nn.Module]) -> nn.Sequential:
    pairs = pairwise(sizes)
    return nn.Sequential(*(layer for a, b in pairs for layer in (nn.Linear(a, b), activation())))


def _copy(part: nn.Sequential) -> nn.Sequential:
    """A deep copy made layer by layer: no hooks, no gradients, no shared storage."""
    copied = nn.Sequential()
    for layer in part:
        if isinstance(layer, SpreadFeatures):
            copied.append(copy.deepcopy(layer))
            continue
        if not isinstance(layer, nn.Linear):
            copied.append(type(layer)())
            continue
        fresh = nn.Linear(layer.in_features, layer.out_features, device="meta").to_empty(device=layer.weight.device)
        fresh.load_state_dict(layer.state_dict())
        copied.append(fresh)
    return copied


def _draw(log_probs: torch.Tensor) -> torch.Tensor:
    """One place a row with these probabilities, from torch's generator; never one of probability 0."""
    reached = log_probs.exp().cumsum(dim=1)
    total = reached[:, -1:]
    threshold = torch.rand_like(total) * total
    threshold = torch.minimum(threshold, torch.nextafter(total, torch.zeros_like(total)))
    return (reached <= threshold).sum(dim=1)


def _of(actions: torch.Tensor, legal: torch.Tensor, log_probs: torch.Tensor) -> torch.Tensor:
    """Log-probabilities float32[B] of actions int64[B] among the legal ones; of one that is not there, of the first."""
    place = (legal == actions[:, None]).to(torch.int8).argmax(dim=1, keepdim=True)
    return log_probs.gather(1, place).squeeze(1)


def _entropy(log_probs: torch.Tensor) -> torch.Tensor:
    """Entropies float32[B] in nats. The probability of a filled-up place is exactly 0, so it adds nothing."""
    return -(log_probs.exp() * log_probs).sum(dim=1)


def _finite(logits: torch.Tensor) -> torch.Tensor:
    """The same tensor, once it is known to hold numbers of a size to calculate with."""
    if not bool((logits.detach().abs() <= LARGEST).all()):
        raise FloatingPointError(DIVERGED)
    return logits
