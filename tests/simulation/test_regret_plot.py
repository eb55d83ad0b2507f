from lobandits.policies import POLICIES
from lobandits.simulation import Synthetic, simulate
from lobandits.simulation.regret_plot import OTHERS, line_styles


def test_every_policy_of_ours_has_a_colour_of_its_own() -> None:
    ours = [cls for cls in POLICIES.values() if cls.__module__.startswith("lobandits.")]
    styles = [cls.style for cls in ours]
    assert len({style[0] for style in styles if style}) == len(ours)


def test_classes_say_how_their_lines_look() -> None:
    styles = line_styles(["ucb", "lobts"])
    assert styles["ucb"] == {"color": "#8c8c8c", "linestyle": (0, (5.0, 1.8)), "marker": "s"}
    assert styles["lobts"] == {"color": "#d55e00", "linestyle": (0, ()), "marker": "o"}


def test_policies_without_a_style_keep_their_colour_in_any_company() -> None:
    alone = {name: line_styles([name])[name]["color"] for name in ("mine", "theirs", "yours")}
    for name, color in alone.items():
        assert line_styles(["ucb", name, "lobts"])[name]["color"] == color
    assert len(set(alone.values())) > 1


def test_as_many_policies_without_a_style_as_there_are_colours_differ() -> None:
    names = [f"policy {i}" for i in range(len(OTHERS))]
    assert {style["color"] for style in line_styles(names).values()} == set(OTHERS)
    assert len(line_styles([*names, "one more"])) == len(names) + 1


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
    assert [line.get_color() for line in lines] == ["#d55e00", "#8c8c8c"]
