"""Whose is it: names, places, subjects and traits, joined by agreement of all label sets."""
