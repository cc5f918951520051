"""Commands started in unfriendly places: closed streams, encodings without the signs that are printed, SIGTERM."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

COMMANDS = [("rules",), ("rules", "micro"), ("evaluate", "greedy", "random", "--rules", "micro", "--deals", "3"), ("play",)]
ASCII = {**os.environ, "PYTHONIOENCODING": "ascii"}


def started(root, *arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "agents", *arguments], cwd=root, text=True, **options)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_signs_that_cannot_be_encoded_are_no_fault(root, arguments):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(root, *arguments, env=ASCII, stdin=subprocess.DEVNULL, **pipes) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert any(words in out for words in ("rockets", "Micro Tonk", "2 players", "your move"))


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(root, arguments, closed):
    given = "" if closed.startswith("<") else "</dev/null"
    line = f'"$0" -m agents {" ".join(arguments)} {given} {closed}'
    done = subprocess.run(["sh", "-c", line, sys.executable], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_output_may_be_the_file(root):
    arguments = ["evaluate", "greedy", "random", "--rules", "micro", "--deals", "3", "--json", "/dev/stdout"]
    done = subprocess.run(
        [sys.executable, "-m", "agents", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    written, _, _ = done.stdout.partition("\n}\n")
    assert json.loads(written + "}")["deals"] == 3


def test_training_says_its_mistakes_in_any_encoding(root):
    arguments = [sys.executable, "train.py", "configs/smoke.yaml", "seed=größer"]
    done = subprocess.run(arguments, cwd=root, env=ASCII, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "key 'seed' is 'gr" in done.stderr


def test_sigterm_leaves_no_half_written_file(root, tmp_path):
    arguments = ("record", "greedy", "-o", str(tmp_path / "r.jsonl"), "--hands", "1000000000")
    with started(root, *arguments, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not any(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
