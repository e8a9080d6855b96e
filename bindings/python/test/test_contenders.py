"""Contenders: their list, the request for a release, and writes that only a holder can do."""
from __future__ import annotations

import array
import asyncio
import os
import threading
import unittest

import paddock
from common import GENEROUS, HOSTS, Case, contenders, delete_holder, fresh, within


class Contenders(Case):
    def test_a_list_has_the_holder_and_the_waiter(self) -> None:
        path, client = fresh("list"), self.client(label="first")
        self.assertEqual(client.contenders(path, GENEROUS), [])
        held = client.mutex(path).acquire()
        other = self.client()
        waiter = threading.Thread(target=lambda: other.mutex(path).acquire(GENEROUS).release())
        waiter.start()
        within(lambda: contenders(path) == 2)
        first, second = client.contenders(path, GENEROUS)
        self.assertEqual((first.holds, second.holds), (True, False))
        self.assertEqual((first.mode, second.mode), (paddock.Mode.EXCLUSIVE, paddock.Mode.EXCLUSIVE))
        self.assertEqual((first.node, first.token), (held.node, held.token))
        self.assertEqual((first.label, first.pid, first.session), ("first", os.getpid(), client.session_id))
        self.assertLess(first.token, second.token)
        self.assertLessEqual(first.since, second.since)
        self.assertIn(b"first", first.data)
        self.assertFalse(first.revoked)
        held.release()
        waiter.join()
        with self.assertRaises(paddock.NotFound):
            first.revoke(GENEROUS)
        with self.assertRaises(paddock.InvalidPath):
            client.contenders("relative", GENEROUS)

    def test_each_has_its_mode(self) -> None:
        path, client = fresh("modes"), self.client()
        rwlock, semaphore = client.rwlock(f"{path}-rw"), client.semaphore(f"{path}-s", 2)
        with rwlock.reading(), semaphore.permits():
            self.assertEqual([each.mode for each in client.contenders(f"{path}-rw")], [paddock.Mode.READ])
            (permit,) = client.contenders(f"{path}-s/leases")
            self.assertEqual((permit.mode, permit.holds), (paddock.Mode.PERMIT, True))
            for each in client.contenders(f"{path}-s"):  # the semaphore's own nodes
                self.assertEqual((each.mode, each.holds), (paddock.Mode.NONE, False))
        with rwlock.writing():
            self.assertEqual([each.mode for each in client.contenders(f"{path}-rw")], [paddock.Mode.WRITE])

    def test_a_holder_is_asked_to_release(self) -> None:
        path, client = fresh("asked"), self.client(timeout=2.0)
        told: list[paddock.Held] = []
        held = client.mutex(path).acquire(on_revoked=told.append)
        self.assertFalse(held.revoked.is_set())
        self.client().contenders(path, GENEROUS)[0].revoke(GENEROUS)
        self.assertTrue(held.revoked.wait(GENEROUS))
        within(lambda: told == [held])
        self.assertTrue(client.contenders(path, GENEROUS)[0].revoked)
        self.assertEqual(held.state, paddock.State.HELD)
        self.assertFalse(held.lost.is_set())

    def test_a_holder_that_is_removed_has_lost(self) -> None:
        path, client = fresh("removed"), self.client()
        held = client.mutex(path).acquire()
        (found,) = self.client().contenders(path, GENEROUS)
        found.remove(GENEROUS)
        self.assertTrue(held.lost.wait(GENEROUS))
        self.assertEqual(contenders(path), 0)
        next_one = client.mutex(path).acquire(GENEROUS)
        with self.assertRaises(paddock.NotFound):
            found.remove(GENEROUS)
        self.assertGreater(next_one.valid, 0.0)

    def test_a_task_removes(self) -> None:
        async def main() -> None:
            path = fresh("task")
            async with paddock.Client(HOSTS) as client, paddock.Client(HOSTS) as other:
                held = await client.mutex(path).acquire_async()
                (found,) = await other.contenders_async(path)
                with self.assertRaises(paddock.TimedOut):
                    await found.remove_async(0)
                self.assertFalse(held.lost.is_set())
                await found.remove_async()
                while not held.lost.is_set():
                    await asyncio.sleep(0.01)

        asyncio.run(main())

    def test_tasks_list_and_ask(self) -> None:
        async def main() -> None:
            path = fresh("tasks")
            async with paddock.Client(HOSTS, 2.0) as client:
                held = await client.mutex(path).acquire_async()
                (found,) = await client.contenders_async(path)
                await found.revoke_async()
                while not held.revoked.is_set():
                    await asyncio.sleep(0.01)
                await held.release_async()

        asyncio.run(main())


class Writes(Case):
    def test_a_holder_writes(self) -> None:
        path, client = fresh("writes"), self.client()
        data = f"{path}.data"
        held = client.mutex(path).acquire()
        held.create(data, b"first")
        with self.assertRaises(paddock.Conflict):
            held.create(data)
        held.set(data, b"second", version=0)
        with self.assertRaises(paddock.Conflict):
            held.set(data, b"third", version=0)
        held.delete(data, version=1)
        with self.assertRaises(paddock.NotFound):
            held.set(data, b"fourth")
        held.release()
        with self.assertRaises(paddock.NotHeld):
            held.create(data)

    def test_data_are_written_whole(self) -> None:
        path, client = fresh("whole"), self.client()
        with client.mutex(path) as held:
            forged = f"{path}/_c_00000000-0000-0000-0000-000000000000-lock-0000000009"
            numbers = array.array("i", [1, 2, 3])
            held.create(forged, numbers)  # type: ignore[arg-type]
            self.assertEqual(client.contenders(path, GENEROUS)[1].data, numbers.tobytes())
            held.delete(forged)

    def test_a_loser_does_not(self) -> None:
        path, other = fresh("loser"), self.client()
        data = f"{path}.data"
        held = self.client().mutex(path).acquire()
        delete_holder(path)
        with self.assertRaises(paddock.Lost):
            held.create(data)
        with self.assertRaises(paddock.Lost):
            held.release()
        other.mutex(path).acquire(GENEROUS).create(data)

    def test_a_task_writes(self) -> None:
        async def main() -> None:
            path = fresh("task")
            async with paddock.Client(HOSTS) as client, client.mutex(path) as held:
                await held.create_async(f"{path}.data")
                await held.set_async(f"{path}.data", b"data")
                await held.delete_async(f"{path}.data")

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
