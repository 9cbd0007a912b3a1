"""A client made with the official Python SDK, version 2. It uses the server of
served.sns and prints what it gets:
    python client.py stdio COMMAND ARGUMENT...
    python client.py http URL TOKEN
"""

import asyncio
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult


def show(name, r):
    blocks = [b.text if b.type == "text" else f"[{b.type} {b.mime_type}]" for b in r.content]
    print(name, "error" if r.is_error else "ok", "|".join(blocks))


async def elicit(context, params):
    print("asked", params.message.splitlines()[0])
    if "approve" in params.requested_schema["properties"]:
        return ElicitResult(action="accept", content={"approve": True, "reason": "why not"})
    return ElicitResult(action="accept", content={"answer": "Zoë"})


async def use(server):
    async with Client(server, elicitation_callback=elicit, read_timeout_seconds=60) as client:
        print("revision", client.protocol_version, file=sys.stderr)
        tools = (await client.list_tools()).tools
        print("tools", " ".join(t.name for t in tools))
        add = next(t for t in tools if t.name == "add")
        print("add", add.description, str(add.input_schema["required"]).replace("'", '"'))
        show("add", await client.call_tool("add", {"a": 41}))
        show("add", await client.call_tool("add", {"a": "x"}))
        info = await client.call_tool("info", {"name": "Zoë"})
        show("info", info)
        print("structured", info.structured_content["name"], len(info.structured_content["tags"]), info.structured_content["n"])
        show("picture", await client.call_tool("picture", {}))
        show("order", await client.call_tool("order", {"what": "tea"}))
        show("remove", await client.call_tool("remove", {"path": "a"}))
        made = (await client.call_tool("prepare_greet", {"who": "Ann"})).structured_content
        for step in ["commit_action", "approve_action", "commit_action", "rollback_action"]:
            r = await client.call_tool(step, {"id": made["id"]})
            told = r.content[0].text if r.is_error else f"{r.structured_content['state']} {str(r.structured_content['approved']).lower()}"
            print(step, "error" if r.is_error else "ok", told)


async def main():
    kind, *rest = sys.argv[1:]
    if kind == "stdio":
        await use(StdioServerParameters(command=rest[0], args=rest[1:]))
        return
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + rest[1]}, timeout=60) as http:
        await use(streamable_http_client(rest[0], http_client=http))


asyncio.run(main())
