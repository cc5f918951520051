"""The display of a run: nothing is said before it is known, and after a stop it goes on where the run stands."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from agents.progress import Display


def test_a_display_goes_on_where_the_run_stands() -> None:
    out = io.StringIO()
    display = Display(Console(file=out, width=200))
    display.doing("playing")
    assert out.getvalue() == "", "no figures are known yet"
    display.go_on(600, 0.6, {"greedy": {"mean": 0.25, "low": 0.2, "high": 0.3}})
    assert out.getvalue() == " 60% playing: 600 decisions · 0/s · ? left · greedy +0.250±0.050\n"


def test_the_rate_counts_from_where_it_went_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("agents.progress.time.monotonic", lambda: now[0])
    out = io.StringIO()
    display = Display(Console(file=out, width=200))
    display.go_on(600, 0.6)
    now[0] = 20.0
    display.update(800, 0.8)
    assert out.getvalue().splitlines()[-1] == " 80% starting: 800 decisions · 10/s · 0:20 left · no evaluation yet"


def test_training_starts_the_display_from_its_last_evaluation(tmp_path: Path) -> None:
    callbacks = pytest.importorskip("agents.callbacks")
    line = {"step": 600, "payoffs": {"greedy": {"mean": 0.25, "low": 0.2, "high": 0.3}}}
    (tmp_path / "evaluation.jsonl").write_text(json.dumps(line) + "\n")
    out = io.StringIO()
    display = Display(Console(file=out, width=200))
    hooks = SimpleNamespace(folder=tmp_path, display=display, share_used=lambda step: step / 1000)
    callback = callbacks.TrainingCallback(hooks, callbacks.Clocks())
    callback.num_timesteps = 600
    callback._on_training_start()
    assert " 60% starting: 600 decisions" in out.getvalue()
    assert "greedy +0.250±0.050" in out.getvalue()


def test_the_last_screen_has_one_thing_a_line(tmp_path: Path) -> None:
    training = pytest.importorskip("agents.training")
    out = io.StringIO()
    run = SimpleNamespace(
        display=Display(Console(file=out, width=80)), folder=tmp_path, settled=10, seconds=60.0, best={"step": 5}
    )
    training.Trainer._say_finished(run)
    starts = [line.split("  ")[0] for line in out.getvalue().splitlines()]
    assert starts[1:] == ["opponent", "report", "play it", "curves"]
