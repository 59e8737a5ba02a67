"""The labels that the product itself gives to nodes; users may not set any below DOMAIN."""

DOMAIN = "lockstep.windows"

POOL = f"{DOMAIN}/pool"
"""Registered by every node; its value is the pool's name."""

CLASS_DOMAIN = f"class.{DOMAIN}"
"""Domain of a class's own label, registered where no other label selects exactly its pools."""
