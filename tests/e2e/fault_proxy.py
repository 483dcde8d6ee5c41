"""A proxy in front of the API server that injects faults of networks and servers. TLS on both sides, HTTP/1.1.

Between `begin(kind)` and `end()` the proxy injects one kind of fault. The seed decides which requests are hit and how.
Each connection has its own thread; there are a few dozen.
"""

import base64
import collections
import contextlib
import http.client
import json
import pathlib
import random
import select
import socket
import ssl
import struct
import tempfile
import threading
import time

# Tests that try all kinds use this list. It omits two kinds: "cut_off" lets nothing through until `end()`, and
# "held_bindings" delays the binding of pods until `end()`.
KINDS = ("busy", "conflict", "expired_token", "half_open", "reset", "second_writer", "server_error", "slow",
         "truncated_watch")
POLL_S = 0.1
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing the connection sends a reset


class Cut(Exception):
    """Ends the connection without an answer."""


class FaultProxy:
    """The proxy. It uses the administrator's kubeconfig to reach the server, and to write as a second writer."""

    def __init__(self, cluster, seed):
        config = json.loads(cluster.kubectl("config", "view", "--raw", "--output", "json"))
        self._server = cluster.ports()["kube-apiserver"]
        self._upstream, self._admin = _contexts(config)
        self._downstream = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._downstream.load_cert_chain(cluster.folder / "pki" / "server.crt", cluster.folder / "pki" / "server.key")
        self._random, self._lock = random.Random(seed), threading.Lock()
        self.kind = None
        self.hits = collections.Counter()  # number of hits by fault; "gone" counts the server's own 410 answers
        self.expired = set()  # tokens that get 401
        self._connections = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def begin(self, kind):
        """Starts a fault. A connection fault also hits requests in progress."""
        self.kind = kind
        if kind in ("cut_off", "half_open", "reset", "truncated_watch"):
            for connection in self._all():
                connection.strike(kind)

    def end(self):
        """Ends the fault. Half-open connections either stay half open or are all reset now."""
        self.kind = None
        if self.chance(0.5):
            for connection in self._all():
                connection.settle()

    def close(self):
        self._listener.close()
        for connection in self._all():
            connection.strike("reset")

    def chance(self, share):
        with self._lock:
            return self._random.random() < share

    def between(self, low, high):
        with self._lock:
            return self._random.uniform(low, high)

    def hit(self, kind):
        with self._lock:
            self.hits[kind] += 1

    def connect(self, admin=False):
        context = self._admin if admin else self._upstream
        return http.client.HTTPSConnection("127.0.0.1", self._server, context=context, timeout=600)

    def _all(self):
        with self._lock:
            return list(self._connections)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            connection = Connection(self, client, self._downstream)
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._run, args=[connection], daemon=True).start()

    def _run(self, connection):
        connection.run()
        with self._lock:
            self._connections.discard(connection)


class Connection:
    """One connection of a client. It completes each request before the next one."""

    def __init__(self, proxy, client, context):
        self._proxy, self._client, self._context = proxy, client, context
        self._server = None
        self._dead = False  # true if half open: no data passes any more
        self._struck = None  # the fault that ends the connection
        self._streaming = False

    def strike(self, kind):
        """Hits the request in progress. The thread of the connection applies the fault."""
        if kind == "half_open":
            self._dead = True
        elif kind != "truncated_watch" or self._streaming:
            self._end("reset" if kind == "cut_off" else kind)

    def settle(self):
        """Ends the connection if it is half open."""
        if self._dead:
            self._end("reset")

    def _end(self, kind):
        self._struck = kind
        server = self._server
        if server is not None and server.sock is not None:
            with contextlib.suppress(OSError):
                server.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for an answer

    def run(self):
        try:
            if self._proxy.kind == "cut_off":
                self._end("reset")
                raise Cut
            self._dead = self._proxy.kind == "half_open"
            self._while_dead()
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._client = self._context.wrap_socket(self._client, server_side=True)
            self._server = self._proxy.connect()
            self._reader = self._client.makefile("rb")
            while self._wait():
                self._answer()
        except (OSError, Cut, http.client.HTTPException, ValueError):
            pass
        if self._struck:
            self._proxy.hit(self._struck)
        self._finish()

    def _finish(self):
        with contextlib.suppress(OSError):
            if self._struck == "reset":
                self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            socket.socket(fileno=self._client.detach()).close()
        if self._server is not None:
            self._server.close()

    def _wait(self):
        """Waits until the client sends a request or closes the connection. Raises Cut if a fault ends it."""
        while not select.select([self._client], [], [], POLL_S)[0]:
            if self._struck:
                raise Cut
        return True

    def _while_dead(self):
        """Simulates a half-open connection: reads everything and answers nothing."""
        if self._dead:
            self._proxy.hit("half_open")
        while self._dead:
            time.sleep(POLL_S)
            if self._struck:
                raise Cut

    def _answer(self):
        line = self._reader.readline(65536)
        if not line:
            raise Cut
        method, path, _ = line.decode().split()
        headers = http.client.parse_headers(self._reader)
        body = self._reader.read(int(headers.get("Content-Length", 0)))
        self._while_dead()
        kind = self._proxy.kind
        if self._refuse(kind, method, path, headers):
            return
        if kind == "second_writer" and path.split("?")[0].endswith("/scale") and method == "PATCH":
            self._write_second(path)
        if kind == "held_bindings" and path.split("?")[0].endswith("/binding"):
            self._hold(kind)
        drop = kind == "reset" and self._proxy.chance(0.5)  # executed but not answered
        if kind == "reset" and not drop and self._proxy.chance(0.5):
            self._struck = "reset"
            raise Cut
        self._server.request(method, path, body, dict(headers.items()))
        response = self._server.getresponse()
        if drop:
            self._struck = "reset"
            raise Cut
        if kind == "server_error" and method not in ("GET", "HEAD") and self._proxy.chance(0.5):
            response.read()  # executed but answered with an error
            self._proxy.hit(kind)
            return self._say(504, "Timeout", "the server took too long")
        self._relay(response)

    def _hold(self, kind):
        """Waits until the fault is over."""
        self._proxy.hit(kind)
        while self._proxy.kind == kind:
            time.sleep(POLL_S)
            if self._struck:
                raise Cut

    def _refuse(self, kind, method, path, headers):
        """Answers instead of the server if the fault is an answer. Returns whether it answered."""
        if headers.get("Authorization") in self._proxy.expired:
            self._proxy.hit("expired_token")
            self._say(401, "Unauthorized", "the token has expired")
        elif kind == "busy" and self._proxy.chance(0.7):
            self._proxy.hit(kind)
            self._say(429, "TooManyRequests", "later", {"Retry-After": "1"})
        elif kind == "conflict" and method == "PATCH" and self._proxy.chance(0.8):
            self._proxy.hit(kind)
            self._say(409, "Conflict", f"{path}: the object has been modified")
        elif kind == "server_error" and self._proxy.chance(0.5):
            self._proxy.hit(kind)
            self._say(500 if self._proxy.chance(0.5) else 503, "InternalError", "something went wrong")
        else:
            return False
        return True

    def _say(self, code, reason, message, headers=None):
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                  "reason": reason, "code": code}
        body = json.dumps(status).encode()
        lines = [f"HTTP/1.1 {code} {reason}", "Content-Type: application/json", f"Content-Length: {len(body)}",
                 *(f"{name}: {value}" for name, value in (headers or {}).items())]
        self._client.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def _write_second(self, path):
        """Writes the object as another user, between the client's read and its write."""
        writer = self._proxy.connect(admin=True)
        patch = {"metadata": {"annotations": {"example.com/second-writer": str(time.monotonic_ns())}}}
        writer.request("PATCH", path.split("?")[0].removesuffix("/scale"), json.dumps(patch),
                       {"Content-Type": "application/merge-patch+json"})
        if writer.getresponse().status == 200:
            self._proxy.hit("second_writer")
        writer.close()

    def _relay(self, response):
        if response.status == 410:
            self._proxy.hit("gone")
        length = response.getheader("Content-Length")
        skipped = ("content-length", "transfer-encoding", "connection")
        lines = [f"HTTP/1.1 {response.status} {response.reason}",
                 *(f"{name}: {value}" for name, value in response.getheaders() if name.lower() not in skipped),
                 "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"]
        self._send("\r\n".join(lines).encode() + b"\r\n\r\n")
        if length is not None:
            self._send(response.read())
            return
        self._streaming, last = True, b""
        try:
            while piece := response.read1(1 << 16):
                if piece.startswith(b'{"type":"ERROR"') and b'"code":410' in piece:
                    self._proxy.hit("gone")
                self._chunk(piece)
                last = piece
        except (OSError, http.client.HTTPException):
            self._struck = self._struck or "reset"
        if self._struck == "truncated_watch":
            self._chunk(last[:len(last) // 2] or b'{"type":"MODI')
            if self._proxy.chance(0.5):
                raise Cut  # in the middle of the body
        elif self._struck:
            raise Cut
        self._client.sendall(b"0\r\n\r\n")
        self._streaming = False
        if self._struck:
            raise Cut

    def _chunk(self, piece):
        self._send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def _send(self, data):
        self._while_dead()
        if self._proxy.kind != "slow":
            return self._client.sendall(data)
        self._proxy.hit("slow")
        step = max(1, len(data) // 10)
        for begin in range(0, len(data), step):
            time.sleep(self._proxy.between(0.02, 0.2))
            self._client.sendall(data[begin:begin + step])


def _contexts(config):
    """Returns two TLS contexts for the server: one without a certificate, for a client with a token, and one with the
    certificate of the administrator."""
    ca = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    contexts = [ssl.create_default_context(cadata=ca) for _ in range(2)]
    user = config["users"][0]["user"]
    with tempfile.TemporaryDirectory() as folder:
        for name, key in (("crt", "client-certificate-data"), ("key", "client-key-data")):
            (pathlib.Path(folder) / name).write_bytes(base64.b64decode(user[key]))
        contexts[1].load_cert_chain(f"{folder}/crt", f"{folder}/key")
    return contexts
