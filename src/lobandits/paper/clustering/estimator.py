"""The base of `KendallKMeans`: an estimator of scikit-learn where that is installed.

Elsewhere it has the same methods, and checks the same: scikit-learn is needed for its own tools
(pipelines, searches), not for learning.
"""

from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray, IntArray, one_of
from lobandits.errors import LobInputError

try:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        TransformerMixin,
    )
    from sklearn.utils.validation import check_is_fitted, validate_data

    class Estimator(
        ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
        TransformerMixin,  # type: ignore[misc]
        ClusterMixin,  # type: ignore[misc]
        BaseEstimator,  # type: ignore[misc]
    ):
        """A clusterer whose input may lack values."""

        def checked(self, X: ArrayLike, reset: bool) -> FloatArray:
            """Return X as means (n_users, n_arms), at least two arms; nan where missing."""
            if not reset:
                check_is_fitted(self)
            least = 2 if reset else 1
            means: FloatArray = validate_data(
                self, X, reset=reset, dtype=np.float64,
                ensure_all_finite="allow-nan", ensure_min_features=least,
            )  # fmt: skip
            return means

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            return tags

except ModuleNotFoundError:

    class Estimator:  # type: ignore[no-redef]
        """A clusterer whose input may lack values, without scikit-learn."""

        n_features_in_: int
        labels_: IntArray

        def checked(self, X: ArrayLike, reset: bool) -> FloatArray:
            """Return X as means (n_users, n_arms), at least two arms; nan where missing."""
            means = np.asarray(X, np.float64)
            if reset:
                self.n_features_in_ = means.shape[-1] if means.ndim else 0
            if not hasattr(self, "n_features_in_"):
                raise LobInputError(f"this {type(self).__name__} is not fitted; call fit(X) first")
            if means.ndim != 2 or means.shape[1] != self.n_features_in_ or self.n_features_in_ < 2:
                needed = "at least 2" if reset else self.n_features_in_
                raise LobInputError(f"X must have shape (n_users, {needed}), got {means.shape}")
            if not len(means) or np.isinf(means).any():
                raise LobInputError("X must be means of at least one user, finite or nan")
            return means

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""
            return {name: getattr(self, name) for name in signature(type(self)).parameters}

        def set_params(self, **params: Any) -> Self:
            """Change parameters; return the estimator."""
            for name, value in params.items():
                one_of(f"parameter of {type(self).__name__}", name, list(self.get_params()))
                setattr(self, name, value)
            return self

        def fit(self, X: ArrayLike, y: None = None) -> "Estimator":
            """Fit; what inherits this says how."""
            raise NotImplementedError

        def fit_predict(self, X: ArrayLike, y: None = None) -> IntArray:
            """Return the label of each row, after fitting."""
            labels: IntArray = self.fit(X).labels_
            return labels
