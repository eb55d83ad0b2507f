from lobandits.policies import POLICIES
from lobandits.simulation import Synthetic, simulate
from lobandits.simulation.line_styles import POLICY_STYLES, line_styles


def test_every_policy_has_a_colour_of_its_own() -> None:
    assert set(POLICIES) <= set(POLICY_STYLES)
    assert len({color for color, _, _ in POLICY_STYLES.values()}) == len(POLICY_STYLES)


def test_colours_do_not_depend_on_the_company() -> None:
    alone = line_styles(["lobts"])["lobts"]
    assert line_styles(["ucb", "mine", "lobts"])["lobts"] == alone


def test_options_change_the_line_and_not_the_colour() -> None:
    labels = ["lobts", "lobts(project_every=10)", "lobts(project_every=50)", "mine", "theirs"]
    styles = line_styles(labels)
    ours = [styles[label] for label in labels[:3]]
    assert len({style["color"] for style in ours}) == 1
    assert len({style["linestyle"] for style in ours}) == 3
    assert styles["mine"]["color"] != styles["theirs"]["color"]


def test_pictures_of_results_use_them() -> None:
    result = simulate(Synthetic(3, 2), ["lobts", "ucb"], 20, 8, progress=False)
    lines = result.plot().axes[0].get_lines()
    assert [line.get_color() for line in lines] == [POLICY_STYLES[p][0] for p in ("lobts", "ucb")]
