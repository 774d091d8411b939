"""What may be said of a layer, over every mix of verdicts and findings."""

from itertools import product

import pytest

from tests.engine.making import rule, who
from triage.engine.coverage import layer_view
from triage.engine.rules.evaluate import Answer, Ruling
from triage.model.diagnosis import Finding, LayerState, Severity, Verdict
from triage.model.vocabulary import Layer

ASK = {"signal": "kv.usage", "above": 0.9}


def ruling(number: int, verdict: Verdict, layer: str = "engine") -> Ruling:
    """A kind of a layer with its verdict."""
    one = who("replica/a")
    return Ruling(rule(f"k{number}", ASK, layer=layer), (one,), lambda _: Answer(one, verdict, (), None))


def finding(severity: Severity, layer: str = "engine") -> Finding:
    """A finding in a layer."""
    return Finding.model_validate(
        {
            "rule": f"found-{severity}", "title": "t", "summary": "s", "cause": "runtime", "layer": layer, "scale": "machine",
            "subject": "replica/a", "subjects": ("replica/a",), "severity": severity, "role": "root", "onset": None,
            "confidence": "likely", "evidence": (), "playbook": "p", "first_step": "",
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "state"),
    [
        ("", LayerState.NOT_EVALUATED),
        ("u", LayerState.NOT_EVALUATED),
        ("uuu", LayerState.NOT_EVALUATED),
        ("p", LayerState.NOT_EVALUATED),
        ("a", LayerState.CLEARED),
        ("aaa", LayerState.CLEARED),
        ("au", LayerState.PARTLY),
        ("aau", LayerState.PARTLY),
        ("auu", LayerState.PARTLY),
    ],
)
def test_a_layer_is_cleared_only_if_every_kind_of_it_is_ruled_out(verdicts: str, state: LayerState) -> None:
    """One kind that could not be judged is enough to leave it partly looked at; kinds of other layers do not count."""
    told = {"a": Verdict.ABSENT, "u": Verdict.UNKNOWN, "p": Verdict.PRESENT}
    here = [ruling(number, told[letter]) for number, letter in enumerate(verdicts)]
    elsewhere = [ruling(90 + number, verdict, "cuda") for number, verdict in enumerate((Verdict.ABSENT, Verdict.UNKNOWN))]
    for rulings in (here, [*elsewhere, *here]):
        view = layer_view(Layer.ENGINE, rulings, [])
        assert view.state is state
        assert (view.ruled_out, view.not_evaluated) == (verdicts.count("a"), verdicts.count("u"))


@pytest.mark.parametrize(("severity", "verdict"), product(("info", "warning", "critical"), (Verdict.ABSENT, Verdict.UNKNOWN)))
def test_a_layer_is_implicated_by_a_grave_finding_of_its_own(severity: Severity, verdict: Verdict) -> None:
    """What is only worth knowing implicates nobody and clears nothing; what was found elsewhere does not count."""
    calm = LayerState.PARTLY if verdict is Verdict.ABSENT else LayerState.NOT_EVALUATED
    view = layer_view(Layer.ENGINE, [ruling(1, verdict)], [finding(severity), finding("critical", "cuda")])
    assert view.state is (calm if severity == "info" else LayerState.IMPLICATED)
    assert view.findings == (f"found-{severity}",)
    elsewhere = layer_view(Layer.ENGINE, [ruling(1, verdict)], [finding("critical", "cuda")])
    assert elsewhere.state is (LayerState.CLEARED if verdict is Verdict.ABSENT else LayerState.NOT_EVALUATED)
    both = layer_view(Layer.ENGINE, [ruling(1, verdict)], [finding("info"), finding(severity)])
    assert both.state is view.state
