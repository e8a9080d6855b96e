"""asyncio: the event loop runs the callbacks, and a cancelled task leaves no node."""
from __future__ import annotations

import asyncio
import threading
import unittest

import paddock
from common import GENEROUS, HOSTS, contenders, delete_holder, fresh


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_tasks_exclude_each_other(self) -> None:
        inside: list[int] = []
        tokens: list[int] = []
        threads = {thread.name for thread in threading.enumerate()}

        async def work(mutex: paddock.Mutex) -> None:
            async with mutex as held:
                inside.append(1)
                self.assertEqual(len(inside), 1)
                tokens.append(held.token)
                await asyncio.sleep(0.01)
                inside.pop()

        async with paddock.Client(HOSTS) as client:
            mutex = client.mutex(fresh("tasks"))
            await asyncio.gather(*(work(mutex) for _ in range(5)))
            self.assertEqual({thread.name for thread in threading.enumerate()}, threads)
            with self.assertRaises(paddock.Deadlock):
                mutex.acquire()
        self.assertEqual(len(set(tokens)), 5)

    async def test_a_cancelled_task_leaves_no_node(self) -> None:
        path = fresh("cancelled")
        async with paddock.Client(HOSTS) as client:
            mutex = client.mutex(path)
            held = await mutex.acquire_async(GENEROUS)
            task = asyncio.create_task(mutex.acquire_async())
            while await asyncio.to_thread(contenders, path) != 2:
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await client.flush_async(GENEROUS)
            self.assertEqual(await asyncio.to_thread(contenders, path), 1)
            await held.release_async()

    async def test_what_was_acquired_has_a_block(self) -> None:
        async with paddock.Client(HOSTS) as client:
            mutex = client.mutex(fresh("block"))
            async with await mutex.acquire_async(GENEROUS) as held:
                self.assertEqual(held.state, paddock.State.HELD)
            self.assertTrue(held.released)
            with self.assertRaises(ZeroDivisionError):
                async with await mutex.acquire_async(GENEROUS):
                    self.assertEqual(1 // 0, 0)
            await (await mutex.acquire_async(GENEROUS)).release_async()

    async def test_a_block_may_end_in_another_task(self) -> None:
        """As that of a fixture does, whose beginning and end are tasks of their own."""
        async with paddock.Client(HOSTS) as client:
            mutex = client.mutex(fresh("moved"))
            held = await asyncio.create_task(mutex.__aenter__())
            await asyncio.create_task(mutex.__aexit__(None, None, None))
            self.assertTrue(held.released)

    async def test_a_task_releases_what_was_acquired_for_it(self) -> None:
        """Before Python 3.12 wait_for() runs what it waits for in a task of its own."""
        async with paddock.Client(HOSTS) as client:
            mutex = client.mutex(fresh("wait_for"))
            held = await asyncio.create_task(mutex.acquire_async(GENEROUS))
            await mutex.release_async()
            self.assertTrue(held.released)
            with self.assertRaises(paddock.NotHeld):
                await mutex.release_async()

    async def test_a_loss_is_raised_by_the_block(self) -> None:
        path = fresh("lost")
        with self.assertRaises(paddock.Lost):
            async with paddock.Client(HOSTS) as client:
                async with client.mutex(path) as held:
                    await asyncio.to_thread(delete_holder, path)
                    while not held.lost.is_set():
                        await asyncio.sleep(0.01)

    async def test_a_client_with_a_thread_serves_tasks_too(self) -> None:
        with paddock.Client(HOSTS) as client:
            async with client.mutex(fresh("thread")) as held:
                self.assertGreater(held.valid, 0.0)

    async def test_a_candidate_that_gives_up_often_leaves_one_thread(self) -> None:
        path = fresh("candidate")
        async with paddock.Client(HOSTS) as client, client.leader(path):
            candidate = client.leader(path)
            before = threading.active_count()
            for _ in range(10):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(candidate.lead_async(), 0.01)
            self.assertLessEqual(threading.active_count(), before + 1)
            for _ in range(5):
                await candidate.resign_async()
                with self.assertRaises(asyncio.TimeoutError):  # and not Cancelled
                    await asyncio.wait_for(candidate.lead_async(), 0.01)
            await candidate.resign_async()

    async def test_the_other_recipes_have_tasks(self) -> None:
        async with paddock.Client(HOSTS) as client:
            async with client.leader(fresh("leader")) as term:
                self.assertGreater(term.valid, 0.0)
            path = fresh("pair")
            members = [client.double_barrier(path, 2) for _ in range(2)]
            await asyncio.gather(*(member.enter_async(GENEROUS) for member in members))
            await asyncio.gather(*(member.leave_async(GENEROUS) for member in members))
            async with client.once(fresh("once"), key="a") as run:
                self.assertGreater(run.held.token, 0)


if __name__ == "__main__":
    unittest.main()
