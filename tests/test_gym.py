"""The Gymnasium doors: checkers, the learner's rewards and ends, opponents, seats, and many tables against one."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from tests.test_aec import deck
from tonk_env.batch import GREEDY, choose_from_observations
from tonk_env.opponents import RandomOpponent
from tonk_env.registration import GYMNASIUM_ID, register_envs
from tonk_env.single import TonkEnv
from tonk_env.table import IllegalMoveError, Table
from tonk_env.vector import TonkVectorEnv

register_envs()
COUNTS_SAME_STEP = tuple(map(int, gymnasium.__version__.split(".")[:2])) >= (1, 4)  # its wrapper does, from here on


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


class Greedy:
    """The compiled greedy player, asked from outside."""

    def __init__(self, envs: TonkVectorEnv | TonkEnv) -> None:
        self.layout = envs.layout

    def act(self, observations: Any, masks: Any, rows: Any = None) -> Any:
        return choose_from_observations(self.layout, GREEDY, 0, observations, masks)


class CompiledGreedy(Greedy):
    compiled = (GREEDY, 0)


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


# Many tables.


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


@pytest.mark.parametrize("rules, players", [("points", 4), ("rockets", 2), ("tunk", 3)])
def test_compiled_opponents_play_as_they_do_from_outside(rules: str, players: int) -> None:
    layout = TonkVectorEnv(1, rules, players)
    inside = TonkVectorEnv(32, rules, players, CompiledGreedy(layout), match="hands")
    outside = TonkVectorEnv(32, rules, players, Greedy(layout), match="hands")
    mixed = TonkVectorEnv(32, rules, players, [CompiledGreedy(layout), *[Greedy(layout)] * (players - 2)], match="hands")
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


def test_flattened_observations_begin_with_the_mask() -> None:
    env = TonkEnv("points", 2)
    observation, _ = env.reset(seed=0)
    flat = gymnasium.spaces.flatten(env.observation_space, observation)
    assert np.array_equal(flat[:483], observation["action_mask"])
    assert np.array_equal(flat[483:], observation["observation"])


def test_rendering_many_tables_is_refused() -> None:
    with pytest.raises(ValueError, match="vectorization_mode"):
        make_vec(2, render_mode="rgb_array")
