"""Fifty shapes of contracts through the Python client, in both eras."""

import asyncio
import json
import sys

from mcp import Client

BASE = sys.argv[1]
with open(sys.argv[2], encoding="utf-8") as file:
    SAMPLES = json.load(file)


async def main() -> None:
    passed = failed = 0
    for era, mode in [("legacy", "legacy"), ("modern", "2026-07-28")]:
        label = f"shapes, Python 2.3 {era}: every list loads, and every answer meets its schema"
        try:
            async with Client(BASE + "/mcp", mode=mode) as client:
                tools = {tool.name for tool in (await client.list_tools()).tools}
                assert tools >= SAMPLES.keys(), SAMPLES.keys() - tools
                for name, sample in SAMPLES.items():
                    result = await client.call_tool(name, sample)
                    assert not result.is_error, (name, result.content)
                    assert result.structured_content == sample, (name, result.structured_content)
            passed += 1
            print(f"ok {label}")
        except Exception as error:  # noqa: BLE001 - the other era is looked at all the same
            failed += 1
            print(f"not ok {label}: {error!r}")
    print(f"# {passed} {failed}")
    sys.exit(failed != 0)


asyncio.run(main())
