"""HTTP/3 on aioquic, over UDP on 127.0.0.1: `quic.py CERTIFICATE KEY [--retry] [--quic VERSION]`.

The first line it writes is `ready PORT`. Each later one tells of connection N, where numbers are decimal:

    connected N                    the handshake is complete
    request N STREAM METHOD PATH   a request's head has come
    stopped N STREAM CODE          the client has sent STOP_SENDING
    reset N STREAM CODE            the client has sent RESET_STREAM
    goaway N                       GOAWAY has been sent
    acknowledged N                 the client has received what was sent with it
    closed N CODE                  the connection has ended

It reads commands, one a line, and ends with its input:

    reset CODE    resets what /stall and /silent hold
    finish        ends what /stall and /silent hold
    release       lets the client send more to /hold
    goaway        sends GOAWAY on each connection; later requests there are rejected
    close CODE    closes each connection
    keys          updates the keys of each connection
"""

import argparse
import asyncio
import hashlib
import struct
import sys
from urllib.parse import parse_qs, urlsplit

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import ErrorCode, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StopSendingReceived, StreamReset
from aioquic.quic.packet import QuicProtocolVersion

PIECE = 64 << 10
# So much of a body waits in memory for the client's window and its acknowledgements.
BUFFER = 4 * PIECE


def log(*words):
    print(*words, flush=True)


def pattern(count):
    """`count` bytes in which no block of eight occurs twice, in pieces."""
    for start in range(0, count, PIECE):
        blocks = range(start // 8, (start + PIECE) // 8)
        piece = struct.pack(
            f"<{len(blocks)}Q", *(block * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF for block in blocks)
        )
        yield piece[: count - start]


class Upload:
    """The content of a request, as far as it has come."""

    def __init__(self):
        self.count = 0
        self.digest = hashlib.sha256()

    def take(self, data):
        self.count += len(data)
        self.digest.update(data)

    def __str__(self):
        return f"{self.count} {self.digest.hexdigest()}"


class Connection(QuicConnectionProtocol):
    open = {}
    opened = 0
    sent = 0

    def __init__(self, quic, *args, **kwargs):
        super().__init__(quic, *args, **kwargs)
        Connection.opened += 1
        self.number = Connection.opened
        Connection.open[self.number] = self
        self.http = None
        self.uploads = {}
        self.sources = {}
        self.stalled = set()
        self.held = set()
        self.last_stream = 0
        self.is_going_away = False
        # aioquic opens the window of a stream as soon as data comes.
        write_limits = quic._write_stream_limits

        def write_limits_unless_held(**arguments):
            if arguments["stream"].stream_id not in self.held:
                write_limits(**arguments)

        quic._write_stream_limits = write_limits_unless_held

    # Events

    def quic_event_received(self, event):
        match event:
            case HandshakeCompleted():
                self.http = H3Connection(self._quic)
                log("connected", self.number)
            case ConnectionTerminated():
                Connection.open.pop(self.number, None)
                self.sources.clear()
                log("closed", self.number, event.error_code)
            case StopSendingReceived():
                self.forget(event.stream_id)
                log("stopped", self.number, event.stream_id, event.error_code)
            case StreamReset():
                self.uploads.pop(event.stream_id, None)
                log("reset", self.number, event.stream_id, event.error_code)
        if self.http is None:
            return
        for event in self.http.handle_event(event):
            match event:
                case HeadersReceived():
                    self.request(event.stream_id, dict(event.headers))
                case DataReceived() if event.stream_id in self.uploads:
                    self.uploads[event.stream_id].take(event.data)
            if event.stream_ended and event.stream_id in self.uploads:
                self.answer(event.stream_id, str(self.uploads.pop(event.stream_id)))

    def forget(self, stream):
        self.sources.pop(stream, None)
        self.stalled.discard(stream)

    def transmit(self):
        super().transmit()
        while self.fill():
            super().transmit()

    def fill(self):
        """Gives QUIC the next pieces of the bodies, where it has sent those before; says whether it did."""
        has_written = False
        for stream, source in list(self.sources.items()):
            sender = self._quic._streams[stream].sender
            while sender._buffer_stop - sender._buffer_start < BUFFER:
                has_written = True
                piece = next(source, None)
                self.http.send_data(stream, piece or b"", end_stream=piece is None)
                if piece is None:
                    del self.sources[stream]
                    break
                Connection.sent += len(piece)
        return has_written

    # Requests

    def request(self, stream, head):
        method, target = head[b":method"].decode(), head[b":path"].decode()
        log("request", self.number, stream, method, target)
        if self.is_going_away:
            return self.reject(stream)
        self.last_stream = stream
        url = urlsplit(target)
        count = int(parse_qs(url.query).get("count", ["0"])[0])
        match url.path:
            case "/echo":
                self.answer(stream, "HTTP/3")
            case "/large":
                self.head(stream, [(b"content-length", str(count).encode())])
                self.sources[stream] = pattern(count)
            case "/sent":
                self.answer(stream, str(Connection.sent))
            case "/upload":
                self.uploads[stream] = Upload()
            case "/hold":
                self.uploads[stream] = Upload()
                self.held.add(stream)
            case "/early":
                self.answer(stream, "no", status=413)
                self._quic.stop_stream(stream, ErrorCode.H3_NO_ERROR)
            case "/silent":
                self.stalled.add(stream)
            case "/stall":
                self.head(stream, [(b"content-length", str(count).encode())] if count else [])
                self.http.send_data(stream, b"some", end_stream=False)
                self.stalled.add(stream)
            case "/hints":
                self.http.send_headers(stream, [(b":status", b"103"), (b"link", b"</a.css>; rel=preload")])
                self.head(stream)
                self.http.send_data(stream, b"ok", end_stream=False)
                self.http.send_headers(stream, [(b"x-sum", b"42")], end_stream=True)
            case "/fields":
                fields = [(f"x-{number}".encode(), f"value {number}".encode()) for number in range(count)]
                self.head(stream, fields)
                self.http.send_data(stream, b"ok", end_stream=True)
            case "/short":
                self.head(stream, [(b"content-length", b"8")])
                self.http.send_data(stream, b"half", end_stream=True)
            case "/cut":
                self.head(stream)
                frame = encode_frame(FrameType.DATA, b"half a frame")
                self._quic.send_stream_data(stream, frame[:6], end_stream=True)
            case "/rejected":
                self.reject(stream)
            case _:
                self.answer(stream, "", status=404)

    def head(self, stream, fields=(), status=200):
        self.http.send_headers(stream, [(b":status", str(status).encode()), *fields])

    def answer(self, stream, text, status=200):
        self.head(stream, [(b"content-type", b"text/plain")], status)
        self.http.send_data(stream, text.encode(), end_stream=True)

    def reject(self, stream):
        self._quic.reset_stream(stream, ErrorCode.H3_REQUEST_REJECTED)
        self._quic.stop_stream(stream, ErrorCode.H3_REQUEST_REJECTED)

    # Commands

    async def go_away(self):
        self.is_going_away = True
        frame = encode_frame(FrameType.GOAWAY, encode_uint_var(self.last_stream + 4))
        self._quic.send_stream_data(self.http._local_control_stream_id, frame)
        answer = asyncio.ensure_future(self.ping())
        await asyncio.sleep(0)
        log("goaway", self.number)
        await answer
        log("acknowledged", self.number)

    def command(self, name, code):
        match name:
            case "reset":
                for stream in self.stalled:
                    self._quic.reset_stream(stream, code)
                self.stalled.clear()
            case "finish":
                for stream in self.stalled:
                    if self.http._stream[stream].headers_send_state.value == 0:
                        self.head(stream)
                    self.http.send_data(stream, b" more", end_stream=True)
                self.stalled.clear()
            case "release":
                self.held.clear()
            case "goaway":
                self.going = asyncio.create_task(self.go_away())
            case "close":
                return self.close(error_code=code)
            case "keys":
                self._quic.request_key_update()
        self.transmit()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("certificate")
    parser.add_argument("key")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--quic", type=int, choices=[1, 2])
    options = parser.parse_args()
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    configuration.load_cert_chain(options.certificate, options.key)
    if options.quic:
        configuration.supported_versions = [QuicProtocolVersion[f"VERSION_{options.quic}"]]
    server = await serve(
        "127.0.0.1", 0, configuration=configuration, create_protocol=Connection, retry=options.retry
    )
    log("ready", server._transport.get_extra_info("sockname")[1])
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    while line := await commands.readline():
        name, *code = line.decode().split()
        for connection in list(Connection.open.values()):
            connection.command(name, int(code[0]) if code else 0)


asyncio.run(main())
