"""The players of Tonk: baselines, training by self-play, evaluation and exported opponents."""
