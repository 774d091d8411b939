"""Checking many services: which ones, side by side within limits, one run at a time, and how they are, told to other programs."""
