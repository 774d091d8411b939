"""How services are, told to other programs: read back by the parsers of others."""

import math
import subprocess
from xml.etree import ElementTree as ET

import junitparser
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as older_families

from tests.render.fixtures import ALL as DIAGNOSES
from tests.servers import program
from triage.checks.junit import junit
from triage.checks.metrics import exposition, families, of_the_run
from triage.checks.outcome import Checked, Found, Promise, outcome_of, unknown, worst
from triage.model.diagnosis import CauseState, CauseView, Promised, RuleSet, Status

RULESET = RuleSet(version="1.2", digest="abc")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def checked(service: str, status: Status, headline: str = "so it is") -> Checked:
    return Checked(
        service,
        status,
        f"{service.upper()} - {headline} | findings=1",
        headline,
        CauseView(state=CauseState.OPEN),
        findings=(Found("retry-storm", "platform", "infrastructure", "critical", "root"),),
        promises=(Promise("ttft_p95_s", f"service/{service}", Promised.BROKEN, 8.5, 3.0),),
        evaluated=(88, 126),
        time=1_777_636_800.0,
        seconds=1.25,
    )


ALL = [checked(status.value, status) for status in Status if status is not Status.INCONCLUSIVE] + [unknown("gone", "no answer")]


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All samples as a reader of OpenMetrics has them, which must be those that a reader of the older format has."""
    read, older = (
        {(one.name, tuple(sorted(one.labels.items()))): one.value for family in parse(text) for one in family.samples}
        for parse in (text_string_to_metric_families, older_families)
    )
    assert {key: repr(value) for key, value in read.items()} == {key: repr(value) for key, value in older.items()}
    return read


def test_metrics_say_how_each_service_is() -> None:
    """One state of four, what was found, and promises with their values and limits."""
    read = samples(exposition([*families(ALL), *of_the_run(ALL, RULESET, 1_777_636_830.0)]))
    states = {key[1]: value for key, value in read.items() if key[0] == "triage_service_state"}
    assert {dict(labels)["service"]: dict(labels)["state"] for labels, value in states.items() if value} == {
        "healthy": "ok", "degraded": "warning", "incident": "critical", "gone": "unknown",
    }  # fmt: skip
    assert len(states) == 16
    sick = (("cause", "infrastructure"), ("layer", "platform"), ("role", "root"), ("rule", "retry-storm"))
    assert read["triage_finding", (*sick, ("service", "incident"), ("severity", "critical"))] == 1.0
    promise = (("promise", "ttft_p95_s"), ("service", "incident"), ("state", "broken"), ("subject", "service/incident"))
    assert read["triage_promise_state", promise] == 1.0
    assert read["triage_promise_value", tuple(pair for pair in promise if pair[0] != "state")] == 8.5
    assert read["triage_service_seen", (("service", "gone"),)] == 0.0
    assert read["triage_check_services", ()] == 4.0
    assert read["triage_build_info", (("ruleset", "abc"), ("version", "1.2"))] == 1.0
    assert ("triage_judged_until_timestamp_seconds", (("service", "gone"),)) not in read


@pytest.mark.slow
def test_metrics_please_the_linter_of_prometheus() -> None:
    """``promtool check metrics`` has nothing to say."""
    text = exposition([*families(ALL), *of_the_run(ALL, RULESET, 0.0)])
    command = [program("promtool", "prometheus"), "check", "metrics"]
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


@given(TEXT, TEXT, st.floats())
def test_metrics_of_any_names_are_read_as_they_were_written(service: str, subject: str, value: float) -> None:
    """Whatever a name holds is text in a label; what is no number is in no sample."""
    promise = Promise("ttft_p95_s", subject, Promised.OPEN, value, None)
    one = Checked(service, Status.HEALTHY, "", "", CauseView(state=CauseState.NONE), promises=(promise,), time=0.0)
    read = samples(exposition(families([one])))
    labels = (("promise", "ttft_p95_s"), ("service", service), ("subject", subject))
    found = read.get(("triage_promise_value", labels))
    assert found == value if math.isfinite(value) else found is None


def test_nothing_checked_is_no_metric_of_a_service() -> None:
    """What is told of the run is told all the same."""
    assert exposition(families([])) == "# EOF\n"
    assert samples(exposition([*families([]), *of_the_run([], None, 5.0)]))["triage_check_services", ()] == 0.0


def test_junit_has_a_case_for_each_service() -> None:
    """What is not well failed, what nobody can judge is an error, and both say why."""
    read = junitparser.JUnitXml.fromstring(junit(ALL).encode())
    (suite,) = read
    assert (suite.tests, suite.failures, suite.errors, suite.time) == (4, 2, 1, 3.75)
    found = {case.name: [(type(one).__name__, one.type, one.message) for one in case.result] for case in suite}
    assert found == {
        "healthy": [],
        "degraded": [("Failure", "warning", "so it is")],
        "incident": [("Failure", "critical", "so it is")],
        "gone": [("Error", "unknown", "no answer")],
    }
    assert {case.name: case.system_out for case in suite}["healthy"] == "HEALTHY - so it is | findings=1"


@given(TEXT, TEXT)
def test_junit_of_any_names_is_read_as_it_was_written(service: str, headline: str) -> None:
    """But for characters that XML cannot have, and ends of lines, which it makes one."""
    root = ET.fromstring(junit([checked(service, Status.INCIDENT, headline)]))
    (case,) = root.iter("testcase")
    (failure,) = root.iter("failure")
    for told, given_ in ((case.attrib["name"], service), (failure.attrib["message"], headline)):
        assert len(told) == len(given_)
        assert all(one == other for one, other in zip(told, given_, strict=True) if other.isprintable())


@pytest.mark.parametrize("name", sorted(DIAGNOSES))
def test_a_diagnosis_is_told_by_what_a_check_needs_of_it(name: str) -> None:
    """No more, so that many can be held at a time."""
    diagnosis = DIAGNOSES[name]()
    one = outcome_of(diagnosis)
    assert (one.service, one.status, one.seen) == (diagnosis.service, diagnosis.status, True)
    assert [each.rule for each in one.findings] == [each.rule for each in diagnosis.findings]
    assert [each.state for each in one.promises] == [each.state for each in diagnosis.vitals]
    assert samples(exposition(families([one])))["triage_rules", (("service", one.service),)] == diagnosis.coverage.rules_total


def test_the_worst_state_is_that_of_all() -> None:
    """What is broken before what is dark before what is slow; nothing at all is wrong with no service."""
    order = [Status.HEALTHY, Status.DEGRADED, Status.INCONCLUSIVE, Status.INCIDENT]
    assert [worst(order[: count + 1]) for count in range(4)] == order
    assert worst([]) is Status.HEALTHY
