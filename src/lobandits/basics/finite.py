"""Numbers as JSON can hold them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def finite(value: Any) -> Any:
    """Return a value with None for every number in it that is not finite; arrays become lists.

    Examples
    --------
    >>> finite({"means": np.array([1.5, np.nan]), "low": -np.inf, "arm": "tea"})
    {'means': [1.5, None], 'low': None, 'arm': 'tea'}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return value
