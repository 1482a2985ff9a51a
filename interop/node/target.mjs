// The way to a Deskgate server: over HTTP where the target is an address, with the token of the environment; else over a pipe.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const headers = { Authorization: `Bearer ${process.env.DESKGATE_TEST_TOKEN}` };

export function transportTo(target) {
  return target.startsWith("http")
    ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } })
    : new StdioClientTransport({ command: target, args: ["--demo", "--actor", "interop"], stderr: "ignore" });
}
