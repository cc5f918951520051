"""What the curves of a run mean: every logged number by name, in the order in which the docs list them."""

from __future__ import annotations

METRICS = {
    "eval/payoff_vs_*": "Mean reward a hand (or match) against that agent: paired deals, seats rotated, current weights.",
    "eval/score": "The least of these payoffs; the best policy is the one with the greatest score.",
    "play/return": "Mean reward of the learner's episodes in training, against the pool as it was drawn.",
    "play/return_vs_*": "The same by kind of opponent: `current` is the policy itself, so its curve stays near 0.",
    "play/decisions_per_episode": "Decisions of the learner in an episode, hands it never got to act in included.",
    "hands/*": "Share of the hands at training tables that ended so (`drop`, `caught`, `tonk_out`, `run_out`, `stock`, …).",
    "hands/won_by_*": "Share of the hands that ended so and had the learner among the winners.",
    "hands/learner_drops": "Share of the hands that the learner ended by dropping or tunking.",
    "hands/learner_drops_caught": "Share of these in which it was caught.",
    "pool/share_*": "Share of the other seats played by the newest policy, snapshots and each baseline.",
    "pool/policies_loaded": "Frozen policies in memory: the newest, the ring, and those still at a table.",
    "pool/snapshots": "Policies in the ring.",
    "train/entropy_loss": "Minus the mean entropy of the policy over legal actions, in nats.",
    "train/entropy_weight": "Weight of the entropy bonus.",
    "train/learning_rate": "Adam's step size.",
    "train/clip_range": "Most that an update changes a probability's ratio.",
    "train/approx_kl": "How far the update had moved the policy, in nats, averaged over its gradient steps.",
    "train/clip_fraction": "Share of decisions whose ratio was clipped.",
    "train/explained_variance": "How much of the spread of returns the critic foresees: 1 all, 0 nothing.",
    "train/value_loss": "Mean squared error of the critic.",
    "train/policy_gradient_loss": "Clipped policy loss; its size says little.",
    "train/oracle_loss": "Mean squared error of the critic that sees all hands (`network.oracle_head`).",
    "train/belief_loss": "Cross entropy of the guesses at the others' cards (`ppo.belief_coef`), in nats a card.",
    "train/teacher_loss": "How unlikely the teacher's choices are to the policy (`teacher.agent`), in nats.",
    "train/teacher_weight": "Weight of the teacher.",
    "train/loss": "Total loss, averaged over the update.",
    "cluster/workers": "Processes that were alive and playing, with `cluster.workers`.",
    "cluster/restarts": "Processes that were lost and started anew, since the run was begun or resumed.",
    "time/decisions_per_second": "Decisions of the learner a second, evaluations and checkpoints included.",
    "time/share_*": "Where the time goes: `env` (the engine), `opponents` (policies in the other seats), `policy` (the "
    "learner's own choices and the buffer), `update`; they sum to 1.",
}
