"""Health, readiness and numbers, for those who watch over processes."""

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from lobandits.service.decisions import DecisionService
from lobandits.service.metrics import Metrics
from lobandits.service.openapi import errors
from lobandits.service.schemas import Health, Readiness


def routes(service: DecisionService, metrics: Metrics) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["health"])

    @router.get("/healthz", responses=errors())
    async def healthz() -> Health:
        """Say that the process lives."""
        return Health(status="ok")

    @router.get("/readyz", responses=errors(503))
    def readyz() -> Readiness:
        """Say whether decisions can be made: a model is loaded and the store answers."""
        service.ready()
        return Readiness(status="ready", model=service.model)

    @router.get(
        "/metrics",
        response_class=Response,
        responses={**errors(), 200: {"content": {CONTENT_TYPE_LATEST: {}}}},
    )
    def numbers() -> Response:
        """Count requests, decisions and rewards, for Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return router
