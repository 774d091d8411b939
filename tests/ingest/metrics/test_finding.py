"""Selectors find just the series that made a signal, and never by a label that we put on."""

import numpy as np

from triage.ingest.metrics.finding import Finder, Made
from triage.ingest.metrics.naming import Group, Use
from triage.ingest.raw import Layouts, RawSeries, metrics_of
from triage.model.dialect import Dialect, Entry
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

DIALECT = Dialect(name="acme", title="ACME", scope=Scope.GATEWAY, metrics=(Entry(names=("x",), type="gauge", signal="kv.usage"),))
BASE = {"job": "acme", "instance": "h:1"}


def series(name: str = "rq_total", added: frozenset[str] = frozenset(), **labels: str) -> RawSeries:
    """A series with the labels of a scrape."""
    return RawSeries(name, {**BASE, **labels}, np.array([0.0]), np.array([0.0]), added=added)


def finder(*all_there_are: RawSeries) -> Finder:
    """What knows some series."""
    return Finder(metrics_of(all_there_are, Layouts()))


def group(*parts: RawSeries, **told: object) -> Group:
    """These series as one signal."""
    entry = Entry.model_validate({"names": ["rq_total"], "type": "counter", "signal": "gateway.5xx", **told})
    use = Use(DIALECT, entry, 0)
    return Group(use, Subject(Scope.GATEWAY, "gw"), [(use, one) for one in parts])


def test_what_an_entry_asks_of_a_label_is_asked() -> None:
    """Two of three codes: the condition is in the selector, or it would find the third."""
    ok, bad, worse = (series(code=code) for code in ("200", "500", "502"))
    found = finder(ok, bad, worse).origin(group(bad, worse, where={"code": "5.."}), Made())
    assert (found.selector, found.plain) == ('rq_total{code=~"5..",instance="h:1",job="acme"}', True)


def test_a_condition_on_a_label_that_nobody_has_is_left_out_if_it_can_be() -> None:
    """``server=~""`` says nothing where no series has the label."""
    one = series()
    assert finder(one).origin(group(one, where={"server": "(a|)"}), Made()).selector == 'rq_total{instance="h:1",job="acme"}'
    other = series(server="b")
    both = finder(one, other).origin(group(one, where={"server": "(a|)"}), Made())
    assert both.selector == 'rq_total{instance="h:1",job="acme",server=~"(a|)"}'


def test_labels_that_do_not_tell_are_added_where_they_must() -> None:
    """A stranger's series with the same usual labels; one that cannot be told apart at all is no plain one."""
    ours, theirs = series(route="a"), series(route="b")
    assert finder(ours, theirs).origin(group(ours), Made()).selector == 'rq_total{instance="h:1",job="acme",route="a"}'
    several = [series(route=str(number)) for number in range(20)]
    assert not finder(*several).origin(group(*several[:15]), Made()).plain


def test_a_label_that_was_put_on_is_in_no_selector() -> None:
    """Nobody's server knows what an endpoint's scrape was labelled with here: no query, rather than an empty one."""
    one = series(added=frozenset({"job", "instance", "service"}), service="svc")
    assert finder(one).origin(group(one), Made()).selector == ""


def test_hostile_values_stay_inside_their_strings() -> None:
    """Quotes and line breaks in a label value."""
    one = series(route='a"} or vector(1) #\n\\')
    other = series(route="b")
    found = finder(one, other).origin(group(one), Made()).selector
    assert found.endswith('route="a\\"} or vector(1) #\\n\\\\"}')
