"""The Gymnasium doors: checkers, the learner's rewards and ends, opponents, seats."""

import copy
import pickle
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from tests.test_aec import deck
from tonk_env import tonk_v0
from tonk_env.opponents import RandomOpponent
from tonk_env.registration import GYMNASIUM_ID, register_envs
from tonk_env.single import TonkEnv
from tonk_env.table import IllegalMoveError, Table
from tonk_env.vector import TonkVectorEnv

register_envs()


class Lowest:
    """Plays the lowest legal action: drops whenever it may. Remembers what it was asked and told."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []  # rows of each batch, games told to begin
        self.begun: list[int] = []

    def act(self, observations: Any, masks: Any, rows: Any = None) -> Any:
        assert observations.dtype == masks.dtype == np.int8
        assert masks.any(axis=1).all()
        self.asked += [(int(row), len(rows)) for row in rows]
        return masks.argmax(axis=1)

    def reset(self, rows: Any = None) -> None:
        self.begun += [int(row) for row in rows]


class Drawer:
    """Never drops: plays the highest legal action of the turn's start, else the lowest."""

    def act(self, observations: Any, masks: Any, rows: Any = None) -> Any:
        return np.where(masks[:, 0], 1, masks.argmax(axis=1))


def play(env: Any, generator: np.random.Generator) -> tuple[float, int]:
    """Play a begun episode with random moves: return and steps."""
    total, steps, over = 0.0, 0, False
    while not over:
        legal = np.flatnonzero(env.get_wrapper_attr("action_masks")())
        _, reward, terminated, truncated, _ = env.step(int(generator.choice(legal)))
        total, steps, over = total + reward, steps + 1, terminated or truncated
    return total, steps


@pytest.mark.parametrize("observation", ["dict", "vector"])
@pytest.mark.parametrize("preset, players", [("points", 2), ("rockets", 4), ("speno", 6), ("tonkroom", 2), ("tunk", 3)])
def test_gymnasium_checker(preset: str, players: int, observation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gymnasium.make(GYMNASIUM_ID, rules=preset, num_players=players, observation=observation)
    check_env(env.unwrapped)


@pytest.mark.parametrize("observation", ["dict", "vector"])
def test_stable_baselines_checker(observation: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(TonkEnv("points", 3, observation=observation, match="hands"))


def test_passive_checker_is_quiet_over_many_episodes() -> None:
    env = gymnasium.make(GYMNASIUM_ID, rules="rockets", num_players=3)
    generator = np.random.default_rng(0)
    for seed in range(50):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        env.action_space.sample(info["action_mask"])
        play(env, generator)


def test_reward_of_the_learners_own_drop_and_of_an_opponents() -> None:
    cards = deck("AS 2H 3C 2D 4S", "9C TD 5H 8S KC", upcard="QS", stock="7D 9D")
    env = TonkEnv("points", 2, opponents=Drawer(), seat=0, match="hands")
    env.reset(options={"deck": cards})
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (42 / 20, True, False)
    assert info["hands"][0]["ending"] == "drop"
    assert not info["action_mask"].any()
    env = TonkEnv("points", 2, opponents=Lowest(), seat=0, match="hands")
    env.reset(options={"deck": deck("9C TD 5H 8S KC", "AS 2H 3C 2D 4S", upcard="QS", stock="7D 9D")})
    _, reward, terminated, _, _ = env.step(1)
    assert (reward, terminated) == (0.0, False)
    _, reward, terminated, _, _ = env.step(4 + 3 * 13 + 7)  # 8S
    assert (reward, terminated) == (-41 / 20, True)


def test_no_opponent_moves_while_the_learners_turn_goes_on() -> None:
    others = Lowest()
    env = TonkEnv("deadwood", 2, opponents=others, seat=0)
    env.reset(options={"deck": deck("7H 8H 9H KS 4C", "2C 3D 5C 9S JD", upcard="QD", stock="6H", rules="deadwood")})
    for words in ("draw", "spread 7H 8H 9H", "hit 6H low"):
        _, reward, terminated, _, _ = env.step(env.table.parse(words))
        assert (reward, terminated) == (0.0, False)
        assert not others.asked
    env.step(env.table.parse("discard KS"))
    assert len(others.asked) == 1


def test_return_of_a_match_is_that_of_the_learners_place() -> None:
    env = TonkEnv("points", 3, elimination=40)
    generator = np.random.default_rng(3)
    for seed in range(40):
        env.reset(seed=seed)
        total, _ = play(env, generator)
        while not env.table.over:  # the others play for the first places
            env.table.step(int(generator.choice(env.table.legal_actions())))
        place = env.table.places()[env.seat]
        sharers = env.table.places().count(place)
        assert np.isclose(total, 1 - (place - 1 + (sharers - 1) / 2))


def test_return_of_hands_is_what_the_records_say() -> None:
    env = TonkEnv("rockets", 3, hands=3, match_reward="hands")
    generator = np.random.default_rng(3)
    for seed in range(40):
        _, info = env.reset(seed=seed)
        paid = [*info.get("opening_hands", []), *info.get("hands", [])]
        total, over = 0.0, False
        while not over:
            _, reward, over, _, info = env.step(int(generator.choice(np.flatnonzero(info["action_mask"]))))
            total += reward
            paid += info.get("hands", [])
        assert len({hand["hand"] for hand in paid}) == len(paid) >= 3
        assert np.isclose(total, sum(hand["payoffs"][env.seat] for hand in paid))


def test_learner_leaves_when_it_is_eliminated() -> None:
    left_early = 0
    env = TonkEnv("points", 4, elimination=30)
    generator = np.random.default_rng(0)
    for seed in range(20):
        env.reset(seed=seed)
        play(env, generator)
        left_early += not env.table.over
    assert left_early > 3


def test_seats_rotate_evenly() -> None:
    env = TonkEnv("rockets", 3)
    seats = [env.reset(seed=4 if i == 0 else None)[1]["seat"] for i in range(9)]
    assert seats == [1, 2, 0] * 3
    assert [TonkEnv("rockets", 3).reset(seed=seed)[1]["seat"] for seed in range(3)] == [0, 1, 2]
    assert {TonkEnv("rockets", 3, seat=2).reset()[1]["seat"] for _ in range(3)} == {2}
    drawn = TonkEnv("rockets", 3, seat="random")
    drawn.reset(seed=0)
    assert {drawn.reset()[1]["seat"] for _ in range(30)} == {0, 1, 2}


def test_deals_that_end_before_the_learner_moves_are_skipped_and_counted() -> None:
    others = Lowest()
    env = TonkEnv("rockets", 3, opponents=others, seat=2)
    with pytest.raises(RuntimeError, match="before seat 2 had a move"):
        env.reset(seed=0)
    env = TonkEnv("rockets", 3, opponents=others)
    assert {env.reset()[1]["seat"] for _ in range(5)} == {0}
    env = TonkEnv("rockets", 2, opponents="random", seat=1)
    skipped = [env.reset(seed=seed)[1]["skipped_hands"] for seed in range(40)]
    assert 0 < sum(skipped) < 40
    seed = skipped.index(1)
    table = Table("rockets", 2, seed=seed)
    table.reset()
    table.reset()
    env.reset(seed=seed)
    assert env.table.deck == table.deck


@pytest.mark.parametrize("given", [float("nan"), float("inf"), -np.inf, "much", None, 10**400])
def test_what_an_illegal_move_pays_is_a_finite_number(given: Any) -> None:
    for make in (TonkEnv, TonkVectorEnv, tonk_v0.env):
        with pytest.raises(ValueError, match=r"^illegal_reward is a finite number, such as -1\.0, not .*$"):
            make(illegal_reward=given)
    assert TonkEnv(illegal_reward=np.float32(-2)).illegal_reward == -2.0


@pytest.mark.parametrize("given", [[1], "deck", 3, [], ("deck", None)])
def test_options_of_a_reset_are_a_mapping(given: Any) -> None:
    for env in (TonkEnv(), TonkVectorEnv(2), tonk_v0.env(), tonk_v0.raw_env()):
        with pytest.raises(ValueError, match=r"^options of reset\(\) are a mapping from names to values or None, not .*$"):
            env.reset(seed=1, options=given)
        env.reset(seed=1, options=MappingProxyType({"other": 1}))


def test_illegal_moves_lose_or_raise_and_bad_ones_always_raise() -> None:
    env = TonkEnv("points", 3, illegal_reward=-9)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        _, reward, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"] == 0)[seed]))
        assert (reward, terminated, truncated, info["illegal"]) == (-9, True, False, True)
        assert not info["action_mask"].any()
        with pytest.raises(ResetNeeded):
            env.step(1)
    env = TonkEnv("points", 3, illegal="raise")
    observation, info = env.reset(seed=0)
    with pytest.raises(IllegalMoveError):
        env.step(3)
    assert np.array_equal(env.action_masks(), info["action_mask"])
    for action in (-1, 483, 0.5, "draw", None, [1, 2]):
        with pytest.raises(ValueError, match="whole number from 0 to 482"):
            env.step(action)
    for action in (np.int32(1), np.array(1), np.array([1])):
        twin = copy.deepcopy(env)
        assert twin.step(action)[0]["observation"].tobytes() != observation["observation"].tobytes()


def test_before_reset() -> None:
    env = TonkEnv("points", 3, render_mode="ansi")
    copy.deepcopy(env)
    pickle.loads(pickle.dumps(env)).close()
    for call in (lambda: env.step(1), env.render):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
    with pytest.raises(ResetNeeded):
        TonkVectorEnv(2).step([1, 1])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copy_in_the_middle_of_an_episode(duplicate: Any) -> None:
    env = TonkEnv("rockets", 3)
    _, info = env.reset(seed=8)
    env.step(int(np.flatnonzero(info["action_mask"])[-1]))
    twin = duplicate(env)
    generator, same = np.random.default_rng(1), np.random.default_rng(1)
    assert play(env, generator) == play(twin, same)
    assert env.reset()[0]["observation"].tobytes() == twin.reset()[0]["observation"].tobytes()


def test_same_seed_same_episodes() -> None:
    def episodes() -> list[Any]:
        env, generator = TonkEnv("points", 4, seat="random", match="hands"), np.random.default_rng(0)
        return [(env.reset(seed=7 if i == 0 else None)[1]["seat"], play(env, generator)) for i in range(30)]

    assert episodes() == episodes()


def test_opponents_by_seat_to_the_left_and_their_memory() -> None:
    left, right = Lowest(), Lowest()
    env = TonkEnv("deadwood", 3, opponents=[left, right], seat=1, table=5, drop="never")
    env.reset(seed=0)
    play(env, np.random.default_rng(0))
    assert {row for row, _ in left.asked} == {5 * 3 + 2}
    assert {row for row, _ in right.asked} == {5 * 3 + 0}
    assert set(left.begun) == {15, 16, 17}


def test_wrong_opponents(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="3 given, but 2 sit"):
        TonkEnv("points", 3, opponents=["random"] * 3)
    with pytest.raises(ValueError, match="no opponent"):
        TonkEnv("points", 3, opponents=5)
    monkeypatch.setattr("tonk_env.opponents.entry_points", lambda **_: [])
    with pytest.raises(RuntimeError, match="'greedy' needs the agents"):
        TonkEnv("points", 3, opponents="greedy")
    TonkEnv("points", 3)


@pytest.mark.parametrize(
    "name, value", [("seat", 3), ("seat", "left"), ("observation", "box"), ("illegal", "ignore"), ("render_mode", "rgb")]
)
def test_wrong_arguments(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} {value!r} is not"):
        TonkEnv("points", 3, **{name: value})


def test_random_opponent_is_even_and_legal() -> None:
    player = RandomOpponent()
    player.seed(1)
    masks = np.zeros((6000, 9), dtype=np.int8)
    masks[:, [2, 3, 7]] = 1
    counts = np.bincount(player.act(masks, masks), minlength=9)
    assert counts[[2, 3, 7]].min() > 1800
    assert counts.sum() == counts[[2, 3, 7]].sum()


def test_flattened_observations_begin_with_the_mask() -> None:
    env = TonkEnv("points", 2)
    observation, _ = env.reset(seed=0)
    flat = gymnasium.spaces.flatten(env.observation_space, observation)
    assert np.array_equal(flat[:483], observation["action_mask"])
    assert np.array_equal(flat[483:], observation["observation"])


def test_single_statistics_count_whole_episodes() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(GYMNASIUM_ID, rules="points", num_players=3, match="hands"))
    generator = np.random.default_rng(0)
    for seed in range(10):
        _, info = env.reset(seed=seed)
        total, steps, over = 0.0, 0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(int(generator.choice(np.flatnonzero(info["action_mask"]))))
            total, steps, over = total + reward, steps + 1, terminated or truncated
        assert info["episode"]["l"] == steps
        assert info["episode"]["r"] == pytest.approx(total)


def test_flattened_observations_through_the_wrapper() -> None:
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make(GYMNASIUM_ID, rules="tunk", num_players=2))
    observation, info = env.reset(seed=0)
    generator = np.random.default_rng(0)
    for _ in range(30):
        assert env.observation_space.contains(observation)
        mask = info["action_mask"]
        assert np.array_equal(observation[: mask.size], mask)
        assert np.array_equal(observation[mask.size :], env.unwrapped.table.observation(env.unwrapped.seat))
        observation, _, terminated, truncated, info = env.step(int(generator.choice(np.flatnonzero(mask))))
        if terminated or truncated:
            observation, info = env.reset()


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync", "async"])
def test_make_vec_in_every_mode_plays_the_same_hands(mode: str) -> None:
    options: dict[str, Any] = {"rules": "rockets", "num_players": 2, "opponents": Drawer(), "vectorization_mode": mode}
    if mode != "vector_entry_point":
        options["vector_kwargs"] = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
    envs = gymnasium.make_vec(GYMNASIUM_ID, num_envs=2, **options)
    single = TonkEnv("rockets", 2, opponents=Drawer(), table=0)
    try:
        observations, infos = envs.reset(seed=3)
        first, info = single.reset(seed=3)
        for _ in range(40):
            assert observations["observation"][0].tobytes() == first["observation"].tobytes()
            masks = np.asarray(infos["action_mask"])
            assert np.array_equal(masks[0], info["action_mask"])
            actions = masks.argmax(axis=1) if single.seat else masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
            observations, rewards, *_, infos = envs.step(actions)
            first, reward, terminated, truncated, info = single.step(actions[0])
            assert rewards[0] == pytest.approx(reward)
            if terminated or truncated:
                break
    finally:
        envs.close()
