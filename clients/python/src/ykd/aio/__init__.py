# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio: as ykd.Client and ykd.ResourceManager, with methods that are awaited. All of one object is done in one
event loop."""
from .client import Client
from .manager import ResourceManager

__all__ = ["Client", "ResourceManager"]
