"""Checks the training configuration: what is refused and how it is said, overrides, that it is written and read back."""

from pathlib import Path

import pytest
import yaml

from agents.config import ConfigError, TrainConfig, describe_config, dump_config, load_config, parse_config


def refusal(data: dict[str, object], *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(data, overrides, "run.yaml")
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["quick", "selfplay", "smoke"])
def test_shipped_configurations_load(root: Path, name: str) -> None:
    config = load_config(root / "configs" / f"{name}.yaml")
    assert config.game.rules == "points"
    assert config.ppo.gamma == 1.0


def test_defaults_are_those_that_research_backs() -> None:
    ppo = TrainConfig().ppo
    assert 0.05 <= ppo.entropy <= 0.2
    assert ppo.learning_rate_end < ppo.learning_rate
    assert ppo.clip <= 0.2


@pytest.mark.parametrize(
    "data, key, hint",
    [
        ({"ppo": {"epoch": 3}}, "ppo.epoch", "ppo.epochs"),
        ({"epochs": 3}, "epochs", "ppo.epochs"),
        ({"opponent": {}}, "opponent", "opponents"),
        ({"game": {"players": 3}}, "game.players", "game.num_players"),
        ({"ppo": {"lerning_rate": 1}}, "ppo.lerning_rate", "ppo.learning_rate"),
    ],
)
def test_unknown_key_is_refused_with_the_nearest_one(data: dict[str, object], key: str, hint: str) -> None:
    message = refusal(data)
    assert f"there is no key {key!r}" in message
    assert f"did you mean {hint!r}" in message


def test_unknown_key_without_a_near_one_lists_what_there_is() -> None:
    assert "checkpoints.every, checkpoints.keep" in refusal({"checkpoints": {"zzz": 1}})


@pytest.mark.parametrize(
    "data, words",
    [
        ({"ppo": {"epochs": 0}}, ["ppo.epochs", "0", "greater than or equal to 1"]),
        ({"ppo": {"minibatch": 10**9}}, ["ppo", "minibatch 1000000000", "one iteration"]),
        ({"ppo": 3}, ["ppo", "keys of its own"]),
        ({"ppo": {"epochs": "many"}}, ["ppo.epochs", "'many'"]),
        ({"budget": {"minutes": float("nan")}}, ["budget.minutes", "finite"]),
        ({"network": {"torso": []}}, ["network.torso"]),
        ({"game": {"rules": "pionts"}}, ["pionts", "points"]),
        ({"game": {"options": {"match": "hand"}}}, ["match", "hands"]),
        ({"game": {"num_players": 5}}, ["5", "2 to 4"]),
        ({"opponents": {"baselines": {"dorp:27": 1}}}, ["dorp:27", "did you mean 'drop:27'"]),
        ({"opponents": {"baselines": {}, "current": 0, "snapshots": 0}}, ["opponents", "all 0"]),
        ({"evaluation": {"opponents": ["gredy"]}}, ["gredy", "did you mean 'greedy'"]),
        ({"evaluation": {"seed": 7}, "seed": 7}, ["evaluation.seed", "training"]),
    ],
)
def test_bad_value_is_refused_in_one_sentence(data: dict[str, object], words: list[str]) -> None:
    message = refusal(data)
    assert message.startswith("run.yaml: key ")
    assert all(word in message for word in words), message


def test_overrides_are_read_as_yaml_and_win() -> None:
    config = parse_config({"ppo": {"epochs": 2}}, ["ppo.epochs=5", "ppo.learning_rate=3e-4", "game.options.match=hands"])
    assert config.ppo.epochs == 5
    assert config.ppo.learning_rate == 3e-4
    assert config.game.rule_set().match == "hands"


@pytest.mark.parametrize("text", ["ppo.epochs", "=3", "ppo..epochs=3", "ppo.epochs=[1"])
def test_unreadable_override_is_refused(text: str) -> None:
    assert "cannot read" in refusal({}, text)


def test_override_below_a_single_value_is_refused() -> None:
    assert "it has no 'x'" in refusal({"ppo": {"epochs": 3}}, "ppo.epochs.x=1")


def test_overrides_do_not_change_what_was_given() -> None:
    data = {"ppo": {"epochs": 2}}
    parse_config(data, ["ppo.epochs=5"])
    assert data == {"ppo": {"epochs": 2}}


def test_configuration_survives_being_written_and_read() -> None:
    config = parse_config({"game": {"rules": "rockets", "num_players": 4}, "seed": 3, "budget": {"minutes": 1.5}})
    assert parse_config(yaml.safe_load(dump_config(config))) == config


def test_every_setting_is_described() -> None:
    described = describe_config()
    assert len(described) > 40
    assert all(len(meaning) > 10 for _, _, meaning in described)


def test_missing_and_broken_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load_config(tmp_path)
    broken = tmp_path / "broken.yaml"
    for text in ("a: [1", "- 1\n- 2\n", "\x00", "seed: 2020-13-45", "seed: " + "9" * 5000):
        broken.write_text(text)
        with pytest.raises(ConfigError, match=r"broken\.yaml"):
            load_config(broken)


def test_without_a_teacher_its_play_outs_are_none(root: Path) -> None:
    quick = root / "configs" / "quick.yaml"
    config = load_config(quick, ["teacher.agent=null"])  # as the file itself says, for self-play alone
    assert config.teacher.plays > 0
    load_config(quick, ["teacher.agent=null", "game.options={}"])
    with pytest.raises(ConfigError, match=r"teacher\.agent=expert.*set it to 0"):
        load_config(quick, ["teacher.agent=greedy"])
    with pytest.raises(ConfigError, match=r"single hands.*teacher\.plays=0"):
        load_config(quick, ["game.options={}"])


def test_a_missing_file_is_refused_with_those_beside_it(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file .*nope\.yaml; .*champions has champion\.yaml, .*points-2\.yaml"):
        load_config(root / "configs" / "champions" / "nope.yaml")
    with pytest.raises(ConfigError, match=r"name a configuration, as configs/quick\.yaml"):
        load_config(tmp_path / "nope.yaml")
    with pytest.raises(ConfigError, match=r"the folder .*nowhere does not exist"):
        load_config(tmp_path / "nowhere" / "a.yaml")


@pytest.mark.parametrize("text", ["a: " + "[" * 5000, "a: " + "{a: " * 5000, "a: &a {b: *a}"], ids=["lists", "maps", "itself"])
def test_endless_nesting_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"deep\.yaml: it is nested too deeply$"):
        load_config(path)
    assert "nested too deeply" in refusal({}, f"seed={text[3:]}")


@pytest.mark.parametrize(
    "text, words",
    [
        ("seed: 1\nthreads: 1\nseed: 2\n", "key 'seed' in line 3 stands in line 1 already"),
        ("ppo:\n  epochs: 1\n  'epochs': 1\n", "key 'epochs' in line 3 stands in line 2 already"),
        ("ppo: {epochs: 1, epochs: 2}", "key 'epochs' in line 1 stands in line 1 already"),
        ("a: &a {b: 1}\nc: {<<: *a, b: 2}\na: 3", "key 'a' in line 3 stands in line 1 already"),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}: {words}")
    assert "\n" not in str(caught.value)


def test_a_key_that_stands_twice_in_an_override_is_refused() -> None:
    assert "key 'epochs' in line 1 stands" in refusal({}, "ppo={epochs: 1, epochs: 2}")


def test_a_key_may_stand_in_two_sections_and_over_a_merged_one(tmp_path: Path) -> None:
    path = tmp_path / "merge.yaml"
    path.write_text("evaluation: &e {every: 7, deals: 50}\ncheckpoints: {every: 7}\ncluster: {workers: 0}\nseed: 4\n")
    assert load_config(path).checkpoints.every == 7
    path.write_text("ppo: {epochs: 2, minibatch: 128}\nopponents: {baselines: {<<: &b {greedy: 0.5}, random: 0.1}}\n")
    assert load_config(path).opponents.baselines == {"greedy": 0.5, "random": 0.1}
    path.write_text("opponents: {baselines: {<<: {greedy: 0.5}, greedy: 0.1}}\n")
    assert load_config(path).opponents.baselines == {"greedy": 0.1}


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("# nothing\n")
    assert load_config(path) == TrainConfig()


# -- files that extend others ---------------------------------------------------------------------------------------


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder / "top.yaml"


def test_a_file_lies_on_top_of_the_one_that_it_extends(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep", base="seed: 3\nppo: {epochs: 2, clip: 0.3}\ngame: {options: {match: hands, hand_size: 6}}\n")
    written(tmp_path, middle="extends: deep/base.yaml\nppo: {clip: 0.2}\nopponents: {ring: 4, baselines: {greedy: 0.5}}\n")
    top = written(
        tmp_path,
        top="extends: middle.yaml\nopponents:\n  baselines: {random: 0.1}\ngame: {options: {match: hands}}\n"
        "evaluation: {drop_range: [9]}\n",
    )
    config = load_config(top, ["ppo.epochs=5"])
    assert (config.seed, config.ppo.epochs, config.ppo.clip, config.opponents.ring) == (3, 5, 0.2, 4)
    assert config.opponents.baselines == {"random": 0.1}
    assert config.game.options == {"match": "hands"}
    assert config.evaluation.drop_range == [9]
    assert "extends" not in dump_config(config)
    assert parse_config(yaml.safe_load(dump_config(config))) == config


def test_a_configuration_in_memory_extends_nothing() -> None:
    assert "no key 'extends'" in refusal({"extends": "base.yaml"})
    assert "no key 'extends'" in refusal({}, "extends=base.yaml")


@pytest.mark.parametrize(
    "files, words",
    [
        ({"top": "extends: top.yaml"}, ["top.yaml", "leads back"]),
        ({"top": "extends: one.yaml", "one": "extends: ./top.yaml"}, ["one.yaml: key 'extends'", "leads back"]),
        ({"top": "extends: none.yaml"}, ["top.yaml", "'none.yaml'", "there is no file"]),
        ({"top": "extends: 3"}, ["top.yaml: key 'extends' is 3", "one other file"]),
        ({"top": "extends: [one.yaml]", "one": ""}, ["top.yaml: key 'extends' is ['one.yaml']"]),
        ({"top": "extends:"}, ["top.yaml: key 'extends' is None"]),
        ({"top": "extends: one.yaml", "one": "- 1"}, ["one.yaml must hold keys"]),
        ({"top": "extends: one.yaml", "one": "ppo: {epoch: 3}"}, ["one.yaml: there is no key 'ppo.epoch'", "ppo.epochs"]),
        ({"top": "extends: one.yaml\nepochs: 1", "one": ""}, ["top.yaml: there is no key 'epochs'"]),
        ({"top": "extends: one.yaml\nppo: 3", "one": "ppo: {epochs: 1}"}, ["top.yaml: key 'ppo' is 3"]),
    ],
)
def test_a_file_that_cannot_be_extended_is_refused_in_one_sentence(
    tmp_path: Path, files: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, **files))
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
