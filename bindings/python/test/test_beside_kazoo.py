"""The table of doc/python.md, "Beside kazoo": each case is run with Paddock and with kazoo on the same server.

A cell is what was seen. Paddock's is asserted, and the document has both, kazoo's in the column of its version.
"""
from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import re
import signal
import subprocess
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import paddock
from common import GENEROUS, HOSTS, Case, fresh, within

try:
    kazoo: Any = importlib.import_module("kazoo")
    for _name in ("client", "exceptions", "version"):
        importlib.import_module(f"kazoo.{_name}")
    logging.getLogger("kazoo").addHandler(logging.NullHandler())
except ImportError:
    kazoo = None

CREATE, DELETE, CREATE2 = 1, 2, 15
SESSION = 4.0
#: So long a wait that has not ended is said to last.
PATIENCE = 5.0


class Relay:
    """The proxy of the C tests before the server: relay.c has its commands."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [os.environ["PADDOCK_RELAY"], HOSTS.rpartition(":")[2]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.hosts = f"127.0.0.1:{self._read()}"

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __call__(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        answer = self._read()
        if answer != "ok":
            raise AssertionError(f"relay: {command}: {answer}")

    def end(self) -> None:
        """After the clients."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def document() -> dict[str, dict[str, str]]:
    """The table of the document: cells by their case and the head of their column; "the same" is as the one before."""
    with open(os.path.join(os.environ["PADDOCK_SRCDIR"], "doc", "python.md"), encoding="utf-8") as file:
        text = file.read().partition("## Beside kazoo")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", text, re.M)]
    for row in rows:
        for i, cell in enumerate(row):
            row[i] = row[i - 1] if cell == "the same" else cell
    return {row[0]: dict(zip(rows[0][1:], row[1:])) for row in rows[2:]} if rows else {}


class Waiter:
    """A call on a thread of its own, and how it ended."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.outcome: object = None
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.outcome = self._call()
        except BaseException as exception:
            self.outcome = exception

    def ended(self, timeout: float = GENEROUS) -> bool:
        """Has it, TIMEOUT seconds from now?"""
        self._thread.join(timeout)
        return not self._thread.is_alive()


@unittest.skipIf(kazoo is None, "kazoo is missing")
@unittest.skipUnless(os.access(os.environ.get("PADDOCK_RELAY", ""), os.X_OK), "the relay was not built")
class BesideKazoo(Case):
    rows: dict[str, tuple[str, str]] = {}

    @classmethod
    def tearDownClass(cls) -> None:
        """Print the table."""
        print(f"\n| | Paddock | kazoo {kazoo.version.__version__} |\n|---|---|---|")
        for case, cells in cls.rows.items():
            print(f"| {case} | {cells[0]} | {cells[1]} |")

    def setUp(self) -> None:
        self.relay = Relay()
        self.addCleanup(self.relay.end)
        self.observer = self.kazoo(HOSTS)

    def kazoo(self, hosts: str, timeout: float = SESSION) -> Any:
        """A connected client of kazoo's."""
        client = kazoo.client.KazooClient(hosts=hosts, timeout=timeout)
        client.start(GENEROUS)
        self.addCleanup(client.close)
        self.addCleanup(client.stop)
        return client

    def paddock(self, hosts: str) -> paddock.Client:
        """A connected client of Paddock's."""
        client = paddock.Client(hosts, SESSION)
        self.addCleanup(client.close)
        client.wait(GENEROUS)
        return client

    def nodes(self, path: str) -> int:
        """The number of nodes at PATH."""
        try:
            return len(self.observer.get_children(path))
        except kazoo.exceptions.NoNodeError:
            return 0

    def seen(self, case: str, ours: str, expected: str, theirs: str) -> None:
        """A row of the table."""
        self.rows[case] = (ours, theirs)
        self.assertEqual(ours, expected)
        cells = document().get(case, {})
        self.assertEqual(cells.get("Paddock"), ours, "doc/python.md has another cell")
        column = f"kazoo {kazoo.version.__version__}"
        if column in cells:
            self.assertEqual(cells[column], theirs, f"doc/python.md has another cell for {column}")

    # --- a session that is lost ---

    def test_a_loss(self) -> None:
        def cell(knows: bool) -> str:
            return "`held.valid` is 0.0 before the next holder begins" if knows else "`is_acquired` stays true"

        path = fresh("loss")
        held = self.paddock(self.relay.hosts).mutex(path).acquire(timeout=GENEROUS)
        self.relay("hold")
        self.paddock(HOSTS).mutex(path).acquire(timeout=GENEROUS)
        ours = cell(held.valid == 0.0)
        self.assertTrue(held.lost.wait(GENEROUS))
        self.relay("clear")

        path = fresh("loss")
        lock = self.kazoo(self.relay.hosts).Lock(path)
        lock.acquire(timeout=GENEROUS)
        self.relay("hold")
        self.kazoo(HOSTS).Lock(path).acquire(timeout=GENEROUS)
        during = lock.is_acquired
        self.relay("clear")
        within(lambda: lock.client.connected)
        self.seen("The session expires during an outage", ours, cell(True), cell(not (during and lock.is_acquired)))

    # --- requests whose outcome is not known ---

    def test_a_lost_reply(self) -> None:
        def cell(nodes: int) -> str:
            return f"acquired, with {nodes} node" + ("s" if nodes != 1 else "")

        path = fresh("reply")
        self.observer.ensure_path(path)
        mutex = self.paddock(self.relay.hosts).mutex(path)
        self.relay(f"cut-reply {CREATE2} {path}/")
        mutex.acquire(timeout=GENEROUS)
        ours = cell(self.nodes(path))

        path = fresh("reply")
        self.observer.ensure_path(path)
        lock = self.kazoo(self.relay.hosts).Lock(path)
        self.relay(f"cut-reply {CREATE} {path}/")
        self.assertTrue(lock.acquire(timeout=GENEROUS))
        self.seen("The reply of create is lost", ours, cell(1), cell(self.nodes(path)))

    def test_an_orphan(self) -> None:
        """The call has timed out, and the connection breaks before its delete. The session lives on."""

        def cell(nodes: int) -> str:
            return "no node is left" if nodes == 1 else "its node stays in the queue"

        path = fresh("orphan")
        client = self.paddock(self.relay.hosts)
        self.paddock(HOSTS).mutex(path).acquire(timeout=GENEROUS)
        self.relay(f"cut-request {DELETE} {path}/")
        with self.assertRaises(paddock.TimedOut):
            client.mutex(path).acquire(timeout=0.5)
        client.flush(GENEROUS)
        ours = cell(self.nodes(path))

        path = fresh("orphan")
        theirs = self.kazoo(self.relay.hosts)
        session = theirs.client_id[0]
        self.kazoo(HOSTS).Lock(path).acquire(timeout=GENEROUS)
        self.relay(f"cut-request {DELETE} {path}/")
        with self.assertRaises(kazoo.exceptions.LockTimeout):
            theirs.Lock(path).acquire(timeout=0.5)
        time.sleep(1.5 * SESSION)
        theirs.retry(theirs.sync, path)
        self.assertEqual(theirs.client_id[0], session)
        self.seen("The connection breaks at the delete of a call that timed out", ours, cell(1), cell(self.nodes(path)))

    def test_an_outage(self) -> None:
        def cell(is_over: bool) -> str:
            return "it ends then" if is_over else "it waits for the end of the outage"

        client = self.paddock(self.relay.hosts)
        lock = self.kazoo(self.relay.hosts).Lock(fresh("outage"))
        self.relay("hold")
        waits = Waiter(lambda: client.mutex(fresh("outage")).acquire(timeout=0.5))
        theirs = Waiter(lambda: lock.acquire(timeout=0.5))
        self.assertTrue(waits.ended())
        self.assertIsInstance(waits.outcome, paddock.TimedOut)
        is_over = theirs.ended(PATIENCE)
        self.relay("clear")
        self.assertTrue(theirs.ended())
        self.seen("`acquire(timeout=…)` in an outage", cell(True), cell(True), cell(is_over))

    # --- a call that is interrupted ---

    def interrupted(self, path: str, acquire: Callable[[], object]) -> None:
        """ACQUIRE is interrupted while it waits at PATH."""

        def interrupt() -> None:
            within(lambda: self.nodes(path) == 2)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        with self.assertRaises(KeyboardInterrupt):
            acquire()

    def test_ctrl_c(self) -> None:
        def cell(nodes: int) -> str:
            return "no node is left" if nodes == 1 else "its node stays in the queue"

        path, client = fresh("interrupted"), self.paddock(HOSTS)
        held = self.paddock(HOSTS).mutex(path).acquire()
        self.interrupted(path, client.mutex(path).acquire)
        client.flush(GENEROUS)
        ours = cell(self.nodes(path))
        held.release()

        path, theirs = fresh("interrupted"), self.kazoo(HOSTS)
        self.kazoo(HOSTS).Lock(path).acquire()
        self.interrupted(path, theirs.Lock(path).acquire)
        theirs.sync(path)
        time.sleep(1.0)
        self.seen("Ctrl-C interrupts a wait", ours, cell(1), cell(self.nodes(path)))

    # --- a read/write lock ---

    def test_a_reader_between_writers(self) -> None:
        """A writer holds; a reader waits, and then a second writer; the first one releases."""

        def cell(is_granted: bool) -> str:
            return "the reader is next" if is_granted else "deadlock: each waits for the other"

        def run(path: str, first: Any, reader: Any, second: Any) -> bool:
            held = first.acquire()
            reads = Waiter(reader.acquire)
            within(lambda: self.nodes(path) == 2)
            writes = Waiter(second.acquire)
            within(lambda: self.nodes(path) == 3)
            (held if hasattr(held, "release") else first).release()
            is_granted = reads.ended(PATIENCE)
            if not is_granted:
                self.assertFalse(writes.ended(0.0))
            return is_granted

        path = fresh("rwlock")
        locks = [self.paddock(HOSTS).rwlock(path) for _ in range(3)]
        ours = run(path, locks[0].writing(), locks[1].reading(), locks[2].writing())
        path = fresh("rwlock")
        clients = [self.kazoo(HOSTS) for _ in range(3)]
        theirs = run(path, clients[0].WriteLock(path), clients[1].ReadLock(path), clients[2].WriteLock(path))
        self.seen("A reader waits between two writers", cell(ours), cell(True), cell(theirs))

    # --- a limit of time ---

    def test_predecessors_that_give_up(self) -> None:
        """Five nodes are before the call, and the last of them is deleted after each second. Its limit is two."""

        def cell(is_over: bool) -> str:
            return "it ends then" if is_over else "it begins again with each predecessor"

        def run(path: str, tag: str, lock: Any) -> bool:
            self.observer.ensure_path(path)
            before = [self.observer.create(f"{path}/{tag}", sequence=True, ephemeral=True) for _ in range(5)]
            waits = Waiter(lambda: lock.acquire(timeout=2.0))
            within(lambda: self.nodes(path) == 6 or waits.ended(0.0))
            while before:
                time.sleep(1.0)
                self.observer.delete(before.pop())
            self.assertTrue(waits.ended())
            return isinstance(waits.outcome, Exception)

        ours, theirs = fresh("limit"), fresh("limit")
        self.seen(
            "`acquire(timeout=…)`, and those before it give up",
            cell(run(ours, "another-lock-", self.paddock(HOSTS).mutex(ours))),
            cell(True),
            cell(run(theirs, "another__lock__", self.kazoo(HOSTS).Lock(theirs))),
        )

    # --- asyncio ---

    def test_a_coroutine(self) -> None:
        def cell(turns: int) -> str:
            return "the event loop runs meanwhile" if turns > 0 else "the event loop stands still"

        async def turns_of(acquire: Callable[[], Any]) -> int:
            turns = 0

            async def turn() -> None:
                nonlocal turns
                while True:
                    await asyncio.sleep(0.01)
                    turns += 1

            ticker = asyncio.create_task(turn())
            await asyncio.sleep(0)
            with contextlib.suppress(paddock.TimedOut, kazoo.exceptions.LockTimeout):
                waits = acquire()
                if asyncio.iscoroutine(waits):
                    await waits
            ticker.cancel()
            return turns

        path = fresh("coroutine")
        self.paddock(HOSTS).mutex(path).acquire()

        async def main() -> int:
            async with paddock.Client(HOSTS) as client:
                return await turns_of(lambda: client.mutex(path).acquire_async(timeout=1.0))

        ours = cell(asyncio.run(main()))
        other = fresh("coroutine")
        self.kazoo(HOSTS).Lock(other).acquire()
        lock = self.kazoo(HOSTS).Lock(other)
        theirs = cell(asyncio.run(turns_of(lambda: lock.acquire(timeout=1.0))))
        self.seen("A coroutine acquires", ours, cell(1), theirs)

    # --- fork ---

    def test_a_child(self) -> None:
        path, lock = fresh("fork"), self.kazoo(HOSTS).Lock(fresh("fork"))
        with self.paddock(HOSTS).mutex(path) as held:
            ours = [self.in_child(held.release), self.in_child(lambda: held.state)]
        lock.acquire()

        def says_held() -> None:
            if lock.is_acquired:
                raise AssertionError("held")

        def release() -> None:
            if not Waiter(lock.release).ended(PATIENCE):
                raise TimeoutError

        theirs = (self.in_child(says_held), self.in_child(release))
        words = {
            ("AssertionError", "TimeoutError"): "`is_acquired` is true, and `release()` does not return",
            ("AssertionError", "none"): "`is_acquired` is true, and `release()` returns",
        }
        self.seen(
            "The child of `os.fork()` asks and releases",
            "each call raises `Forked`" if ours == ["Forked"] * 2 else str(ours),
            "each call raises `Forked`",
            words.get(theirs, str(theirs)),
        )

    # --- a number for what the lock protects ---

    def test_a_token(self) -> None:
        """Between two grants the path is deleted, as a tool does that tidies up."""

        def cell(first: int, second: int) -> str:
            return "`held.token` is larger" if second > first else "no token; the number of the node begins again"

        path, client = fresh("token"), self.paddock(HOSTS)

        @contextlib.contextmanager
        def ours() -> Iterator[int]:
            with client.mutex(path) as held:
                yield held.token

        @contextlib.contextmanager
        def theirs() -> Iterator[int]:
            with lock:
                yield int(lock.node[-10:])

        def run(grant: Callable[[], Any], at: str) -> str:
            for _ in range(2):
                with grant() as first:
                    pass
            self.observer.delete(at)
            with grant() as second:
                pass
            return cell(first, second)

        mine = run(ours, path)
        other = fresh("token")
        lock = self.kazoo(HOSTS).Lock(other)

        def again() -> Any:
            nonlocal lock
            lock = self.kazoo(HOSTS).Lock(other)
            return theirs()

        self.seen("The next grant after the path was deleted", mine, cell(0, 1), run(again, other))


if __name__ == "__main__":
    unittest.main()
