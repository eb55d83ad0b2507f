"""Models as JSON: the orders as `LatentOrders.save` writes them, and who belongs where."""

import json
import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import finite_array, fraction, not_negative, whole
from lobandits._files import read_json, write_text
from lobandits.errors import LobInputError
from lobandits.learning.model import OrderModel
from lobandits.orders import LatentOrders
from lobandits.orders.latent import MODEL_FORMAT

VERSION = 1
FIELDS = (
    "format", "version", "orders", "state_means", "sigma", "imputed_share", "merged",
    "users", "labels",
)  # fmt: skip


def save_model(model: OrderModel, path: str | os.PathLike[str]) -> None:
    """Write the model, one line for each field."""
    data = {
        "format": MODEL_FORMAT,
        "version": VERSION,
        "orders": model.orders.to_dict(),
        "state_means": model.state_means.tolist(),
        "sigma": None if math.isnan(model.sigma) else model.sigma,
        "imputed_share": model.imputed_share,
        "merged": model.merged,
        "users": [_plain(user) for user in model.users.tolist()],
        "labels": model.labels.tolist(),
    }
    lines = (f'  "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in data.items())
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def load_model(path: str | os.PathLike[str]) -> OrderModel:
    """Return the model in a file, or name the field that is wrong."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != MODEL_FORMAT:
        raise LobInputError(
            f"{path} is no model written by OrderModel.save; LatentOrders.load reads orders alone"
        )
    missing = [field for field in FIELDS if field not in data]
    if missing:
        raise LobInputError(f"{path}: the field {missing[0]!r} is missing")
    if whole(f"{path}: version", data["version"]) > VERSION:
        raise LobInputError(
            f"{path}: version {data['version']} is newer than {VERSION}, the newest that this "
            "lobandits reads; upgrade lobandits"
        )
    orders = LatentOrders.from_dict(data["orders"], source=f"{path}: orders")
    users = _users(data["users"], f"{path}: users")
    sigma = data["sigma"]
    return OrderModel(
        orders=orders,
        users=users,
        labels=_labels(data["labels"], len(users), orders.n_states, f"{path}: labels"),
        state_means=_means(data["state_means"], orders, f"{path}: state_means"),
        imputed_share=fraction(f"{path}: imputed_share", data["imputed_share"]),
        sigma=math.nan if sigma is None else not_negative(f"{path}: sigma", sigma),
        merged=whole(f"{path}: merged", data["merged"], least=0),
    )


def _plain(user: Any) -> Any:
    """Return what JSON knows; dates and the like become text."""
    return user if type(user) in (str, int, float) else str(user)


def _users(value: Any, name: str) -> NDArray[Any]:
    kinds = {type(user) for user in value} if isinstance(value, list) else {list}
    if not kinds <= {str, int, float}:
        raise LobInputError(f"{name} must be a list of names or numbers")
    return np.array(value) if kinds == {int} else np.array(value, dtype=object)


def _labels(value: Any, n_users: int, n_states: int, name: str) -> NDArray[np.int64]:
    labels = finite_array(name, value, ndim=1)
    if len(labels) != n_users:
        raise LobInputError(f"{name} has {len(labels)} states for {n_users} users; one each")
    if ((labels < 0) | (labels >= n_states) | (labels % 1 != 0)).any():
        raise LobInputError(f"{name} must be whole numbers from 0 to {n_states - 1}")
    return labels.astype(np.int64)


def _means(value: Any, orders: LatentOrders, name: str) -> NDArray[np.float64]:
    means = finite_array(name, value, ndim=2)
    shape = (orders.n_states, orders.n_arms)
    if means.shape != shape:
        raise LobInputError(f"{name} must have the shape {shape}, got {means.shape}")
    return means
