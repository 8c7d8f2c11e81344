"""What algorithms of ratings share: results by side, predictions and recommendations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.weights import check_whole

if TYPE_CHECKING:
    from vgraph.runtime.result import Result


def of_sides(users: int, items: int, **of_vertices: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """What stands at vertices, users and items apart."""
    return {
        f"{side}_{name}": values[rows]
        for side, rows in (("user", slice(users)), ("item", slice(users, users + items)))
        for name, values in of_vertices.items()
    }


def errors_of(rmse: NDArray[Any], tested: NDArray[Any], done: int, tests: int) -> dict[str, NDArray[Any]]:
    """What products were off by after each epoch that was done; NaN in a test of nothing."""
    return {"rmse": rmse[:done], "test_rmse": tested[:done] if tests else np.full(done, np.nan)}


def predict(graph: Graph, result: Result) -> Callable[[ArrayLike, ArrayLike], NDArray[np.float32]]:
    """What users would give to items, both counted from 0, one by one."""

    def predicted(users: ArrayLike, items: ArrayLike) -> NDArray[np.float32]:
        u, i = _known(users, result.user_factors, "user"), _known(items, result.item_factors, "item")
        try:
            np.broadcast_shapes(u.shape, i.shape)
        except ValueError:
            raise ParameterError(f"{u.shape} users and {i.shape} items: one item for each user") from None
        p, q = result.user_factors, result.item_factors
        found: NDArray[np.float32] = np.einsum("...k,...k", p[u], q[i], dtype=np.result_type(p, np.float32))
        for name, at in (("item_bias", i), ("user_bias", u), ("mean", ...)):
            if name in result.names:
                found = found + np.asarray(getattr(result, name), np.float32)[at]
        return found

    return predicted


def recommend(graph: Graph, result: Result) -> Callable[..., tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """The items with the best predictions for a user."""

    def recommended(
        user: int, k: int = 10, *, rated: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Items, counted from 0, the best first, and predictions; with `rated` such as the user has rated, too."""
        if np.ndim(user):
            raise ParameterError(f"user={shown(user)}: items are recommended to one user at a time")
        u = int(_known(user, result.user_factors, "user"))
        check_whole(0, k=k)
        score = result.predict(u, np.arange(len(result.item_factors)))
        left = np.ones(score.size, bool)
        if not rated:
            begin, end = graph.out.row_offsets[u : u + 2].tolist()
            left[graph.out.column_indices[begin:end].astype(np.int64) - len(result.user_factors)] = False
        items = np.flatnonzero(left)
        best = items[np.argsort(-score[items], kind="stable")[:k]]
        return best, score[best]

    return recommended


def _known(ids: ArrayLike, of: NDArray[Any], what: str) -> NDArray[Any]:
    found = np.asarray(ids)
    if not found.size:
        return found.astype(np.int64)
    if found.dtype.kind not in "iu" or not 0 <= found.min() <= found.max() < len(of):
        there = f"there are {what}s from 0 to {len(of) - 1}" if len(of) else f"there are no {what}s"
        raise ParameterError(f"{what}={shown(ids)}: {there}")
    return found
