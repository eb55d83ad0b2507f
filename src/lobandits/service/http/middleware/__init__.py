"""Layers of plain ASGI around all routes, in the order of their files in `create_app`."""
