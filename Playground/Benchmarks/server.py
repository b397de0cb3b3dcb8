"""The servers of the HTTP benchmarks, on one core: nginx with one worker, one that answers after a second, and one
that makes pages of a list as long as is asked for.

    server.py FOLDER COMMAND…

runs a command while they are there. In its words {plain}, {tls}, {http2}, {waiting}, {pages} are the addresses, {folder} the
folder, which has to be empty; large in it is a file of 256 MiB, cert.pem the servers' certificate.
"""
import asyncio
import contextlib
import os
import pathlib
import resource
import socket
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).parent
CORE = "0"
LARGE = 256 << 20


class Waiting(asyncio.Protocol):
    """Answers each request after a second."""

    ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}"

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        for _ in range(data.count(b"\r\n\r\n")):
            asyncio.get_running_loop().call_later(1, self.answer)

    def answer(self):
        if not self.transport.is_closing():
            self.transport.write(self.ANSWER)


class Pages(asyncio.Protocol):
    """Answers `GET /pages?page=3&pageSize=100&total=1000`, in an envelope, with items that are numbered through."""

    def connection_made(self, transport):
        self.transport, self.received = transport, b""

    def data_received(self, data):
        *requests, self.received = (self.received + data).split(b"\r\n\r\n")
        for request in requests:
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.split(b" ", 2)[1].decode()).query))
            page, size, total = (int(query[name]) for name in ("page", "pageSize", "total"))
            items = ",".join(f'{{"id":{number},"name":"tea {number}","price":4.25}}'
                             for number in range((page - 1) * size, min(page * size, total)))
            body = f'{{"errcode":200,"msg":"ok","data":{{"list":[{items}],"total":{total}}}}}'.encode()
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                 b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


#: The servers other than nginx, by name.
OWN = {"waiting": Waiting, "pages": Pages}


async def serve(protocol, listener):
    server = await asyncio.get_running_loop().create_server(protocol, sock=listener, backlog=8192)
    await server.serve_forever()


@contextlib.contextmanager
def servers(folder):
    """Runs nginx and the one that waits; gives their addresses by name.

    The sockets listen before the servers are there to take them over, so that the ports are surely free and ready.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    listeners = {name: socket.create_server(("127.0.0.1", 0), backlog=8192)
                 for name in ("plain", "tls", "http2", *OWN)}
    ports = {name: listener.getsockname()[1] for name, listener in listeners.items()}
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True)
    with open(folder / "large", "wb") as large:
        large.write(os.urandom(1 << 20) * (LARGE >> 20))
    template = (HERE / "nginx.conf").read_text()
    for name, port in ports.items():
        template = template.replace(f"{name.upper()}_PORT", str(port))
    (folder / "nginx.conf").write_text(template)

    inherited = [listeners[name].fileno() for name in ("plain", "tls", "http2")]
    environment = os.environ | {"NGINX": "".join(f"{number};" for number in inherited),
                                "PATH": os.environ["PATH"] + ":/usr/sbin"}
    pinned = ["taskset", "-c", CORE]
    with open(folder / "nginx.log", "wb") as log:
        processes = [
            subprocess.Popen(
                [*pinned, "nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"],
                env=environment, pass_fds=inherited, stdout=log, stderr=log),
            *(subprocess.Popen(
                [*pinned, sys.executable, __file__, "--serve", name, str(listeners[name].fileno())],
                pass_fds=[listeners[name].fileno()], stdout=log, stderr=log) for name in OWN),
        ]
    try:
        yield {name: f"https://localhost:{port}" if name in ("tls", "http2") else f"http://127.0.0.1:{port}"
               for name, port in ports.items()}
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def main():
    if sys.argv[1] == "--serve":
        return asyncio.run(serve(OWN[sys.argv[2]], socket.socket(fileno=int(sys.argv[3]))))
    folder = pathlib.Path(sys.argv[1])
    with servers(folder) as addresses:
        words = [word.format(**addresses, folder=folder) for word in sys.argv[2:]]
        sys.exit(subprocess.run(words).returncode)


if __name__ == "__main__":
    main()
