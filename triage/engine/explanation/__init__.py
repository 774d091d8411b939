"""From verdicts to an answer: which kinds explain what is wrong, what is left, and what may be said of it."""
