import pytest

from lobandits.experiments.progress import progress_bars


def test_bars_show_experiments_and_what_broke(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bars(True, 10.0) as bars:
        with bars.experiment("figure-1", 5.0):
            bars.advance(5.0)
        bars.say("figure-2 broke: no room")
    shown = capsys.readouterr().err
    assert "all experiments" in shown
    assert "figure-2 broke: no room" in shown


def test_nothing_shows_unless_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bars(False, 10.0) as bars, bars.experiment("figure-1", 5.0):
        bars.advance(5.0)
        bars.say("figure-2 broke: no room")
    assert capsys.readouterr() == ("", "")
