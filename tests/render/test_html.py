"""The HTML report: self-contained, complete, and its charts speak to those who do not see them."""

import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.render.fixtures import ALL, fleet, incident, inconclusive
from triage.model.diagnosis import Diagnosis, Evidence, Spark, Verdict
from triage.model.playbook import HEADINGS, Command, Playbook, Section, Step
from triage.render.chart import chart
from triage.render.html import to_html

EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())


@EVERY
def test_nothing_is_loaded_from_elsewhere(make: Callable[[], Diagnosis]) -> None:
    """No address or import stands in the file, and the policy in it forbids them, and every script but the one that copies."""
    document = to_html(make())
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|https?://(?!prometheus:9090)", document)
    (script,) = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'; base-uri" in document
    assert document.count("<script") == 1


def test_what_to_do_stands_before_everything_else() -> None:
    """The five lines, then the playbook of this incident with its names; what stands in it is shown as text."""
    steps = (
        Step(mark="change", text="Stop `<vllm-3>` & look.", risk="none", commands=(Command(language="sh", text="kill <1>"),)),
    )
    text = {"What it means", "Who owns it"}
    sections = tuple(Section(heading=h, text="Why." if h in text else "", steps=() if h in text else steps) for h in HEADINGS)
    known = {"id": "prefix-cache-collapse", "title": "Reuse lost", "layer": "engine", "cause": "runtime", "owner": "us"}
    playbook = Playbook.model_validate({**known, "first_step": "Look.", "sections": sections})
    document = to_html(incident(), playbooks={playbook.id: playbook})
    order = ("do first", "do not", "see more", "The playbook of this incident", "Stop <code>&lt;vllm-3&gt;</code> &amp; look.")
    places = [document.index(word) for word in (*order, "Vital signs")]
    assert places == sorted(places)
    assert "<code>kill &lt;1&gt;</code>" in document


def test_an_absent_source_is_not_shown_as_well() -> None:
    """That a source brought nothing is no good news, though a condition that is absent is."""
    document = to_html(inconclusive())
    assert '<b class="source-absent">absent</b>' in document
    sheet = re.sub(r"\s+", " ", document)
    assert re.search(r"[^{}]*\.source-absent[^{}]*\{ color: var\(--unsure\)", sheet)
    assert not re.search(r"[^{}]*\.source-absent[^{}]*\{ color: var\(--good\)", sheet)


@EVERY
def test_every_link_has_its_target(make: Callable[[], Diagnosis]) -> None:
    """Layers and the chain lead to the findings they name, and no place has two of a name."""
    document = to_html(make())
    targets = re.findall(r'id="([^"]+)"', document)
    assert set(re.findall(r'href="#([^"]+)"', document)) <= set(targets)
    assert len(targets) == len(set(targets))


def test_everything_is_in_it() -> None:
    """Roots, consequences, contributing, ruled out, unjudged, all subjects and all queries."""
    document = to_html(incident())
    for finding in incident().findings:
        assert finding.title in document
    others = [one.rule for one in (*incident().ruled_out, *incident().unseen)] + [one.rule for one in incident().not_evaluated]
    assert all(rule in document for rule in others)
    assert all(subject.partition("/")[2] in to_html(fleet()) for subject in fleet().findings[0].subjects)


def curve(values: tuple[float | None, ...], **parts: object) -> Evidence:
    """Evidence with a curve."""
    spark = Spark(start=0.0, end=100.0, values=values, window=2, onset=3)
    known = {"signal": "kv.usage", "subject": "replica/a", "stat": "p95", "unit": "ratio", "verdict": Verdict.PRESENT}
    return Evidence.model_validate({**known, "spark": spark, **parts})


def test_a_chart_says_in_words_what_it_shows() -> None:
    """Range, time, threshold, baseline, onset and gaps."""
    drawing = chart(curve((0.5, None, 0.6, 1.0), threshold=0.9, baseline=0.5), "KV", 0.0)
    assert "<title>KV</title>" in drawing
    assert (
        "<desc>From 50 % to 100 %, between 00:00:00 and 00:01:40 UTC, baseline 50 %, threshold 90 %, onset at 00:01:15,"
        " 1 of 4 values missing.</desc>" in drawing
    )
    for part in ("window", "curve", "threshold", "baseline", "onset"):
        assert f'class="{part}"' in drawing


def test_a_gap_parts_the_line() -> None:
    """Missing data is not drawn over: two lines, and a dot for a value that stands alone."""
    drawing = chart(curve((1.0, 2.0, None, 3.0, 4.0, None, 5.0)), "x", 0.0)
    assert drawing.count("<polyline") == 2
    assert drawing.count("<circle") == 1


@pytest.mark.parametrize("values", [(None, None), (float("nan"), 1.0), (1e308, -1e308), (0.0, 0.0), (-5.0, 3.0), ()])
def test_no_curve_breaks_a_chart(values: tuple[float | None, ...]) -> None:
    """All gaps, broken readings and flat lines give a drawing with finite places."""
    drawing = chart(curve(values), "x", 0.0)
    assert not re.search(r'="[^"]*(?:nan|inf)', drawing)


def test_the_style_is_in_the_package() -> None:
    """The look is part of the file, from the sheet beside the code."""
    sheet = Path(to_html.__code__.co_filename).with_name("report.css").read_text(encoding="utf-8")
    assert sheet in to_html(incident())
    assert "prefers-color-scheme: dark" in sheet
    assert "@media print" in sheet
