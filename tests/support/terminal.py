"""The command line on a terminal, as a person has it: a pseudo-terminal of a size, and keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from tests.support.command import ROOT, listen_to_ctrl_c

CTRL_C = "\x03"
COMMAND = [sys.executable, "-m", "stateweave_graph"]


def environment(**more: str) -> dict[str, str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "COLUMNS") and not name.startswith(("STATEWEAVE", "NEO4J"))
    }
    return {**clean, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **more}


class Terminal:
    """A command whose streams are a terminal's, but for those that are given."""

    def __init__(self, *arguments: str, cwd, size=(24, 80), variables=None, **streams):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        named = {"stdin": slave, "stdout": slave, "stderr": slave, **streams}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=cwd,
            env=environment(**(variables or {})),
            preexec_fn=listen_to_ctrl_c,
            **named,
        )
        os.close(slave)
        self.text = ""

    def read_until(self, pattern: str, seconds: float = 30) -> None:
        """Read what is shown until it has the pattern."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, self.text
            if select.select([self.master], [], [], 0.1)[0]:
                self.text += os.read(self.master, 4096).decode()

    def type(self, text: str) -> None:
        if text == CTRL_C:
            time.sleep(0.3)  # no person is quick enough to type between the question and the reading
            self.process.send_signal(signal.SIGINT)
        else:
            os.write(self.master, text.encode())

    def end(self) -> int:
        """Read the rest; the exit code."""
        while True:
            try:
                more = os.read(self.master, 4096)
            except OSError:  # Linux says so where the other side is closed
                break
            if not more:
                break
            self.text += more.decode()
        os.close(self.master)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        return self.process.wait(timeout=30)
