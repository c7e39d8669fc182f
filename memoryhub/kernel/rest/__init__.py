"""The REST door: what an endpoint is, how it reads and answers, and the document that describes all of them.

An app's `api` names, for each address and method, the tool that answers there: the same arguments, the same
reader of them, the same service and the same answer as over MCP (decision 0023).
"""

from memoryhub.kernel.rest.endpoints import Endpoint, endpoint
from memoryhub.kernel.rest.shapes import array, page, shape

__all__ = ["Endpoint", "array", "endpoint", "page", "shape"]
