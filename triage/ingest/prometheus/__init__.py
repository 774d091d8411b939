"""The Prometheus API: what a server holds of a service, what to ask it, how to read its answers. Nothing here uses a network."""
