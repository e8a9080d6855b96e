"""Forks, signals, and the end of the interpreter."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable

import paddock
from common import GENEROUS, HOSTS, Case, contenders, fresh, within


class Forks(Case):
    def test_in_a_child_every_call_raises(self) -> None:
        client = self.client()
        mutex = client.mutex(fresh("fork"))
        barrier, leader = client.barrier(fresh("barrier")), client.leader(fresh("leader"))
        with mutex as held:
            calls: list[Callable[[], object]] = [
                mutex.acquire,
                mutex.release,
                held.release,
                lambda: held.valid,
                lambda: held.state,
                client.close,
                client.wait,
                lambda: client.state,
                lambda: client.session_id,
                lambda: client.mutex("/a"),
                barrier.wait,
                leader.lead,
                leader.resign,
            ]
            self.assertEqual([self.in_child(call) for call in calls], ["Forked"] * len(calls))
            self.assertEqual(held.state, paddock.State.HELD)

    def test_a_child_may_leave_the_block(self) -> None:
        path, client = fresh("leaves"), self.client()

        def leave() -> None:
            with client.mutex(path):
                pass

        self.assertEqual(self.in_child(leave), "Forked")
        child = 0

        def inside() -> None:
            nonlocal child
            child = os.fork()

        try:
            with client.mutex(path) as held:
                inside()
                if child != 0:
                    self.assertEqual(held.state, paddock.State.HELD)
                    self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 42)
        except paddock.Forked:
            os._exit(42)

    def test_a_child_makes_a_client_of_its_own(self) -> None:
        self.client()

        def work() -> None:
            with paddock.Client(HOSTS) as own:
                own.mutex(fresh("own")).acquire(timeout=GENEROUS).release()

        self.assertEqual(self.in_child(work), "none")


class Signals(Case):
    def interrupted(self, path: str) -> None:
        """Interrupt ourselves once a second contender waits at PATH."""

        def interrupt() -> None:
            within(lambda: contenders(path) == 2)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()

    def test_ctrl_c_ends_a_wait_and_leaves_no_node(self) -> None:
        path, client = fresh("interrupted"), self.client()
        with self.client().mutex(path):
            self.interrupted(path)
            with self.assertRaises(KeyboardInterrupt):
                client.mutex(path).acquire()
            client.flush(GENEROUS)
            self.assertEqual(contenders(path), 1)
        client.mutex(path).acquire(timeout=GENEROUS).release()

    def test_ctrl_c_ends_the_wait_for_a_barrier(self) -> None:
        client = self.client()
        barrier = client.barrier(fresh("set"))
        barrier.set(GENEROUS)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            barrier.wait()
        barrier.remove(GENEROUS)

    def test_a_handler_may_call_what_it_interrupts(self) -> None:
        """A handler runs between two steps of the main thread, also where that has taken a guard."""
        client = self.client()
        mutex, leader = client.mutex(fresh("handler")), client.leader(fresh("handler"))
        held = mutex.acquire(GENEROUS)
        term = leader.lead(GENEROUS)

        def end(*_: object) -> None:
            leader.resign()
            mutex.release()

        before = signal.signal(signal.SIGUSR1, end)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        with client._guard, held._guard, mutex._acquired._guard:
            signal.raise_signal(signal.SIGUSR1)
        self.assertEqual((held.state, term.state), (paddock.State.FREE, paddock.State.FREE))
        self.assertFalse(held.lost.is_set() or term.lost.is_set())


class Ends(Case):
    def test_the_interpreter_closes_what_is_left(self) -> None:
        path = fresh("left")
        program = (
            f"import paddock\nclient = paddock.Client({HOSTS!r})\nheld = client.mutex({path!r}).acquire()\n"
            "print(held.token)\n"
        )
        run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        self.assertGreater(int(run.stdout), 0)
        self.assertEqual(run.stderr, "")
        self.assertEqual(contenders(path), 0)


if __name__ == "__main__":
    unittest.main()
