"""Calls echo through the official SDK: python echo.py CALLS AT_ONCE COMMAND ARGS..."""

import asyncio
import statistics
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS, AT_ONCE = int(sys.argv[1]), int(sys.argv[2])


async def calls(session, n):
    for _ in range(n):
        result = await session.call_tool("echo", {"message": "hello"})
        assert result.content[0].text == "Echo: hello", result


async def main():
    server = StdioServerParameters(command=sys.argv[3], args=sys.argv[4:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()
        await calls(session, CALLS // 10)
        alone = []
        for _ in range(CALLS // 10):
            begun = time.monotonic()
            await calls(session, 10)
            alone.append((time.monotonic() - begun) / 10)
        begun = time.monotonic()
        await asyncio.gather(*(calls(session, CALLS // AT_ONCE) for _ in range(AT_ONCE)))
        together = (time.monotonic() - begun) / (CALLS // AT_ONCE * AT_ONCE)
        print(statistics.median(alone) * 1e6, together * 1e6)


asyncio.run(main())
