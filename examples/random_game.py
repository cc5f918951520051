"""Plays one hand of random moves through PettingZoo and prints every move and the table at the end."""

from __future__ import annotations

from tonk_env import tonk_v0


def main(seed: int = 1) -> None:
    """Play a hand of `rockets` with three players."""
    env = tonk_v0.env(rules="rockets", num_players=3, render_mode="ansi", render_seat="all")
    env.reset(seed=seed)
    table = env.unwrapped.table
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        if termination or truncation:
            print(f"{agent} earns {reward:+g}")
            env.step(None)
            continue
        space = env.action_space(agent)
        space.seed(seed := seed + 1)
        action = int(space.sample(observation["action_mask"]))
        print(f"{agent}: {table.words(action)}")
        env.step(action)
    print(table.last_hand.ending.replace("_", " "))


if __name__ == "__main__":
    main()
