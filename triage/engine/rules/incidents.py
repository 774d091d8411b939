"""The catalogue of public incidents that rules cite: ``incidents.jsonl`` beside the rules, one incident a line."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triage.errors import ConfigError

FILE = "incidents.jsonl"


class Incident(BaseModel):
    """A public report of a failure: an issue thread, a post-mortem, a forum's answer.

    :param id: what rules cite; an owner/repo#number, or a name of its own
    :param address: where it can be read
    :param kind: the kind of failure that it shows first of all
    :param says: what was seen and what it was, in one line of our own words
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    address: str = Field(pattern=r"^https?://\S+$")
    kind: str
    says: str


def read_incidents(folder: Path) -> tuple[Incident, ...]:
    """The incidents in a folder of rules, in the order of the file; none if it has no such file.

    :raises ConfigError: a line is no incident
    """
    path = folder / FILE
    if not path.is_file():
        return ()
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(Incident.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            told = f"{path}:{number}: {where or 'line'}: {first['msg']}"
            raise ConfigError(told, "a line has id, address, kind and says") from None
    return tuple(found)
