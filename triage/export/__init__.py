"""Rules on engines that people already run: alert rules and dashboards in PromQL, and the way back from an alert to a service."""
