"""The two files of an edition, ratings and movies, in a folder or a zip."""

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lobandits.errors import LobError, LobInputError

LAYOUTS = {  # the file of ratings, and the file of movies beside it
    "u.data": "u.item",
    "ratings.dat": "movies.dat",
    "ratings.csv": "movies.csv",
    "rating.csv": "movie.csv",
}
AGAIN = "; download it again"


class EditionFiles(NamedTuple):
    """The two files on the disk, the edition if the files tell it, and their folder's name."""

    ratings: Path
    movies: Path
    edition: str | None
    folder: str


@contextmanager
def open_files(path: str | os.PathLike[str]) -> Iterator[EditionFiles]:
    """Yield the files of the edition in a folder or zip; a zip's two files are unpacked."""
    place = Path(path)
    if place.is_dir():
        files = (file for pattern in ("*", "*/*") for file in place.glob(pattern))
        names = {file.relative_to(place).as_posix() for file in files if file.is_file()}
        yield _files(place, _find(names, place), names, place.resolve().name)
    elif place.is_file():
        with TemporaryDirectory(prefix="lob-movielens-") as folder:
            yield _unpacked(place, Path(folder))
    else:
        raise LobInputError(
            f"{place} does not exist; give the folder or zip of a MovieLens edition, "
            "such as ml-20m.zip (`lob data movielens-20m` downloads it)"
        )


def _unpacked(path: Path, folder: Path) -> EditionFiles:
    if not zipfile.is_zipfile(path):
        ours = path.name in {*LAYOUTS, *LAYOUTS.values()}
        hint = "; give the folder that it is in" if ours else AGAIN
        raise LobInputError(f"{path} is no zip, or a damaged one{hint}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name for name in archive.namelist() if not name.endswith("/")}
            found = _find(names, path)
            archive.extractall(folder, found)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise LobInputError(f"{path} is a damaged zip ({error}){AGAIN}") from None
    except OSError as error:
        raise LobError(f"cannot unpack {path}: {error.strerror or error}") from error
    return _files(folder, found, names, path.stem)


def _find(names: set[str], place: Path) -> tuple[str, str]:
    """Return the names of the two files; of several editions, those in the outermost folder."""
    folders = {name[: name.rfind("/") + 1] for name in names}
    for folder in sorted(folders, key=lambda f: (f.count("/"), f.removesuffix("/"))):
        for pair in LAYOUTS.items():
            ratings, movies = (folder + name for name in pair)
            if {ratings, movies} <= names:
                return ratings, movies
            if {ratings, movies} & names:
                there, lacking = pair if ratings in names else pair[::-1]
                raise LobInputError(f"{place} has {there}, but no {lacking} beside it{AGAIN}")
    wanted = ", ".join(" and ".join(pair) for pair in LAYOUTS.items())
    found = ", ".join(sorted(names)[:5]) or "nothing"
    raise LobInputError(f"{place} is no MovieLens edition: it needs {wanted}; it has {found}")


def _files(root: Path, found: tuple[str, str], names: set[str], name: str) -> EditionFiles:
    ratings, movies = (root / file for file in found)
    edition = {"u.data": "ml-100k", "rating.csv": "ml-20m"}.get(ratings.name)
    if ratings.name == "ratings.dat":
        users = found[0].removesuffix(ratings.name) + "users.dat"
        edition = "ml-1m" if users in names else "ml-10m"
    return EditionFiles(ratings, movies, edition, PurePosixPath(found[0]).parent.name or name)
