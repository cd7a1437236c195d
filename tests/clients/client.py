"""The Python SDK in both eras, against a ticket desk."""

import asyncio
import json
import sys
import traceback
import urllib.request

import mcp.types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

BASE, POLICY = sys.argv[1], sys.argv[2]
PASSED = FAILED = 0
TICKET = 0


def get(path: str, token: str | None = None) -> str:
    request = urllib.request.Request(BASE + path, headers={"authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


def effects() -> int:
    return sum(json.loads(get("/desk/counters")).values())


def refund() -> dict:
    global TICKET
    TICKET += 1
    return {"ticket_id": f"T-{1001 + TICKET % 10}", "amount_cents": 1250, "cardholder_reference": "card-4711"}


def refusal(result: types.CallToolResult) -> dict:
    assert result.is_error, result
    return json.loads(result.content[0].text)


class Session:
    """A connected client for one token."""

    def __init__(self, mode: str, token: str, answer: str | None = None):
        self.mode, self.token, self.answer = mode, token, answer

    async def __aenter__(self) -> Client:
        async def elicit(_context, params: types.ElicitRequestParams) -> types.ElicitResult:
            self.asked = params
            content = None
            if self.answer == "accept":
                content = {name: True for name in params.requested_schema["properties"]}
            return types.ElicitResult(action=self.answer, content=content)

        self.http = create_mcp_http_client(headers={"authorization": f"Bearer {self.token}"})
        await self.http.__aenter__()
        transport = streamable_http_client(BASE + "/mcp", http_client=self.http)
        self.client = Client(transport, mode=self.mode, elicitation_callback=elicit if self.answer else None)
        return await self.client.__aenter__()

    async def __aexit__(self, *exc):
        await self.client.__aexit__(*exc)
        await self.http.__aexit__(*exc)


async def check(name: str, body) -> None:
    global PASSED, FAILED
    try:
        await body()
        PASSED += 1
        print(f"ok {name}")
    except BaseException:  # noqa: BLE001 - a failed check must not hide the next one
        FAILED += 1
        print(f"not ok {name}: {' | '.join(traceback.format_exc().splitlines()[-3:])}")


async def desk_checks(label: str, mode: str) -> None:
    manifest = get("/flowx/manifest", "manager-token")
    embedded = json.loads(manifest)["tools"]

    async def lists():
        async with Session(mode, "agent-token") as client:
            tools = (await client.list_tools()).tools
        assert [t.name for t in tools] == [t["name"] for t in embedded]
        for tool, sent in zip(tools, embedded):
            assert tool.description == sent["description"]
            assert tool.input_schema == sent["inputSchema"]
            assert tool.output_schema == sent["outputSchema"]
            assert tool.meta == sent["_meta"], (tool.meta, sent["_meta"])

    async def calls():
        async with Session(mode, "agent-token") as client:
            result = await client.call_tool("ticket_search", {})
        assert not result.is_error, result
        assert len(result.structured_content["tickets"]) == 10
        assert json.loads(result.content[0].text) == result.structured_content

    async def refused():
        before = effects()
        async with Session(mode, "agent-token", "accept") as client:
            await client.list_tools()
            said = refusal(await client.call_tool("ticket_refund", refund()))
        assert said["code"] == "authorization.permission_denied", said
        assert effects() == before

    async def reads():
        async with Session(mode, "manager-token") as client:
            read = await client.read_resource("flowx://manifest")
        assert read.contents[0].text == manifest

    await check(f"{label}: lists every tool, with what the client keeps of it unchanged", lists)
    await check(f"{label}: calls a tool that only reads", calls)
    await check(f"{label}: an agent without the permission is refused, and nothing is done", refused)
    await check(f"{label}: the manifest is there for who may read it, byte for byte", reads)


async def ask_checks(label: str, mode: str) -> None:
    async def accepted():
        before = effects()
        async with Session(mode, "refund-agent-token", "accept") as client:
            result = await client.call_tool("ticket_refund", refund())
        assert not result.is_error, result
        assert effects() > before

    def answered(answer: str, outcome: str):
        async def body():
            before = effects()
            async with Session(mode, "refund-agent-token", answer) as client:
                said = refusal(await client.call_tool("ticket_refund", refund()))
            assert said["code"] == "mcp.confirmation_refused", said
            assert said["detail"]["outcome"] == outcome, said
            assert effects() == before

        return body

    await check(f"{label}: a yes lets the refund happen", accepted)
    await check(f"{label}: a no means that nothing is done", answered("decline", "declined"))
    await check(f"{label}: a closed form means that nothing is done", answered("cancel", "cancelled"))


async def main() -> None:
    for era, mode in [("legacy", "legacy"), ("modern", "2026-07-28"), ("auto", "auto")]:
        checks = desk_checks if POLICY == "annotate" else ask_checks
        await checks(f"Python 2.3 {era}", mode)
    print(f"# {PASSED} {FAILED}")
    sys.exit(FAILED != 0)


asyncio.run(main())
