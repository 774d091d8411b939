"""triage: finds the layer and the cause of trouble in an LLM inference service, and shows the proof."""

__version__ = "0.1.0"
