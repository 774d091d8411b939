"""Learning: a map of the words, lessons that walk real recordings, drills with the answer hidden, and progress."""
