"""Gymnasium's recorder of videos, which needs more than the core, and its example."""

from __future__ import annotations

import runpy
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from moviepy import VideoFileClip

import tonk_env  # noqa: F401 (registers tonk_env/Tonk-v0)

EXAMPLE = Path(__file__).parents[2] / "examples" / "gymnasium_vector.py"


def test_videos_show_every_step_of_an_episode(tmp_path: Path) -> None:
    made = gymnasium.make(
        "tonk_env/Tonk-v0", rules="rockets", num_players=3, drop="never", opponents="random", render_mode="rgb_array"
    )
    env = gymnasium.wrappers.RecordVideo(made, str(tmp_path / "films"), episode_trigger=lambda episode: True)
    generator, lengths = np.random.default_rng(0), []
    for seed in range(2):
        _, info = env.reset(seed=seed)
        over, length = False, 0
        while not over:
            action = int(generator.choice(np.flatnonzero(info["action_mask"])))
            _, _, terminated, truncated, info = env.step(action)
            over, length = terminated or truncated, length + 1
        lengths.append(length)
    env.close()
    films = sorted(tmp_path.glob("films/*.mp4"))
    assert len(films) == 2
    for film, length in zip(films, lengths, strict=True):
        with VideoFileClip(str(film)) as clip:
            assert clip.fps == env.metadata["render_fps"]
            assert abs(clip.n_frames - (length + 1)) <= 1
            frame = clip.get_frame(0)
            assert frame.shape == (*made.render().shape[:2], 3)
            assert frame.std() > 10


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert runpy.run_path(str(EXAMPLE))["main"]() > 0.5
    assert "hands" in capsys.readouterr().out
