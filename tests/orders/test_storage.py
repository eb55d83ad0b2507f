import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from tests.orders import naive
from tests.orders.test_latent import quietly

from lobandits import LatentOrders, LobInputError, LobWarning

GENRES = ["comedy", "drama", "horror", "western"]
ORDERS = LatentOrders.from_relations(
    4, [[(1, 0), (0, 2)], [(0, 1), (0, 2), (1, 3), (2, 3)], []], arms=GENRES
)
DATA: dict[str, Any] = {
    "format": "lobandits.orders",
    "version": 1,
    "arms": GENRES,
    "states": [
        [["drama", "comedy", "horror"]],
        [["comedy", "drama", "western"], ["comedy", "horror", "western"]],
        [],
    ],
}


def test_a_saved_file_loads_back(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    ORDERS.save(path)
    assert LatentOrders.load(path) == ORDERS
    assert LatentOrders.load(str(path)).arms == tuple(GENRES)
    assert json.loads(path.read_text(encoding="utf-8")) == ORDERS.to_dict() == DATA


def test_the_file_can_be_read_by_a_person(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    LatentOrders.from_rankings([[1, 0], [0, 1]], arms=["thé", "コーヒー"]).save(path)
    assert path.read_text(encoding="utf-8") == (
        "{\n"
        '  "format": "lobandits.orders",\n'
        '  "version": 1,\n'
        '  "arms": ["thé", "コーヒー"],\n'
        '  "states": [\n'
        '    [["コーヒー", "thé"]],\n'
        '    [["thé", "コーヒー"]]\n'
        "  ]\n"
        "}\n"
    )
    assert LatentOrders.load(path).arms == ("thé", "コーヒー")


@given(naive.states_of_pairs())
def test_any_orders_survive(k_and_states: tuple[int, list[list[naive.Pair]]]) -> None:
    orders = quietly(*k_and_states)
    assert LatentOrders.from_dict(json.loads(json.dumps(orders.to_dict()))) == orders


def test_a_chain_of_one_arm_says_nothing() -> None:
    free = {**DATA, "states": [[["drama"], ["comedy", "horror"]]]}
    assert str(LatentOrders.from_dict(free)) == "state 0: comedy > horror; drama, western free"


def test_a_hand_written_file_with_repeated_states_warns(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps({**DATA, "states": [[], []]}))
    with pytest.warns(LobWarning, match="states 0 and 1 have the same order") as caught:
        LatentOrders.load(path)
    assert caught[0].filename == __file__


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in DATA.items() if key != field}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([DATA], "expected an object with the fields format, version, arms, states"),
        (None, "expected an object"),
        (without("format"), "the field 'format' is missing"),
        (without("version"), "the field 'version' is missing"),
        (without("arms"), "the field 'arms' is missing"),
        (without("states"), "the field 'states' is missing"),
        ({**DATA, "format": "lobandits.agent"}, "format is 'lobandits.agent'; expected"),
        ({**DATA, "format": None}, "format is None"),
        ({**DATA, "version": 2}, "version 2 is newer than 1.*upgrade lobandits"),
        ({**DATA, "version": 0}, "version is 0; expected the number 1"),
        ({**DATA, "version": "1"}, "version is '1'"),
        ({**DATA, "version": True}, "version is True"),
        ({**DATA, "version": 1.0}, "version is 1.0"),
        ({**DATA, "stats": []}, "unknown field 'stats'; known: format, version, arms, states"),
        ({**DATA, "arms": []}, "arms must be a list that is not empty, got"),
        ({**DATA, "arms": "abc"}, "arms must be a list that is not empty, got 'abc'"),
        ({**DATA, "arms": {"a": 1}}, "arms must be a list"),
        ({**DATA, "arms": ["a", 2]}, r"arms\[1\] is 2; an arm name must be a string"),
        ({**DATA, "arms": ["a", "a"]}, "arms names 'a' more than once"),
        ({**DATA, "states": []}, r"states must be a list that is not empty, got \[\]"),
        ({**DATA, "states": 3}, "states must be a list"),
        ({**DATA, "states": [None]}, r"states\[0\] must be a list of chains of arms, got None"),
        ({**DATA, "states": [[], {}]}, r"states\[1\] must be a list of chains"),
        ({**DATA, "states": [["drama"]]}, r"states\[0\]\[0\] must be a list .*, got 'drama'"),
        ({**DATA, "states": [[[]]]}, r"states\[0\]\[0\] must be a list that is not empty"),
        ({**DATA, "states": [[[0, 1]]]}, r"states\[0\]\[0\]\[0\] is 0; arms are given by"),
        ({**DATA, "states": [[["drama", []]]]}, r"states\[0\]\[0\]\[1\] is \[\]; arms are given"),
        (
            {**DATA, "states": [[], [["drama", "comdy"]]]},
            r"states\[1\]\[0\]\[1\]: unknown arm 'comdy'; did you mean 'comedy'\?",
        ),
        (
            {**DATA, "states": [[["drama", "drama"]]]},
            r"states\[0\]\[0\] puts an arm above itself: drama > drama",
        ),
        (
            {**DATA, "states": [[["drama", "comedy"], ["comedy", "horror", "drama"]]]},
            r"states\[0\] has the cycle comedy > horror > drama > comedy; drop one",
        ),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_field(tmp_path: Path, data: Any, message: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data))
    with pytest.raises(LobInputError, match=rf"mine\.json: {message}"):
        LatentOrders.load(path)
    with pytest.raises(LobInputError, match=rf"^agent\.json, orders: {message}"):
        LatentOrders.from_dict(data, source="agent.json, orders")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    ORDERS.save(path)
    content = path.read_bytes()
    for length in range(len(content) - 2):
        path.write_bytes(content[:length])
        with pytest.raises(LobInputError, match=r"cut\.json is corrupt or truncated"):
            LatentOrders.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\xff", b"hello", b"{" * 10, b"[" * 100_000, b"\x00" * 50, b"1" * 5000],
)
def test_corrupt_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(LobInputError, match=r"bad\.json is corrupt or truncated, no valid JSON"):
        LatentOrders.load(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match=r"cannot read .*none\.json: No such file"):
        LatentOrders.load(tmp_path / "none.json")
    with pytest.raises(LobInputError, match=r"cannot read .*: Is a directory"):
        LatentOrders.load(tmp_path)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match=r"cannot write .*orders\.json: No such file"):
        ORDERS.save(tmp_path / "missing" / "orders.json")


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "orders.json"
    ORDERS.save(path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LobInputError, match=r"cannot write .*: No space left on device"):
        LatentOrders.from_rankings([[0, 1]]).save(path)
    assert LatentOrders.load(path) == ORDERS
    assert [file.name for file in tmp_path.iterdir()] == ["orders.json"]
