"""A file of orders, or of a model learned from logs, whichever it is."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders


def load_saved(path: Path) -> "OrderModel | LatentOrders":
    """Return what a file holds that `OrderModel.save` or `LatentOrders.save` wrote."""
    from lobandits._files import read_json
    from lobandits.learning import OrderModel
    from lobandits.orders import LatentOrders
    from lobandits.orders.storage import MODEL_FORMAT

    data = read_json(path)
    learned = isinstance(data, dict) and data.get("format") == MODEL_FORMAT
    return OrderModel.load(path) if learned else LatentOrders.load(path)
