"""A sample of Alertmanager's settings: where alerts of triage go, and which of them say the same."""

import yaml

from triage.export.layout import Layout

_HEAD = """\
# A sample for Alertmanager, written by `triage rules export --format alertmanager`: merge the route into your own.
# Replace the address. A webhook gets what `triage diagnose --alert -` reads.
"""


def settings(layout: Layout) -> str:
    """A file that Alertmanager starts with, in YAML."""
    own = [f'service="{layout.service}"', 'alertname=~"Triage.+"']
    document = {
        "route": {
            "receiver": "nobody",
            "routes": [
                {
                    "matchers": own,
                    "receiver": "on-call",
                    "group_by": ["service"],
                    "group_wait": "30s",
                    "group_interval": "5m",
                    "repeat_interval": "4h",
                }
            ],
        },
        "inhibit_rules": [
            {
                "source_matchers": [*own, 'severity="critical"'],
                "target_matchers": [*own, 'severity="info"'],
                "equal": ["service"],
            }
        ],
        "receivers": [
            {"name": "nobody"},
            {"name": "on-call", "webhook_configs": [{"url": "http://alerts.example.org/hook", "send_resolved": True}]},
        ],
    }
    return _HEAD + yaml.safe_dump(document, sort_keys=False)
