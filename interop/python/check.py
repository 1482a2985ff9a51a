"""Uses every tool, resource, prompt and completion of a Deskgate server with the official Python client."""

import asyncio
import json
import sys

from mcp.client.client import Client
from mcp_types import PromptReference, ResourceTemplateReference
from target import transport_to


def expect(condition, message):
    if not condition:
        raise SystemExit(f"failed: {message}")


def code_of(result):
    answer = result.structured_content
    expect(isinstance(answer, dict), f"an answer is structured: {result}")
    text = result.content[0].text
    expect(text and not text.lstrip().startswith("{"), f"the text block stands on its own: {text[:80]}")
    return "ok" if answer["ok"] else answer["error"]["code"]


async def call(client, step, extra=None):
    arguments = dict(step["arguments"], **(extra or {}))
    result = await client.call_tool(step["tool"], arguments)
    code = code_of(result)
    expect(code == step["expect"], f"{step['tool']} {arguments}: {code}, wanted {step['expect']}")
    return result.structured_content


async def main(target, calls, revision):
    mode = "legacy" if revision == "2025-11-25" else revision
    transport = transport_to(target)
    async with Client(transport, mode=mode, read_timeout_seconds=30) as client:
        expect(client.protocol_version == revision, f"revision {client.protocol_version}")
        tools = (await client.list_tools()).tools
        used = {step["tool"] for step in calls["tools"] + calls["new_ticket_walk"]}
        expect({tool.name for tool in tools} == used, f"every tool is called: {sorted({t.name for t in tools} ^ used)}")
        ticket = None
        for step in calls["tools"]:
            answer = await call(client, step)
            if step["tool"] == "create_ticket" and step["expect"] == "ok":
                ticket = answer["ticket_id"]
        for step in calls["new_ticket_walk"]:
            await call(client, step, {"ticket_id": ticket})
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        expect(len(listed) >= 11, f"each category is a resource: {listed}")
        templates = (await client.list_resource_templates()).resource_templates
        expect(len(templates) == 4, f"four templates: {templates}")
        for uri in calls["resources"] + [str(uri) for uri in listed]:
            contents = (await client.read_resource(uri)).contents
            expect(contents and contents[0].text, f"{uri} has text")
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        expect(names == sorted(names) or len(names) == len(calls["prompts"]), f"prompts: {names}")
        expect(set(names) == {prompt["name"] for prompt in calls["prompts"]}, f"every prompt is got: {names}")
        for prompt in calls["prompts"]:
            got = await client.get_prompt(prompt["name"], prompt["arguments"] or None)
            expect(got.messages, f"{prompt['name']} has messages")
        for completion in calls["completions"]:
            if "prompt" in completion:
                reference = PromptReference(type="ref/prompt", name=completion["prompt"])
            else:
                reference = ResourceTemplateReference(type="ref/resource", uri=completion["template"])
            argument = {"name": completion["argument"], "value": completion["value"]}
            values = (await client.complete(reference, argument)).completion.values
            expect(completion["first"] in values, f"{completion}: {values}")
    print(f"  {len(tools)} tools, {len(listed)} resources, {len(names)} prompts: as expected")


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        asyncio.run(main(sys.argv[1], json.load(file), sys.argv[3]))
