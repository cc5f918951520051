"""Many tables through Gymnasium: equal to single ones, autoreset, infos, statistics, seats and resets."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.test_gym import Drawer, Lowest
from tonk_env.batch import GREEDY, choose_from_observations
from tonk_env.registration import GYMNASIUM_ID, register_envs
from tonk_env.single import TonkEnv
from tonk_env.table import IllegalMoveError
from tonk_env.vector import TonkVectorEnv

register_envs()
COUNTS_SAME_STEP = tuple(map(int, gymnasium.__version__.split(".")[:2])) >= (1, 4)  # its wrapper does, from here on


class Greedy:
    """The compiled greedy player, asked from outside."""

    def __init__(self, envs: TonkVectorEnv | TonkEnv) -> None:
        self.layout = envs.layout

    def act(self, observations: Any, masks: Any, rows: Any = None) -> Any:
        return choose_from_observations(self.layout, GREEDY, 0, observations, masks)


class CompiledGreedy(Greedy):
    compiled = (GREEDY, 0)


def make_vec(num_envs: int, **kwargs: Any) -> Any:
    return gymnasium.make_vec(GYMNASIUM_ID, num_envs=num_envs, **kwargs)


def random_moves(masks: Any, generator: np.random.Generator) -> Any:
    return np.where(masks, generator.random(masks.shape), -1).argmax(axis=1)


@pytest.mark.parametrize("match", ["hands", "elimination"])
@pytest.mark.parametrize("opponent", [Lowest, Drawer])
def test_many_tables_equal_single_ones(match: str, opponent: Any) -> None:
    openings = {"opening_exact": (49, 50, 30, 31, 32)}
    options = {"rules": "points", "num_players": 3, "match": match, "elimination": 60, **openings}
    envs = make_vec(6, opponents=opponent(), **options)
    singles = [TonkEnv(opponents=opponent(), table=i, **options) for i in range(6)]
    observations, infos = envs.reset(seed=12)
    firsts = [env.reset(seed=12) for env in singles]
    generator = np.random.default_rng(0)
    for step in range(15 if opponent is Lowest and match == "hands" else 250):
        if step:
            actions = random_moves(infos["action_mask"], generator)
            observations, rewards, terminations, truncations, infos = envs.step(actions)
            for i, env in enumerate(singles):
                last, reward, terminated, truncated, info = env.step(actions[i])
                assert (reward, terminated, truncated) == pytest.approx((rewards[i], terminations[i], truncations[i]))
                firsts[i] = (last, info)
                if terminated or truncated:
                    assert infos["_final_obs"][i]
                    assert infos["final_obs"][i].keys() == last.keys()
                    assert all(np.array_equal(infos["final_obs"][i][key], last[key]) for key in last)
                    assert infos["final_info"]["seat"][i] == info["seat"]
                    firsts[i] = env.reset()
                    assert infos["skipped_hands"][i] == firsts[i][1]["skipped_hands"]
                elif "_final_obs" in infos:
                    assert not infos["_final_obs"][i]
        for i, (observation, info) in enumerate(firsts):
            assert all(np.array_equal(observations[key][i], observation[key]) for key in observation)
            assert np.array_equal(infos["action_mask"][i], info["action_mask"])
            assert infos["seat"][i] == info["seat"]


@pytest.mark.parametrize(
    "rules, players, options",
    [
        ("points", 4, {"match": "hands"}),
        ("rockets", 2, {"match": "hands"}),
        ("tunk", 3, {"match": "hands"}),
        ("points", 4, {"elimination": 30}),
    ],
)
def test_compiled_opponents_play_as_they_do_from_outside(rules: str, players: int, options: dict[str, Any]) -> None:
    layout = TonkVectorEnv(1, rules, players, **options)
    inside = TonkVectorEnv(32, rules, players, CompiledGreedy(layout), **options)
    outside = TonkVectorEnv(32, rules, players, Greedy(layout), **options)
    mixed = TonkVectorEnv(32, rules, players, [CompiledGreedy(layout), *[Greedy(layout)] * (players - 2)], **options)
    steps = [envs.reset(seed=3)[0]["observation"].tobytes() for envs in (inside, outside, mixed)]
    generator = np.random.default_rng(0)
    for _ in range(60):
        assert steps[0] == steps[1] == steps[2]
        actions = random_moves(inside.action_masks(), generator)
        steps = [
            (observations["observation"].tobytes(), rewards.tobytes(), terminations.tobytes(), infos["seat"].tobytes())
            for observations, rewards, terminations, _, infos in (envs.step(actions) for envs in (inside, outside, mixed))
        ]


def test_specs_are_looked_up_among_the_installed_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        def load(self) -> Any:
            return lambda spec, rules, num_players: (asked.append((spec, rules.preset, num_players)), Lowest())[1]

    asked: list[Any] = []
    monkeypatch.setattr("tonk_env.opponents.entry_points", lambda **_: [Entry()])
    env = TonkEnv("rockets", 3, opponents=["greedy", "drop:27"])
    assert asked == [("greedy", "rockets", 3), ("drop:27", "rockets", 3)]
    assert env.opponents.players[0] is not env.opponents.players[1]


@pytest.mark.parametrize("observation", ["dict", "vector"])
def test_vector_spaces_and_declared_autoreset(observation: str) -> None:
    envs = make_vec(5, rules="rockets", num_players=4, observation=observation)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.num_envs == 5
    observations, infos = envs.reset(seed=1)
    generator = np.random.default_rng(0)
    steps, episodes = 0, 0
    for _ in range(200):
        assert envs.observation_space.contains(observations)
        assert infos["action_mask"].dtype == np.int8
        assert infos["action_mask"].any(axis=1).all()
        assert np.array_equal(envs.action_masks(), infos["action_mask"])
        for mask in infos["action_mask"]:
            envs.single_action_space.sample(mask)
        moves = random_moves(infos["action_mask"], generator)
        observations, rewards, terminations, truncations, infos = envs.step(moves)
        assert rewards.dtype == np.float64
        assert terminations.dtype == truncations.dtype == bool
        done = terminations | truncations
        steps, episodes = steps + 5, episodes + int(done.sum())
        assert done.any() == ("final_obs" in infos)
        if done.any():
            assert np.array_equal(infos["_final_info"], done)
            assert all(envs.single_observation_space.contains(infos["final_obs"][i]) for i in np.flatnonzero(done))
            assert not infos["final_info"]["action_mask"].any()
    assert episodes > 20


def test_vector_statistics_count_whole_episodes() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make_vec(8, rules="points", num_players=3, match="hands"))
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(0)
    lengths, returns = np.zeros(8, dtype=int), np.zeros(8)
    for _ in range(300):
        _, rewards, terminations, truncations, infos = envs.step(random_moves(infos["action_mask"], generator))
        lengths += 1
        returns += rewards
        for i in np.flatnonzero(terminations | truncations):
            last = infos["final_info"]
            assert last["episode_length"][i] == lengths[i]
            assert last["episode_return"][i] == pytest.approx(returns[i])
            assert last["won"][i] <= (returns[i] > 0)
            if COUNTS_SAME_STEP:
                assert infos["episode"]["l"][i] == lengths[i]
                assert infos["episode"]["r"][i] == pytest.approx(returns[i])
            lengths[i], returns[i] = 0, 0.0


def test_vector_infos_are_laid_out_as_gymnasium_lays_them_out() -> None:
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    sync = make_vec(4, rules="rockets", num_players=2, vectorization_mode="sync", vector_kwargs=same_step)
    native = make_vec(4, rules="rockets", num_players=2)
    generator = np.random.default_rng(0)
    steps = []
    for envs in (sync, native):
        _, infos = envs.reset(seed=0)
        while "final_obs" not in infos:
            _, *rest, infos = envs.step(random_moves(infos["action_mask"], generator))
        row = int(np.flatnonzero(infos["_final_obs"])[0])
        steps.append((infos, infos["final_info"], infos["final_obs"][row]))
        assert [np.asarray(value).dtype for value in rest] == [np.float64, bool, bool]
        envs.close()
    for theirs, ours in zip(*steps, strict=True):
        assert set(theirs) - {"hands", "_hands", "opening_hands", "_opening_hands"} <= set(ours)
        for key in set(theirs) & set(ours):
            assert type(theirs[key]) is type(ours[key])
            if isinstance(ours[key], np.ndarray):
                assert (theirs[key].dtype, theirs[key].shape) == (ours[key].dtype, ours[key].shape)


def test_vector_illegal_moves() -> None:
    envs = make_vec(4, rules="points", num_players=2, illegal_reward=-3.0)
    _, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = 1
    actions[2] = 3
    before = envs.action_masks()
    _, rewards, terminations, _, infos = envs.step(actions)
    assert rewards[2] == -3
    assert terminations[2]
    assert infos["final_info"]["seat"][2] == 0
    strict = make_vec(4, rules="points", num_players=2, illegal="raise")
    strict.reset(seed=0)
    with pytest.raises(IllegalMoveError):
        strict.step(actions)
    assert np.array_equal(strict.action_masks(), before)
    for bad in ([1, 1, 1], [1, 1, 1, 483], [1.5] * 4, [[1]] * 4):
        with pytest.raises(ValueError, match="whole numbers from 0 to 482"):
            strict.step(bad)


def test_vector_reset_continues_and_resets_by_mask() -> None:
    one, other = make_vec(3, rules="rockets"), make_vec(3, rules="rockets")
    firsts = []
    for envs in (one, other):
        envs.reset(seed=5)
        firsts.append([envs.reset(seed=seed)[0]["observation"].tobytes() for seed in (5, None, None)])
    assert firsts[0] == firsts[1]
    assert len(set(firsts[0])) == 3
    before = one.reset(seed=5)[0]["observation"].copy()
    after = one.reset(options={"reset_mask": np.array([False, True, False])})[0]["observation"]
    assert [np.array_equal(before[i], after[i]) for i in range(3)] == [True, False, True]
    with pytest.raises(ValueError, match="reset_mask"):
        one.reset(options={"reset_mask": np.array([True])})


def test_vector_seats_are_spread_and_tables_differ() -> None:
    envs = make_vec(6, rules="rockets", num_players=3)
    observations, infos = envs.reset(seed=1)
    assert list(infos["seat"]) == [1, 2, 0, 1, 2, 0]
    assert len({row.tobytes() for row in observations["observation"]}) == 6


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_gymnasiums_own_vectorisation(mode: str) -> None:
    envs = make_vec(2, rules="points", num_players=3, match="hands", vectorization_mode=mode)
    try:
        observations, infos = envs.reset(seed=1)
        generator = np.random.default_rng(0)
        episodes = 0
        for _ in range(60):
            assert observations["observation"].dtype == np.int8
            masks = observations["action_mask"]
            assert np.array_equal(np.asarray(infos["action_mask"]), masks)
            observations, _, terminations, truncations, infos = envs.step(random_moves(masks, generator))
            episodes += int((terminations | truncations).sum())
        assert episodes > 2
    finally:
        envs.close()


@pytest.mark.parametrize("number", [0, -1, 2.5, True])
def test_as_many_tables_as_there_can_be(number: Any) -> None:
    with pytest.raises(ValueError, match="num_envs is a whole number from 1"):
        gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=number)


def test_rendering_many_tables_is_refused() -> None:
    with pytest.raises(ValueError, match="vectorization_mode"):
        make_vec(2, render_mode="rgb_array")
