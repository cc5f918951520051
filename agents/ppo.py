"""MaskablePPO for self-play: every seat's own returns, heads that only training needs, schedules that follow the budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from torch.nn import functional

from agents.config import PPOConfig, TeacherConfig, TrainConfig
from agents.heuristics import KINDS
from agents.network import Judgement, TonkPolicy, policy_kwargs
from agents.rollout import Minibatch, RolloutBuffer
from agents.sampling import legal_actions
from agents.specs import parse_spec

IMITATION, PLAYS, PPO = "imitation", "play-outs", "PPO"  # stages of learning
ASIDE = 0.05  # weight of the critics beside the teacher's lessons, whose gradients theirs would drown
LAPSE = 0.3  # weight of a lapse from the teacher beside what the moves are worth


class SeatsVecEnv(Protocol):
    """What the learner plays on beyond the library's ``VecEnv``: see ``SelfPlayVecEnv``."""

    num_envs: int
    num_players: int
    paid: NDArray[np.float32]
    ended: NDArray[np.bool_]

    def look(self) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int8]]:
        """Return observations, masks and seats int8[T, …], copied."""

    def play(self, actions: NDArray[np.int64]) -> None:
        """Play one decision of the learner at every table."""

    def hidden_hands(self) -> NDArray[np.int8]:
        """Return int8[T, H], the others' cards."""

    def move_values(self, legal: NDArray[np.int16], plays: int) -> NDArray[np.float32]:
        """Return float32[T, K], what legal moves earn when the hand is played out."""

    def advice(self, kind: int, param: int) -> NDArray[np.int64]:
        """Return int64[T], what a compiled player would do."""


class TonkPPO(MaskablePPO):
    """MaskablePPO whose schedules follow ``progress()``, the share of the budget used up (0 to 1).

    Beyond the library's loss there may be a second critic that sees all hands, whose values then are those that
    advantages are measured by; a head that guesses the others' cards; and a teacher. At first the policy only imitates
    it, in the positions to which its own play leads. Then it may learn from play-outs by the teacher after each legal move:
    the probability of moves follows their worth. Both are done in one pass over each iteration, and the critics learn the
    while. In PPO the teacher may stay as an anchor, by a weight that falls to 0.
    """

    rollout_buffer: RolloutBuffer
    policy: TonkPolicy

    def __init__(self, config: TrainConfig, env: SeatsVecEnv, progress: Callable[[int], float]) -> None:
        self.settings: PPOConfig = config.ppo
        self.teacher: TeacherConfig = config.teacher
        self.stage, self.teacher_weight = PPO, 0.0
        self.progress = progress
        self.tables = env
        ppo = config.ppo
        self.looks = bool(config.network.oracle_head or ppo.belief_coef)  # whether hidden cards are needed
        hidden = env.hidden_hands().shape[1] if self.looks else 0
        super().__init__(
            TonkPolicy,
            env,  # type: ignore[arg-type]
            learning_rate=_Rate(ppo, config.teacher),
            n_steps=ppo.steps,
            batch_size=ppo.minibatch,
            n_epochs=ppo.epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            clip_range=ppo.clip,
            normalize_advantage=ppo.normalize_advantage,
            ent_coef=ppo.entropy,
            vf_coef=ppo.value_coef,
            max_grad_norm=ppo.max_grad_norm,
            target_kl=ppo.target_kl,
            rollout_buffer_class=RolloutBuffer,
            rollout_buffer_kwargs={"seed": config.seed},
            policy_kwargs=policy_kwargs(
                config.network, config.game.rule_set(), config.game.num_players, hidden, ppo.belief_coef > 0
            ),
            seed=config.seed % 2**32,
            device=config.device,
        )

    def collect_rollouts(  # type: ignore[override]
        self, env: Any, callback: BaseCallback, rollout_buffer: RolloutBuffer, n_rollout_steps: int, use_masking: bool = True
    ) -> bool:
        """Play ``steps`` decisions at every table. Returns False if a callback says to stop."""
        del env, n_rollout_steps, use_masking  # the library's; the tables are this object's own, and masks always used
        buffer, tables = rollout_buffer, self.tables
        self.policy.set_training_mode(False)
        self._update_current_progress_remaining(self.num_timesteps, 0)  # the stage decides what is written down
        buffer.reset()
        callback.on_rollout_start()
        paid, ended = [], []
        for _ in range(self.n_steps):
            self._decide(buffer)
            paid.append(tables.paid.copy())
            ended.append(tables.ended.copy())
            callback.update_locals({"self": self})
            if not callback.on_step():
                return False
        observations, _, seats = tables.look()
        with torch.no_grad():
            last = self.policy.foresee(self._tensor(observations), self._tensor(self._hidden())).cpu().numpy()
        buffer.compute(last, seats, np.stack(ended), np.stack(paid))
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Learn from what was collected: passes over it in minibatches."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        sums: dict[str, Any] = defaultdict(float)
        steps = 0
        for part in self._passes():
            terms = self._terms(part)
            if self.target_kl is not None and terms["approx_kl"].item() > 1.5 * self.target_kl:
                break
            self._descend(terms["loss"])
            steps += 1
            for name, value in terms.items():
                sums[name] = sums[name] + value.detach()
        self._log({name: float(total) / steps for name, total in sums.items()})

    def _passes(self) -> Iterator[Minibatch]:
        """Yield the minibatches of all epochs."""
        for _ in range(self.n_epochs if self.stage == PPO else 1):
            size = self.teacher.minibatch if self.stage == IMITATION else self.settings.minibatch
            yield from self.rollout_buffer.minibatches(size)
            self._n_updates += 1

    def _decide(self, buffer: RolloutBuffer) -> None:
        """Take and play the decision of every table, and write down what the loss will need to know of it."""
        tables = self.tables
        observations, masks, seats = tables.look()
        legal, hidden = legal_actions(masks), self._hidden()
        if self.stage == PLAYS:
            buffer.note(worths=tables.move_values(legal, self.teacher.plays))
        if self.teacher_weight:
            spec = parse_spec(self.teacher.agent or "")
            buffer.note(advice=tables.advice(KINDS[spec.kind], spec.param))
        with torch.no_grad():
            drawn = self.policy.decide(self._tensor(observations), self._tensor(legal).long(), self._tensor(hidden))
        actions, values, log_probs = (part.cpu().numpy() for part in drawn)
        buffer.note(
            observations=observations, legal=legal, hidden=hidden, seats=seats, actions=actions, values=values,
            log_probs=log_probs,
        )  # fmt: skip
        tables.play(actions)
        self.num_timesteps += len(actions)

    def _hidden(self) -> NDArray[np.int8]:
        return self.tables.hidden_hands() if self.looks else np.zeros((self.tables.num_envs, 0), np.int8)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _terms(self, part: Minibatch) -> dict[str, torch.Tensor]:
        """Return the loss of a minibatch and what it is made of, by the names in the log."""
        said = self.policy.judge(part.observations, part.legal, part.hidden, part.actions, part.advice)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        gain = part.advantages
        if self.normalize_advantage:
            gain = gain - gain.mean()
            gain = gain / (gain.square().mean().sqrt() + 1e-8)
        change = said.log_probs - part.log_probs
        ratio = change.exp()
        policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - clip, 1 + clip)).mean()
        value_loss = (said.values - part.returns).square().mean()
        entropy_loss = -said.entropy.mean()
        loss = self._critics * value_loss
        if self.stage != IMITATION:
            gained = policy_loss if self.stage == PPO else _worth_loss(said, part)
            loss = loss + gained + self.ent_coef * entropy_loss
        terms = {"policy_gradient_loss": policy_loss, "value_loss": value_loss, "entropy_loss": entropy_loss}
        for name, weight, extra in self._extra_losses(said, part):
            terms[name] = extra
            loss = loss + weight * extra
        with torch.no_grad():
            terms["approx_kl"] = (ratio - 1 - change).mean()
            terms["clip_fraction"] = ((ratio - 1).abs() > clip).float().mean()
        return {**terms, "loss": loss}

    def _extra_losses(self, said: Judgement, part: Minibatch) -> list[tuple[str, float, torch.Tensor]]:
        """Return name, weight and loss of every head that only training has, and of the teacher."""
        extras = []
        if said.oracle is not None:
            extras.append(("oracle_loss", self._critics, (said.oracle - part.returns).square().mean()))
        if said.belief is not None:
            guess = functional.binary_cross_entropy_with_logits(said.belief, part.hidden.float())
            extras.append(("belief_loss", self.settings.belief_coef, guess))
        if self.teacher_weight and self.stage != PLAYS:
            extras.append(("teacher_loss", self.teacher_weight, -said.advised.mean()))
        return extras

    @property
    def _critics(self) -> float:
        """Weight of each critic's loss at this stage."""
        return self.vf_coef if self.stage == PPO else ASIDE * self.vf_coef

    def _descend(self, loss: torch.Tensor) -> None:
        self.policy.optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()

    def _log(self, means: dict[str, float]) -> None:
        for name, value in means.items():
            self.logger.record(f"train/{name}", value)
        self.logger.record("train/explained_variance", self.rollout_buffer.foreseen())
        self.logger.record("train/clip_range", self.clip_range(self._current_progress_remaining))  # type: ignore[operator]
        if self.teacher.agent:
            self.logger.record("train/teacher_weight", self.teacher_weight)

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        used = self.progress(num_timesteps)
        self._current_progress_remaining = 1.0 - used
        self.stage, share = _stage(used, self.teacher)
        alone = share if self.stage == PPO else 0.0
        self.ent_coef = _line(self.settings.entropy, self.settings.entropy_end, alone)
        self.teacher_weight = 0.0
        if self.teacher.agent:
            self.teacher_weight = _line(self.teacher.weight, 0.0, alone) if self.stage == PPO else 1.0


class _Rate:
    """Adam's step size as what remains of the budget falls from 1 to 0."""

    def __init__(self, ppo: PPOConfig, teacher: TeacherConfig) -> None:
        self.ppo, self.teacher = ppo, teacher

    def __call__(self, remaining: float) -> float:
        stage, share = _stage(1.0 - remaining, self.teacher)
        if stage == PPO:
            return _line(self.ppo.learning_rate, self.ppo.learning_rate_end, share)
        plays = self.teacher.plays_learning_rate if self.teacher.plays else None
        middle = self.ppo.learning_rate if plays is None else plays
        if stage == IMITATION:
            return _line(self.teacher.learning_rate, middle, share)
        return _line(middle, self.ppo.learning_rate, share)


def _stage(used: float, teacher: TeacherConfig) -> tuple[str, float]:
    """Return the stage of learning when this share of the budget is used, and the share of the stage that is."""
    if teacher.agent is None:
        return PPO, used
    ends = {IMITATION: teacher.until}
    if teacher.plays:
        ends[PLAYS] = teacher.plays_until
    ends[PPO] = 1.0
    begin = 0.0
    for stage, end in ends.items():
        if used < end or stage == PPO:
            break
        begin = end
    return stage, (used - begin) / (end - begin)


def _worth_loss(said: Judgement, part: Minibatch) -> torch.Tensor:
    """Minus the worth of what the policy does, over all legal moves, and what its lapses from the teacher cost.

    Worths are taken as they are: cutting off large ones would favour moves of great variance. Where the policy is sure of a
    wrong move its gradient vanishes, so the teacher's move is also imitated, with the weight of what it is worth more.
    """
    log_probs = said.all_log_probs
    chances = log_probs.detach().exp()
    above = part.worths - (chances * part.worths).sum(dim=1, keepdim=True)
    spread = (chances * above.square()).sum(dim=1).mean().sqrt() + 1e-8
    lapse = (above * (part.legal == part.advice[:, None])).sum(dim=1).clamp(min=0)
    return ((LAPSE * lapse * -said.advised).mean() - (log_probs.exp() * above).sum(dim=1).mean()) / spread


def _line(start: float, end: float, share: float) -> float:
    """What runs from ``start`` to ``end`` as ``share`` rises from 0 to 1."""
    return start + (end - start) * min(1.0, max(0.0, share))
