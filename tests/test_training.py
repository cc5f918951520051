"""Checks training: frozen opponents, the numbers of PPO, what a run leaves, resuming, damaged and foreign folders, stops."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from agents.checkpoint import CheckpointError, CheckpointStore
from agents.config import TrainConfig, load_config
from agents.measure import final_evaluation, final_opponents, strength
from agents.network import NetworkAgent, frozen_copy
from agents.runs import RunError, open_run, read_evaluations
from agents.specs import make_agent
from agents.training import Trainer, export_run, resume, train
from tonk_env.batch import Batch

QUIET = Console(file=io.StringIO())


def config_of(root: Path, *overrides: str) -> TrainConfig:
    return load_config(root / "configs" / "smoke.yaml", overrides)


def weights_of(policy: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in policy.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def same_bytes(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Equal bit by bit, the padding between the fields of records left out."""
    if one.dtype.names is None:
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return all(same_bytes(one[name], other[name]) for name in one.dtype.names)


@pytest.fixture(scope="module")
def finished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run of the smoke configuration."""
    return train(config_of(root), "smoke", "whole", tmp_path_factory.mktemp("runs"), QUIET)


def trainer_for(config: TrainConfig, folder: Path) -> Trainer:
    folder.mkdir(parents=True, exist_ok=True)
    return Trainer(config, folder, QUIET)


# -- opponents ----------------------------------------------------------------------------------------------------


def test_frozen_opponents_never_change(root: Path, tmp_path: Path) -> None:
    """TRAIN-13: hashes of pool members before and after updates, the newest included."""
    trainer = trainer_for(config_of(root), tmp_path / "run")
    newest = trainer.pool.networks[trainer.pool.newest]
    before = weights_of(newest)
    assert same(before, weights_of(frozen_copy(trainer.model.policy)))
    trainer.run(stop_after=1)
    assert same(before, weights_of(newest))
    assert not same(before, weights_of(trainer.pool.networks[trainer.pool.newest]))
    learner = {value.data_ptr() for value in trainer.model.policy.parameters()}
    for network in trainer.pool.networks.values():
        assert not learner & {value.data_ptr() for value in network.parameters()}
        assert not any(value.requires_grad for value in network.parameters())


# -- the arithmetic -------------------------------------------------------------------------------------------------


def test_the_policy_gives_what_the_library_gives(root: Path, tmp_path: Path) -> None:
    trainer = trainer_for(config_of(root, "ppo.num_tables=64"), tmp_path / "run")
    observations = torch.from_numpy(trainer.env.reset())
    masks = trainer.env.action_masks().copy()
    policy = trainer.model.policy
    with torch.no_grad():
        policy.action_net.weight.mul_(100)  # far from uniform
        actions, values, log_probs = policy(observations, action_masks=masks)
        again = policy.evaluate_actions(observations, actions, torch.from_numpy(masks))
        theirs = MaskableActorCriticPolicy.evaluate_actions(policy, observations, actions, torch.from_numpy(masks))
    assert masks[np.arange(64), actions].all()
    for ours, wanted in zip(again, theirs, strict=True):
        assert ours is not None
        assert wanted is not None
        torch.testing.assert_close(ours, wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(log_probs, again[1])
    torch.testing.assert_close(values, again[0])


def test_sampling_follows_the_probabilities(root: Path, tmp_path: Path) -> None:
    trainer = trainer_for(config_of(root), tmp_path / "run")
    observation = torch.from_numpy(trainer.env.reset()[:1]).repeat(20_000, 1)
    masks = np.repeat(trainer.env.action_masks()[:1], 20_000, axis=0)
    policy = trainer.model.policy
    with torch.no_grad():
        policy.action_net.weight.mul_(100)
        actions, _, _ = policy(observation, action_masks=masks)
        distribution = policy.get_distribution(observation[:1], masks[:1]).distribution
    drawn = np.bincount(actions.numpy(), minlength=483) / 20_000
    assert np.abs(drawn - distribution.probs[0].numpy()).max() < 0.015


def test_an_empty_mask_and_a_broken_network_are_errors(root: Path, tmp_path: Path) -> None:
    trainer = trainer_for(config_of(root), tmp_path / "run")
    observations = torch.from_numpy(trainer.env.reset())
    masks = trainer.env.action_masks().copy()
    masks[5] = 0
    with pytest.raises(ValueError, match="allows no action"):
        trainer.model.policy(observations, action_masks=masks)
    with torch.no_grad():
        trainer.model.policy.action_net.bias.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="learning_rate"):
        trainer.model.policy(observations, action_masks=trainer.env.action_masks())


def test_schedules_follow_the_budget(root: Path, tmp_path: Path) -> None:
    config = config_of(root, "ppo.learning_rate=0.01", "ppo.entropy=0.2", "ppo.entropy_end=0.1", "evaluation.every=100")
    trainer = trainer_for(config, tmp_path / "run")
    trainer.run(stop_after=2)  # half of the budget
    assert trainer.model.policy.optimizer.param_groups[0]["lr"] == pytest.approx(0.005)
    assert trainer.model.ent_coef == pytest.approx(0.15)


# -- runs -----------------------------------------------------------------------------------------------------------


def test_a_run_leaves_all_its_files(finished: Path) -> None:
    names = {path.name for path in finished.iterdir()}
    assert {"config.yaml", "versions.json", "checkpoints", "evaluation.jsonl", "opponent.onnx", "report"} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)
    assert {"evaluation.json", "evaluation.png"} <= {path.name for path in (finished / "report").iterdir()}
    assert not [path for path in finished.rglob("*") if path.name.endswith(".part")]
    assert (finished.parent / "latest").resolve() == finished.resolve()
    assert json.loads((finished / "versions.json").read_text())["torch"] == torch.__version__
    lines = read_evaluations(finished)
    assert [line["step"] for line in lines] == [1024, 2048]
    assert set(lines[0]["payoffs"]) == {"random", "drop:27"}


def test_the_newest_of_the_policies_that_are_alike_is_kept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alike: less than a standard error below the greatest score, however many such steps there are."""
    from agents import trainer as module
    from agents.statistics import Estimate

    trainer = module.Trainer(config_of(root), tmp_path, Console(quiet=True))
    trainer.start()
    kept = []
    for step, mean in enumerate((0.1, 0.3, 0.28, 0.26, 0.19, 0.21, 0.31, 0.205)):
        near, far = Estimate(mean, mean - 0.2, mean + 0.2, 0.1, 50), Estimate(0.9, 0.8, 1.0, 0.001, 50)
        monkeypatch.setattr(module, "measure", lambda *_, near=near, far=far: {"drop:27": near, "random": far})
        trainer._evaluate(trainer.network(), step)
        kept.append(trainer.best["step"])
    assert kept == [0, 1, 2, 3, 3, 5, 6, 6]
    assert [line["best"] for line in read_evaluations(tmp_path)] == [True, True, True, True, False, True, True, False]


def test_the_exported_opponent_plays_as_the_best_policy_and_knows_where_it_comes_from(finished: Path) -> None:
    from agents.checkpoint import read_tensors
    from agents.run_state import load_weights

    config = open_run(finished)
    best = read_tensors(finished / "checkpoints" / "best.pt")
    agent = make_agent(str(finished), config.game.rule_set(), 2, seed=1)
    source = NetworkAgent(load_weights(config, best["weights"]), seed=1)
    batch = Batch(config.game.rule_set(), 2, 256, seed=3)
    batch.reset()
    observations, masks = batch.observations, batch.action_masks
    assert (agent.act(observations, masks) == source.act(observations, masks)).all()
    card = agent.card  # type: ignore[attr-defined]
    assert card["provenance"]["decisions"] == best["step"]
    assert card["provenance"]["seed"] == config.seed
    report = json.loads((finished / "report" / "evaluation.json").read_text())
    policy, *others = [one["name"] for one in report["agents"]]
    assert (policy, others[:2], others[3:]) == ("trained", ["random", "greedy"], ["drop:27"])  # the last is in opponents
    assert others[2] in ("drop:24", "drop:28")
    assert len(report["payoffs"]) == 5 * 4  # everybody meets everybody
    assert set(card["strength"]["payoffs"]) == set(others)


def test_the_last_table_holds_everybody_once(root: Path) -> None:
    config = config_of(root, "evaluation.opponents=[expert, 'drop:024', random, 'drop:30', greedy, champion, expert]")
    assert final_opponents(config, "drop:24") == ["random", "greedy", "drop:24", "expert", "drop:30", "champion"]
    assert final_opponents(config, "drop:30") == ["random", "greedy", "drop:30", "expert", "drop:24", "champion"]


@pytest.mark.parametrize("players", [2, 3])
def test_in_the_last_table_slow_opponents_meet_only_the_agent(root: Path, players: int) -> None:
    settings = ["evaluation.opponents=['search:1', 'search:2']", "evaluation.final_deals=2", f"game.num_players={players}"]
    config = config_of(root, *settings)
    result = final_evaluation(make_agent("drop:9", config.game.rule_set(), players), config, "drop:24")
    assert result.names == ("drop:9", "random", "greedy", "drop:24", "search:1", "search:2")
    met = set(result.estimates)
    assert met == {(one, two) for one in range(6) for two in range(6) if one != two and (0 in (one, two) or max(one, two) < 4)}
    assert set(strength(result)["payoffs"]) == set(result.names[1:])
    assert "–" in result.text()


def test_curves_are_written_once_a_step(finished: Path) -> None:
    steps = scalar_steps(finished)
    for tag in ("play/return", "train/entropy_loss", "train/approx_kl", "train/explained_variance", "eval/payoff_vs_random"):
        assert tag in steps, sorted(steps)
    assert any(tag.startswith("hands/") for tag in steps)
    shares = {tag for tag in steps if tag.startswith("time/share_")}
    assert shares == {"time/share_env", "time/share_opponents", "time/share_policy", "time/share_update"}
    assert any(tag.startswith("pool/share_") for tag in steps)
    assert all(found == sorted(set(found)) for found in steps.values())


def test_every_curve_is_explained(finished: Path) -> None:
    from agents.metrics import METRICS

    assert not [tag for tag in scalar_steps(finished) if not any(fnmatch(tag, name) for name in METRICS)]


def scalar_steps(run: Path) -> dict[str, list[int]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found: dict[str, list[int]] = {}
    for file in sorted(run.glob("events.out.tfevents.*")):
        events = EventAccumulator(str(file)).Reload()
        for tag in events.Tags()["scalars"]:
            found.setdefault(tag, []).extend(event.step for event in events.Scalars(tag))
    return found


def test_resume_equals_an_uninterrupted_run(root: Path, tmp_path: Path, finished: Path) -> None:
    train(config_of(root), "smoke", "broken", tmp_path, QUIET, stop_after=1)
    run = tmp_path / "broken"
    resume(run, console=QUIET, stop_after=2)
    resume(run, console=QUIET)
    whole, resumed = (CheckpointStore(path, 3).load() for path in (finished, run))
    assert same(whole.model["policy"], resumed.model["policy"])
    for one, other in zip(
        whole.model["optimizer"]["state"].values(), resumed.model["optimizer"]["state"].values(), strict=True
    ):
        assert same(one, other)
    assert whole.model["optimizer"]["param_groups"] == resumed.model["optimizer"]["param_groups"]
    for name, array in whole.arrays.items():
        assert same_bytes(array, resumed.arrays[name]), name
    for part in ("step", "iteration", "pool", "buffer_generator", "updates", "best"):
        assert whole.meta[part] == resumed.meta[part], part
    assert [line["payoffs"] for line in read_evaluations(run)] == [line["payoffs"] for line in read_evaluations(finished)]
    steps = scalar_steps(run)["train/approx_kl"]
    assert steps == [512, 1024, 1536, 2048]


def test_a_run_ends_when_its_minutes_are_used(root: Path, tmp_path: Path) -> None:
    config = config_of(root, "budget.decisions=1000000000", "budget.minutes=0.02", "evaluation.every=1000")
    run = train(config, "smoke", "timed", tmp_path, QUIET)
    newest = CheckpointStore(run, 3).load()
    assert newest.meta["seconds"] >= 1.2
    assert [line["step"] for line in read_evaluations(run)] == [newest.meta["step"]]
    assert newest.model["optimizer"]["param_groups"][0]["lr"] < config.ppo.learning_rate / 2
    assert (run / "report" / "evaluation.json").is_file()


def test_a_longer_budget_goes_on_from_the_end(root: Path, tmp_path: Path, finished: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    resume(run, ["budget.decisions=2560"], console=QUIET)
    assert CheckpointStore(run, 3).load().meta["step"] == 2560
    assert open_run(run).budget.decisions == 2560


def test_evaluation_does_not_disturb_training(root: Path, tmp_path: Path, finished: Path) -> None:
    run = train(config_of(root, "evaluation.every=1"), "smoke", "other", tmp_path, QUIET)
    assert same(CheckpointStore(run, 3).load().model["policy"], CheckpointStore(finished, 3).load().model["policy"])


@pytest.mark.parametrize("seats, rules", [(3, "{elimination: 50}"), (4, "{match: hands}")])
def test_matches_and_full_tables_train(root: Path, tmp_path: Path, seats: int, rules: str) -> None:
    config = config_of(root, f"game.num_players={seats}", f"game.options={rules}", "budget.decisions=1024")
    run = train(config, "smoke", "more", tmp_path, QUIET)
    assert (run / "opponent.onnx").is_file()


def test_a_checkpoint_can_be_exported(finished: Path, tmp_path: Path) -> None:
    from agents.onnx_agent import OnnxAgent

    newest = CheckpointStore(finished, 3).folders()[-1]
    for source in (finished, newest, finished / "checkpoints" / "best.pt"):
        path = export_run(source, tmp_path / "x.onnx")
        assert OnnxAgent(path).card["provenance"]["decisions"] in (1024, 2048)


# -- faults ---------------------------------------------------------------------------------------------------------


def test_an_unfinished_checkpoint_is_ignored_and_a_damaged_one_passed_over(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    store = CheckpointStore(run, 3)
    (store.folder / ".000000009999.part").mkdir()
    newest, before = store.folders()[-1], store.folders()[-2]
    (newest / "model.pt").write_bytes((newest / "model.pt").read_bytes()[:1000])
    assert store.load().meta["step"] == int(before.name)


@pytest.mark.parametrize("file", ["model.pt", "arrays.npz", "meta.json"])
def test_only_damaged_checkpoints_stop_with_one_sentence(finished: Path, tmp_path: Path, file: str) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    for folder in CheckpointStore(run, 3).folders():
        data = (folder / file).read_bytes()
        (folder / file).write_bytes(data[: len(data) // 2])
    with pytest.raises(CheckpointError, match=rf"{file} is damaged"):
        resume(run, console=QUIET)


def test_pickled_code_in_a_checkpoint_is_never_run(finished: Path, tmp_path: Path) -> None:
    from agents.checkpoint import read_tensors

    class Evil:
        def __reduce__(self) -> Any:
            return (os.system, (f"touch {tmp_path}/harm",))

    torch.save({"weights": Evil(), "step": 1}, tmp_path / "evil.pt")
    with pytest.raises(CheckpointError, match="damaged, or holds more than tensors"):
        read_tensors(tmp_path / "evil.pt")
    assert not (tmp_path / "harm").exists()


def test_folders_that_are_no_runs_are_refused(root: Path, tmp_path: Path, finished: Path) -> None:
    with pytest.raises(RunError, match="there is no run folder"):
        resume(tmp_path / "none", console=QUIET)
    with pytest.raises(RunError, match=r"holds no config\.yaml"):
        resume(tmp_path, console=QUIET)
    (tmp_path / "config.yaml").write_text((finished / "config.yaml").read_text())
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        resume(tmp_path, console=QUIET)
    with pytest.raises(RunError, match="exists"):
        train(config_of(root), "smoke", "whole", finished.parent, QUIET)
    with pytest.raises(RunError, match="plain folder name"):
        train(config_of(root), "smoke", "../away", tmp_path, QUIET)


# -- the command line -----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every machine look like one without."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.parametrize("package", ["torch", "pydantic", "stable_baselines3", "matplotlib", "onnxruntime"])
def test_a_missing_package_is_one_sentence(root: Path, tmp_path: Path, package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "import train; sys.exit(train.main(['configs/smoke.yaml', '--name', 'x']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert package.replace("_", "-") in done.stderr
    assert 'pip install ".[train]"' in done.stderr
    assert not (root / "runs" / "x").exists()


def command(root: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(root / "train.py"), *arguments]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "name a configuration"),
        (["configs/smoke.yaml", "device=cuda"], "torch finds no GPU"),
        (["none.yaml"], "there is no file none.yaml"),
        (["configs/smoke.yaml", "ppo.epoch=3"], "did you mean 'ppo.epochs'"),
        (["--resume", "runs/none"], "there is no run folder runs/none"),
        (["configs/smoke.yaml", "--resume", "runs/none"], "leave out the configuration"),
    ],
)
def test_mistakes_are_one_sentence_and_status_2(
    root: Path, arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import train as command_line

    monkeypatch.chdir(root)
    assert command_line.main(arguments) == 2
    written = capsys.readouterr().err
    assert words in written
    assert written.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stop_at_any_moment_loses_at_most_the_iteration(root: Path, tmp_path: Path, number: signal.Signals) -> None:
    arguments = command(root, str(root / "configs" / "smoke.yaml"), "--name", "stopped", "budget.decisions=10000000")
    with subprocess.Popen([*arguments, "evaluation.every=100000"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        run = tmp_path / "runs" / "stopped"
        deadline = time.monotonic() + 120
        while len(CheckpointStore(run, 3).folders()) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    if number is not signal.SIGKILL:
        assert process.returncode == 0
        assert "--resume" in output
    checkpoint = CheckpointStore(run, 3).load()
    assert checkpoint.meta["step"] > 0
    resume(run, ["budget.decisions=" + str(checkpoint.meta["step"] + 512)], console=QUIET)
    assert CheckpointStore(run, 3).load().meta["step"] == checkpoint.meta["step"] + 512
