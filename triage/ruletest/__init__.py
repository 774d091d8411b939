"""Small tests of rules: series written by hand in YAML, in the notation of Prometheus' promtool, and what must come of them.

``notation`` reads values, ``files`` the files, ``making`` makes a recording, ``run`` judges it and compares.
"""
