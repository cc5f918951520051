"""Training from the first deal to the exported opponent: build, learn, measure, keep the best, go on after a stop."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from agents.callbacks import Clocks, TrainingCallback
from agents.checkpoint import FOLDER, CheckpointStore, read_tensors, write_tensors
from agents.config import ConfigError, PPOConfig, TrainConfig
from agents.exporting import export_network, export_run
from agents.measure import final_evaluation, hardest_drop, measure, plain, score, strength, write_report, yardstick
from agents.network import Network, NetworkAgent, frozen_copy
from agents.onnx_agent import OnnxAgent
from agents.pool import OpponentPool
from agents.ppo import TonkPPO
from agents.progress import Display
from agents.run_state import capture, load_weights, restore
from agents.runs import BEST, OPPONENT, RUNS, append_evaluation, create_run, forget_evaluations, open_run, write_description
from agents.sampling import DIVERGED
from agents.selfplay import SelfPlayVecEnv
from agents.signals import StopSignals
from agents.statistics import Estimate
from tonk_env.batch import Batch

__all__ = ["Trainer", "export_run", "resume", "train"]


def train(
    config: TrainConfig,
    config_name: str = "run",
    name: str | None = None,
    runs: Path = RUNS,
    console: Console | None = None,
    stop_after: int | None = None,
) -> Path:
    """Train a new run and return its folder. ``stop_after`` iterations it stops as if asked to by Ctrl-C."""
    check_device(config)
    run = create_run(config, config_name, name, runs)
    Trainer(config, run, console).run(stop_after)
    return run


def resume(
    run: Path, overrides: list[str] | None = None, console: Console | None = None, stop_after: int | None = None
) -> Path:
    """Go on with a run where its newest checkpoint stands. Overrides change its configuration for good.

    Raises ``RunError``, ``ConfigError`` or ``CheckpointError``, each before anything is written.
    """
    config = open_run(run, overrides)
    check_device(config)
    trainer = Trainer(config, run, console)
    trainer.restore()
    write_description(run, config)
    trainer.run(stop_after)
    return run


class Trainer:
    """One run in one process. The hooks (see ``callbacks.Hooks``) are called from the library's loop."""

    def __init__(self, config: TrainConfig, run: Path, console: Console | None = None) -> None:
        self.config, self.folder = config, run
        self.console = console or Console()
        self.rules, self.num_players = config.game.rule_set(), config.game.num_players
        torch.set_num_threads(config.threads)
        self.pool = OpponentPool(config.opponents, config.seed)
        self.env = SelfPlayVecEnv(self.rules, self.num_players, config.ppo.num_tables, self.pool, config.seed)
        self.model = TonkPPO(config, self.env, self.share_used)
        self.pool.renew(frozen_copy(self.model.policy), 0, ())
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
        restore(self.config, checkpoint, self.model, self.env, self.pool)
        meta = checkpoint.meta
        self.iteration, self.best = meta["iteration"], meta["best"]
        self.remeasure = self.best["score"] is not None and meta.get("yardstick") != yardstick(self.config)
        self.settled = self.model.num_timesteps
        self._seconds_before = meta["seconds"]
        forget_evaluations(self.folder, self.settled)
        self.display.say(f"continuing {self.folder} at {self.settled:,} decisions")

    def run(self, stop_after: int | None = None) -> None:
        """Learn until the budget is used or a stop is asked for; then measure, export and report."""
        self.stop_after = None if stop_after is None else self.iteration + stop_after
        warm_up(self.env.batch)  # before the clock starts: the very first time, the engine is compiled
        self.model.set_logger(Logger(str(self.folder), [TensorBoardOutputFormat(str(self.folder))]))
        self._started = time.monotonic()
        self._rate_since = (self._started, self.model.num_timesteps)
        with self.display:
            self.display.say(f"run folder {self.folder}")
            try:
                with self.signals:
                    self._measure_best_again()
                    self._learn()
            except FloatingPointError as error:
                raise self._diverged(error) from None
            finally:
                self.model.logger.close()
            if not self.finished:
                self._say_stopped()
                return
            evaluation = self._finish()
        self.console.print(evaluation.table())
        self._say_finished()

    def _learn(self) -> None:
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
            network = frozen_copy(self.model.policy)
            if not network.is_sound(self.env.batch.observations):  # such weights must not become a checkpoint
                raise FloatingPointError(DIVERGED)
            self._log(step)
            if used >= 1 or self.iteration % self.config.evaluation.every == 0:
                self._evaluate(network, step)
            self.pool.renew(network, self.iteration, self.env.playing())
        self.finished = used >= 1
        self.stopping = self.finished or self.signals.requested or self.iteration == self.stop_after
        if self.stopping or self.iteration % self.config.checkpoints.every == 0:
            self._save(step)
        if step:
            self.model.logger.dump(step)
        self.settled = step
        self.display.doing("playing")

    def _log(self, step: int) -> None:
        now, (before, at) = time.monotonic(), self._rate_since
        self._rate_since = (now, step)
        values = self.env.statistics.take()
        values["time/decisions_per_second"] = (step - at) / max(1e-9, now - before)
        for name, share in self.clocks.shares(self.env.take_seconds()).items():
            values[f"time/share_{name}"] = share
        values["pool/policies_loaded"] = len(self.pool.networks)
        values["pool/snapshots"] = len(self.pool.ring)
        values["train/entropy_weight"] = self.model.ent_coef
        for name, value in values.items():
            self.model.logger.record(name, value)

    def _evaluate(self, network: Network, step: int) -> None:
        """Measure the current weights in games of their own and keep them if they are the best so far."""
        setting = self.config.evaluation
        agent = NetworkAgent(network, "learner", greedy=setting.play == "greedy")
        payoffs = measure(agent, setting.opponents, self.config, self.display.part("evaluating"))
        value = score(payoffs)
        better = self.best["score"] is None or value > self.best["score"]
        for spec, estimate in payoffs.items():
            self.model.logger.record(f"eval/payoff_vs_{spec}", estimate.mean)
        self.model.logger.record("eval/score", value)
        line = {"step": step, "iteration": self.iteration, "seconds": round(self.seconds, 1), "score": value, "best": better}
        append_evaluation(self.folder, {**line, "payoffs": {spec: plain(one) for spec, one in payoffs.items()}})
        self._show(payoffs)
        if better:
            self._keep_best(network, step, self.iteration, payoffs)

    def _keep_best(self, network: Network, step: int, iteration: int, payoffs: dict[str, Estimate]) -> None:
        """Write a network as the best one so far, and as the opponent of the run."""
        setting = self.config.evaluation
        self.best = {"score": score(payoffs), "step": step, "payoffs": {spec: plain(one) for spec, one in payoffs.items()}}
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
        self.store.save(step, capture(self.config, self.model, self.env, self.pool, meta))

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


def check_device(config: TrainConfig) -> None:
    """Raise ``ConfigError`` for a device that this machine does not have, before the library falls back to another."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is 'cuda', but torch finds no GPU that it can use here; leave it at device=cpu")


def warm_up(batch: Batch) -> None:
    """Have the engine compiled, or loaded from disk, by a step of a small batch of the same rules."""
    small = Batch(batch.rules, batch.num_players, num_tables=1, seed=0)
    small.reset()
    small.step(small.choose_random())
