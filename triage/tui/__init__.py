"""The walk: a terminal app that leads from the symptom down the layers to one observable finding.

Workers compute and post messages, handlers touch widgets. A screen is given a :class:`triage.tui.snapshot.Snapshot` and shows it;
whether that came from a recording or from a live service is nothing that a screen knows.
"""
