"""Why a target is missed: a sentence for each row that is, shown beside it on docs/performance.md."""

_WRITING = (
    "A decision is a rule step, the search for legal moves, an observation and a mask; writing the bytes is the smallest part."
)
_PYTHON = "Calls from Python into compiled code, fresh arrays for every observation and mask, the library's own bookkeeping."
_HANDS = "Random play drops early, so every few decisions a hand is shuffled, dealt and settled; see where the time goes."
_LONG = "The forward passes of the opponents' networks, which the free environment does not have; see the shares of time."

WHY: dict[str, str] = {
    "batch": _HANDS,
    "writing_share": _WRITING,
    "aec": _PYTHON,
    "raw_aec": _PYTHON,
    "single": f"{_PYTHON} The opponent is asked through the same door as the learner.",
    "vector": "Each learner's step is two or three decisions of the engine, and Gymnasium wants fresh arrays and infos.",
    "linear": "With few tables the call from Python weighs on every decision; with very many, observations, masks and tables, "
    "2.5 KB together, no longer fit the cache and the memory's speed decides.",
    "threads": "Both share the machine's cache and memory, and take turns in the Python between two calls.",
    "processes": "Both share the machine's cache and memory, and whatever else runs on the machine.",
    "heuristic_expert": "It weighs what every opponent may hold before each drop and each discard.",
    "first_hand": "Reading the compiled code from disk and linking it.",
    "first_step": "Reading the compiled code from disk and linking it.",
    "first_hand_ever": "Numba compiles every rule once; see `python -m tonk_env.warmup`.",
    "import": "Gymnasium is most of it.",
    "batch/spiel_gin": _HANDS,
    "batch/spiel_eights": _HANDS,
    "batch/spiel_eights_inside": f"Crazy eights has few rules, and here it writes nothing. {_HANDS}",
    "table/spiel_eights": _PYTHON,
    "aec/pettingzoo_gin": _PYTHON,
    "selfplay/free": _LONG,
    "selfplay/bare": f"{_LONG} Besides: sampling, the probabilities of legal actions, the buffer and the optimiser.",
}
