"""Checks what the card of a run says of where it comes from: its commit, its configuration and the log of its evaluations."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_cli import tonk  # noqa: F401 - the fixture that runs one command

from agents.config import load_config
from agents.onnx_agent import OnnxAgent


def test_the_card_of_a_run_holds_commit_and_log(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tonk: Any) -> None:  # noqa: F811
    from rich.console import Console

    from agents import runs
    from agents.runs import read_evaluations, read_origin
    from agents.training import export_run, resume, train

    monkeypatch.setattr(runs, "_commit", lambda: "0123456789ab-dirty")
    quiet = Console(quiet=True)
    config = load_config(root / "configs" / "smoke.yaml", ["budget.decisions=1024", "evaluation.every=1"])
    run = train(config, "smoke", "one", tmp_path, quiet)
    monkeypatch.setattr(runs, "_commit", lambda: "ba9876543210")
    resume(run, ["budget.decisions=1536"], quiet)
    lines = read_evaluations(run)
    for path in (run / "opponent.onnx", export_run(run, tmp_path / "x.onnx")):
        source = OnnxAgent(path).card["provenance"]
        assert source["commit"] == read_origin(run)["commit"] == "0123456789ab-dirty"
        assert [line["decisions"] for line in source["log"]] == [line["step"] for line in lines] == [512, 1024, 1536]
        assert [line["payoffs"] for line in source["log"]] == [line["payoffs"] for line in lines]
        assert all(set(line) == {"decisions", "seconds", "score", "payoffs"} for line in source["log"])
        assert source["config"]["seed"] == config.seed
    status, out, _ = tonk("info", str(tmp_path / "x.onnx"))
    assert status == 0
    assert "3 evaluations; score" in " ".join(out.split())
    assert json.loads(tonk("info", str(tmp_path / "x.onnx"), "--json")[1])["provenance"]["log"]
    (run / "origin.json").unlink()  # as in runs of earlier versions
    assert read_origin(run)["commit"] == "ba9876543210"
    (run / "versions.json").write_text("[]")
    assert read_origin(run)["commit"] is None


def test_the_commit_is_that_of_the_checkout_and_says_where_files_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents import runs

    monkeypatch.setattr(runs, "__file__", str(tmp_path / "agents" / "runs.py"))
    assert runs._commit() is None

    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@x", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    assert runs._commit() == git("rev-parse", "HEAD")[:12]
    (tmp_path / "file").write_text("2")
    assert runs._commit() == git("rev-parse", "HEAD")[:12] + "-dirty"
