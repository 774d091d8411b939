"""Arithmetic of inference: memory, roofline, queues, latency, links. Pure functions in base units.

A function gives None (or NaN in a cell) where an input is unknown; nothing is ever guessed. docs/physics.md shows the formulas.
"""
