"""Health, readiness and numbers, for those who watch over processes."""

from enum import Enum

from fastapi import FastAPI
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from lobandits.service.decisions import DecisionService
from lobandits.service.metrics import Metrics
from lobandits.service.openapi import errors
from lobandits.service.schemas import Health, Readiness

TAG: list[str | Enum] = ["health"]


def add_routes(app: FastAPI, service: DecisionService, metrics: Metrics) -> None:
    """Add the routes."""

    @app.get("/healthz", tags=TAG, responses=errors())
    async def healthz() -> Health:
        """Say that the process lives."""
        return Health(status="ok")

    @app.get("/readyz", tags=TAG, responses=errors(503))
    def readyz() -> Readiness:
        """Say whether decisions can be made: a model is loaded and the store answers."""
        service.ready()
        return Readiness(status="ready", model=service.model)

    @app.get(
        "/metrics",
        tags=TAG,
        response_class=Response,
        responses={**errors(), 200: {"content": {CONTENT_TYPE_LATEST: {}}}},
    )
    def numbers() -> Response:
        """Count requests, decisions and rewards, for Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)
