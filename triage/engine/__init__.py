"""From a recording to a diagnosis: grid, derived signals, conditions, rules, ranking. Reads signals and nothing else."""
