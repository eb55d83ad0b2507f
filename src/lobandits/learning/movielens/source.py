"""Where the files of an edition are: in a folder, or in a zip."""

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lobandits.errors import LobError, LobInputError

AGAIN = "; download it again"


class Layout(NamedTuple):
    """The two files that an edition keeps its ratings and movies in."""

    ratings: str
    movies: str


LAYOUTS = (
    Layout("u.data", "u.item"),
    Layout("ratings.dat", "movies.dat"),
    Layout("ratings.csv", "movies.csv"),
    Layout("rating.csv", "movie.csv"),
)


class Source(NamedTuple):
    """The two files on the disk, and the names of the folder and of the files beside them."""

    layout: Layout
    ratings: Path
    movies: Path
    folder: str
    beside: frozenset[str]


@contextmanager
def open_source(path: str | os.PathLike[str]) -> Iterator[Source]:
    """Yield the files of the edition in a folder or zip; a zip's two files are unpacked."""
    place = Path(path)
    if place.is_dir():
        names = [file.relative_to(place).as_posix() for file in _files_in(place)]
        yield _source(place, names, place.resolve().name, place)
    elif place.is_file():
        with _unpacked(place) as (names, folder):
            yield _source(folder, names, place.stem, place)
    else:
        raise LobInputError(
            f"{place} does not exist; give the folder or zip of a MovieLens edition, "
            "such as ml-20m.zip (`lob data movielens-20m` downloads it)"
        )


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a folder and of the folders in it."""
    return sorted(f for pattern in ("*", "*/*") for f in folder.glob(pattern) if f.is_file())


@contextmanager
def _unpacked(path: Path) -> Iterator[tuple[list[str], Path]]:
    """Yield the names of all files in a zip, and a folder with those that are wanted."""
    if not zipfile.is_zipfile(path):
        ours = any(path.name in layout for layout in LAYOUTS)
        hint = "; give the folder that it is in" if ours else AGAIN
        raise LobInputError(f"{path} is no zip, or a damaged one{hint}")
    with TemporaryDirectory(prefix="lob-movielens-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                names = [name for name in archive.namelist() if not name.endswith("/")]
                layout, within = _find(names, path)
                for name in layout:
                    archive.extract(_join(within, name), folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise LobInputError(f"{path} is a damaged zip ({error}){AGAIN}") from None
        except OSError as error:
            raise LobError(f"cannot unpack {path}: {error.strerror or error}") from error
        yield names, Path(folder)


def _source(root: Path, names: list[str], name: str, place: Path) -> Source:
    layout, within = _find(names, place)
    folder = root / within
    return Source(
        layout=layout,
        ratings=folder / layout.ratings,
        movies=folder / layout.movies,
        folder=PurePosixPath(within).name or name,
        beside=frozenset(n.rpartition("/")[2] for n in names if n.rpartition("/")[0] == within),
    )


def _find(names: list[str], place: Path) -> tuple[Layout, str]:
    """Return the layout among these files, and the folder that it is in; the outermost one."""
    known = set(names)
    folders = sorted({name.rpartition("/")[0] for name in names}, key=lambda f: (f.count("/"), f))
    for folder in folders:
        for layout in LAYOUTS:
            have = [_join(folder, name) in known for name in layout]
            if all(have):
                return layout, folder
            if any(have):
                there, lacking = layout if have[0] else layout[::-1]
                raise LobInputError(f"{place} has {there}, but no {lacking} beside it{AGAIN}")
    wanted = ", ".join(" and ".join(layout) for layout in LAYOUTS)
    found = ", ".join(sorted(names)[:5]) or "nothing"
    raise LobInputError(f"{place} is no MovieLens edition: it needs {wanted}; it has {found}")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
