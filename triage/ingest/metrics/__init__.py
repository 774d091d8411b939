"""Samples as signals: expositions, dialects, rates, units, histograms."""
