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
    "batch_six": "Six hands are dealt, settled and observed where two are: more cards and more bytes for every decision.",
    "batch_tunk": "Tunks need the best arrangement of a hand at every discard; wild cards multiply the spreads to look for.",
    "aec": _PYTHON,
    "raw_aec": _PYTHON,
    "single": f"{_PYTHON} The opponent is asked through the same door as the learner.",
    "vector": "Each learner's step is two or three decisions of the engine, and Gymnasium wants fresh arrays and infos.",
    "linear": "With few tables the call from Python weighs on every decision; with very many, tables no longer fit the cache.",
    "threads": "Compiled code holds Python's lock while it runs; use processes, which do not share it.",
    "processes": "Both share the machine's cache and memory, and whatever else runs on the machine.",
    "bytes_record": "The record keeps the whole deck, pile, spreads and wild cards of the largest rule set.",
    "exported_one": "Calling the runtime, and drawing from all actions, take longer than the arithmetic of one row.",
    "exported_batch": "One thread of arithmetic; drawing from all actions is a part of it.",
    "heuristic_greedy": "Every discard compares the best arrangement of what would be left.",
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
