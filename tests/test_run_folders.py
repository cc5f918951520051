"""A run folder that is damaged, in use by somebody else, or reached by a link: what a resumed run says and does then."""

import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from agents.checkpoint import CheckpointError, CheckpointStore
from agents.claim import InUseError, sole_use
from agents.config import load_config
from agents.onnx_agent import OnnxAgent
from agents.runs import open_run, read_evaluations
from agents.training import export_run, resume, train


@pytest.fixture(scope="module")
def finished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run of the smoke configuration."""
    config = load_config(root / "configs" / "smoke.yaml", ())
    return train(config, "smoke", "whole", tmp_path_factory.mktemp("runs"), Console(file=io.StringIO()))


def heard() -> Console:
    return Console(file=io.StringIO(), width=200)


def told(console: Console) -> str:
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


def test_a_damaged_checkpoint_that_is_passed_over_is_named(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    newest = CheckpointStore(run, 3).folders()[-1]
    (newest / "arrays.npz").write_bytes(b"")
    console = heard()
    resume(run, console=console)
    assert f"passed over: {newest}/arrays.npz is damaged" in told(console)


def test_a_damaged_best_policy_is_noticed_before_training_goes_on(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    (run / "checkpoints" / "best.pt").write_bytes(b"no tensors")
    with pytest.raises(CheckpointError, match=r"best\.pt is damaged.*larger budget\.decisions"):
        resume(run, console=Console(file=io.StringIO()))
    console = heard()
    resume(run, ["budget.decisions=3072"], console=console)
    assert "the best policy is the best one from here on" in told(console)
    last = read_evaluations(run)[-1]
    assert (last["step"], last["best"]) == (3072, True)
    assert export_run(run, tmp_path / "x.onnx").is_file()


def test_a_run_keeps_its_name_when_it_is_resumed_by_a_link(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "named")
    (tmp_path / "latest").symlink_to("named", target_is_directory=True)
    console = heard()
    assert resume(tmp_path / "latest", ["budget.decisions=2560"], console=console) == tmp_path / "named"
    assert OnnxAgent(tmp_path / "named" / "opponent.onnx").card["provenance"]["run"] == "named"
    assert "latest" not in told(console)


def test_two_processes_do_not_train_one_run(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(finished, run)
    with sole_use(run), pytest.raises(InUseError, match=r"another process is at work in .*copy: wait for its end"):
        resume(run, ["budget.decisions=2560"], console=Console(file=io.StringIO()))
    assert open_run(run).budget.decisions == 2048, "nothing was written"
    resume(run, ["budget.decisions=2560"], console=Console(file=io.StringIO()))
