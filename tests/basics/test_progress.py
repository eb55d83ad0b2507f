import pytest

from lobandits.basics.progress import progress_bar, spinner
from lobandits.simulation import Synthetic, simulate


def test_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    simulate(Synthetic(3, 2), ["ucb"], 5, 8, progress=True)
    output = capsys.readouterr()
    assert output.out == output.err == ""


def test_a_bar_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    simulate(Synthetic(3, 2), ["ucb", "ts"], 50, 16, progress=True)
    output = capsys.readouterr()
    assert output.out == ""
    assert "100% of 1,600 decisions" in output.err


def test_no_bar_where_none_is_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar(10, wanted=False, doing="counting", unit="steps") as advance:
        advance(10)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("wanted", "color"), [(True, "1"), (False, "1"), (True, None)])
def test_a_spinner_where_it_is_wanted_and_seen(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    wanted: bool,
    color: str | None,
) -> None:
    if color is not None:
        monkeypatch.setenv("FORCE_COLOR", color)
    with spinner(wanted, "adding up"):
        pass
    output = capsys.readouterr()
    assert output.out == ""
    assert ("adding up" in output.err) == bool(wanted and color)
