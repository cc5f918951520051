"""The one description of a training run: every setting with its default, its range and what it is for."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agents.base import AgentSpecError
from agents.config_file import ConfigError as ConfigError
from agents.config_file import parse_yaml, read_mapping, with_text_keys
from agents.specs import parse_spec
from tonk_env.rules import RuleSet, RuleSetError, make_rules

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
EVALUATION_SEEDS = 3  # seeds that evaluations use, from evaluation.seed on
EXTENDS = "extends"  # key of a file, not of a configuration: the file that it lies on top of
Width = Annotated[int, Field(ge=1, le=8192)]


class Section(BaseModel):
    """A group of settings: unknown keys are refused, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class GameConfig(Section):
    """Which game is learned."""

    rules: str = Field(default="points", description="Preset to start from; `tonk rules` lists them.")
    options: dict[str, Any] = Field(default={}, description="Rule options on top of the preset, such as `match: hands`.")
    num_players: Annotated[int, Field(ge=2, le=6)] = Field(default=2, description="Seats at every table.")

    def rule_set(self) -> RuleSet:
        """Return the validated rules of this game. Raises ``RuleSetError``."""
        rules = make_rules(self.rules, **self.options)
        rules.check_players(self.num_players)
        return rules


class BudgetConfig(Section):
    """How long training goes on: until the first of the two limits is reached."""

    decisions: Positive = Field(default=2_000_000, description="Decisions the learner takes in all.")
    minutes: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="Wall-clock minutes of training, evaluations included, final evaluation not. null: no limit. "
        "With a limit two runs of one seed may differ, since a faster machine gets further.",
    )


class NetworkConfig(Section):
    """The policy: a torso shared by actor and critic, and a head for each."""

    torso: list[Width] = Field(default=[256, 256], min_length=1, description="Widths of the shared layers.")
    spread_features: bool = Field(
        default=True,
        description="Whether the first layer is also told how far the cards are from each spread and what fits on the table.",
    )
    policy_head: list[Width] = Field(default=[], description="Widths of further layers of the actor alone.")
    value_head: list[Width] = Field(default=[], description="Widths of further layers of the critic alone.")
    oracle_head: list[Width] = Field(
        default=[],
        description="Widths of a second critic that also sees the others' hands, in training only: less noise to learn from. "
        "Empty: none.",
    )
    activation: Literal["relu", "tanh", "silu"] = Field(default="relu", description="Function between the layers.")


class PPOConfig(Section):
    """Masked PPO. Learning rate and entropy weight run linearly from their start to their end value over the budget."""

    num_tables: Positive = Field(default=512, description="Tables played side by side.")
    steps: Positive = Field(
        default=32, description="Decisions a table between two updates; tables x steps is one iteration."
    )
    minibatch: Positive = Field(default=2048, description="Decisions in one gradient step.")
    epochs: Positive = Field(default=3, description="Passes over an iteration's decisions.")
    learning_rate: Annotated[float, Field(gt=0)] = Field(default=1e-3, description="Adam's step size at the start.")
    learning_rate_end: Annotated[float, Field(ge=0)] = Field(default=0.0, description="Adam's step size at the end.")
    entropy: Annotated[float, Field(ge=0)] = Field(
        default=0.05,
        description="Weight of the entropy bonus at the start. In games of hidden information 0.05 to 0.2 keeps self-play "
        "from chasing its own tail; the usual 0.01 does not.",
    )
    entropy_end: Annotated[float, Field(ge=0)] = Field(default=0.05, description="Weight of the entropy bonus at the end.")
    clip: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.1, description="Most that an update changes a probability's ratio."
    )
    gamma: Annotated[float, Field(gt=0, le=1)] = Field(default=1.0, description="Discount; 1 because a hand always ends.")
    gae_lambda: Share = Field(default=0.95, description="Bias against variance of advantages: 1 trusts only what was paid.")
    value_coef: Annotated[float, Field(ge=0)] = Field(default=0.5, description="Weight of the critic's loss.")
    belief_coef: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="Weight of a head that learns to guess the others' cards, in training only; 0: none."
    )
    all_seats: bool = Field(
        default=False,
        description="Whether the learner also learns from the seats drawn for the newest policy; if not, a copy plays them.",
    )
    max_grad_norm: Annotated[float, Field(gt=0)] = Field(default=0.5, description="Gradients are cut to this norm.")
    normalize_advantage: bool = Field(
        default=True, description="Whether advantages get mean 0 and spread 1 in a gradient step."
    )
    target_kl: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="An update stops early once the policy moved 1.5 times this far; null: never."
    )

    @model_validator(mode="after")
    def _fits(self) -> PPOConfig:
        if self.num_tables * self.steps < 2:
            raise ValueError("num_tables x steps must be at least 2, or there is nothing to normalise")
        if self.minibatch > self.num_tables * self.steps:
            raise ValueError(
                f"minibatch {self.minibatch} is more than the {self.num_tables * self.steps} decisions of one iteration "
                "(num_tables x steps)"
            )
        return self


class OpponentsConfig(Section):
    """Who sits in the other seats. Drawn for every seat and episode, fixed while the episode lasts; all of them sample."""

    current: Share = Field(
        default=0.6, description="Share of seats played by the newest policy (a copy, renewed every iteration)."
    )
    snapshots: Share = Field(
        default=0.25, description="Share played by earlier policies; the newest one's while there are none."
    )
    baselines: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default={"greedy": 0.05, "drop:27": 0.1}, description="Shares played by these agents (random, greedy, expert, drop:N)."
    )
    snapshot_every: Positive = Field(default=10, description="Iterations between two snapshots.")
    ring: Positive = Field(default=8, description="Snapshots kept; a new one takes the place of the oldest.")
    active: Positive = Field(
        default=2, description="Snapshots that take part in one iteration, redrawn for each; few are faster."
    )

    @field_validator("baselines")
    @classmethod
    def _known(cls, baselines: dict[str, float]) -> dict[str, float]:
        for spec in baselines:
            try:
                parsed = parse_spec(spec)
            except AgentSpecError as error:
                raise ValueError(str(error)) from None
            if not parsed.inside:
                inside = "random, greedy, expert and drop:N"
                raise ValueError(f"{spec!r} does not play inside the compiled loop; only {inside} can be baselines in training")
        return baselines

    @model_validator(mode="after")
    def _some(self) -> OpponentsConfig:
        if self.current + self.snapshots + sum(self.baselines.values()) <= 0:
            raise ValueError("current, snapshots and baselines are all 0, so nobody would sit in the other seats")
        return self


class TeacherConfig(Section):
    """A compiled player to begin with, before PPO takes over: first its moves are imitated, then its play-outs learned from."""

    agent: str | None = Field(default=None, description="Who is imitated: greedy, expert or drop:N; null: nobody.")
    until: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.3,
        description="Share of the budget, from its start, in which the policy plays and learns what the teacher would have "
        "done. PPO has what the teacher leaves, and its schedules run over that.",
    )
    learning_rate: Annotated[float, Field(gt=0)] = Field(
        default=2e-3, description="Adam's step size at the start of that; it falls to the one of the next stage."
    )
    minibatch: Positive = Field(
        default=1024, description="Decisions in one gradient step of imitation: many small steps learn more."
    )
    plays: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=0,
        description="Play-outs by the teacher for each legal move, of hands as they lie with the stock in another order: the "
        "policy then learns from what its moves are worth. Single hands only. 0: none.",
    )
    plays_until: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.5, description="Share of the budget at which these end and PPO begins."
    )
    plays_learning_rate: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="Adam's step size at the start of play-outs; it falls to the one that PPO begins with. null: that one.",
    )
    weight: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="Weight of -log p(teacher's choice) in PPO's loss at its start; it falls to 0 with the budget."
    )

    @field_validator("agent")
    @classmethod
    def _known(cls, agent: str | None) -> str | None:
        if agent is None:
            return None
        try:
            parsed = parse_spec(agent)
        except AgentSpecError as error:
            raise ValueError(str(error)) from None
        if not parsed.inside or parsed.kind in ("random", "cfr"):
            raise ValueError(f"{agent!r} cannot teach: only greedy, expert and drop:N can, which are compiled and decided")
        return agent


class EvaluationConfig(Section):
    """Paired evaluation: the same deals for every pair of agents, seats rotated, the current weights, fixed opponents."""

    every: Positive = Field(default=25, description="Iterations between two evaluations.")
    deals: Annotated[int, Field(ge=2)] = Field(default=1000, description="Deals against each opponent in training.")
    opponents: list[str] = Field(
        default=["random", "greedy", "drop:28"],
        min_length=1,
        description="Whom the learner is measured against in training; the final table holds them too.",
    )
    final_deals: Annotated[int, Field(ge=2)] = Field(default=10_000, description="Deals of each pair in the final table.")
    drop_range: list[Annotated[int, Field(ge=0, le=200)]] = Field(
        default=[20, 22, 24, 26, 28, 30, 32, 34], min_length=1, description="Candidates for the drop:N that is hardest to beat."
    )
    play: Literal["sample", "greedy"] = Field(
        default="sample",
        description="How the learner plays when it is measured: drawing as in training, or its likeliest action.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=1_000_003, description="Seed of the deals; never the seed of training deals."
    )

    @field_validator("opponents")
    @classmethod
    def _known(cls, opponents: list[str]) -> list[str]:
        for spec in opponents:
            try:
                parse_spec(spec)
            except AgentSpecError as error:
                raise ValueError(str(error)) from None
        return opponents


class CheckpointConfig(Section):
    """What is kept for ``--resume``."""

    every: Positive = Field(default=1, description="Iterations between two checkpoints; a kill loses at most that many.")
    keep: Positive = Field(default=3, description="Checkpoints kept; the oldest goes when a new one is complete.")


class ClusterConfig(Section):
    """Playing in many processes: RLlib on a Ray cluster in place of the loop of this process."""

    workers: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=0, description="Processes that play, on a Ray cluster with RLlib; 0: this process does all, without Ray."
    )
    address: Annotated[str, Field(pattern=r"^(auto|[^:/\s]+:\d{1,5})$")] | None = Field(
        default=None, description="Cluster to join, as `auto` or `10.0.0.5:6379`; null: one is started on this machine."
    )
    cpus_per_worker: Annotated[float, Field(gt=0)] = Field(default=1.0, description="Cores that Ray sets aside for each.")
    patience: Positive = Field(
        default=10, description="Iterations in a row that may bring nothing, because workers are lost, before the run stops."
    )


class TrainConfig(Section):
    """A whole run: ``train.py configs/NAME.yaml key.subkey=value …``."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(default=0, description="Seed of deals, weights and choices.")
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        default=2, description="Threads of torch: the cores to be used; 1 gives bitwise equal runs."
    )
    device: Literal["cpu", "cuda"] = Field(
        default="cpu", description="Where the networks live; small ones are fastest on the CPU."
    )
    game: GameConfig = Field(default=GameConfig(), description="Which game is learned.")
    budget: BudgetConfig = Field(default=BudgetConfig(), description="How long training goes on.")
    network: NetworkConfig = Field(default=NetworkConfig(), description="The policy network.")
    ppo: PPOConfig = Field(default=PPOConfig(), description="The learning algorithm.")
    teacher: TeacherConfig = Field(default=TeacherConfig(), description="Whose choices the learner imitates at first.")
    opponents: OpponentsConfig = Field(default=OpponentsConfig(), description="Who sits in the other seats.")
    evaluation: EvaluationConfig = Field(default=EvaluationConfig(), description="How strength is measured.")
    checkpoints: CheckpointConfig = Field(default=CheckpointConfig(), description="What is kept to continue from.")
    cluster: ClusterConfig = Field(default=ClusterConfig(), description="Playing in many processes.")

    @model_validator(mode="after")
    def _own_deals(self) -> TrainConfig:
        if self.seed in range(self.evaluation.seed, self.evaluation.seed + EVALUATION_SEEDS):
            raise ValueError(f"evaluation.seed {self.evaluation.seed} must differ from the seed of the training deals")
        return self

    @model_validator(mode="after")
    def _plays_fit(self) -> TrainConfig:
        teacher = self.teacher
        if not teacher.plays or teacher.agent is None:  # without a teacher nobody plays out, whatever its settings are
            return self
        if teacher.plays_until <= teacher.until:
            raise ValueError(f"teacher.plays_until {teacher.plays_until} must be above teacher.until {teacher.until}")
        if teacher.agent != "expert":
            raise ValueError("teacher.plays is for teacher.agent=expert, who plays the hands out; with another one set it to 0")
        if not _single_hands(self.game.rule_set()):
            raise ValueError(
                "teacher.plays is for single hands: add the rule options match=hands and hands=1, or set teacher.plays=0"
            )
        return self

    @model_validator(mode="after")
    def _cluster_offers_it(self) -> TrainConfig:
        if self.cluster.workers and self.ppo.target_kl is not None:
            raise ValueError("ppo.target_kl is not offered with cluster.workers: leave it at null")
        if self.cluster.workers and not self.ppo.normalize_advantage:
            raise ValueError("ppo.normalize_advantage is always on with cluster.workers: leave it at true")
        extras = {
            "network.oracle_head": self.network.oracle_head,
            "ppo.belief_coef": self.ppo.belief_coef,
            "ppo.all_seats": self.ppo.all_seats,
            "teacher.agent": self.teacher.agent,
        }
        for key, value in extras.items():
            if self.cluster.workers and value:
                raise ValueError(f"{key} is not offered with cluster.workers: leave it at its default")
        return self

    @property
    def decisions_per_iteration(self) -> int:
        """Decisions of the learner between two updates."""
        return self.ppo.num_tables * self.ppo.steps


def _single_hands(rules: RuleSet) -> bool:
    return rules.match == "hands" and rules.hands == 1


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> TrainConfig:
    """Return the configuration in a YAML file with ``key.subkey=value`` texts on top.

    A file with the key ``extends`` lies on top of the one that it names, see ``read_yaml``. Raises ``ConfigError`` for a
    file that cannot be read, an unknown key (with the nearest known one) and a bad value.
    """
    return parse_config(read_yaml(Path(path)), overrides, str(path))


def parse_config(data: Mapping[str, Any], overrides: Sequence[str] = (), source: str = "the configuration") -> TrainConfig:
    """Return the validated configuration held in ``data`` with overrides on top; ``source`` is named in errors."""
    merged = with_text_keys(data)
    for text in overrides:
        _override(merged, text)
    _refuse_unknown(merged, TrainConfig, (), source)
    try:
        config = TrainConfig.model_validate(merged)
        config.game.rule_set()
    except ValidationError as error:
        raise ConfigError(_sentence(error, source)) from None
    except RuleSetError as error:
        raise ConfigError(f"{source}: key 'game': {error}") from None
    return config


def dump_config(config: TrainConfig) -> str:
    """Return the configuration as YAML, every default written out; ``load_config`` reads it back unchanged."""
    return str(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True))


def settings_of(config: TrainConfig) -> dict[str, Any]:
    """Return the value of every setting by its dotted key."""
    return {key: value for key, value, _ in _describe(config, ())}


def describe_config() -> list[tuple[str, Any, str]]:
    """Return (dotted key, default, meaning) of every setting, in order; the documentation's table is made of it."""
    return list(_describe(TrainConfig(), ()))


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the settings in a YAML file, on top of those of the file that its key ``extends`` names, if it has one.

    That name is relative to the file. Sections are merged key by key; any other value, lists and free maps such as
    ``opponents.baselines`` included, takes the place of the one below. Raises ``ConfigError``, also where files extend
    each other in a circle.
    """
    return _read_layers(path, ())


def _read_layers(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    """Read a file and what it extends; ``above`` are the files that lead here."""
    data = read_mapping(path)
    if EXTENDS not in data:
        return dict(data)
    name = data.pop(EXTENDS)
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{path}: key {EXTENDS!r} is {name!r}, but names one other file, as in `{EXTENDS}: selfplay.yaml`")
    below, chain = path.parent / name, (*above, path)
    if below.resolve() in (file.resolve() for file in chain):
        words = " -> ".join(str(file) for file in (*chain, below))
        raise ConfigError(f"{path}: key {EXTENDS!r} leads back to a file that is being read: {words}")
    if not below.is_file():
        raise ConfigError(f"{path}: key {EXTENDS!r} names {name!r}, but there is no file {below}")
    base = _read_layers(below, chain)
    for layer, file in ((base, below), (data, path)):  # here each fault still has its file
        _refuse_unknown(layer, TrainConfig, (), str(file))
    return _merged(base, data, TrainConfig)


def _merged(base: dict[str, Any], top: dict[str, Any], section: type[Section]) -> dict[str, Any]:
    """Return ``top`` over ``base``, key by key where both hold a section."""
    merged = dict(base)
    for key, value in top.items():
        inner = _section_of(section.model_fields[key].annotation)
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value, inner) if inner is not None and both else value
    return merged


def _describe(section: Section, parents: tuple[str, ...]) -> Iterator[tuple[str, Any, str]]:
    for key, info in type(section).model_fields.items():
        value = getattr(section, key)
        if isinstance(value, Section):
            yield from _describe(value, (*parents, key))
        else:
            yield ".".join((*parents, key)), value, info.description or ""


def _override(data: dict[str, Any], text: str) -> None:
    """Set one ``key.subkey=value`` in nested mappings; the value is read as YAML."""
    key, equals, value = text.partition("=")
    *parents, last = key.strip().split(".")
    if not equals or not all((*parents, last)):
        raise ConfigError(f"cannot read {text!r}: a setting is changed by key.subkey=value, as in ppo.epochs=4")
    for parent in parents:
        data = data.setdefault(parent, {})
        if not isinstance(data, dict):
            raise ConfigError(f"cannot set {key!r}: {parent!r} is a single value, it has no {last!r}")
    try:
        data[last] = parse_yaml(value)
    except ConfigError as error:
        raise ConfigError(f"cannot read the value of {text!r:.80}: {error}") from None


def _refuse_unknown(data: Any, section: type[Section], parents: tuple[str, ...], source: str) -> None:
    """Raise ``ConfigError`` for the first key that the section does not have, with the nearest one that exists."""
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        here = ".".join((*parents, key))
        if key not in section.model_fields:
            raise ConfigError(f"{source}: there is no key {here!r}{_nearest(key, section, parents)}")
        inner = _section_of(section.model_fields[key].annotation)
        if inner is not None:
            _refuse_unknown(value, inner, (*parents, key), source)


def _nearest(key: str, section: type[Section], parents: tuple[str, ...]) -> str:
    """Name the nearest key beside the unknown one, or else anywhere; without one, all that are known beside it."""
    beside = {name: ".".join((*parents, name)) for name in section.model_fields}
    anywhere = {dotted.rpartition(".")[2]: dotted for dotted, _, _ in describe_config()}
    for known in (beside, anywhere):
        near = difflib.get_close_matches(key, list(known), 1, 0.6)
        if near:
            return f": did you mean {known[near[0]]!r}?"
    return f"; known here are {', '.join(beside.values())}"


def _section_of(annotation: Any) -> type[Section] | None:
    """The section class in a field's type, if it is one."""
    options = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return next((one for one in options if isinstance(one, type) and issubclass(one, Section)), None)


def _sentence(error: ValidationError, source: str) -> str:
    """The first fault that pydantic found, as one sentence."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    given = first["input"]
    if first["type"] == "model_type":
        return f"{source}: key {key!r} is {given!r}, but holds keys of its own"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return f"{source}: key {key or message.split()[0]!r}: {message}"
    return f"{source}: key {key!r} is {given!r}, but {message[0].lower()}{message[1:]}"
