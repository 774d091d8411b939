"""Lives, changes, identities and statements: what happened to whom, once each, and what of it has to be explained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import nan

import pytest

from tests.engine.making import BEGIN, Shift, at, derived, who
from triage.engine.frame import Frame
from triage.engine.observations.changes import changes
from triage.engine.observations.flows import flows
from triage.engine.observations.identity import identity
from triage.engine.observations.lives import lives
from triage.engine.observations.said import said
from triage.engine.relations import relation
from triage.model.observation import Observation, Seen
from triage.model.recording import Event

START = BEGIN + 600.0


def frame(signals: Mapping[str, object] | None = None, **told: object) -> Frame:
    """A service of replicas with a list of changes that was read."""
    return derived(dict(signals or {}), **({"sources": ["changes", "log:engine"]} | told))


def lived(made: Frame) -> dict[tuple[str, str], Observation]:
    """Lives by subject and turn."""
    return {(str(one.subject), one.of): one for one in lives(made).odd}


# Lives


def restart(when: float) -> Callable[[float], float]:
    """A start time that is a newer one from a moment on."""
    return lambda offset: START - 5000.0 if offset < when else START + when - 10.0


def test_one_restart_is_told_once_however_many_sources_tell_it() -> None:
    """Start time, container count, readiness, log and probe: one killing, by the probe."""
    signals = {
        "process.start_time": restart(200.0),
        "pod.restarts_total": lambda t: float(t > 190),
        "pod.ready": lambda t: float(not 180 < t < 230),
    }
    events = [
        at(185, "kube", "Killing", subject="replica/a", message="Container engine failed liveness probe, will be restarted"),
        at(195, "engine-args", "m", subject="replica/a"),
    ]
    found = lived(frame(signals, events=events))
    ends = [one for (_, of), one in found.items() if of not in ("started", "ready", "appeared")]
    assert len(ends) == 1
    assert (ends[0].of, ends[0].attrs["actor"], ends[0].attrs["planned"], ends[0].salient) == ("killed", "probe", "no", True)
    assert ends[0].attrs["back"] == "yes"


@pytest.mark.parametrize(
    ("events", "planned"),
    [
        ([], "no"),
        ([at(150, "restart", service="svc")], "yes"),
        ([at(150, "deploy", "v2", service="stranger")], "no"),
    ],
)
def test_a_restart_is_planned_if_a_change_to_the_service_precedes_it(events: list[Event], planned: str) -> None:
    """Another service's release plans nothing here."""
    found = lived(frame({"process.start_time": restart(200.0)}, events=events))["replica/a", "restarted"]
    assert (found.attrs["planned"], found.salient) == (planned, planned == "no")


@pytest.mark.parametrize(("pause", "planned"), [(400, "yes"), (700, "no")])
def test_a_roll_out_goes_on_while_one_follows_the_other(pause: int, planned: str) -> None:
    """However long it takes: what ends as the last one did, by the same hand, is still the same roll-out."""
    ends = {name: -1750 + step * pause for step, name in enumerate("abcdef", 4)}
    killings = [
        at(when, "kube", "Killing", subject=f"replica/{name}", message="Stopping container") for name, when in ends.items()
    ]
    found = lived(frame({}, events=[at(-1740, "deploy", "v2", service="svc"), *killings]))
    last = max(name for name, when in ends.items() if when < 1700)
    assert found[f"replica/{last}", "killed"].attrs["planned"] == planned


@pytest.mark.parametrize(
    ("event", "planned"),
    [
        (replace(at(150, "maintenance", service="n2", subject="service/n2"), source="changes"), "yes"),
        (replace(at(150, "maintenance", service="n3", subject="service/n3"), source="changes"), "no"),
        (replace(at(150, "maintenance", service="svc", version="host patch n1, n2"), source="changes"), "yes"),
        (replace(at(150, "maintenance", service="svc", version="host patch n1, n3"), source="changes"), "no"),
        (replace(at(150, "maintenance", service="rack-7"), source="changes", text="n2.lan powered off for a part swap"), "yes"),
        (at(150, "said", "state", value="DRAINING", what="pool/n2", subject="gateway/gw"), "yes"),
        (at(150, "said", "state", value="DOWN", what="pool/n2", subject="gateway/gw"), "no"),
        (at(150, "said", "state", value="DRAINING", what="pool/n3", subject="gateway/gw"), "no"),
    ],
)
def test_who_is_named_in_a_plan_was_meant_to_end(event: Event, planned: str) -> None:
    """By his host, whatever what was done to it is called, or by the gateway that drains him."""
    found = lived(frame({"process.start_time@replica/n2.lan:8000": restart(200.0)}, events=[event]))
    assert found["replica/n2.lan:8000", "restarted"].attrs["planned"] == planned


def test_without_a_list_of_changes_nobody_knows_whether_it_was_planned() -> None:
    """Absence of data is no proof."""
    found = lived(frame({"process.start_time": restart(200.0)}, sources=[]))["replica/a", "restarted"]
    assert (found.attrs["planned"], found.salient) == ("unknown", False)


def test_a_replica_that_leaves_with_a_scale_in_was_wanted_to() -> None:
    """The wanted number falls."""
    signals = {
        "pod.ready@replica/a": lambda t: nan if t > 200 else 1.0,
        "pod.ready@replica/b": 1.0,
        "replicas.desired": lambda t: 2.0 if t < 180 else 1.0,
    }
    found = lived(frame(signals))["replica/a", "vanished"]
    assert (found.attrs["planned"], found.salient) == ("yes", False)


def test_who_ends_again_and_again_flaps() -> None:
    """Then the single ends need no explanation of their own."""
    signals = {"pod.restarts_total": lambda t: float(max(t, 0) // 150)}
    found = [one for one in lives(frame(signals)).odd if one.salient]
    assert [(one.of, one.size) for one in found] == [("flapping", 4.0)]


def test_starts_that_an_engine_logs_again_are_restarts() -> None:
    """Between two starts there was an end."""
    events = [at(offset, "engine-args", "m", subject="replica/a") for offset in (10, 14, 400)]
    found = lived(frame({"tokens.generation": 1.0}, events=events))
    assert found["replica/a", "restarted"].onset == (START + 399.0, START + 400.0)


def test_other_components_live_and_end_too() -> None:
    """A router's target, a gateway, a host."""
    signals = {
        "target.up@target/router/1": lambda t: 0.0 if 100 < t < 300 else 1.0,
        "gateway.start_time": restart(200.0),
        "node.boot_time": restart(300.0),
    }
    found = lived(frame(signals))
    assert {("target/router/1", "restarted"), ("gateway/gw", "restarted"), ("node/n1", "restarted")} <= set(found)


def test_a_strangers_death_is_not_ours_to_explain() -> None:
    """It is told, and no more."""
    events = [at(100, "kube", "OOMKilling", subject="service/other", message="Killed process 7")]
    (one,) = lives(frame(events=events)).odd
    assert (one.attrs["stranger"], one.salient) == ("yes", False)


def test_a_process_ended_on_a_host_is_ours_only_if_a_replica_of_ours_ended() -> None:
    """The lives of all replicas are followed and none ended: somebody else's; one of ours ended then: to be explained."""
    events = [at(200, "kube", "OOMKilling", subject="node/n1", message="Killed process 7 (python3)")]
    calm = lived(frame({"pod.restarts_total": 0.0, "process.start_time": START - 5000.0}, events=events))["node/n1", "killed"]
    assert (calm.attrs.get("stranger"), calm.salient) == ("yes", False)
    hit = lived(frame({"process.start_time": restart(210.0)}, events=events))["node/n1", "killed"]
    assert (hit.attrs.get("stranger"), hit.salient) == (None, True)
    blind = lived(frame(events=events))["node/n1", "killed"]
    assert blind.salient


def test_who_is_told_to_end_did_not_end_by_what_a_kernel_killed() -> None:
    """A roll-out stops a replica while another team's job is killed on some host; one that ends for memory is another matter."""
    kill = at(200, "kube", "OOMKilling", subject="node/n1", message="Killed process 7 (celery)")
    told = at(250, "kube", "Killing", subject="replica/a", message="Stopping container main")
    rolled = at(0, "deploy", "", subject="service/svc", service="svc")
    signals = {"pod.restarts_total": 0.0, "process.start_time": START - 5000.0}
    stopped = lived(frame(signals, events=[rolled, kill, told]))
    assert stopped["replica/a", "killed"].attrs["planned"] == "yes"
    assert stopped["node/n1", "killed"].attrs.get("stranger") == "yes"
    unplanned = lived(frame({"process.start_time": restart(210.0)}, events=[rolled, kill]))["node/n1", "killed"]
    assert unplanned.attrs.get("stranger") is None


@pytest.mark.parametrize(
    ("message", "actor", "reason"),
    [
        ("The node was low on resource: ephemeral-storage.", "kubelet", "evicted"),
        ("drained by node-fixer", "node-fixer", "drained"),
    ],
)
def test_who_threw_a_pod_out(message: str, actor: str, reason: str) -> None:
    """The kubelet's own evictions name the resource that was low; others say who asked for them."""
    events = [at(100, "kube", "Evicted", subject="replica/a", message=message)]
    found = lived(frame(events=events))["replica/a", "killed"]
    assert (found.attrs["actor"], found.attrs["reason"]) == (actor, reason)


def test_lives_that_could_be_followed_are_judged() -> None:
    """Of the replica by its start time, of nobody by nothing."""
    assert ("life", "restarted", "replica") in lives(frame({"process.start_time": 1e9})).judged
    assert not [one for one in lives(frame({"gateway.requests": 0.5})).judged if one[0] == "life"]


# Changes


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("svc", "own"),
        ("svc-canary", "own"),
        ("dcgm-exporter", "instrument"),
        ("edge-ingress", "in-front"),
        ("gw", "in-front"),
        ("gpu-operator", "carries-us"),
        ("node-pool", "carries-us"),
        ("n1", "carries-us"),
        ("web-client", "client"),
        ("keda", "automation"),
        ("zork", "other"),
    ],
)
def test_what_a_changed_thing_is_to_the_service(name: str, what: str) -> None:
    """Known names first, then words, the last of a name first."""
    made = frame({"gateway.requests": 1.0, "node.load1": 1.0, "tokens.generation": 1.0})
    assert relation((name,), "", None, made) == what


@pytest.mark.parametrize(
    ("carrier", "name", "what"),
    [
        ("lb-1", "report-writer", "client"),
        ("lb-1", "edge-guard", "in-front"),
        ("report-writer", "report-writer", "in-front"),
        ("", "report-writer", "in-front"),
    ],
)
def test_who_speaks_of_an_upstream_and_lets_nothing_through_may_only_ask(carrier: str, name: str, what: str) -> None:
    """Unless its name says what it is, or nobody is known to let requests through."""
    through = {f"gateway.requests@gateway/{carrier}": 1.0} if carrier else {}
    made = frame({f"gateway.timeouts@gateway/{name}": 1.0} | through)
    assert relation((name,), "", None, made) == what


def step(begin: float, end: float = 9999.0) -> Callable[[float], float]:
    """Failures between two moments."""
    return lambda offset: 2.0 if begin < offset < end else 0.0


def changed(signals: Mapping[str, object], *events: Event) -> list[Observation]:
    """Changes of a service with a gateway."""
    return list(changes(frame({"gateway.requests": 10.0} | dict(signals), events=list(events))).odd)


def test_failures_that_step_up_at_anybodys_change_are_its_effect() -> None:
    """Refusals count like errors."""
    for signal in ("gateway.5xx", "gateway.4xx"):
        (one,) = changed({signal: step(130.0)}, at(120, "config", "r2", service="zork", version="r2", previous="r1"))
        assert (one.attrs["effect"], one.attrs["relation"], one.salient) == ("failures", "other", True)
        assert one.value == pytest.approx(15.0, abs=20.0)


def test_a_change_that_nothing_follows_is_none_to_explain() -> None:
    """Nor one that trouble precedes, nor one long before it."""
    for signals in ({"gateway.5xx": 0.0}, {"gateway.5xx": step(-200.0)}, {"gateway.5xx": step(520.0)}):
        (one,) = changed(signals, at(30, "config", "r2", service="zork"))
        assert (one.attrs["effect"], one.salient) == ("none", False)


def test_what_ends_with_the_change_that_takes_it_back_was_its_doing() -> None:
    """And what goes on was not, or has become its own."""
    first = at(60, "config", "r2", service="zork", version="r2", previous="r1")
    undone = at(300, "rollback", "r1", service="zork", version="r1", previous="r2")
    one = changed({"gateway.5xx": step(70.0, 310.0)}, first, undone)[0]
    assert (one.attrs["reversal"], one.end) == ("yes", undone.time)
    assert changed({"gateway.5xx": step(70.0)}, first, undone)[0].attrs["reversal"] == "no"
    assert changed({"gateway.5xx": step(70.0)}, first)[0].attrs["reversal"] == "unknown"


def test_one_roll_out_that_many_tell_is_one_change() -> None:
    """List of changes, cluster and engines."""
    signals = {"rollout.generation": lambda t: 5.0 + (t > 90)}
    events = [
        at(60, "deploy", "v2", service="svc", version="v2"),
        at(150, "engine-args", "m", subject="replica/a", changed="x 1 -> 2"),
    ]
    (one,) = changed(signals, *events)
    assert (one.of, one.attrs["sources"], one.attrs["changed"]) == ("deploy", "changes, cluster state, engine log", "x 1 -> 2")


# Identity


def identities(
    *, facts: Mapping[str, str | float] | None = None, events: Sequence[Event] = ()
) -> list[tuple[str, str, str, bool]]:
    """What differs: key, subject, what it was held against, whether it has to be explained."""
    return [(one.of, str(one.subject), one.against, one.salient) for one in identity(frame(facts=facts or {}, events=events)).odd]


def of_three(key: str, *values: str | float) -> dict[str, str | float]:
    """A fact of as many replicas."""
    return {f"{key}@replica/{name}": value for name, value in zip("abcde", values, strict=False)}


def test_the_one_that_differs_from_its_twins() -> None:
    """Of three; of two nobody is the odd one."""
    assert identities(facts=of_three("driver_version", "580", "580", "535")) == [("driver_version", "replica/c", "twins", True)]
    assert identities(facts=of_three("driver_version", "580", "535")) == []
    assert identities(facts=of_three("pod_ip", "10.0.0.1", "10.0.0.1", "10.0.0.3")) == []
    assert identities(facts=of_three("weights_load_seconds", 10.0, 10.0, 12.5)) == []


def test_digests_in_lines_of_any_program() -> None:
    """Against twins, and against before."""
    digests = zip("abc", ("11ab", "11ab", "99cd"), strict=True)
    lines = [at(9, "identity", "weights_digest", subject=f"replica/{name}", value=value) for name, value in digests]
    assert identities(events=lines) == [("weights_digest", "replica/c", "twins", True)]
    turned = [at(o, "log", "x", subject="replica/a", graph_hash=value) for o, value in ((1, "aa11"), (90, "bb22"))]
    assert identities(events=turned) == [("graph_hash", "replica/a", "past", True)]
    assert identities(events=[*turned, at(120, "log", "x", subject="replica/a", graph_hash="cc33")]) == []


def test_what_is_served_and_not_asked_for() -> None:
    """As a line says; a setting that is replaced is told, and need not be odd."""
    events = [
        at(5, "said", "mismatch", subject="replica/a", what="model", expected="m-1", got="m-2", emitter="engine"),
        at(6, "said", "overridden", subject="replica/a", setting="max_model_len", value="9", instead="8", emitter="engine"),
    ]
    assert identities(events=events) == [
        ("model", "replica/a", "declared", True),
        ("max_model_len", "replica/a", "declared", False),
    ]


# Statements


def line(offset: float, kind: str, name: str, **attrs: str) -> Event:
    """A line of a replica."""
    return at(offset, kind, name, subject="replica/a", text="it broke", **({"emitter": "engine", "level": "ERROR"} | attrs))


def saying(*events: Event, **told: object) -> Seen:
    """What was said."""
    return said(frame({"tokens.generation": 1.0}, events=list(events), **told))


def test_errors_that_nobody_reads_and_that_repeat_while_serving_have_to_be_explained() -> None:
    """Once is chance, before the window is usual, a start is loud, a stranger's are not ours."""
    twice = [line(offset, "residue", "t1", template="it broke", new="yes") for offset in (50, 90)]
    (one,) = saying(*twice).odd
    assert (one.of, one.support, one.salient, one.since) == ("residue", 2, True, START + 50.0)
    assert not saying(twice[0]).odd[0].salient
    assert not saying(line(-90, "residue", "t1", template="it broke"), *twice).odd[0].salient
    assert not saying(*(line(o, "residue", "t1", template="it broke", phase="starting") for o in (50, 90))).odd[0].salient
    assert not saying(*(line(o, "residue", "t1", template="it broke", stranger="yes") for o in (50, 90))).odd[0].salient


@pytest.mark.parametrize(
    ("text", "emitter", "elsewhere"),
    [
        ("error: c31 does not respond", "other", True),
        ("error: svc does not respond", "other", False),
        ("error: c31 does not respond", "engine", False),
    ],
)
def test_what_a_third_program_says_of_nobody_of_ours_is_not_ours(text: str, emitter: str, *, elsewhere: bool) -> None:
    """Users are well, and a program that is no part of the service speaks of somebody else."""
    lines = [line(offset, "residue", "t1", template=text, new="yes", emitter=emitter) for offset in (50, 90)]
    events = [replace(one, text=text, subject=None) for one in lines]
    well: dict[str, object] = {"gateway.requests": 9.0, "gateway.2xx": 9.0, "gateway.5xx": 0.0}
    (one,) = said(frame(well, events=events)).odd
    assert (one.attrs.get("elsewhere") == "yes", one.salient) == (elsewhere, not elsewhere)


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("call(model=vendor/mini) failed: rate limit", True),
        ('{"model_group": "mini", "error": "rate limit"}', True),
        ("call(model=acme/Swift-8B) failed: rate limit", False),
        ("call failed: rate limit", False),
    ],
)
def test_what_a_gateway_says_of_another_model_is_not_ours(text: str, *, elsewhere: bool) -> None:
    """It may serve many, and users of ours are well."""
    lines = [line(offset, "residue", "t1", template=text, new="yes", emitter="gateway") for offset in (50, 90)]
    events = [replace(one, text=text, subject=who("gateway/gw")) for one in lines]
    well: dict[str, object] = {"gateway.requests": 9.0, "gateway.2xx": 9.0, "gateway.5xx": 0.0}
    (one,) = said(frame(well, events=events, facts={"model": "acme/swift-8b"})).odd
    assert (one.attrs.get("elsewhere") == "yes", one.salient) == (elsewhere, not elsewhere)


def test_lines_that_one_event_stands_for_last_as_long_as_they_do() -> None:
    """A statement ends with its last line."""
    one = saying(line(50, "residue", "t1", template="it broke", new="yes", count="9", last=str(START + 200.0))).odd[0]
    assert (one.support, one.end, one.salient) == (9, START + 200.0, True)


def test_requests_that_neither_end_nor_are_inside_are_told() -> None:
    """Half of what the gateway sends is never counted by an engine."""
    flow = {"gateway.upstream_requests": 4.0, "gateway.requests": 4.0, "batch.running": 3.0, "queue.waiting": 0.0}
    (one,) = flows(frame(flow | {"finished": Shift(4.0, 2.0)})).odd
    assert one.size == pytest.approx(0.5, abs=0.05)
    calm = flows(frame(flow | {"finished": 4.0}))
    assert (calm.odd, len(calm.judged)) == ((), 1)
    assert not flows(frame({"finished": 4.0})).judged


def test_last_words_have_to_be_explained() -> None:
    """A single line just before an end that nobody planned."""
    made = frame({"process.start_time": restart(200.0)}, events=[line(180, "residue", "t1", template="it broke", new="yes")])
    made.seen = lives(made)
    (one,) = said(made).odd
    assert (one.attrs["ends"], one.salient) == ("restarted", True)


def test_what_is_quiet_is_not_told() -> None:
    """Information is none of it, a cause is."""
    assert saying(line(5, "said", "slow", level="INFO"), line(5, "log", "x", role="info")).odd == ()
    (cause,) = saying(line(5, "log", "cuda-oom", role="cause", severity="critical", kinds="activation-oom")).odd
    assert (cause.of, cause.salient, cause.attrs["kinds"]) == ("cuda-oom", True, "activation-oom")


def test_statements_are_judged_only_where_all_was_read() -> None:
    """A line that nobody reads may have said it."""
    assert ("said", "exhausted", "replica") in saying().judged
    assert not saying(line(5, "residue", "t1", new="yes")).judged


def test_nothing_is_odd_in_a_calm_recording() -> None:
    """No turn, change, difference or word."""
    made = frame(
        {"tokens.generation": Shift(5.0, 5.0), "process.start_time": 1e9, "pod.ready": 1.0},
        facts=of_three("dtype", "a", "a", "a"),
    )
    assert [observer(made).odd for observer in (lives, changes, identity, said)] == [(), (), (), ()]
