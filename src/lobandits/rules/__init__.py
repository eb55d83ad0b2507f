"""How to choose, given what is believed: rules see arrays and a choice set, and nothing else."""
