"""Scores diagnoses of recorded cases against their truth: the honest figures behind the claim.

``truth`` and ``cases`` are what people found out and where it lies, ``result`` compares one diagnosis with it, ``figures`` count,
``board`` goes over all cases, ``table`` shows, ``saved`` compares with an earlier score.
"""
