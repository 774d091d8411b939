"""From what sources say to a recording: parsing, dialects, subjects, rates, histograms, logs. Knows no rule."""
