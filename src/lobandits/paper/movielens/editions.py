"""The editions of MovieLens: their names, what is in them, and the genres that they know."""

from typing import NamedTuple

from lobandits.basics.checks import one_of

GENRES_100K = (  # in the order of the columns of u.item that say yes or no
    "unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime",
    "Documentary", "Drama", "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance",
    "Sci-Fi", "Thriller", "War", "Western",
)  # fmt: skip
NO_GENRE = {"", "unknown", "(no genres listed)"}
BY_RATINGS = {  # editions that never change, by their number of ratings
    100_000: "ml-100k",
    1_000_209: "ml-1m",
    10_000_054: "ml-10m",
    20_000_263: "ml-20m",
    25_000_095: "ml-25m",
    32_000_204: "ml-32m",
}


class Edition(NamedTuple):
    """A file to download, and what is in it."""

    file: str
    content: str
    size: str


EDITIONS = {
    f"movielens-{short}": Edition(f"ml-{short}.zip", content, size)
    for short, content, size in (
        ("100k", "100,000 ratings", "5 MB"),
        ("1m", "1 million ratings", "6 MB"),
        ("10m", "10 million ratings", "63 MB"),
        ("20m", "20 million ratings, as in the paper", "190 MB"),
        ("25m", "25 million ratings", "250 MB"),
        ("32m", "32 million ratings", "239 MB"),
        ("latest", "33 million ratings, changes over time", "335 MB"),
        ("latest-small", "100,000 ratings, changes over time", "1 MB"),
    )
}


def edition(name: str) -> Edition:
    """Return the edition of that name; "20m" and "ml-20m" are short for "movielens-20m"."""
    short = str(name).lower().removeprefix("movielens-").removeprefix("ml-")
    known = f"movielens-{short}"
    return EDITIONS[known if known in EDITIONS else one_of("data", name, tuple(EDITIONS))]
