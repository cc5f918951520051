"""One training run: learn, measure, keep the best, write checkpoints, export and report; where hands are played is a part."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from agents.base import Observations
from agents.callbacks import Clocks, TrainingCallback
from agents.checkpoint import FOLDER, Checkpoint, CheckpointStore, read_tensors, write_tensors
from agents.config import PPOConfig, TrainConfig
from agents.exporting import export_network
from agents.measure import final_evaluation, hardest_drop, measure, plain, score, score_error, strength, write_report, yardstick
from agents.network import Network, NetworkAgent, frozen_copy
from agents.onnx_agent import OnnxAgent
from agents.pool import OpponentPool
from agents.ppo import TonkPPO
from agents.progress import Display
from agents.run_state import capture, load_weights, restore
from agents.runs import BEST, OPPONENT, append_evaluation, forget_evaluations
from agents.sampling import DIVERGED
from agents.selfplay import SelfPlayVecEnv
from agents.signals import StopSignals
from agents.statistics import Estimate
from tonk_env.batch import Batch


class Trainer:
    """One run in one process. The hooks (see ``callbacks.Hooks``) are called from the library's loop."""

    def __init__(self, config: TrainConfig, run: Path, console: Console | None = None) -> None:
        self.config, self.folder = config, run
        self.console = console or Console()
        self.rules, self.num_players = config.game.rule_set(), config.game.num_players
        torch.set_num_threads(config.threads)
        self.pool = OpponentPool(config.opponents, config.seed)
        self.build()
        self.pool.renew(self.network(), 0, ())
        self.store = CheckpointStore(run, config.checkpoints.keep)
        self.clocks = Clocks()
        self.display = Display(self.console)
        self.signals = StopSignals(lambda: self.display.say("stopping after this iteration; once more to stop at once"))
        self.iteration = 0
        self.best: dict[str, Any] = {"score": None, "step": None}
        self.settled = -1  # decisions at the last boundary that was worked off
        self.remeasure = False  # whether the best policy was measured in another way than the coming ones
        self.stopping = self.finished = False
        self.stop_after: int | None = None
        self._seconds_before = 0.0
        self._started = time.monotonic()
        self._rate_since = (time.monotonic(), 0)

    def build(self) -> None:
        """Make the tables and the learner."""
        ppo = self.config.ppo
        self.env = SelfPlayVecEnv(
            self.rules, self.num_players, ppo.num_tables, self.pool, self.config.seed, all_seats=ppo.all_seats
        )
        self.model = TonkPPO(self.config, self.env, self.share_used)

    def close(self) -> None:
        """Give back what was taken for training beyond memory: here nothing."""

    def network(self) -> Network:
        """Return a frozen copy of the learner as it is now."""
        return frozen_copy(self.model.policy)

    @property
    def decisions(self) -> int:
        """Decisions that the learner has taken so far."""
        return self.model.num_timesteps

    @property
    def logger(self) -> Logger:
        """Where curves are written."""
        return self.model.logger

    def members_at_tables(self) -> Iterable[int]:
        """Return the numbers of the pool's policies that play an episode now."""
        return self.env.playing()

    def positions(self) -> Observations:
        """Return some observations int8[B, O] to try a network on."""
        return self.env.batch.observations

    def capture(self, meta: dict[str, Any]) -> Checkpoint:
        """Return the state between two iterations, with the run's own counters ``meta`` in it."""
        return capture(self.config, self.model, self.env, self.pool, meta)

    def put_back(self, checkpoint: Checkpoint) -> None:
        """Take over the state of a checkpoint. Raises ``CheckpointError`` if it is of another game or network."""
        restore(self.config, checkpoint, self.model, self.env, self.pool)

    def start(self) -> None:
        """Get ready to learn, before the clock runs: the very first time, the engine is compiled."""
        warm_up(self.env.batch)
        self.model.set_logger(Logger(str(self.folder), [TensorBoardOutputFormat(str(self.folder))]))

    @property
    def seconds(self) -> float:
        """Seconds of training so far, those before a stop included."""
        return self._seconds_before + time.monotonic() - self._started

    def share_used(self, step: int) -> float:
        """Share of the budget used after ``step`` decisions: of the decisions or of the minutes, whichever is more."""
        budget = self.config.budget
        by_time = self.seconds / (60 * budget.minutes) if budget.minutes else 0.0
        return min(1.0, max(step / budget.decisions, by_time))

    def restore(self) -> None:
        """Load the newest checkpoint of the run folder. Raises ``CheckpointError``."""
        checkpoint = self.store.load()
        self.put_back(checkpoint)
        meta = checkpoint.meta
        self.iteration, self.best = meta["iteration"], meta["best"]
        self.remeasure = self.best["score"] is not None and meta.get("yardstick") != yardstick(self.config)
        self.settled = self.decisions
        self._seconds_before = meta["seconds"]
        forget_evaluations(self.folder, self.settled)
        self.display.say(f"continuing {self.folder} at {self.settled:,} decisions")

    def run(self, stop_after: int | None = None) -> None:
        """Learn until the budget is used or a stop is asked for; then measure, export and report."""
        self.stop_after = None if stop_after is None else self.iteration + stop_after
        self.start()
        self._started = time.monotonic()
        self._rate_since = (self._started, self.decisions)
        with self.display:
            self.display.say(f"run folder {self.folder}")
            try:
                with self.signals:
                    self._measure_best_again()
                    self.learn()
            except FloatingPointError as error:
                raise self._diverged(error) from None
            finally:
                self.logger.close()
            if not self.finished:
                self._say_stopped()
                return
            evaluation = self._finish()
        self.console.print(evaluation.table())
        self._say_finished()

    def learn(self) -> None:
        """Play and learn, with ``between_iterations`` in between, until that says to stop."""
        self.finished = self.share_used(self.model.num_timesteps) >= 1
        if not self.finished:
            self.display.doing("playing")
            left = self.config.budget.decisions - self.model.num_timesteps
            callback = TrainingCallback(self, self.clocks)
            self.model.learn(left, callback, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]

    def playing(self, step: int) -> bool:
        """Show progress; False once a boundary has decided to stop."""
        self.display.update(step, self.share_used(step))
        return not self.stopping

    def learning(self) -> None:
        """Show that the update is going on."""
        self.display.doing("learning")

    def between_iterations(self, step: int) -> None:
        """Log, measure, renew the pool and write a checkpoint: everything that happens at a boundary, once for each."""
        if step == self.settled or self.stopping:
            return
        used = self.share_used(step)
        if step:
            self.iteration += 1
            network = self.network()
            if not network.is_sound(self.positions()):  # such weights must not become a checkpoint
                raise FloatingPointError(DIVERGED)
            self._log_rate(step)
            self.log()
            if used >= 1 or self.iteration % self.config.evaluation.every == 0:
                self._evaluate(network, step)
            self.pool.renew(network, self.iteration, self.members_at_tables())
        self.finished = used >= 1
        self.stopping = self.finished or self.signals.requested or self.iteration == self.stop_after
        if self.stopping or self.iteration % self.config.checkpoints.every == 0:
            self._save(step)
        if step:
            self.logger.dump(step)
        self.settled = step
        self.display.doing("playing")

    def _log_rate(self, step: int) -> None:
        now, (before, at) = time.monotonic(), self._rate_since
        self._rate_since = (now, step)
        self.logger.record("time/decisions_per_second", (step - at) / max(1e-9, now - before))

    def log(self) -> None:
        """Record what an iteration brought."""
        values = self.env.statistics.take()
        for name, share in self.clocks.shares(self.env.take_seconds()).items():
            values[f"time/share_{name}"] = share
        values["pool/policies_loaded"] = len(self.pool.networks)
        values["pool/snapshots"] = len(self.pool.ring)
        values["train/entropy_weight"] = self.model.ent_coef
        for name, value in values.items():
            self.logger.record(name, value)

    def _evaluate(self, network: Network, step: int) -> None:
        """Measure the current weights in games of their own and keep them if no earlier ones are known to be better.

        Scores that differ by less than a standard error are alike, and of such policies the newer one has learned more.
        """
        setting = self.config.evaluation
        agent = NetworkAgent(network, "learner", greedy=setting.play == "greedy")
        payoffs = measure(agent, setting.opponents, self.config, self.display.part("evaluating"))
        value, greatest = score(payoffs), self.best.get("greatest", self.best["score"])
        better = greatest is None or value > greatest - score_error(payoffs)
        for spec, estimate in payoffs.items():
            self.logger.record(f"eval/payoff_vs_{spec}", estimate.mean)
        self.logger.record("eval/score", value)
        line = {"step": step, "iteration": self.iteration, "seconds": round(self.seconds, 1), "score": value, "best": better}
        append_evaluation(self.folder, {**line, "payoffs": {spec: plain(one) for spec, one in payoffs.items()}})
        self._show(payoffs)
        if better:
            self._keep_best(network, step, self.iteration, payoffs, greatest)

    def _keep_best(
        self, network: Network, step: int, iteration: int, payoffs: dict[str, Estimate], greatest: float | None = None
    ) -> None:
        """Write a network as the best one so far, and as the opponent of the run; ``greatest`` is the greatest score yet."""
        setting, value = self.config.evaluation, score(payoffs)
        self.best = {"score": value, "step": step, "payoffs": {spec: plain(one) for spec, one in payoffs.items()}}
        self.best["greatest"] = value if greatest is None else max(value, greatest)
        position = {"step": step, "iteration": iteration, "score": float(self.best["score"])}
        write_tensors(self._best_file, {"weights": network.state_dict(), **position})
        measured = {"deals": setting.deals, "seed": setting.seed, "payoffs": self.best["payoffs"]}
        self._export(network, step, measured)

    def _measure_best_again(self) -> None:
        """Measure the best policy as the coming ones will be, if the way of measuring was changed on resuming."""
        if not self.remeasure:
            return
        self.display.say("evaluation changed: the best policy so far is measured anew, as earlier scores do not compare")
        best = read_tensors(self._best_file)
        network = load_weights(self.config, best["weights"])
        agent = NetworkAgent(network, "learner", greedy=self.config.evaluation.play == "greedy")
        payoffs = measure(agent, self.config.evaluation.opponents, self.config, self.display.part("evaluating"))
        self._show(payoffs)
        self._keep_best(network, int(best["step"]), int(best["iteration"]), payoffs)
        self.remeasure = False

    def _show(self, payoffs: dict[str, Estimate]) -> None:
        self.display.payoffs = "  ".join(f"{spec} {one.mean:+.3f}±{one.half_width:.3f}" for spec, one in payoffs.items())

    def _diverged(self, error: FloatingPointError) -> FloatingPointError:
        """Return the error with what to do about it."""
        rate = min(self.config.ppo.learning_rate / 10, PPOConfig().learning_rate)
        return FloatingPointError(
            f"{error}, as in  python train.py --resume {self.folder} ppo.learning_rate={rate:g}  (its last checkpoint is sound)"
        )

    def _save(self, step: int) -> None:
        meta = {"iteration": self.iteration, "seconds": self.seconds, "best": self.best, "yardstick": yardstick(self.config)}
        self.store.save(step, self.capture(meta))

    def _finish(self) -> Any:
        """Measure the best policy as it was exported, write the report and the final card."""
        best = read_tensors(self._best_file)
        network = load_weights(self.config, best["weights"])
        self._export(network, int(best["step"]), {})
        greedy = self.config.evaluation.play == "greedy"
        agent = OnnxAgent(self.folder / OPPONENT, self.rules, self.num_players, greedy=greedy, name="trained")
        drop = hardest_drop(agent, self.config, self.display.part("looking for the hardest drop:N"))
        evaluation = final_evaluation(agent, self.config, drop, self.display.part("final evaluation"))
        self._export(network, int(best["step"]), strength(evaluation))
        write_report(self.folder, evaluation)
        return evaluation

    def _export(self, network: Network, step: int, measured: dict[str, Any]) -> None:
        export_network(network, self.folder / OPPONENT, self.config, self.folder.name, step, measured)

    @property
    def _best_file(self) -> Path:
        folder = self.folder / FOLDER
        folder.mkdir(exist_ok=True)
        return folder / BEST

    def _say_stopped(self) -> None:
        self.display.say(f"stopped at {self.settled:,} decisions; go on with  python train.py --resume {self.folder}")

    def _say_finished(self) -> None:
        opponent = self.folder / OPPONENT
        self.display.say(
            f"trained on {self.settled:,} decisions in {self.seconds / 60:.1f} minutes; best policy at {self.best['step']:,}\n"
            f"opponent  {opponent}\n"
            f"report    {self.folder / 'report'}\n"
            f"play it   tonk play {opponent}\n"
            f"curves    tensorboard --logdir {self.folder}"
        )


def warm_up(batch: Batch) -> None:
    """Have the engine compiled, or loaded from disk, by a step of a small batch of the same rules."""
    small = Batch(batch.rules, batch.num_players, num_tables=1, seed=0)
    small.reset()
    small.step(small.choose_random())
