"""The way to a Deskgate server: over HTTP where the target is an address, with the token of the environment; else over a pipe."""

import os

from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def transport_to(target):
    if target.startswith("http"):
        token = os.environ["DESKGATE_TEST_TOKEN"]
        http_client = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
        return streamable_http_client(target, http_client=http_client)
    return stdio_client(StdioServerParameters(command=target, args=["--demo", "--actor", "interop"]))
