"""JAX: the compiled batch stepped from inside a jitted rollout by io_callback, and a policy gradient on what it returns."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from tonk_env import Batch, make_rules
from tonk_env.batch import EXTERNAL, RANDOM

TABLES, STEPS = 256, 32


def make_batch(seed: int = 0) -> Batch:
    """Tables where the learner holds seat 0 and a compiled player that moves at random the other."""
    batch = Batch(make_rules("points", match="hands"), num_players=2, num_tables=TABLES, seed=seed)
    batch.set_players(np.tile(np.array([EXTERNAL, RANDOM], np.int8), (TABLES, 1)))
    batch.reset()
    return batch


def host_step(batch: Batch, actions: Any) -> tuple[Any, ...]:
    """NumPy in, NumPy out. The batch rewrites its arrays in place, so what leaves it is copied."""
    batch.step(np.asarray(actions, np.int64))
    return batch.observations.copy(), batch.action_masks.copy(), batch.rewards[:, 0].copy(), batch.over.copy()


def logits_of(weights: Any, observations: jax.Array, masks: jax.Array) -> jax.Array:
    """Log-probabilities [B, A] of a network with one hidden layer; illegal moves get none."""
    hidden = jax.nn.relu(observations.astype(jnp.float32) @ weights["in"] + weights["bias"])
    return jax.nn.log_softmax(jnp.where(masks == 1, hidden @ weights["out"], -1e9))


def rollout(batch: Batch, weights: Any, start: tuple[Any, Any], key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
    """Play STEPS decisions at every table inside one compiled program; `ordered` keeps the calls in their order."""
    results = (batch.observations, batch.action_masks, batch.rewards[:, 0], batch.over)
    shapes = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in results)

    def one(seen: tuple[Any, Any], key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
        actions = jax.random.categorical(key, logits_of(weights, *seen))
        *following, rewards, over = io_callback(partial(host_step, batch), shapes, actions, ordered=True)
        kept = {"seen": seen[0], "masks": seen[1], "actions": actions, "rewards": rewards, "over": over}
        return tuple(following), kept

    return jax.lax.scan(one, start, jax.random.split(key, STEPS))


def improve(weights: Any, kept: dict[str, jax.Array], rate: float = 0.2) -> Any:
    """One step up the policy gradient: what a hand paid from a decision on, less its mean, and a little entropy."""
    paid = (kept["rewards"], kept["over"])
    _, gains = jax.lax.scan(lambda later, now: (now[0] + later * ~now[1],) * 2, jnp.zeros(TABLES), paid, reverse=True)

    def loss(weights: Any) -> jax.Array:
        chances = logits_of(weights, kept["seen"], kept["masks"])
        chosen = jnp.take_along_axis(chances, kept["actions"][..., None], axis=-1)[..., 0]
        entropy = -(jnp.exp(chances) * jnp.where(kept["masks"] == 1, chances, 0.0)).sum(-1)
        return -((gains - gains.mean()) / (gains.std() + 1e-8) * chosen + 0.01 * entropy).mean()

    return jax.tree.map(lambda weight, slope: weight - rate * slope, weights, jax.grad(loss)(weights))


def main(iterations: int = 60, seed: int = 0) -> list[float]:
    """Train and return what a hand earned in each iteration."""
    batch, (first, second, key) = make_batch(seed), jax.random.split(jax.random.key(seed), 3)
    size, actions = batch.observation_size, batch.num_actions
    inner, outer = jax.random.normal(first, (size, 64)) * size**-0.5, jax.random.normal(second, (64, actions)) * 0.01
    weights = {"in": inner, "bias": jnp.zeros(64), "out": outer}
    play, learn = jax.jit(partial(rollout, batch)), jax.jit(improve)
    seen: Any = (batch.observations.copy(), batch.action_masks.copy())
    earned = []
    for iteration in range(iterations):
        seen, kept = play(weights, seen, jax.random.fold_in(key, iteration))
        earned.append(float(kept["rewards"].sum() / kept["over"].sum()))
        weights = learn(weights, kept)
        if iteration % 10 == 9:
            print(f"iteration {iteration + 1}: {np.mean(earned[-10:]):+.2f} a hand against random moves")
    return earned


if __name__ == "__main__":
    main()
