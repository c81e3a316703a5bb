"""Floor 1: array libraries. `backend_of(array)` finds the Backend of an array by its type."""

from .lookup import Backend, backend_of, backend_of_device, is_array, register_backend

__all__ = ["Backend", "backend_of", "backend_of_device", "is_array", "register_backend"]
