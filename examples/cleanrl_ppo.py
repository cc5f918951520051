"""CleanRL style: PPO with masks in one file, self-play of all seats on the batch environment, no framework.

    python examples/cleanrl_ppo.py --decisions 2000000 --out opponent.onnx
    tonk evaluate opponent.onnx greedy drop:20 --set match=hands

Every table waits at a decision of whichever seat is on turn, and one policy plays all seats and learns from all of them; at
some tables a simple compiled player holds one seat. What is special to such a game stands in `advantages`: a reward belongs
to the seat that it is paid to, and counts from that seat's own last decision.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn

from tonk_env import Batch, make_rules
from tonk_env.batch import DROP, EXTERNAL, GREEDY


@dataclass
class Args:
    """Settings, each of which can be given on the command line."""

    rules: str = "points"
    players: int = 2
    decisions: int = 200_000  # of the policy, in all; a strong player needs some millions
    tables: int = 512
    steps: int = 32  # decisions a table between two updates
    minibatch: int = 1024
    epochs: int = 3
    learning_rate: float = 2e-3  # falls to 0
    clip: float = 0.2
    entropy: float = 0.05  # weight at the start, falls to entropy_end
    entropy_end: float = 0.003
    gae_lambda: float = 0.95
    value_coef: float = 0.5
    max_grad_norm: float = 0.5
    simple_share: float = 0.35  # of the tables, where drop:20, drop:26 or greedy holds a seat
    width: int = 128
    seed: int = 0
    out: str = ""  # an .onnx file, for `tonk evaluate`, `tonk play` or opponents="..."


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """A layer with orthogonal weights and no bias at first."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    """A shared torso with a head for the policy and one for the value."""

    def __init__(self, observation_size: int, num_actions: int, width: int) -> None:
        super().__init__()
        self.torso = nn.Sequential(
            linear(observation_size, width, 2**0.5), nn.ReLU(), linear(width, width, 2**0.5), nn.ReLU()
        )
        self.actor = nn.Sequential(linear(width, num_actions, 0.01))
        self.critic = nn.Sequential(linear(width, 1, 1.0))

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities [B, A], very low where illegal, and values [B]."""
        features = self.torso(observations.float())
        logits = self.actor(features).masked_fill(masks == 0, -1e9)
        return torch.log_softmax(logits, dim=1), self.critic(features).squeeze(1)


def seat_simple_players(batch: Batch, share: float) -> None:
    """Give one seat at the first tables to compiled players, which then move inside `batch.step`."""
    kinds = np.full((batch.num_tables, batch.num_players), EXTERNAL, np.int8)
    params = np.zeros_like(kinds, dtype=np.int16)
    for table in range(int(batch.num_tables * share)):
        seat, (kind, count) = table % batch.num_players, ((DROP, 20), (GREEDY, 0), (DROP, 26))[table // batch.num_players % 3]
        kinds[table, seat], params[table, seat] = kind, count
    batch.set_players(kinds, params)


def advantages(
    rewards: np.ndarray, seats: np.ndarray, over: np.ndarray, values: np.ndarray, last: np.ndarray, gae_lambda: float
) -> np.ndarray:
    """Advantages float32 [S, T] of decisions by seats int8 [S, T] with values [S, T].

    rewards [S, T, N] and over [S, T] are what followed each decision; last [T, N] are the values of all seats after the last
    step. Going back in time, every seat keeps the value and the advantage of its next decision and what it was paid since.
    """
    steps, tables, players = rewards.shape
    rows = np.arange(tables)
    next_value, next_advantage = last.copy(), np.zeros((tables, players), np.float32)
    paid = np.zeros((tables, players), np.float32)
    found = np.zeros((steps, tables), np.float32)
    for step in reversed(range(steps)):
        for kept in (next_value, next_advantage, paid):
            kept[over[step]] = 0.0  # what comes later is another episode
        paid += rewards[step]
        here = (rows, seats[step])
        delta = paid[here] + next_value[here] - values[step]  # no discount: a hand always ends
        found[step] = delta + gae_lambda * next_advantage[here]
        next_value[here], next_advantage[here], paid[here] = values[step], found[step], 0.0
    return found


def collect(agent: Agent, batch: Batch, args: Args) -> dict[str, torch.Tensor]:
    """Play `steps` decisions at every table: what the update needs, decisions in one row."""
    shape = (args.steps, batch.num_tables)
    seen = np.zeros((*shape, batch.observation_size), np.int8)
    masks = np.zeros((*shape, batch.num_actions), np.int8)
    rewards = np.zeros((*shape, batch.num_players), np.float32)
    actions, seats, over = np.zeros(shape, np.int64), np.zeros(shape, np.int8), np.zeros(shape, bool)
    log_probs, values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for step in range(args.steps):
        seen[step], masks[step], seats[step] = batch.observations, batch.action_masks, batch.seats  # copies: step() rewrites
        with torch.inference_mode():
            chances, value = agent(torch.from_numpy(seen[step]), torch.from_numpy(masks[step]))
            chosen = torch.multinomial(chances.exp(), 1)
            actions[step], values[step] = chosen.squeeze(1).numpy(), value.numpy()
            log_probs[step] = chances.gather(1, chosen).squeeze(1).numpy()
        batch.step(actions[step])
        rewards[step], over[step] = batch.rewards, batch.over
    with torch.inference_mode():
        value = agent(torch.from_numpy(batch.observations.copy()), torch.from_numpy(batch.action_masks.copy()))[1].numpy()
    last = np.repeat(-value[:, None] / (batch.num_players - 1), batch.num_players, axis=1)  # the others': it is zero-sum
    last[np.arange(batch.num_tables), batch.seats] = value
    gained = advantages(rewards, seats, over, values, last, args.gae_lambda)
    rollout = {
        "observations": seen, "masks": masks, "actions": actions, "log_probs": log_probs,
        "advantages": gained, "returns": gained + values,
    }  # fmt: skip
    return {name: torch.from_numpy(array).flatten(0, 1) for name, array in rollout.items()}


def update(
    agent: Agent, optimizer: torch.optim.Optimizer, rollout: dict[str, torch.Tensor], args: Args, entropy: float
) -> float:
    """Learn from a rollout: clipped objective, value loss, entropy bonus. Returns the mean entropy of the policy, in nats."""
    size, entropies = len(rollout["actions"]), []
    for _ in range(args.epochs):
        for rows in torch.randperm(size).split(args.minibatch):
            part = {name: tensor[rows] for name, tensor in rollout.items()}
            log_probs, values = agent(part["observations"], part["masks"])
            chosen = log_probs.gather(1, part["actions"][:, None]).squeeze(1)
            spread = -(log_probs.exp() * log_probs).sum(dim=1).mean()
            ratio = (chosen - part["log_probs"]).exp()
            gain = (part["advantages"] - part["advantages"].mean()) / (part["advantages"].std() + 1e-8)
            policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
            value_loss = nn.functional.mse_loss(values, part["returns"])
            loss = policy_loss + args.value_coef * value_loss - entropy * spread
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
            entropies.append(spread.item())
    return float(np.mean(entropies))


def train(args: Args) -> tuple[Agent, Batch]:
    """Train for the budget of decisions and print a line now and then."""
    torch.manual_seed(args.seed)
    batch = Batch(make_rules(args.rules, match="hands"), args.players, args.tables, seed=args.seed)
    seat_simple_players(batch, args.simple_share)
    batch.reset()
    agent = Agent(batch.observation_size, batch.num_actions, args.width)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    iterations = max(1, args.decisions // (args.tables * args.steps))
    started = time.perf_counter()
    for iteration in range(iterations):
        left = 1 - iteration / iterations
        optimizer.param_groups[0]["lr"] = args.learning_rate * left
        rollout = collect(agent, batch, args)
        entropy = update(agent, optimizer, rollout, args, args.entropy_end + (args.entropy - args.entropy_end) * left)
        if iteration % 10 == 9 or iteration == iterations - 1:
            decisions = (iteration + 1) * args.tables * args.steps
            rate = decisions / (time.perf_counter() - started)
            print(f"{decisions:>9} decisions, {rate:.0f} a second, entropy {entropy:.3f}")
    return agent, batch


def save(agent: Agent, batch: Batch, args: Args) -> None:
    """Write the policy as an opponent that plays without torch."""
    from agents.card import make_card
    from agents.export import export_policy
    from agents.network import Network

    card = make_card(batch.rules, batch.num_players, {"trained_by": "examples/cleanrl_ppo.py", **vars(args)})
    export_policy(Network(agent.torso, agent.actor, agent.critic).eval(), args.out, card)
    print(f"written: {args.out}")


def main() -> None:
    """Read the settings, train, and write the policy if a file is named."""
    parser = argparse.ArgumentParser(description="Masked PPO by self-play, in one file.")
    for field in fields(Args):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    args = Args(**vars(parser.parse_args()))
    agent, batch = train(args)
    if args.out:
        save(agent, batch, args)


if __name__ == "__main__":
    main()
