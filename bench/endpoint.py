"""A scripted OpenAI-compatible endpoint on 127.0.0.1, fast enough not to be what is measured.

    python endpoint.py        # prints its port and serves until its standard input is closed

It keeps no state: a marker in the conversation is the script, and the last tool result says how far it has come.

    [[seq:5:t17]]    call `lookup` five times, one call a turn, then answer DONE-t17
    [[par:5:t17]]    call it five times in one turn, then answer

`lookup("item-3")` must return a text that starts with "RES-3 ", so a client only gets on by really running the tool.
`GET /stats` tells the requests since the last `POST /reset`.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

LENGTH = re.compile(rb"(?i)\r\ncontent-length:[ \t]*(\d+)")
MARK = re.compile(rb"\[\[(seq|par):(\d+):(\w+)\]\]")
RESULT = re.compile(rb"RES-(\d+)")
CALL = b'{"id":"call_%s_%d","type":"function","function":{"name":"lookup","arguments":"{\\"key\\":\\"item-%d\\"}"}}'
REPLY = (
    b'{"id":"chatcmpl-%s-%d","object":"chat.completion","created":1790000000,"model":"scripted-model","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":%s,"refusal":null%s},"logprobs":null,"finish_reason":"%s"}],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,'
    b'"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}'
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def reply(body: bytes) -> bytes:
    """The assistant turn that follows a conversation. Nothing is parsed but the marker and the last result."""
    mark = MARK.search(body)
    if mark is None:
        raise ValueError("there is no [[seq:K:ID]] marker in the conversation")
    mode, k, task = mark[1], int(mark[2]), mark[3]
    at = body.rfind(b"RES-")
    last = RESULT.match(body, at) if at >= 0 else None
    done = int(last[1]) if last else 0
    ahead = range(done + 1, min(done + 1, k) + 1) if mode == b"seq" else range(1, k + 1) if done == 0 else range(0)
    calls = b",".join(CALL % (task, n, n) for n in ahead)
    content, finish = (b"null", b"tool_calls") if calls else (b'"DONE-%s"' % task, b"stop")
    said = b',"tool_calls":[%s]' % calls if calls else b""
    read, written = len(body) // 4, (len(calls) or 20) // 4
    return REPLY % (task, done, content, said, finish, read, written, read + written)


class Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive and a Content-Length; no chunks, no TLS."""

    requests = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (head := self.buffer.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self.buffer, 0, head)
            end = head + 4 + (int(length[1]) if length else 0)
            if len(self.buffer) < end:
                return
            answer = self.answer(self.buffer[:head], self.buffer[head + 4 : end])
            self.transport.write(HEAD % len(answer) + answer)
            self.buffer = self.buffer[end:]

    def answer(self, head: bytes, body: bytes) -> bytes:
        path = head.split(b" ", 2)[1]
        if path == b"/stats":
            return json.dumps({"requests": Connection.requests}).encode()
        if path == b"/reset":
            Connection.requests = 0
            return b"{}"
        Connection.requests += 1
        return reply(body)


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
