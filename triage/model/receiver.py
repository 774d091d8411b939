"""Who is told of what became different: what triage.toml says of a receiver."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal

from triage.classes import dataclass
from triage.model.checked import Checked, Such

Sort = Literal["alertmanager", "webhook", "slack", "pagerduty"]

_Name = Annotated[str, Such(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of a variable of the environment."""


@dataclass(frozen=True, kw_only=True)
class Receiver(Checked):
    """One receiver. Secrets are named here, and stand in the environment.

    :param kind: what it speaks: Alertmanager's API v2, JSON to a webhook, Slack's incoming webhooks (Mattermost and Rocket.Chat
        take the same), PagerDuty's Events API v2
    :param url: its address, of an Alertmanager or a webhook
    :param url_env: name of the variable that holds the address, where that is a secret: of Slack always
    :param key_env: name of the variable that holds the routing key of PagerDuty
    :param services: names or patterns (``llm-*``) of the services that it hears of; empty: all
    :param severity: the least that it hears of
    :param unknown: whether it hears of services that nobody can judge
    """

    kind: Sort
    url: str | None = None
    url_env: _Name | None = None
    key_env: _Name | None = None
    services: tuple[str, ...] = ()
    severity: Literal["warning", "critical"] = "warning"
    unknown: bool = True

    def __post_init__(self) -> None:
        if self.url is not None and self.url_env is not None:
            raise ValueError("url and url_env both say where it is; give one of them")
        if self.kind == "pagerduty":
            if self.key_env is None:
                raise ValueError("pagerduty needs key_env, the name of the variable that holds the routing key")
        elif self.key_env is not None:
            raise ValueError(f"key_env is for pagerduty, and this is {self.kind}")
        elif self.kind == "slack" and self.url is not None:
            raise ValueError("the address of a Slack webhook is a secret; put it into a variable, and its name into url_env")
        elif self.url is None and self.url_env is None:
            raise ValueError(f"{self.kind} needs {'url_env' if self.kind == 'slack' else 'url or url_env'}")

    def hears_of(self, service: str) -> bool:
        """Whether it is told of a service."""
        return not self.services or any(fnmatchcase(service, one) for one in self.services)
