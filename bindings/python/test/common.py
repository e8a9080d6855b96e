"""Shared by the tests: the server, paths, and clients."""
from __future__ import annotations

import itertools
import os
import subprocess
import time
import unittest
from collections.abc import Callable
from typing import Any

import paddock

HOSTS = os.environ["PADDOCK_HOSTS"]
COMMAND = os.environ["PADDOCK_COMMAND"]
GENEROUS = 60.0

_numbers = itertools.count(1)


def within(condition: Callable[[], object]) -> None:
    """Wait until CONDITION is true; its limit is generous."""
    deadline = time.monotonic() + GENEROUS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen in time")
        time.sleep(0.01)


def fresh(name: str) -> str:
    """A path of its own."""
    return f"/python/{name}-{os.getpid()}-{next(_numbers)}"


def delete_holder(path: str) -> None:
    """Delete the node of the holder, as an administrator does."""
    subprocess.run([COMMAND, "break", "--hosts", HOSTS, "--force", "--yes", path], check=True, capture_output=True)


def contenders(path: str) -> int:
    """The number of nodes at PATH."""
    run = subprocess.run([COMMAND, "ls", "--hosts", HOSTS, "--json", path], check=False, capture_output=True, text=True)
    return run.stdout.count('"node"')


class Case(unittest.TestCase):
    """A test with clients of its own."""

    def client(self, **options: Any) -> paddock.Client:
        """A client that is closed at the end of the test."""
        client = paddock.Client(HOSTS, **options)
        self.addCleanup(client.close)
        client.wait(GENEROUS)
        return client

    def in_child(self, function: Callable[[], object]) -> str:
        """The name of the exception that FUNCTION raises in a child process; "none"."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            name = "none"
            try:
                function()
            except BaseException as exception:
                name = type(exception).__name__
            os.write(write, name.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as said:
            name = said.read()
        os.waitpid(child, 0)
        return name
