"""The names of editions."""

from lobandits.paper.movielens.editions import EDITIONS, edition


def test_names_can_be_short() -> None:
    assert edition("20m") == edition("ml-20m") == edition("MovieLens-20M")
    assert {edition(name).file for name in EDITIONS} == {
        f"{name.replace('movielens', 'ml')}.zip" for name in EDITIONS
    }
