"""A client of a Service Code server."""

from .operations import Operations as Client
from .transport import ApiError, Download

__all__ = ["ApiError", "Client", "Download"]
