"""A service that is looked at again and again: when, how cheaply, and what others may know of it."""
