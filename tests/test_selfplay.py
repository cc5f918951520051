"""Checks self-play: what the learner is paid and when, who sits where, masks, and the pool of opponents."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.config import TrainConfig, load_config
from agents.network import frozen_copy
from agents.pool import CURRENT, SNAPSHOT, OpponentPool
from agents.ppo import TonkPPO
from agents.selfplay import SelfPlayVecEnv


def config_of(root: Path, *overrides: str) -> TrainConfig:
    return load_config(root / "configs" / "smoke.yaml", overrides)


# -- the environment ------------------------------------------------------------------------------------------------


@pytest.fixture
def env(root: Path) -> SelfPlayVecEnv:
    return make_env(root)


def make_env(root: Path, *overrides: str, tables: int = 64, policy: bool = False) -> SelfPlayVecEnv:
    """An environment whose opponents are baselines, or, if ``policy``, mostly an untrained policy."""
    shares = [] if policy else ["opponents.current=0", "opponents.snapshots=0"]
    config = config_of(root, f"ppo.num_tables={tables}", *shares, *overrides)
    pool = OpponentPool(config.opponents, config.seed)
    env = SelfPlayVecEnv(config.game.rule_set(), config.game.num_players, tables, pool, config.seed)
    if policy:
        pool.renew(frozen_copy(TonkPPO(config, env, lambda step: 0.0).policy), 0, ())
    return env


def random_actions(env: SelfPlayVecEnv) -> np.ndarray[Any, np.dtype[np.int64]]:
    return env.batch.choose_random()


@pytest.mark.parametrize("policy", [False, True])
def test_the_learner_is_on_turn_with_its_own_mask(root: Path, policy: bool) -> None:
    env = make_env(root, policy=policy)
    observations = env.reset()
    for _ in range(100):
        assert (env.batch.seats == env.learner).all()
        masks = env.env_method("action_masks")[0]
        np.testing.assert_array_equal(masks, env.batch.action_masks)
        assert (masks.sum(axis=1) > 0).all()
        np.testing.assert_array_equal(observations, env.batch.observations)
        observations, _, _, _ = env.step(random_actions(env))


def test_masks_reach_the_library_as_one_array(env: SelfPlayVecEnv) -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    np.testing.assert_array_equal(masks.reshape(env.num_envs, -1), env.batch.action_masks)
    kept = masks.copy()
    env.step(random_actions(env))
    np.testing.assert_array_equal(masks, kept)  # what the library holds is not overwritten


def test_an_illegal_action_stops_training_instead_of_being_played(env: SelfPlayVecEnv) -> None:
    env.reset()
    actions = random_actions(env)
    actions[3] = int(np.argmin(env.batch.action_masks[3]))
    with pytest.raises(ValueError, match="table 3"):
        env.step(actions)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_seats_are_spread_evenly(root: Path, seats: int) -> None:
    """TRAIN-03, counting hands that end before the learner's first decision too."""
    env = make_env(root, f"game.num_players={seats}")
    played = np.zeros(seats, dtype=np.int64)
    begin = env._begin

    def counted(rows: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        begin(rows)
        np.add.at(played, env.learner[rows], 1)

    env._begin = counted  # type: ignore[method-assign]
    env.reset()
    for _ in range(200):
        env.step(random_actions(env))
    assert played.sum() == env.episodes.sum() > 2000
    assert played.max() - played.min() <= env.num_envs


def test_rewards_and_statistics_add_up(root: Path) -> None:
    """Every hand pays once: what the learner got over all steps is what the closed episodes returned."""
    env = make_env(root, policy=True)
    env.reset()
    env.statistics.clear()
    unpaid = env.returns.copy()  # what an opponent's move before the learner's first decision paid
    total = -unpaid.sum()
    for _ in range(100):
        before = env.returns.copy()
        _, rewards, dones, _ = env.step(random_actions(env))
        assert np.isfinite(rewards).all()
        going_on = ~dones
        np.testing.assert_allclose(before[going_on] + rewards[going_on], env.returns[going_on], atol=1e-5)
        total += rewards.sum()
    assert env.statistics.episodes > 1000
    assert abs(env.statistics.return_sum / env.statistics.episodes) < 5


def test_reward_comes_in_the_step_that_ends_the_hand(root: Path) -> None:
    """TRAIN-01: a drop is paid in the learner's own step, an opponent's drop in the step during which it happened."""
    env = make_env(root, "opponents.baselines={'drop:200': 1}")
    env.reset()
    seen = set()
    for _ in range(60):
        drop = env.batch.action_masks[:, 0] == 1
        actions = np.where(drop, 0, random_actions(env))
        _, rewards, dones, _ = env.step(actions)
        assert dones[drop].all()  # own drop: over at once, and paid
        assert (rewards[~dones] == 0).all()
        seen |= {(bool(d), bool(r > 0), bool(r < 0)) for d, r in zip(dones, rewards, strict=True)}
    assert {(True, True, False), (True, False, True)} <= seen


def test_a_learner_out_of_the_match_begins_the_next_one(root: Path) -> None:
    env = make_env(root, "game.num_players=3", "game.options={elimination: 50}", "opponents.baselines={greedy: 1}")
    env.reset()
    ends = []
    for _ in range(300):
        _, rewards, dones, _ = env.step(random_actions(env))
        assert (env.batch.seats == env.learner).all()
        ends += rewards[dones].round(4).tolist()
        assert (rewards[~dones] == 0).all()
    assert {-1.0, 0.0} <= set(ends) <= {-1.0, -0.5, 0.0, 0.5, 1.0}


def test_opponents_stay_through_an_episode(root: Path) -> None:
    env = make_env(root, "game.num_players=3", policy=True)
    env.reset()
    for _ in range(50):
        members, kinds, episodes = env.members.copy(), env.kinds.copy(), env.episodes.copy()
        env.step(random_actions(env))
        same_episode = env.episodes == episodes
        np.testing.assert_array_equal(env.members[same_episode], members[same_episode])
        np.testing.assert_array_equal(env.kinds[same_episode], kinds[same_episode])


# -- the pool -------------------------------------------------------------------------------------------------------


def test_the_pool_draws_by_weight_and_stays_small(root: Path) -> None:
    config = config_of(root, "opponents.ring=3", "opponents.snapshots=0.3", "opponents.current=0.5")
    env = make_env(root, policy=True)
    network = env.pool.networks[0]
    pool = OpponentPool(config.opponents, 0)
    for iteration in range(20):
        pool.renew(network, iteration, ())
        assert len(pool.networks) <= 4
    assert pool.ring == [17, 18, 19]
    kinds = pool.draw((20_000,)).kind
    shares = np.bincount(kinds, minlength=len(pool.kinds)) / 20_000
    np.testing.assert_allclose(shares, pool.weights(), atol=0.02)
    drawn = pool.draw((1000,))
    assert set(drawn.member[drawn.kind == CURRENT].tolist()) == {pool.newest}
    assert set(drawn.member[drawn.kind == SNAPSHOT].tolist()) <= set(pool.active)
    assert (drawn.compiled[drawn.member >= 0] == -1).all()
    assert (drawn.compiled[drawn.member < 0] >= 0).all()


def test_a_policy_at_a_table_stays_loaded_until_its_episode_ends(root: Path) -> None:
    env = make_env(root, policy=True)
    network = env.pool.networks[0]
    for iteration in range(1, 5):
        env.pool.renew(network, iteration, [0])
        assert 0 in env.pool.networks
    env.pool.renew(network, 5, [])
    assert 0 not in env.pool.networks
