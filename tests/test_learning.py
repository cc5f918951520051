"""Checks the learner's arithmetic: every seat's own returns, heads that only training has, the teacher, what stays hidden."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.config import TrainConfig, load_config
from agents.network import Judgement, frozen_copy
from agents.ppo import _worth_loss
from agents.rollout import RolloutBuffer
from agents.sampling import legal_actions
from agents.trainer import Trainer
from tonk_env.kernels.players import EXPERT

ALL = (
    "ppo.all_seats=true", "network.oracle_head=[16]", "ppo.belief_coef=0.2", "opponents.current=1",
    "teacher.agent=expert", "teacher.until=0.3", "teacher.weight=0.1", "teacher.plays=1", "teacher.plays_until=0.6",
)  # fmt: skip
Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]


def trainer_of(root: Path, folder: Path, *overrides: str) -> Trainer:
    folder.mkdir(parents=True, exist_ok=True)
    return Trainer(load_config(root / "configs" / "smoke.yaml", overrides), folder, Console(quiet=True))


def config_of(root: Path, *overrides: str) -> TrainConfig:
    return load_config(root / "configs" / "smoke.yaml", overrides)


@dataclass
class Rollout:
    """What the only iteration of a trainer brought: arrays [S, T, …] of S steps at T tables."""

    trainer: Trainer
    buffer: RolloutBuffer
    paid: Floats
    ended: np.ndarray[Any, np.dtype[np.bool_]]
    last_seats: np.ndarray[Any, np.dtype[np.int8]]
    last_values: Floats

    def __getattr__(self, name: str) -> np.ndarray[Any, Any]:
        column = self.buffer.columns[name]
        return column.reshape(len(self.paid), -1, *column.shape[1:])

    @property
    def learned(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        places = np.zeros(self.seats.size, dtype=bool)
        places[self.buffer.learned] = True
        return places.reshape(self.seats.shape)


def filled(root: Path, folder: Path, *overrides: str) -> Rollout:
    """Play and learn from one iteration."""
    brief = ("budget.decisions=512", "evaluation.deals=2", "evaluation.final_deals=2", "evaluation.opponents=[greedy]")
    trainer = trainer_of(root, folder, *brief, "ppo.gae_lambda=0.9", *overrides)
    buffer, seen = trainer.model.rollout_buffer, []
    compute = buffer.compute

    def watched(*given: Any) -> None:
        seen.append([np.array(array) for array in given])
        compute(*given)

    buffer.compute = watched  # type: ignore[method-assign]
    trainer.run()
    last_values, last_seats, ended, paid = seen[0]
    assert len(seen) == 1
    return Rollout(trainer, buffer, paid, ended, last_seats, last_values)


# -- returns --------------------------------------------------------------------------------------------------------


def plainly(one: Rollout, table: int, seat: int) -> list[tuple[int, float]]:
    """Advantages of one seat's decisions at one table, by the definition."""
    found: list[tuple[int, float]] = []
    on_turn = one.last_seats[table] == seat
    after: tuple[float, float] | None = (float(one.last_values[table]), 0.0) if on_turn else None
    paid = 0.0
    for step in reversed(range(len(one.paid))):
        if one.ended[step, table, seat]:
            after, paid = (0.0, 0.0), 0.0
        paid += float(one.paid[step, table, seat])
        if one.seats[step, table] != seat:
            continue
        value, advantage = float(one.values[step, table]), 0.0
        if after is not None:  # (value, advantage) of the seat's next decision
            advantage = paid + after[0] - value + one.buffer.gae_lambda * after[1]
            found.append((step, advantage))
        after, paid = (value, advantage), 0.0
    return found


@pytest.mark.parametrize(
    "overrides", [(), ("ppo.all_seats=true",), ALL, ("ppo.all_seats=true", "game.num_players=4", "opponents.current=0.5")]
)
def test_advantages_follow_their_own_seat(root: Path, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    one = filled(root, tmp_path / "run", *overrides)
    found = 0
    for table in range(one.seats.shape[1]):
        for seat in range(one.trainer.num_players):
            for step, advantage in plainly(one, table, seat):
                assert one.learned[step, table]
                assert one.advantages[step, table] == pytest.approx(advantage, abs=1e-4)
                found += 1
    assert found == one.learned.sum()


def test_without_bootstrapping_a_seat_gets_what_its_episode_pays(root: Path, tmp_path: Path) -> None:
    """With lambda 1 a return is the sum of what the seat was paid from the decision to the end of its hand."""
    one = filled(root, tmp_path / "run", "ppo.all_seats=true", "opponents.current=1", "ppo.gae_lambda=1")
    checked = 0
    for step, table in np.ndindex(one.seats.shape):
        seat = one.seats[step, table]
        ends = np.flatnonzero(one.ended[step:, table, seat])
        if len(ends):
            paid = one.paid[step : step + ends[0] + 1, table, seat].sum()
            assert one.returns[step, table] == pytest.approx(paid, abs=1e-4)
            checked += 1
    assert checked > 300


def test_both_seats_of_a_table_are_learned_from_and_pay_each_other(root: Path, tmp_path: Path) -> None:
    alone = ("opponents.current=1", "opponents.snapshots=0", "opponents.baselines={}")
    one = filled(root, tmp_path / "run", "ppo.all_seats=true", *alone)
    assert one.trainer.env.learning.all()
    assert 0.3 < (one.seats == 0).mean() < 0.7
    np.testing.assert_allclose(one.paid.sum(axis=2), 0, atol=1e-5)
    assert one.paid.any()
    assert one.learned.mean() > 0.9


def test_seats_of_others_are_never_learned_from(root: Path, tmp_path: Path) -> None:
    trainer = trainer_of(root, tmp_path / "run", "ppo.all_seats=true", "opponents.current=0.3", "game.num_players=3")
    env = trainer.env
    env.reset()
    for _ in range(60):
        here = (np.arange(env.num_envs), env.seats)
        assert env.learning[here].all()
        assert (env.members[env.learning] == -1).all()
        assert (env.compiled[env.learning] == -1).all()
        assert env.learning[np.arange(env.num_envs), env.learner].all()
        env.step(env.batch.choose_random())
    assert not env.learning.all()


def test_minibatches_give_every_learned_decision_once(root: Path, tmp_path: Path) -> None:
    one = filled(root, tmp_path / "run", *ALL)
    parts = list(one.buffer.minibatches(100))
    sizes = [len(part.actions) for part in parts]
    assert sum(sizes) == one.learned.sum()
    assert max(sizes) - min(sizes) <= 1
    for part in parts:
        assert bool((part.legal == part.actions[:, None]).any(dim=1).all())
        assert bool((part.legal == part.advice[:, None]).any(dim=1).all())
        assert part.observations.dtype == part.hidden.dtype == torch.int8
    returned = np.sort(np.concatenate([part.returns.numpy() for part in parts]))
    np.testing.assert_array_equal(returned, np.sort(one.returns[one.learned]))


def test_legal_actions_are_those_of_the_mask() -> None:
    masks = (np.random.default_rng(0).random((50, 90)) < 0.1).astype(np.int8)
    masks[:, 7] = 1
    for mask, row in zip(masks, legal_actions(masks), strict=True):
        np.testing.assert_array_equal(row[row >= 0], np.flatnonzero(mask))
        assert (row[mask.sum() :] == -1).all()
    with pytest.raises(ValueError, match="allows no action"):
        legal_actions(np.zeros((2, 5), np.int8))


# -- what only training sees ----------------------------------------------------------------------------------------


def test_hidden_hands_are_those_of_the_others_from_the_left(root: Path, tmp_path: Path) -> None:
    env = trainer_of(root, tmp_path / "run", "game.num_players=3").env
    env.reset()
    bits = env.hidden_hands().reshape(env.num_envs, 2, 64)
    for table in range(env.num_envs):
        for place in range(2):
            seat = (int(env.seats[table]) + 1 + place) % 3
            held = sum(1 << int(bit) for bit in np.flatnonzero(bits[table, place]))
            assert held == int(env.batch.tables["hand"][table, seat])


def test_the_player_is_the_same_whatever_the_others_hold(root: Path, tmp_path: Path) -> None:
    """Hidden cards move the second critic and nothing else, and are not in what plays."""
    one = filled(root, tmp_path / "run", *ALL)
    policy = one.trainer.model.policy
    part = next(one.buffer.minibatches(64))
    with torch.no_grad():
        said = policy.judge(part.observations, part.legal, part.hidden, part.actions, part.advice)
        other = policy.judge(part.observations, part.legal, 1 - part.hidden, part.actions, part.advice)
    for name in ("log_probs", "advised", "entropy", "values", "belief"):
        torch.testing.assert_close(getattr(said, name), getattr(other, name))
    assert said.oracle is not None
    assert other.oracle is not None
    assert not torch.allclose(said.oracle, other.oracle)
    names = set(frozen_copy(policy).state_dict())
    assert not [name for name in names if "oracle" in name or "belief" in name]
    assert names == set(frozen_copy(trainer_of(root, tmp_path / "plain").model.policy).state_dict())


def test_the_second_critic_sees_more(root: Path, tmp_path: Path) -> None:
    """On the same rollouts, hands in sight foresee returns better than hands out of sight."""
    brief = ("evaluation.deals=2", "evaluation.final_deals=2", "evaluation.opponents=[greedy]")
    overrides = ("budget.decisions=20480", "ppo.learning_rate=0.003", "ppo.num_tables=128", "ppo.epochs=4", *brief)
    trainer = trainer_of(root, tmp_path / "run", *overrides, "network.oracle_head=[64]", "network.torso=[64]")
    trainer.run()
    buffer, policy = trainer.model.rollout_buffer, trainer.model.policy
    part = next(buffer.minibatches(10_000))
    with torch.no_grad():
        said = policy.judge(part.observations, part.legal, part.hidden, part.actions, part.advice)
    assert said.oracle is not None
    assert (said.oracle - part.returns).pow(2).mean() < 0.95 * (said.values - part.returns).pow(2).mean()


def test_a_teacher_is_learned_quickly(root: Path, tmp_path: Path) -> None:
    """Advice is what the compiled player would do, and by imitation alone the policy comes to agree with it."""
    shared = ("budget.decisions=60000", "ppo.num_tables=128", "network.torso=[64]", "evaluation.every=1000")
    agreed = {}
    for name, teacher in (("taught", ("teacher.agent=expert", "teacher.until=0.99")), ("alone", ())):
        trainer = trainer_of(root, tmp_path / name, *shared, *teacher)
        trainer.run(stop_after=15)
        assert trainer.model.stage == ("imitation" if name == "taught" else "PPO")
        env, network = trainer.env, trainer.network()
        same = []
        for _ in range(8):
            advice, masks = env.advice(EXPERT, 0), env.action_masks()
            assert masks[np.arange(env.num_envs), advice].all()
            logits = np.where(masks == 1, network.logits(env.batch.observations), -np.inf)
            same.append((logits.argmax(axis=1) == advice).mean())
            env.step(advice)
        agreed[name] = np.mean(same)
    assert agreed["taught"] > agreed["alone"] + 0.05


def test_moves_are_worth_what_play_outs_bring(root: Path, tmp_path: Path) -> None:
    """A drop ends the hand, so all its play-outs bring what the settlement pays; moves that are filled up are worth 0."""
    env = trainer_of(root, tmp_path / "run", "ppo.num_tables=64", "opponents.current=0", "opponents.snapshots=0").env
    env.reset()
    legal = legal_actions(env.action_masks())
    before = env.batch.tables.copy()
    worths = env.move_values(legal, 3)
    np.testing.assert_array_equal(env.batch.tables, before)  # nothing was played
    assert (worths[legal < 0] == 0).all()
    drops = legal[:, 0] == 0
    assert drops.sum() > 20
    env.step(np.where(drops, 0, env.batch.choose_random()))
    np.testing.assert_allclose(worths[drops, 0], env.paid[np.arange(64), before["turn"]][drops], atol=1e-5)


def test_play_outs_go_on_as_the_expert_does(root: Path, tmp_path: Path) -> None:
    """On average over many hands, the expert's own move is worth more than another legal one."""
    settings = ("ppo.num_tables=512", "opponents.baselines={expert: 1}", "opponents.current=0", "opponents.snapshots=0")
    env = trainer_of(root, tmp_path / "run", *settings).env
    env.reset()
    gains = []
    for _ in range(4):
        legal, advice = legal_actions(env.action_masks()), env.advice(EXPERT, 0)
        worths = env.move_values(legal, 4)
        several = legal[:, 1] >= 0
        own = (worths * (legal == advice[:, None])).sum(axis=1)
        others = (worths.sum(axis=1) - own) / np.maximum((legal >= 0).sum(axis=1) - 1, 1)
        gains.append((own - others)[several])
        env.step(advice)
    gain = np.concatenate(gains)
    assert gain.mean() > 4 * gain.std() / len(gain) ** 0.5


def test_worth_is_learned_and_lapses_are_mended() -> None:
    """The loss draws probability to moves of more worth, and to the teacher's where the policy is sure of a worse one."""
    log_probs = torch.log_softmax(torch.tensor([[0.0, 0.0], [-20.0, 0.0]]), dim=1).requires_grad_()
    legal, worths = torch.tensor([[1, 2], [1, 2]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    advice = torch.tensor([2, 1])
    advised = log_probs.gather(1, torch.tensor([[1], [0]])).squeeze(1)
    said = Judgement(advised, log_probs, advised, advised, advised, None, None)
    part = SimpleNamespace(worths=worths, legal=legal, advice=advice)
    _worth_loss(said, part).backward()  # type: ignore[arg-type, no-untyped-call]
    assert log_probs.grad is not None
    assert log_probs.grad[0, 0] < -0.1  # up, though the teacher would not
    assert log_probs.grad[1, 0] < -0.1  # up, where chances alone would not tell


def test_the_teacher_has_its_time_and_then_fades(root: Path, tmp_path: Path) -> None:
    """2,048 decisions in four iterations: imitation in the first two, an anchor of falling weight after."""
    settings = ("teacher.agent=drop:20", "teacher.until=0.5", "teacher.weight=0.4", "teacher.learning_rate=0.01")
    trainer = trainer_of(root, tmp_path / "run", *settings, "ppo.learning_rate=0.004", "ppo.entropy=0.2", "ppo.entropy_end=0")
    model = trainer.model
    seen = []
    for step in (0, 512, 1024, 1536, 2048):
        model._update_current_progress_remaining(step, 0)
        rate = model.lr_schedule(model._current_progress_remaining)
        seen.append((model.stage == "imitation", *(round(value, 6) for value in (model.teacher_weight, rate, model.ent_coef))))
    assert seen == [
        (True, 1.0, 0.01, 0.2), (True, 1.0, 0.007, 0.2), (False, 0.4, 0.004, 0.2), (False, 0.2, 0.002, 0.1), (False, 0, 0, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "rates"),
    [
        (("teacher.plays_learning_rate=0.008",), [0.016, 0.012, 0.008, 0.006, 0.004, 0.002, 0]),
        ((), [0.016, 0.01, 0.004, 0.004, 0.004, 0.002, 0]),
    ],
)
def test_the_step_size_falls_from_stage_to_stage(
    root: Path, tmp_path: Path, settings: tuple[str, ...], rates: list[float]
) -> None:
    stages = ("teacher.agent=expert", "teacher.until=0.25", "teacher.plays=1", "teacher.plays_until=0.5")
    sizes = ("teacher.learning_rate=0.016", "ppo.learning_rate=0.004", *settings)
    model = trainer_of(root, tmp_path / "run", *stages, *sizes).model
    shares = (0, 0.125, 0.25, 0.375, 0.5, 0.75, 1)
    assert [model.lr_schedule(1 - share) for share in shares] == pytest.approx(rates)


@pytest.mark.parametrize("agent", ["random", "search:10", "cfr:x.npz", "nobody"])
def test_who_cannot_teach_is_refused(root: Path, agent: str) -> None:
    with pytest.raises(ValueError, match=r"teacher\.agent"):
        config_of(root, f"teacher.agent={agent}")


@pytest.mark.parametrize(
    "key", ["network.oracle_head=[8]", "ppo.belief_coef=0.1", "ppo.all_seats=true", "teacher.agent=expert"]
)
def test_a_cluster_refuses_what_it_does_not_offer(root: Path, key: str) -> None:
    with pytest.raises(ValueError, match=rf"{key.partition('=')[0]} is not offered with cluster\.workers"):
        config_of(root, key, "cluster.workers=2")


def test_a_run_with_everything_resumes_exactly(root: Path, tmp_path: Path) -> None:
    whole = trainer_of(root, tmp_path / "whole", *ALL)
    whole.run()
    trainer_of(root, tmp_path / "broken", *ALL).run(stop_after=2)
    again = trainer_of(root, tmp_path / "broken", *ALL)
    again.restore()
    again.run()
    for one, other in zip(whole.model.policy.parameters(), again.model.policy.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
