"""Checks what may change when a run is resumed and what is refused, other measures and baselines, and divergence."""

import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.checkpoint import CheckpointError, CheckpointStore
from agents.config import ConfigError, TrainConfig, dump_config, load_config
from agents.measure import yardstick
from agents.network import frozen_copy
from agents.runs import open_run, read_evaluations
from agents.training import Trainer, resume, train

QUIET = Console(file=io.StringIO())


def config_of(root: Path, *overrides: str) -> TrainConfig:
    return load_config(root / "configs" / "smoke.yaml", overrides)


@pytest.fixture(scope="module")
def finished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run of the smoke configuration."""
    return train(config_of(root), "smoke", "whole", tmp_path_factory.mktemp("runs"), QUIET)


@pytest.mark.parametrize(
    "change, words",
    [
        ("game.options.max_turns=60", "other rules than the configuration: `max_turns` 200 (here 60)"),
        ("game.num_players=3", "tables with 2 players, the configuration says 3"),
        ("network.torso=[64]", "another network: {'torso': [32]"),
        ("ppo.num_tables=16", "another number of tables: 32, the configuration says 16"),
        ("seed=5", "another seed: 0, the configuration says 5"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(finished: Path, tmp_path: Path, change: str, words: str) -> None:
    """As overrides none of these gets so far, but a configuration can be edited by hand."""
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    (run / "config.yaml").write_text(dump_config(load_config(run / "config.yaml", [change])))
    with pytest.raises(CheckpointError, match=re.escape(words)) as caught:
        resume(run, console=QUIET)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        "seed=5",
        "game.rules=deadwood",
        "game.options={}",
        "game.options.max_turns=60",
        "game.num_players=3",
        "network.torso=[64]",
        "network.policy_head=[8]",
        "network.value_head=[8]",
        "network.activation=tanh",
        "network.spread_features=false",
        "network.oracle_head=[8]",
        "ppo.num_tables=16",
    ],
)
def test_what_is_fixed_for_a_run_cannot_be_changed(finished: Path, change: str) -> None:
    before = (finished / "config.yaml").read_text()
    with pytest.raises(ConfigError, match=r"is fixed for a run: it is .* start a new run") as caught:
        resume(finished, [change], console=QUIET)
    assert str(caught.value).startswith(".".join(change.partition("=")[0].split(".")[:2]))
    assert (finished / "config.yaml").read_text() == before


def test_guesses_at_cards_are_there_from_the_start_or_never(finished: Path) -> None:
    with pytest.raises(ConfigError, match=r"ppo\.belief_coef cannot go from 0\.0 to 0\.1 .*; start a new run"):
        open_run(finished, ["ppo.belief_coef=0.1"])


def test_everything_else_may_change(finished: Path) -> None:
    """Every setting is either refused, as above, or taken; and the same in other words is no change."""
    other = {
        "threads": 3, "device": "cuda", "budget.decisions": 4096, "budget.minutes": 5.0, "ppo.steps": 8, "ppo.minibatch": 64,
        "ppo.epochs": 1, "ppo.learning_rate": 0.1, "ppo.target_kl": 0.5, "opponents.current": 0.1, "opponents.snapshots": 0.1,
        "opponents.baselines": "{random: 1}", "opponents.ring": 1, "opponents.active": 1, "evaluation.deals": 4,
        "evaluation.opponents": "[greedy]", "evaluation.seed": 9, "evaluation.play": "greedy", "checkpoints.keep": 1,
    }  # fmt: skip
    for key, value in other.items():
        assert open_run(finished, [f"{key}={value}"]) != open_run(finished), key
    open_run(finished, ["seed=0", "game.options={match: hands, max_turns: 200}", "network.torso=[32]", "ppo.num_tables=32"])


@pytest.mark.parametrize(
    "change", ["evaluation.opponents=[greedy]", "evaluation.deals=10", "evaluation.seed=77", "evaluation.play=greedy"]
)
def test_another_measure_does_not_mix_with_earlier_scores(finished: Path, tmp_path: Path, change: str) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    before = CheckpointStore(run, 3).load().meta["best"]
    written = io.StringIO()
    resume(run, [change, "budget.decisions=2560", "evaluation.every=1000"], console=Console(file=written, width=200))
    assert "the best policy so far is measured anew" in written.getvalue()
    newest = CheckpointStore(run, 3).load().meta
    config = open_run(run)
    assert newest["yardstick"] == yardstick(config)
    assert set(newest["best"]["payoffs"]) == set(config.evaluation.opponents)
    scores = [line["score"] for line in read_evaluations(run) if line["step"] == 2560]
    assert newest["best"]["score"] >= scores[0]
    assert newest["best"] != before
    written.truncate(0)
    resume(run, ["budget.decisions=3072"], console=Console(file=written))
    assert "measured anew" not in written.getvalue()


@pytest.mark.parametrize("baselines", ["{}", '{random: 1, "drop:5": 0.1, greedy: 0.3, "drop:27": 0.1}', '{"drop:27": 1}'])
def test_other_baselines_on_resuming_are_not_mistaken(finished: Path, tmp_path: Path, baselines: str) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    checkpoint = CheckpointStore(run, 3).load()
    trainer = Trainer(open_run(run, [f"opponents.baselines={baselines}"]), run, QUIET)
    trainer.restore()
    old, new = [*checkpoint.meta["pool"]["kinds"], None], [*trainer.pool.kinds, None]
    before, after = checkpoint.arrays["kinds"].ravel(), trainer.env.kinds.ravel()
    for one, other in zip(before, after, strict=True):
        assert new[other] == (old[one] if old[one] in new else None)
    resume(run, [f"opponents.baselines={baselines}", "budget.decisions=2560"], console=QUIET)


# -- divergence -----------------------------------------------------------------------------------------------------


def test_divergence_is_one_sentence_and_the_run_can_go_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import train as command_line

    monkeypatch.chdir(tmp_path)
    start = [str(root / "configs" / "smoke.yaml"), "ppo.learning_rate=1e6", "--name", "wild"]
    for arguments in (start, ["--resume", "runs/wild"]):
        assert command_line.main(arguments) == 2
        written = capsys.readouterr().err
        assert written.count("\n") == 1
        assert "training diverged; lower ppo.learning_rate" in written
        assert "--resume runs/wild ppo.learning_rate=0.001" in written
    assert command_line.main(["--resume", "runs/wild", "ppo.learning_rate=0.001"]) == 0
    assert (tmp_path / "runs" / "wild" / "opponent.onnx").is_file()


def test_diverged_weights_never_become_a_checkpoint(root: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    trainer = Trainer(config_of(root), tmp_path / "run", QUIET)
    trainer.run(stop_after=2)
    with torch.no_grad():
        trainer.model.policy.action_net.bias.fill_(float("nan"))
    trainer.stopping = False
    with pytest.raises(FloatingPointError):
        trainer.between_iterations(trainer.settled + 512)
    assert trainer.store.load().meta["step"] == 1024
    trainer.pool.networks = {trainer.pool.newest: frozen_copy(trainer.model.policy)}
    with pytest.raises(FloatingPointError, match="learning_rate"):
        trainer.pool.act(np.full(32, trainer.pool.newest), trainer.env.batch.observations, trainer.env.batch.action_masks)
