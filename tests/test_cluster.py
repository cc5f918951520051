"""What can be said of cluster runs without Ray: their configuration, and what is refused in one sentence."""

import importlib.util
from pathlib import Path

import pytest

from agents.config import ConfigError, load_config
from agents.training import Trainer, train, trainer_of


def test_a_cluster_without_ray_is_refused_before_anything_is_written(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "ray" else found(name, *rest))
    config = load_config(root / "configs" / "cluster.yaml")
    with pytest.raises(ConfigError, match=r'workers is 2, which needs RLlib: run  pip install "ray\[rllib\]"'):
        train(config, "cluster", "run", tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_configurations_train_in_this_process(root: Path) -> None:
    for name in ("quick", "selfplay", "smoke"):
        assert trainer_of(load_config(root / "configs" / f"{name}.yaml")) is Trainer


@pytest.mark.parametrize(
    "setting, words",
    [
        ("ppo.target_kl=0.02", "target_kl is not offered with cluster.workers"),
        ("ppo.normalize_advantage=false", "normalize_advantage is always on with cluster.workers"),
        ("cluster.address=ray://host:10001", "cluster.address"),
        ("cluster.address=host", "cluster.address"),
        ("cluster.workers=-1", "cluster.workers"),
        ("cluster.worker=3", "did you mean 'cluster.workers'"),
    ],
)
def test_what_a_cluster_does_not_offer_is_refused(root: Path, setting: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(root / "configs" / "cluster.yaml", [setting])


def test_addresses_of_a_cluster(root: Path) -> None:
    for address in ("auto", "10.0.0.5:6379", "head.example:6379"):
        assert load_config(root / "configs" / "cluster.yaml", [f"cluster.address={address}"]).cluster.address == address
