"""What comes out of a score: origins, blind cases, outcomes, figures, comparisons with an earlier one."""

from pathlib import Path

import pytest

from triage.errors import DataError, InputMissingError
from triage.score import saved
from triage.score.cases import Case, cases_in, is_of_blind_third
from triage.score.figures import Score, figures_of
from triage.score.result import Outcome, Result
from triage.score.table import as_json, as_markdown, text
from triage.score.truth import Truth, read_truth

pytestmark = pytest.mark.slow


def case_at(folder: Path, truth: str = 'root = ["kv-leak"]') -> Path:
    """A case that is only its truth."""
    folder.mkdir(parents=True)
    (folder / "truth.toml").write_text(truth)
    return folder


def result(case: str = "a", outcome: Outcome = "right", **other: object) -> Result:
    """A fault's result."""
    told = {"first": "kv-leak" if outcome == "right" else "true-overload", "told": "named", "status": "incident", **other}
    return Result.model_validate(
        {"case": case, "origin": "real", "part": "looked-at", "sort": "fault", "wanted": ("kv-leak",), "outcome": outcome, **told}
    )


def only(folder: Path, *blind: str) -> Case:
    """The one case below a folder."""
    (case,) = cases_in([folder], blind)
    return case


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("real2/m01", "real"),
        ("public/p07", "public"),
        ("exam2/x001", "simulated"),
        ("mine/kv-leak-a037", "simulated"),
        ("mine/tuesday-outage", "real"),
    ],
)
def test_where_a_case_comes_from_is_told_by_its_path(tmp_path: Path, path: str, origin: str) -> None:
    """By the nearest folder that tells, else by its name."""
    case_at(tmp_path / path)
    assert only(tmp_path).origin == origin


def test_the_truth_says_where_a_case_comes_from(tmp_path: Path) -> None:
    """Whatever its folder is called."""
    case_at(tmp_path / "exam" / "one", 'root = ["kv-leak"]\norigin = "public"')
    assert only(tmp_path).origin == "public"


def test_a_case_below_two_folders_counts_once(tmp_path: Path) -> None:
    """Folders may overlap."""
    case_at(tmp_path / "mine" / "one")
    assert len(cases_in([tmp_path, tmp_path / "mine"])) == 1


def test_a_folder_without_a_case_is_an_error(tmp_path: Path) -> None:
    """A misspelt folder would otherwise be missed in silence."""
    with pytest.raises(InputMissingError):
        cases_in([tmp_path])


def test_what_is_no_truth_is_told_so(tmp_path: Path) -> None:
    """With the file's name."""
    with pytest.raises(DataError, match=r"truth\.toml is no truth"):
        read_truth(case_at(tmp_path / "one", "root = 3") / "truth.toml")


def test_blind_cases_are_chosen_by_pattern_by_a_list_and_by_a_hash(tmp_path: Path) -> None:
    """And nobody can choose by hand with a hash."""
    names = [f"x{number:03}" for number in range(60)]
    for name in names:
        case_at(tmp_path / "cases" / name)
    (tmp_path / "list").write_text("x001\nx002\n")

    def blind(rule: str) -> list[str]:
        return [case.name for case in cases_in([tmp_path / "cases"], [rule]) if case.part == "blind"]

    assert blind("*00[3-4]") == ["x003", "x004"]
    assert blind(str(tmp_path / "list")) == ["x001", "x002"]
    assert blind("third") == [name for name in names if is_of_blind_third(Path(name))]
    assert 10 <= len(blind("third")) <= 30


def test_a_blind_case_never_shows_by_name() -> None:
    """Neither in the table nor in what was confused, nor as JSON."""
    told = Score(
        results=(result("seen"), result("hidden", "wrong", part="blind", wanted=("nvlink-error",), refuted=("nvlink-error",)))
    )
    for shown in (text(told), as_markdown(told), str(as_json(told))):
        assert "seen" in shown
        assert "hidden" not in shown
        assert "nvlink-error" not in shown
    assert told.groups[-1].refuted == 1


def test_figures_are_counted_apart() -> None:
    """Each origin and part, and all."""
    told = Score(results=(result("a"), result("b", "healthy", origin="public"), result("c", origin="public", part="blind")))
    assert [(one.group, one.first, one.faults) for one in told.groups] == [
        ("real, looked-at", 1, 1),
        ("public, looked-at", 0, 1),
        ("public, blind", 1, 1),
        ("all", 2, 3),
    ]
    assert told.groups[-1].called_healthy == 1


def test_an_accepted_kind_behind_the_first_is_among_but_not_first() -> None:
    """Likewise one that the cause was narrowed to."""
    figures = figures_of("all", [result("a", "narrowed", candidates=("true-overload", "kv-leak"), told="narrowed")])
    assert (figures.named, figures.first, figures.among) == (0, 0, 1)


def test_what_got_better_and_worse(tmp_path: Path) -> None:
    """Case by case; a fault whose true kind is now ruled out is worse, and a case known to be wrong breaks nothing."""
    before = Score(results=(result("a"), result("b", "open"), result("c", "open"), result("d")))
    after = Score(
        results=(
            result("a", "wrong"),
            result("b"),
            result("c", "open", refuted=("kv-leak",), first="nvlink-error"),
            result("d", "open", known_wrong="needs a metric that nobody exports"),
            result("new"),
        )
    )
    saved.save(before, tmp_path / "score.json")
    changes = {one.case: one.gain for one in saved.changes(saved.read(tmp_path / "score.json"), after)}
    assert changes.keys() == {"a", "b", "c", "d"}
    assert changes["a"] < 0 < changes["b"]
    assert changes["c"] < 0
    assert changes["d"] == 0
    assert "worse a: right: kv-leak → wrong: true-overload" in "\n".join(saved.text(saved.changes(before, after)))


def test_a_file_that_is_no_score_is_told_so(tmp_path: Path) -> None:
    """And one that is missing, too."""
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(DataError):
        saved.read(tmp_path / "other.json")
    with pytest.raises(InputMissingError):
        saved.read(tmp_path / "none.json")


def test_sorts_of_truth() -> None:
    """A fault has a root; without one the status tells healthy cases from those in which nobody can know."""
    assert Truth(root=("kv-leak",)).sort == "fault"
    assert Truth(status=("healthy",)).sort == "healthy"
    assert Truth(status=("inconclusive",)).sort == "unknowable"


def test_what_is_known_to_come_out_wrong_is_told_apart_and_breaks_no_bar() -> None:
    """It is in the figures, and listed with its reason; bars are held against the others."""
    score = Score(results=(result(), result("b", "wrong", known_wrong="no metric tells")))
    assert (score.groups[-1].first, score.groups[-1].faults, score.groups[-1].known_wrong) == (1, 2, 1)
    assert [one.case for one in score.fresh] == ["a"]
    assert "  b: wrong, true-overload first: no metric tells" in text(score)
    assert "no metric tells" in as_markdown(score)
    assert as_json(score)["known_wrong"] == ["b"]
    assert "no metric tells" not in text(score, only_figures=True) + as_markdown(score, only_figures=True)


def test_a_mark_that_is_no_longer_true_is_told() -> None:
    """A case that comes out right, though it is marked, is a right one whose mark has to go."""
    score = Score(results=(result("a", "right", known_wrong="no metric tells", status_right=True),))
    assert score.results[0].is_healed
    assert not score.results[0].is_known_wrong
    assert [one.case for one in score.fresh] == ["a"]
    assert "take the mark out of truth.toml" in text(score)
    assert as_json(score)["healed"] == ["a"]


@pytest.mark.parametrize(
    ("told", "agrees"),
    [
        ({}, True),
        ({"outcome": "narrowed", "first": "kv-leak"}, True),
        ({"first": "true-overload"}, False),
        ({"forbidden": ("retry-storm",)}, False),
        ({"status_right": False}, False),
        ({"outcome": "healthy"}, False),
        ({"sort": "healthy", "outcome": "right", "first": ""}, True),
        ({"sort": "healthy", "outcome": "open", "first": ""}, False),
        ({"sort": "unknowable", "outcome": "wrong"}, False),
    ],
)
def test_when_an_answer_agrees_with_the_truth(told: dict[str, object], agrees: bool) -> None:
    """An accepted kind first, nothing forbidden, a state that is accepted; any other case must be right."""
    assert result(**{"status_right": True, **told}).agrees is agrees  # type: ignore[arg-type]


def test_the_confusion_matrix_of_kinds() -> None:
    """Each fault in one cell: under the kind that came first if that is accepted, else under the best; silence is a column."""
    score = Score(
        results=(
            result("a"),
            result("b", "wrong"),
            result("c", "wrong"),
            result("d", "open", first=""),
            result("e", wanted=("kv-leak", "retry-storm"), first="retry-storm"),
            result("f", "wrong", part="blind"),
        )
    )
    assert score.confusion == [
        ("kv-leak", "-", 1),
        ("kv-leak", "kv-leak", 1),
        ("kv-leak", "true-overload", 2),
        ("retry-storm", "retry-storm", 1),
    ]
    assert {"true": "kv-leak", "first": "true-overload", "cases": 2} in as_json(score)["confusion"]  # type: ignore[operator]
