"""The nouns of triage: signals, recordings, rules, diagnoses. Depends on nothing else of ours."""
