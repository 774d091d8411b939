"""Arithmetic on samples: nothing that was counted is lost or counted twice, in whatever order it is put together."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.metrics.rates import (
    Samples,
    bucket_rates,
    combined,
    goes_backwards,
    greatest,
    sample_step,
    since_absence,
    to_rates,
)
from triage.model.recording import Floats
from triage.model.vocabulary import Combine

STEP = 15.0
PATIENCE = 2.5 * STEP


def floats(*values: float) -> Floats:
    return np.array(values, dtype=float)


@st.composite
def counters(draw: st.DrawFn, start: float = 0.0) -> tuple[Floats, Floats, float]:
    """Times and totals of a counter that is scraped every 15 s with gaps and restarts, and how much it really counted.

    A restart shows as a fall, as it does unless the process counted more since than in all its life before.
    """
    times, totals, counted = [start], [float(draw(st.integers(0, 1000)))], 0.0
    for skipped, growth, restart in draw(
        st.lists(st.tuples(st.integers(1, 9), st.integers(0, 500), st.booleans()), min_size=1, max_size=20)
    ):
        times.append(times[-1] + skipped * STEP)
        restarted = restart and growth < totals[-1]
        totals.append(float(growth) if restarted else totals[-1] + growth)
        counted += growth
    return np.array(times), np.array(totals), counted


@given(counters())
def test_rates_add_up_to_what_was_counted(counter: tuple[Floats, Floats, float]) -> None:
    """The sum of rates times their spans is the growth, and after a restart what was counted since."""
    times, totals, counted = counter
    ends, rates = to_rates(times, totals)
    assert (rates >= 0).all()
    assert float((rates * np.diff(times)).sum()) == pytest.approx(counted)
    assert (ends == times[1:]).all()


def test_rates_of_many_rows() -> None:
    """Rows of totals (buckets) become rows of rates; each row has its own restarts."""
    _, rates = to_rates(floats(0, 10, 20), np.array([[0.0, 10.0, 30.0], [50.0, 5.0, 5.0]]))
    assert rates.tolist() == [[1.0, 2.0], [0.5, 0.0]]


def test_one_sample_has_no_rate() -> None:
    """A total alone says nothing of what is counted now, and its step is unknown."""
    ends, rates = to_rates(floats(7), floats(100))
    assert (len(ends), len(rates), sample_step(floats(7))) == (0, 0, 0.0)


def spans_of(times: Floats) -> tuple[Floats, Floats]:
    """Begin and end of the time that each rate speaks for: since the sample before, the first one's for one step."""
    step = min(sample_step(times) or STEP, PATIENCE)
    return np.concatenate(([times[0] - step], times[:-1])), times


def covered(begin: float, end: float, times: Floats) -> float:
    """Seconds of a span for which the rates at these times speak."""
    starts, ends = spans_of(times)
    return float((np.minimum(ends, end) - np.maximum(starts, begin)).clip(0.0).sum())


late_counters = st.builds(lambda late, counter: (counter[0] + late, *counter[1:]), st.integers(0, 500), counters())


@given(st.lists(late_counters, min_size=1, max_size=4))
def test_sums_of_rates_lose_nothing(parts: list[tuple[Floats, Floats, float]]) -> None:
    """Whenever parts begin and whatever gaps they have: all that was counted is in the sum, and nothing twice."""
    samples = [to_rates(times, totals) for times, totals, _ in parts]
    times, rates = combined(samples, Combine.SUM, rates=True, staleness=PATIENCE)
    known = [max(covered(begin, end, own) for own, _ in samples) for begin, end in pairwise(times)]
    counted = 0.0
    for own, values in samples:
        starts, ends = spans_of(own)
        counted += float((values * (ends - np.maximum(starts, times[0])).clip(0.0)).sum())
    assert float((rates[1:] * np.array(known)).sum()) == pytest.approx(counted)


def test_a_time_of_which_nobody_knows_is_no_zero() -> None:
    """Between the last rate of a series and the first of the one that follows it, power did not drop to a half."""
    parts: list[Samples] = [(floats(15, 30), floats(400, 400)), (floats(60, 75), floats(410, 410))]
    assert combined(parts, Combine.SUM, rates=True, staleness=PATIENCE)[1].tolist() == [400, 400, 410, 410]


def test_rates_that_are_whole_stay_exact() -> None:
    """A rate of 0 stays 0 and no rounding makes it less: parts of one target are just added."""
    parts: list[Samples] = [(floats(15, 30, 45), floats(0.1, 0.0, 0.3)), (floats(30, 45), floats(0.0, 0.2))]
    times, values = combined(parts, Combine.SUM, rates=True, staleness=PATIENCE)
    assert (times.tolist(), values.tolist()) == ([15, 30, 45], [0.1, 0.0, 0.5])


@given(
    st.lists(counters(), min_size=2, max_size=4),
    st.sampled_from(list(Combine)),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_order_of_parts_does_not_matter(
    parts: list[tuple[Floats, Floats, float]], how: Combine, rates: bool, chance: "np.random.Generator"
) -> None:
    """Parts are put together alike in whichever order they come."""
    samples = [to_rates(times, totals) for times, totals, _ in parts]
    shuffled = list(samples)
    chance.shuffle(shuffled)
    first, second = (combined(one, how, rates=rates, staleness=PATIENCE) for one in (samples, shuffled))
    assert first[0].tolist() == second[0].tolist()
    assert first[1].tolist() == pytest.approx(second[1].tolist())


@given(st.lists(counters(), min_size=1, max_size=4))
def test_a_gauge_holds_for_its_patience(parts: list[tuple[Floats, Floats, float]]) -> None:
    """At every time of any part, the sum is that of the last values that are not too old, worked out one by one."""
    samples = [(times, totals) for times, totals, _ in parts]
    times, values = combined(samples, Combine.SUM, rates=False, staleness=PATIENCE)
    for time, value in zip(times, values, strict=True):
        known = [(own[own <= time], has[: len(own[own <= time])]) for own, has in samples]
        assert value == pytest.approx(sum(has[-1] for own, has in known if len(own) and time - own[-1] <= PATIENCE))


def test_ways_to_combine() -> None:
    """Sum, mean, greatest and least of what is known at each time; what one part does not know the others tell."""
    parts: list[Samples] = [(floats(0, 15, 30), floats(1, 2, 3)), (floats(0, 15, 200), floats(5, 4, 9))]
    expected = {
        Combine.SUM: [6, 6, 7, 9],
        Combine.MEAN: [3, 3, 3.5, 9],
        Combine.MAX: [5, 4, 4, 9],
        Combine.MIN: [1, 2, 3, 9],
    }
    for how, values in expected.items():
        times, found = combined(parts, how, rates=False, staleness=PATIENCE)
        assert (times.tolist(), found.tolist()) == ([0, 15, 30, 200], values)


def test_what_its_target_does_not_show_any_more_is_over() -> None:
    """A card whose labels change is not there twice: its old series ends with the scrape that shows the new one."""
    old, new = (floats(0, 15), floats(40, 40)), (floats(30, 45), floats(42, 42))
    scrapes = [floats(0, 15, 30, 45)] * 2
    times, values = combined([old, new], Combine.SUM, rates=False, staleness=PATIENCE, scrapes=scrapes)
    assert dict(zip(times.tolist(), values.tolist(), strict=True)) == {0: 40, 15: 40, 30: 42, 45: 42}


def test_of_two_targets_each_is_held_by_itself() -> None:
    """Targets are scraped at different moments: what one shows holds while the other is scraped."""
    parts: list[Samples] = [(floats(0, 15, 30), floats(1, 1, 1)), (floats(7, 22, 37), floats(2, 2, 2))]
    _, values = combined(parts, Combine.SUM, rates=False, staleness=PATIENCE, scrapes=[parts[0][0], parts[1][0]])
    assert values.tolist() == [1, 3, 3, 3, 3, 3]


def test_the_newest_of_several_series() -> None:
    """Of series whose values are time stamps the newest is found at each time, and one that is gone does not count."""
    parts: list[Samples] = [(floats(0, 15, 30), floats(100, 115, 115)), (floats(15, 30, 45), floats(110, 130, 131))]
    times, index = greatest(parts, PATIENCE, [floats(0, 15, 30, 45)] * 2)
    assert dict(zip(times.tolist(), index.tolist(), strict=True)) == {0: 0, 15: 0, 30: 1, 45: 1}


def test_child_that_appears_later_counted_from_zero() -> None:
    """A counter that was not there at the scrape before its first one has counted all that it shows since."""
    company = floats(0, 15, 30, 45, 60)
    times, totals = since_absence(floats(45, 60), floats(3, 4), company)
    assert (times.tolist(), totals.tolist()) == ([30, 45, 60], [0, 3, 4])


def test_child_that_comes_back_after_a_restart_counted_from_zero() -> None:
    """Its errors belong to the moment when it came back, and not to the long time in which there were none."""
    company = np.arange(0.0, 615.0, 15.0)
    times, totals = since_absence(floats(0, 15, 600), floats(7, 8, 2), company)
    assert (times.tolist(), totals.tolist()) == ([0, 15, 585, 600], [7, 8, 0, 2])


def test_child_that_was_there_all_along() -> None:
    """The first scrape says nothing of the time before, and a gap without a fall may be the scraper's."""
    company = np.arange(0.0, 615.0, 15.0)
    for times, totals in ((company, company + 3), (floats(0, 15, 600), floats(7, 8, 9))):
        assert since_absence(times, totals, company)[0].tolist() == times.tolist()


@given(counters(), st.integers(0, 5))
def test_zeros_change_only_what_came_from_nowhere(counter: tuple[Floats, Floats, float], earlier: int) -> None:
    """Zeros that are put in add what the series showed first, if its target was there before, and keep the rest."""
    times, totals, counted = counter
    company = np.arange(times[0] - earlier * STEP, times[-1] + STEP, STEP)
    filled, values = since_absence(times, totals, company)
    _, rates = to_rates(filled, values)
    assert (np.diff(filled) > 0).all()
    first = totals[0] if earlier else 0.0
    assert float((rates * np.diff(filled)).sum()) == pytest.approx(counted + first)


def test_processes_that_answer_in_turn() -> None:
    """Two workers with a count each, scraped in turn, make no running total."""
    times = np.arange(0.0, 40 * STEP, STEP)
    first, second = np.linspace(1000, 1390, 40), np.linspace(950, 1340, 40)
    assert goes_backwards(times, np.where(np.arange(40) % 2, first, second), STEP)
    assert not goes_backwards(times, first, STEP)


def test_restarts_are_not_backward_steps() -> None:
    """A process that starts anew begins near 0; one that dies again and again leaves gaps between its short lives."""
    often = np.tile(np.arange(8) * 100.0, 5)
    assert not goes_backwards(np.arange(0.0, 40 * STEP, STEP), often, STEP)
    alike = floats(9.0, 9.2, 8.8, 8.9, 8.4, 9.5, 8.9, 8.4)
    assert not goes_backwards(np.arange(0.0, 48 * STEP, 6 * STEP), alike, STEP)


def test_cumulative_buckets_become_observations() -> None:
    """Scrapes are not atomic: what a bucket lacks was counted a scrape too early, and moves."""
    rates = bucket_rates(floats(60.0, 90.0), np.array([[1.0, 2.0], [3.0, 1.9], [4.0, 4.0]]))
    assert rates == pytest.approx(np.array([[1.0, 1.9, 1.0], [2.0, 0.0, 2.1]]))


def test_a_bucket_that_not_all_have_lacks_nothing() -> None:
    """Of replicas with other buckets a bound of one holds less than one of the other below it, for ever."""
    rates = bucket_rates(floats(60.0, 90.0, 120.0), np.array([[2.0, 2.0, 2.0], [1.0, 1.0, 1.0], [4.0, 4.0, 4.0]]))
    assert rates == pytest.approx(np.tile([2.0, 0.0, 2.0], (3, 1)))


@given(
    counts=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=4),
    bucket=st.integers(0, 2),
    late=st.sampled_from([-2, -1, 1, 2]),
)
def test_a_torn_scrape_counts_nothing_twice(counts: list[list[int]], bucket: int, late: int) -> None:
    """An observation that the last bucket shows a scrape or two before or after its own one is one observation of its own."""
    apart = 5
    seen = np.zeros((2 * apart + apart * len(counts), 4))
    for place, row in enumerate(counts, 1):
        seen[apart * place] += row
        seen[apart * place, 3] += 1
        seen[apart * place + late, bucket] += 1
        seen[apart * place + late, 3] -= 1
    rates = bucket_rates(STEP * np.arange(1.0, len(seen) + 1), np.cumsum(seen, axis=1).T / STEP)
    assert (rates >= 0).all()
    assert (rates * STEP).sum(axis=0) == pytest.approx(seen.sum(axis=0))
