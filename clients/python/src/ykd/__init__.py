# SPDX-License-Identifier: Apache-2.0
"""Client of ykd, the resource scheduler. `Client` sends requests, `ResourceManager` is a whole resource manager; both are also in
`ykd.aio`, for asyncio. The protocol is described by docs/protocol.md of ykd."""
from .callbacks import Callbacks
from .client import Client
from .errors import (BadBytes, Closed, Code, Full, NoAnswer, NotServing, OutcomeUnknown, Refused, SessionLost, TooLarge, YkdError)
from .manager import ResourceManager
from .values import (Allocation, Application, ApplicationUpdate, Ask, CoreState, Node, Rejection, Release, TerminationType)

__all__ = ["Allocation", "Application", "ApplicationUpdate", "Ask", "BadBytes", "Callbacks", "Client", "Closed", "Code", "CoreState", "Full",
           "NoAnswer", "Node", "NotServing", "OutcomeUnknown", "Refused", "Rejection", "Release", "ResourceManager", "SessionLost",
           "TerminationType", "TooLarge", "YkdError"]
__version__ = "0.1.0"
