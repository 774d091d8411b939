"""What is remembered of a service between looks: since when something is wrong, what is usual, what came and went."""
