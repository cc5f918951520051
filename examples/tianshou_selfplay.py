"""Tianshou 2: masked DQN learns Tonk in all seats through PettingZooEnv and the multi-agent manager."""

from __future__ import annotations

import logging

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from tonk_env import tonk_v0
from tonk_env.turns import TurnsWrapper


def table() -> PettingZooEnv:
    """One table of single hands."""
    return PettingZooEnv(TurnsWrapper(tonk_v0.env("points", num_players=2, match="hands")))


def main(epochs: int = 4, steps: int = 1500, num_envs: int = 8) -> Net:
    """Train, say what comes out, and return the network: values of all actions for observations."""
    logging.getLogger("tianshou").setLevel(logging.ERROR)  # a warning for each reward of several seats
    torch.set_num_threads(1)  # with more, threads wait for each other at every small step
    env = table()
    actions, size = env.action_space.n, env.observation_space["observation"].shape
    network = Net(state_shape=size, action_shape=actions, hidden_sizes=[64])
    policy = DiscreteQLearningPolicy(model=network, action_space=env.action_space, eps_training=0.2, eps_inference=0.05)
    # The next transition belongs to another seat, so values of next observations mean nothing: look to the end of the hand.
    learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=100)
    manager = MultiAgentOffPolicyAlgorithm(algorithms=[learner] * len(env.agents), env=env)
    envs = DummyVectorEnv([table for _ in range(num_envs)])
    collector = Collector(manager, envs, VectorReplayBuffer(20_000, num_envs), exploration_noise=True)
    envs.seed(1)
    collector.reset()
    tests = Collector(manager, DummyVectorEnv([table]))
    result = manager.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=tests,
            test_step_num_episodes=10,
            max_epochs=epochs,
            epoch_num_steps=steps,
            collection_step_num_env_steps=100,
            batch_size=128,
            update_step_num_gradient_steps_per_sample=0.1,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            show_progress=False,
            verbose=False,
        )
    )
    played = collector.buffer[collector.buffer.sample_indices(0)]  # all of it
    legal = played.obs.mask[np.arange(len(played)), played.act].mean()
    print(f"{result.train_step} moves, {legal:.0%} of them legal, {result.train_episode} hands, best {result.best_reward:+.2f}")
    return network


if __name__ == "__main__":
    main()
