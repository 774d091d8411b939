"""Sweeps: the same cases with something taken away, said otherwise, weakened, shifted or added. Some things must not change.

``trial`` says what must hold and keeps what came out, ``under`` is a case under change; ``loss``, ``logs``, ``values``,
``times``, ``order`` and ``strangers`` change it, ``run`` goes over all cases and shows the outcome.
"""
