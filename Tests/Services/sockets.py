"""WebSockets on 127.0.0.1, of one of three packages: `sockets.py websockets|aiohttp|wsproto PORT`; port 0 is any.

The paths do the same on each of them:

    /count?count=N&size=N        sends texts that begin with their numbers, then echoes
    /large?size=N                sends one message of so many bytes, then echoes
    /ping?payload=TEXT           pings, then echoes
    /close?code=N&reason=TEXT    closes
    /private                     refuses with 401 unless the token is `fresh`
    /redirect?to=URL             redirects with 302
    any other                    sends each message back

`path=PATH` in the query replaces the path, `deflate=off` refuses compression, `deflate=NAME,NAME=N` asks for its
parameters (not aiohttp). Of the subprotocols that are offered, the server takes `chat`. Each response that agrees sets
the cookie `place=window`.

The first line it writes is `ready 127.0.0.1:PORT`, each other one a JSON object with `target`, the path and query of
the connection, and `event`:

    opened     with `cookie`, `protocol` and `extensions`, as the server has agreed to them
    ping       with `payload`
    pong       with `payload`
    closed     with `code` and `reason`, as the client has sent them; 1006 without a close frame
"""

import asyncio
import json
import logging
import sys
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

COOKIE = "place=window"


def log(event, target, **values):
    print(json.dumps({"event": event, "target": target, **values}), flush=True)


def query(target):
    return dict(parse_qsl(urlsplit(target).query))


def refusal(target, authorization):
    """The status and the fields with which a request is refused; `None` if it is not."""
    match urlsplit(target).path:
        case "/private" if authorization != "Bearer fresh":
            return 401, [("WWW-Authenticate", "Bearer")]
        case "/redirect":
            return 302, [("Location", query(target)["to"])]


def deflate(target):
    """The parameters of compression; `None` to refuse it."""
    text = query(target).get("deflate", "")
    if text == "off":
        return None
    pairs = [parameter.partition("=") for parameter in text.split(",") if parameter]
    return {name: int(value) if value else True for name, _, value in pairs}


async def play(target, socket):
    """One connection: `socket` can send, ping, close and receive, which returns `None` at the end."""
    values = query(target)
    match values.get("path", urlsplit(target).path):
        case "/count":
            for number in range(int(values["count"])):
                await socket.send(f"{number} ".ljust(int(values["size"]), "."))
        case "/large":
            await socket.send(bytes(int(values["size"])))
        case "/ping":
            await socket.ping(values["payload"].encode())
        case "/close":
            await socket.close(int(values["code"]), values["reason"])
    while (message := await socket.receive()) is not None:
        await socket.send(message)


# websockets


def serve_websockets(port):
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.datastructures import Headers
    from websockets.exceptions import ConnectionClosed
    from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
    from websockets.frames import Opcode
    from websockets.http11 import Response

    class Connection(ServerConnection):
        def process_event(self, event):
            match getattr(event, "opcode", None):
                case Opcode.PING:
                    log("ping", self.request.path, payload=bytes(event.data).decode())
                case Opcode.PONG:
                    log("pong", self.request.path, payload=bytes(event.data).decode())
            super().process_event(event)

        async def receive(self):
            try:
                return await self.recv()
            except ConnectionClosed:
                return None

    def process_request(connection, request):
        parameters = deflate(request.path)
        factory = parameters is not None and ServerPerMessageDeflateFactory(**parameters)
        connection.protocol.available_extensions = [factory] if factory else None
        if found := refusal(request.path, request.headers.get("Authorization")):
            status, fields = found
            return Response(status, HTTPStatus(status).phrase, Headers([*fields, ("Content-Length", "0")]))

    def process_response(connection, request, response):
        if response.status_code == 101:
            response.headers["Set-Cookie"] = COOKIE

    async def handle(connection):
        request, response = connection.request, connection.response
        log(
            "opened",
            request.path,
            cookie=request.headers.get("Cookie"),
            protocol=connection.subprotocol,
            extensions=response.headers.get("Sec-WebSocket-Extensions"),
        )
        try:
            await play(request.path, connection)
        except ConnectionClosed:
            pass
        log("closed", request.path, code=connection.close_code, reason=connection.close_reason)

    return serve(
        handle,
        "127.0.0.1",
        port,
        create_connection=Connection,
        process_request=process_request,
        process_response=process_response,
        select_subprotocol=lambda connection, offered: "chat" if "chat" in offered else None,
        max_size=None,
        ping_interval=None,
    )


# aiohttp


async def serve_aiohttp(port):
    from aiohttp import WSMsgType, web

    class Socket:
        def __init__(self, target, response):
            self.target, self.response = target, response
            self.ping = response.ping
            self.reason = ""

        async def send(self, message):
            if isinstance(message, str):
                await self.response.send_str(message)
            else:
                await self.response.send_bytes(message)

        async def close(self, code, reason):
            await self.response.close(code=code, message=reason.encode())

        async def receive(self):
            while True:
                message = await self.response.receive()
                match message.type:
                    case WSMsgType.TEXT | WSMsgType.BINARY:
                        return message.data
                    case WSMsgType.PING:
                        log("ping", self.target, payload=bytes(message.data).decode())
                        await self.response.pong(message.data)
                    case WSMsgType.PONG:
                        log("pong", self.target, payload=bytes(message.data).decode())
                    case WSMsgType.CLOSE:
                        self.reason = message.extra or ""
                        return None
                    case _:
                        return None

    async def handle(request):
        if found := refusal(request.raw_path, request.headers.get("Authorization")):
            status, fields = found
            return web.Response(status=status, headers=dict(fields))
        compress = deflate(request.raw_path) is not None
        response = web.WebSocketResponse(protocols=["chat"], compress=compress, max_msg_size=0, autoping=False)
        response.headers["Set-Cookie"] = COOKIE
        await response.prepare(request)
        log(
            "opened",
            request.raw_path,
            cookie=request.headers.get("Cookie"),
            protocol=response.ws_protocol,
            extensions=response.headers.get("Sec-WebSocket-Extensions"),
        )
        socket = Socket(request.raw_path, response)
        try:
            await play(request.raw_path, socket)
        except ConnectionError:
            pass
        log("closed", request.raw_path, code=response.close_code, reason=socket.reason)
        return response

    application = web.Application()
    application.router.add_get("/{path:.*}", handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    return runner.addresses[0][1]


# wsproto


async def serve_wsproto(port):
    from wsproto import ConnectionType, WSConnection, events
    from wsproto.extensions import PerMessageDeflate
    from wsproto.utilities import LocalProtocolError, RemoteProtocolError

    class Socket:
        def __init__(self, reader, writer):
            self.reader, self.writer = reader, writer
            self.connection = WSConnection(ConnectionType.SERVER)
            self.target, self.code, self.reason = None, 1006, ""

        async def write(self, event):
            self.writer.write(self.connection.send(event))
            await self.writer.drain()

        async def event(self):
            while True:
                for event in self.connection.events():
                    return event
                data = await self.reader.read(1 << 20)
                self.connection.receive_data(data or None)

        async def send(self, message):
            await self.write(events.Message(data=message))

        async def ping(self, payload):
            await self.write(events.Ping(payload=payload))

        async def close(self, code, reason):
            await self.write(events.CloseConnection(code=code, reason=reason))

        async def receive(self):
            parts = []
            while True:
                match await self.event():
                    case events.Message() as message:
                        parts.append(message.data)
                        if message.message_finished:
                            return parts[0][:0].join(parts)
                    case events.Ping() as ping:
                        log("ping", self.target, payload=bytes(ping.payload).decode())
                        await self.write(ping.response())
                    case events.Pong() as pong:
                        log("pong", self.target, payload=bytes(pong.payload).decode())
                    case events.CloseConnection() as close:
                        self.code, self.reason = int(close.code), close.reason or ""
                        if self.connection.state.name == "REMOTE_CLOSING":
                            await self.write(close.response())
                        return None

        async def agree(self):
            """Answers the handshake; says whether it agrees."""
            request = await self.event()
            fields = {name.decode().lower(): value.decode() for name, value in request.extra_headers}
            if found := refusal(request.target, fields.get("authorization")):
                status, headers = found
                headers = [(name.encode(), value.encode()) for name, value in headers]
                await self.write(events.RejectConnection(status_code=status, headers=headers))
                return False
            parameters = deflate(request.target)
            extension = None if parameters is None else PerMessageDeflate(**parameters)
            protocol = "chat" if "chat" in request.subprotocols else None
            answer = self.connection.send(
                events.AcceptConnection(
                    subprotocol=protocol,
                    extensions=[extension] if extension else [],
                    extra_headers=[(b"Set-Cookie", COOKIE.encode())],
                )
            )
            head = dict(line.split(": ", 1) for line in answer.decode().split("\r\n")[1:] if line)
            self.writer.write(answer)
            await self.writer.drain()
            log(
                "opened",
                request.target,
                cookie=fields.get("cookie"),
                protocol=protocol,
                extensions={name.lower(): value for name, value in head.items()}.get("sec-websocket-extensions"),
            )
            self.target = request.target
            return True

    async def handle(reader, writer):
        socket = Socket(reader, writer)
        try:
            if await socket.agree():
                await play(socket.target, socket)
        except (ConnectionError, LocalProtocolError, RemoteProtocolError):
            pass
        if socket.target:
            log("closed", socket.target, code=socket.code, reason=socket.reason)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    return server.sockets[0].getsockname()[1]


async def main():
    logging.disable()
    package, port = sys.argv[1], int(sys.argv[2])
    match package:
        case "websockets":
            server = await serve_websockets(port)
            port = server.sockets[0].getsockname()[1]
        case "aiohttp":
            port = await serve_aiohttp(port)
        case "wsproto":
            port = await serve_wsproto(port)
    print(f"ready 127.0.0.1:{port}", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
