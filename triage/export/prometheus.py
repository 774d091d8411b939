"""A file of rules for Prometheus: signals of a service at each moment as recording rules, kinds of failure as alerts."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

import yaml

from triage.classes import dataclass
from triage.export.conditions import expression
from triage.export.layout import Layout
from triage.export.portable import portable, told_by
from triage.export.values import Level, Times, Values
from triage.export.vitals import vital_signs
from triage.model.dialect import Dialect
from triage.model.playbook import Advice
from triage.model.rule import Rule
from triage.model.units import promql_duration

_BRACKETED = re.compile(r"\s*\[[^\[\]]*\]")
_PLACE = re.compile(r"\{([^{}]*)\}")
_NOW = '{{ with query "time()" }}{{ . | first | value | printf "%.0f" }}{{ end }}'
"""The moment at which the alert is evaluated, Unix seconds."""

_EVALUATED = 60.0
"""Seconds between two evaluations of alerts: Prometheus's own interval (``global.evaluation_interval``)."""


@dataclass(frozen=True)
class Exported:
    """A rule as a service's server judges it.

    :param rule: the part of the rule that could be exported
    :param expression: PromQL that gives those on whom it is
    """

    rule: Rule
    expression: str
    level: Level


def exported(rules: Sequence[Rule], values: Values, dialects: Sequence[Dialect]) -> list[Exported]:
    """The rules that the sources of a service can tell."""
    told = told_by(tuple(dialects))
    found = []
    for rule in sorted(rules, key=lambda one: one.id):
        part = portable(rule, told).rule
        vector = None if part is None else expression(part, values)
        if part is not None and vector is not None:
            found.append(Exported(part, vector.text, vector.level))
    return found


def rules_file(
    rules: Sequence[Rule],
    layout: Layout,
    times: Times,
    dialects: Sequence[Dialect],
    advice: Callable[[str], Advice] = lambda _kind: Advice(),
) -> str:
    """The whole file, in YAML."""
    values = Values(layout, times, recorded=True)
    alerts = [_alert(one, layout, advice(one.rule.id)) for one in exported(rules, values, dialects)]
    vital_signs(values)
    signals = [
        {"record": name, "expr": _Text(record.cell.text), "labels": {"service": layout.service}}
        for name, record in sorted(values.records.items())
    ]
    groups = [
        {"name": f"triage-signals-{layout.service}", "interval": promql_duration(times.step), "rules": signals},
        {"name": f"triage-{layout.service}", "interval": promql_duration(max(_EVALUATED, times.step)), "rules": alerts},
    ]
    document = yaml.dump({"groups": [group for group in groups if group["rules"]]}, Dumper=_Dumper, sort_keys=False, width=10_000)
    return "\n".join([*_head(layout, times), document])


def _head(layout: Layout, times: Times) -> Iterator[str]:
    """What stands above the rules, for who opens the file."""
    yield f"# Kinds of failure of {layout.service}, written by `triage rules export --format prometheus`."
    window, before = promql_duration(times.window), promql_duration(times.baseline)
    yield f"# Each alert judges the last {window}, and holds them against the {before} before."


def alert_name(rule: str) -> str:
    """The name of a kind's alert: ``TriageKvLeak``."""
    return "Triage" + "".join(word.capitalize() for word in rule.split("-"))


def _alert(one: Exported, layout: Layout, advice: Advice) -> dict[str, object]:
    """One alert with what a person reads on it."""
    rule, name = one.rule, layout.service
    proven = all(way.grade == "proof" for way in rule.shows)
    labels = {
        "kind": rule.id,
        "service": name,
        "layer": rule.layer.value,
        "cause": rule.cause.value,
        "severity": severity_of(rule),
    }
    annotations = {
        "summary": templated(f"{rule.title} ({name})"),
        "finding": finding_of(rule, _subject(one, layout)),
        "first_step": templated(advice.first_step),
        "do_not": templated(advice.do_not),
        "playbook": f"triage playbook {rule.id} --service {templated(shlex.quote(name))}",
        "diagnose": f"triage diagnose --service {templated(shlex.quote(name))} --at {_NOW}",
    }
    return {
        "alert": alert_name(rule.id),
        "expr": _Text(one.expression),
        "for": _held(0.0 if proven else rule.hold.raise_after),
        "keep_firing_for": _held(rule.hold.clear_after),
        "labels": labels,
        "annotations": {key: value for key, value in annotations.items() if value},
    }


def severity_of(rule: Rule) -> str:
    """How loud an alert is: as the rule, but of patterns that fit other kinds, too, nobody is woken."""
    weak = all(way.grade == "weak" for way in rule.shows)
    return "warning" if weak and rule.severity == "critical" else rule.severity


def _held(seconds: float) -> str:
    return promql_duration(seconds) if seconds else "0s"


def _subject(one: Exported, layout: Layout) -> str:
    """Whom an alert is about, as a template."""
    if one.level is None:
        return templated(layout.service)
    return f"{one.level.value} {{{{ $labels.{layout.key(one.level)} }}}}"


def finding_of(rule: Rule, subject: str) -> str:
    """The rule's sentence with whom it is about, without the values that only a diagnosis knows; else its title."""
    text = _BRACKETED.sub("", _BRACKETED.sub("", rule.finding))
    text = re.sub(r",? (known )?since (about )?\{onset\}", "", text)
    text = re.sub(r"\{(\w+)\|\w+\}", r"\1", text)
    if {name for name in _PLACE.findall(text) if name != "subject"}:
        return f"{rule.title}: {subject}."
    before, place, after = text.partition("{subject}")
    return f"{templated(before)}{subject if place else ''}{templated(after.replace('{subject}', 'it'))}"


def templated(text: str) -> str:
    """Text in which Prometheus sees no template."""
    return text.replace("{{", "{ {").replace("}}", "} }")


class _Text(str):
    """Text that stands as a block in YAML."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes expressions as blocks."""


def _block(dumper: yaml.SafeDumper, text: _Text) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|" if "\n" in text else None)


_Dumper.add_representer(_Text, _block)
