"""A server that has an edition."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.paper.movielens.editions import write_csv, zipped
from tests.paper.movielens.server import N_RATINGS, NAME, Files, serving


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    stars = np.random.default_rng(0).integers(1, 11, N_RATINGS) / 2
    ratings = [(1, 10, star) for star in stars.tolist()]
    return zipped(write_csv(tmp_path / "made" / "ml-20m", ratings)).read_bytes()


@pytest.fixture
def server(content: bytes) -> Iterator[Files]:
    md5 = hashlib.md5(content).hexdigest()
    with serving({NAME: content, f"{NAME}.md5": f"MD5 ({NAME}) = {md5}\n".encode()}) as running:
        yield running
