"""AgileRL: a small population of masked PPO agents on the compiled vector door, the better one kept after each round."""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.algorithms.core.registry import HyperparameterConfig, RLParameter
from agilerl.hpo.mutation import Mutations
from agilerl.hpo.tournament import TournamentSelection
from agilerl.rollouts.on_policy import collect_rollouts

import tonk_env  # noqa: F401 (registers the environments)


def main(rounds: int = 3, steps: int = 2048, num_envs: int = 16) -> PPO:
    """Train, say what comes out, and return the best agent."""
    torch.set_num_threads(1)  # with more, threads wait for each other at every small step
    options = {"rules": "points", "match": "hands", "num_players": 2, "opponents": "random", "observation": "vector"}
    envs = gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=num_envs, illegal="raise", **options)
    spaces = envs.single_observation_space, envs.single_action_space
    settings = {"gamma": 1.0, "lr": 1e-3, "ent_coef": 0.02, "learn_step": steps, "batch_size": 256, "num_envs": num_envs}
    tuned = HyperparameterConfig(lr=RLParameter(min=1e-4, max=3e-3))
    population = [PPO(*spaces, index=number, hp_config=tuned, **settings) for number in range(2)]
    tournament = TournamentSelection(tournament_size=2, elitism=True, population_size=2)
    mutations = Mutations(no_mutation=0.5, architecture=0, new_layer_prob=0, parameters=0, activation=0, rl_hp=0.5)
    for number in range(rounds):
        for agent in population:
            for _ in range(2):
                scores, *_ = collect_rollouts(agent, envs)  # takes the masks from the infos
                agent.learn()
            fitness = agent.test(envs, loop=4)  # so many hands at every table
            print(f"round {number}: agent {agent.index} earned {np.mean(scores):+.2f} a hand, {fitness:+.2f} in its test")
        best, population, _ = tournament.select(population)
        population = mutations.mutation(population)
    return best


if __name__ == "__main__":
    main()
