"""A TCP proxy that cuts or silences connections when told to, and looks into Bolt far enough to know when."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

# Bolt messages are structures: 0xB<fields> and a signature.
COMMIT = b"\xb0\x12"
RUN = b"\x10"


class Proxy:
    """Passes bytes on between a client and a server.

    Args:
        host: the server.
        port: its port.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._silenced: set[socket.socket] = set()
        self._closed = False
        self.before_passing: Callable[[bytes], bool] = lambda data: True
        """Called with what the client sends; where it gives False, the connection is cut instead."""
        self.after_passing: Callable[[bytes], bool] = lambda data: True
        """The same, once it has been passed on."""
        self.down = False
        self.silent = threading.Event()
        """Once set, nothing is passed on any more, and nothing is closed: a firewall that drops packets."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cut all connections."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def silence_those_there(self) -> None:
        """Pass nothing on any more on the connections that there are; new ones work."""
        self._silenced.update(end for pair in self._pairs for end in pair)

    def close(self) -> None:
        """Stop listening, and cut all connections."""
        self._closed = True
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.down:
                client.close()
                continue
            server = socket.create_connection(self._server)
            pair = (client, server)
            self._pairs.append(pair)
            threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, from_client: bool) -> None:
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(65_536):
                if from_client and not self.before_passing(data):
                    self.cut()
                    return
                if not self.silent.is_set() and source not in self._silenced:
                    target.sendall(data)
                if from_client and not self.after_passing(data):
                    self.cut()
                    return
