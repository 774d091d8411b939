"""The kinds of failure as rules: reading them, and asking each of everybody it is about."""
