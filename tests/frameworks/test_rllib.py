"""RLlib plays, learns, survives the loss of a worker, resumes, joins a cluster and exports what others can play against."""

import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments
from rich.console import Console

from agents.cluster import ClusterTrainer, connect
from agents.cluster_modules import LEARNER, Seating
from agents.config import ConfigError, OpponentsConfig, TrainConfig, load_config
from agents.evaluate import evaluate
from agents.exporting import export_run
from agents.network import Network, NetworkAgent
from agents.runs import create_run, open_run
from agents.training import Trainer, resume, train
from tonk_env.rllib import TonkMultiAgentEnv
from tonk_env.table import IllegalMoveError

SMALL = (
    "network.torso=[64]", "ppo.num_tables=16", "ppo.steps=128", "ppo.minibatch=512", "threads=1", "evaluation.every=100",
    "evaluation.deals=100", "evaluation.final_deals=100", "evaluation.opponents=[random]", "evaluation.drop_range=[20]",
    "checkpoints.every=1", "opponents.snapshot_every=1", "opponents.baselines={greedy: 0.1, 'drop:20': 0.1}",
)  # fmt: skip
QUIET = Console(file=io.StringIO())


def config_of(root: Path, *overrides: str) -> TrainConfig:
    return load_config(root / "configs" / "cluster.yaml", (*SMALL, *overrides))


# ----- the environment, without any cluster


def play(env: TonkMultiAgentEnv, seed: int) -> tuple[MultiAgentEpisode, list[dict[str, Any]]]:
    """A whole episode of random moves in RLlib's own bookkeeping, and the hands that were settled in it."""
    generator = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    spaces = {"observation_space": env.observation_spaces, "action_space": env.action_spaces}
    episode = MultiAgentEpisode(agent_to_module_mapping_fn=lambda agent, _: agent, **spaces)
    episode.add_env_reset(observations=observations, infos=infos)
    hands: dict[int, dict[str, Any]] = {}
    while not episode.is_done:
        ((agent, observation),) = ((one, seen) for one, seen in observations.items() if one not in env._gone)
        assert env.observation_spaces[agent].contains(observation)
        action = int(generator.choice(np.flatnonzero(observation["action_mask"])))
        observations, rewards, ended, cut, infos = env.step({agent: action})
        episode.add_env_step(observations, {agent: action}, rewards, infos, terminateds=ended, truncateds=cut)
        hands |= {hand["hand"]: hand for info in infos.values() for hand in info.get("hands", [])}
    return episode, list(hands.values())


def test_rllibs_own_check_of_environments_passes() -> None:
    for players in (2, 4):
        check_multiagent_environments(TonkMultiAgentEnv({"rules": "rockets", "num_players": players}))


@pytest.mark.parametrize("rules, players", [("rockets", 2), ("rockets", 4), ("tunk", 3), ("points", 3)])
def test_returns_add_up_to_the_settlement(rules: str, players: int) -> None:
    env = TonkMultiAgentEnv({"rules": rules, "num_players": players, "match": "hands", "hands": 3, "match_reward": "hands"})
    scale = env.table.rules.scale
    for seed in range(10):
        episode, hands = play(env, seed)
        opened = env.table.opened
        for seat, agent in enumerate(env.possible_agents):
            if agent not in episode.agent_episodes:
                continue  # it never had a move
            if rules == "points" or rules == "tunk":
                points = [hand["scores"] for hand in hands] + [hand.scores for hand in opened]
                wanted = sum((sum(one) - one[seat]) / (players - 1) - one[seat] for one in points) / scale
            else:
                paid = [hand["payoffs"] for hand in hands] + [hand.scores for hand in opened]
                wanted = sum(one[seat] for one in paid) / scale
            assert episode.agent_episodes[agent].get_return() == pytest.approx(wanted, abs=1e-4)


def test_a_seat_that_is_eliminated_leaves_and_places_are_paid() -> None:
    env = TonkMultiAgentEnv({"rules": "points", "num_players": 4, "elimination": 30})
    left_early = 0
    for seed in range(10):
        episode, _ = play(env, seed)
        lengths = {agent: one.env_t_to_agent_t if hasattr(one, "env_t_to_agent_t") else len(one)
                   for agent, one in episode.agent_episodes.items()}  # fmt: skip
        assert set(lengths) <= set(env.possible_agents)
        assert all(one.is_done for one in episode.agent_episodes.values())
        if len(episode.agent_episodes) == 4:
            assert sum(one.get_return() for one in episode.agent_episodes.values()) == pytest.approx(0, abs=1e-4)
        left_early += sum(env.table.places()[seat] > 2 for seat in range(4))
    assert left_early > 10


def test_illegal_moves_lose_or_raise() -> None:
    env = TonkMultiAgentEnv({"rules": "points"})
    env.reset(seed=1)
    _, rewards, ended, _, infos = env.step({"player_0": 100})
    assert (rewards, ended["__all__"], infos["player_0"]) == ({"player_0": -1.0, "player_1": 0.0}, True, {"illegal": True})
    strict = TonkMultiAgentEnv({"rules": "points", "illegal": "raise"})
    strict.reset(seed=1)
    with pytest.raises(IllegalMoveError):
        strict.step({"player_0": 100})
    with pytest.raises(ValueError, match="turn of player_0 alone"):
        strict.step({"player_1": 1})


def test_workers_play_different_hands() -> None:
    class Context(dict):  # type: ignore[type-arg]
        worker_index = 2

    one, other = TonkMultiAgentEnv({"rules": "points"}), TonkMultiAgentEnv(Context(rules="points"))
    one.reset(seed=5)
    other.reset(seed=5)
    assert one.table.deck != other.table.deck


def test_seats_are_drawn_by_share_and_once_for_an_episode() -> None:
    class Episode:
        def __init__(self, number: int) -> None:
            self.id_ = f"{number:032x}"

    opponents = OpponentsConfig(current=0.5, snapshots=0.2, baselines={"drop:27": 0.3}, active=2)
    seating = Seating(opponents, 3)
    drawn = [[seating(f"player_{seat}", Episode(number)) for seat in range(3)] for number in range(6000)]
    assert drawn == [[seating(f"player_{seat}", Episode(number)) for seat in range(3)] for number in range(6000)]
    assert all(LEARNER in seats for seats in drawn)
    share = np.mean([[module == LEARNER for module in seats] for seats in drawn], axis=0)
    assert share == pytest.approx([seating.learners_share] * 3, abs=0.03)
    others = [module for seats in drawn for module in seats]
    assert others.count("drop_27") / 12000 == pytest.approx(0.3, abs=0.02)
    assert others.count("snapshot_0") / 12000 == pytest.approx(0.1, abs=0.02)


# ----- training on a cluster of this machine


@pytest.fixture(scope="module")
def trainer(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterTrainer]:
    """A run that was stopped after two iterations; its workers are alive."""
    config = config_of(root, "budget.decisions=12000")
    connect(config)
    run = create_run(config, "cluster", "run", tmp_path_factory.mktemp("runs"))
    trainer = ClusterTrainer(config, run, QUIET)
    try:
        trainer.first = trainer.network()  # type: ignore[attr-defined]
        trainer.run(stop_after=2)
        yield trainer
    finally:
        trainer.close()


def same(one: Network, other: Network) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def test_every_move_was_legal_and_rewards_are_the_settlement(trainer: ClusterTrainer) -> None:
    workers = trainer.algorithm.env_runner_group
    samples = workers.foreach_env_runner(lambda runner: runner.sample(num_episodes=30), local_env_runner=False)
    episodes = [episode for sample in samples for episode in sample if episode.is_done]
    assert len(episodes) >= 60
    modules = set()
    for episode in episodes:
        returns = {}
        for agent, one in episode.agent_episodes.items():
            modules.add(one.module_id)
            masks, actions = one.get_observations()["action_mask"][:-1], one.get_actions()
            assert len(actions)
            assert masks[np.arange(len(actions)), actions].all()
            returns[agent] = one.get_return()
            (hand,) = one.get_infos()[-1]["hands"]
            seat = int(agent[-1])
            assert returns[agent] == pytest.approx((hand["scores"][1 - seat] - hand["scores"][seat]) / 20, abs=1e-5)
    assert LEARNER in modules
    assert modules & {"greedy", "drop_20"}
    assert modules & {"snapshot_0", "snapshot_1"}


def test_workers_hold_the_learner_and_the_snapshots_of_the_pool(trainer: ClusterTrainer) -> None:
    trainer._seat_snapshots()
    held = trainer.algorithm.env_runner_group.foreach_env_runner(
        lambda runner: {name: runner.module[name].get_state() for name in ("learner", "snapshot_0", "snapshot_1")},
        local_env_runner=False,
    )
    assert len(held) == 2
    assert len(trainer.pool.active) == 2
    for worker in held:
        for name, number in zip(("snapshot_0", "snapshot_1"), trainer.pool.active, strict=True):
            for key, value in trainer.pool.networks[number].state_dict().items():
                np.testing.assert_array_equal(worker[name][f"network.{key}"], value.numpy())
        for key, value in trainer.network().state_dict().items():
            np.testing.assert_array_equal(worker["learner"][f"network.{key}"], value.numpy())


def test_a_killed_worker_does_not_lose_the_run(trainer: ClusterTrainer) -> None:
    pids = trainer.algorithm.env_runner_group.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
    assert len(set(pids)) == 2
    before, iteration = trainer.decisions, trainer.iteration
    trainer.stopping = False
    threading.Timer(1.0, lambda: os.kill(pids[0], signal.SIGKILL)).start()
    trainer.run()
    assert trainer.finished
    assert trainer.decisions >= 12000 > before
    assert trainer.iteration > iteration
    now = trainer.algorithm.env_runner_group.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
    assert len(set(now)) == 2
    assert pids[0] not in now
    assert pids[1] in now
    assert trainer.algorithm.env_runner_group.num_remote_worker_restarts() >= 1


def test_learning_moved_the_policy_for_the_better(trainer: ClusterTrainer) -> None:
    first, last = trainer.first, trainer.network()  # type: ignore[attr-defined]
    assert not same(first, last)
    agents = [NetworkAgent(last, "last"), NetworkAgent(first, "first")]
    difference = evaluate(agents, trainer.rules, 2, 500, seed=9, pairs=[(0, 1)]).against(0, 1)
    assert difference.low > 0


def test_the_export_plays_in_the_same_table_as_a_run_without_rllib(trainer: ClusterTrainer, root: Path, tmp_path: Path) -> None:
    other = train(load_config(root / "configs" / "smoke.yaml"), "smoke", "local", tmp_path, QUIET)
    command = [sys.executable, "-m", "agents", "evaluate", str(trainer.folder), str(other), "random"]
    command += ["--rules", "points", "--set", "match=hands", "--players", "2", "--deals", "50"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "random" in done.stdout
    exported = export_run(trainer.folder, tmp_path / "best.onnx")
    assert exported.read_bytes()
    newest = trainer.store.folders()[-1]
    assert export_run(newest, tmp_path / "newest.onnx").is_file()


def optimizer_of(trainer: ClusterTrainer) -> dict[str, Any]:
    """Adam's state and settings for the learner."""
    return dict(trainer.optimizers()["learner_default_optimizer"]["state"])


def test_a_run_resumes_where_it_stopped(trainer: ClusterTrainer) -> None:
    """The last test of this run: its workers give way to those of a second trainer, which takes over all that it left."""
    network, before = trainer.network(), optimizer_of(trainer)
    trainer.algorithm.stop()
    config = open_run(trainer.folder, ["budget.decisions=16000"])
    second = ClusterTrainer(config, trainer.folder, QUIET)
    try:
        second.restore()
        assert second.decisions == trainer.decisions
        assert same(second.network(), network)
        assert second.pool.ring == trainer.pool.ring
        after = optimizer_of(second)
        assert after["state"][0]["step"] == before["state"][0]["step"] > 0
        np.testing.assert_array_equal(after["state"][0]["exp_avg"], before["state"][0]["exp_avg"])
        second.run(stop_after=1)
        assert second.decisions > trainer.decisions
        rate = 1e-3 * (1 - trainer.decisions / 16000)  # at the start of the update
        assert optimizer_of(second)["param_groups"][0]["lr"] == pytest.approx(rate, rel=0.01)
    finally:
        second.algorithm.stop()


def test_a_run_stays_with_or_without_rllib(trainer: ClusterTrainer) -> None:
    with pytest.raises(ConfigError, match="cannot go from 2 to 0"):
        resume(trainer.folder, ["cluster.workers=0"], QUIET)


# ----- another cluster


def test_the_script_joins_a_cluster_by_its_address_and_leaves_it_running(root: Path, tmp_path: Path) -> None:
    ray.shutdown()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    ray_command = str(Path(sys.executable).with_name("ray"))
    place = tempfile.TemporaryDirectory(prefix="ray")  # short, as sockets lie in it; and nobody finds this cluster by itself
    head = subprocess.Popen(
        [ray_command, "start", "--head", f"--port={port}", "--num-cpus=3", "--include-dashboard=false", "--block",
         f"--temp-dir={place.name}", "--object-store-memory=200000000"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )  # fmt: skip
    try:
        address = f"127.0.0.1:{port}"
        for _ in range(60):
            assert head.poll() is None, "the cluster did not start"
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(1)
        settings = [*SMALL, f"cluster.address={address}", "budget.decisions=2000"]
        command = [sys.executable, str(root / "train.py"), str(root / "configs" / "cluster.yaml"), *settings]
        command += ["--name", "joined"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert (tmp_path / "runs" / "joined" / "opponent.onnx").is_file()
        assert head.poll() is None
    finally:
        head.terminate()
        head.wait(60)
        place.cleanup()


def test_an_address_without_a_cluster_is_one_sentence(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(root / "train.py"), str(root / "configs" / "cluster.yaml"), "cluster.address=127.0.0.1:1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert "cluster.address is '127.0.0.1:1', but no Ray cluster answers there" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "runs").exists()


def test_the_example_runs(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(root / "examples" / "rllib_selfplay.py")],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("hands, entropy") == 6


def test_a_cluster_run_is_another_class_of_trainer_only_with_workers(root: Path) -> None:
    from agents.training import trainer_of

    assert trainer_of(load_config(root / "configs" / "quick.yaml")) is Trainer
