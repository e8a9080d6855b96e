"""Locks: exclusion, tokens, limits of time, the loss, the context manager."""
from __future__ import annotations

import subprocess
import threading
import unittest
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import paddock
from common import COMMAND, GENEROUS, HOSTS, Case, contenders, delete_holder, fresh, within


class Exclusion(Case):
    def test_two_clients_exclude_each_other(self) -> None:
        path, one, other = fresh("clients"), self.client(), self.client()
        held = one.mutex(path).acquire()
        with self.assertRaises(paddock.Busy):
            other.mutex(path).acquire(timeout=0)
        held.release()
        other.mutex(path).acquire(timeout=GENEROUS).release()

    def test_threads_exclude_each_other(self) -> None:
        client = self.client()
        mutex = client.mutex(fresh("threads"))
        inside: list[int] = []
        tokens: list[int] = []

        def work() -> None:
            for _ in range(5):
                with mutex as held:
                    inside.append(1)
                    self.assertEqual(len(inside), 1)
                    tokens.append(held.token)
                    inside.pop()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(tokens), 20)
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_several_paths_are_held_together(self) -> None:
        client, first, second = self.client(), fresh("first"), fresh("second")
        with client.mutex(first, also=[second]) as held:
            self.assertEqual(len(held.nodes), 2)
            self.assertEqual(held.node, held.nodes[0])
            for path in (first, second):
                with self.assertRaises(paddock.Busy):
                    client.mutex(path).acquire(timeout=0)
        for path in (first, second):
            client.mutex(path).acquire(timeout=GENEROUS).release()

    def test_readers_share_and_a_writer_does_not(self) -> None:
        lock = self.client().rwlock(fresh("rwlock"))
        with lock.reading(), lock.reading():
            with self.assertRaises(paddock.Busy):
                lock.writing().acquire(timeout=0)
        with lock.writing():
            with self.assertRaises(paddock.Busy):
                lock.reading().acquire(timeout=0)

    def test_a_semaphore_has_its_limit(self) -> None:
        semaphore = self.client().semaphore(fresh("semaphore"), 3)
        self.assertEqual(semaphore.limit, 3)
        with semaphore.permits(2) as held:
            self.assertEqual(len(held.nodes), 2)
            semaphore.permits().acquire(timeout=GENEROUS).release()
            with self.assertRaises(paddock.Busy):
                semaphore.permits(2).acquire(timeout=0)
            with self.assertRaises(paddock.InvalidArgument):
                semaphore.permits(4).acquire()
        semaphore.limit = 4
        semaphore.permits(4).acquire(timeout=GENEROUS).release()


class Limits(Case):
    def test_a_wait_times_out_and_leaves_no_node(self) -> None:
        path, one, other = fresh("timeout"), self.client(label="the holder"), self.client()
        with one.mutex(path):
            with self.assertRaises(paddock.TimedOut) as caught:
                other.mutex(path).acquire(timeout=0.2)
            self.assertIn("the holder", str(caught.exception))
            self.assertIn("timed out after 2", str(caught.exception))
            self.assertIsInstance(caught.exception, TimeoutError)
            other.flush(GENEROUS)
            self.assertEqual(contenders(path), 1)

    def test_arguments_are_checked(self) -> None:
        client = self.client()
        with self.assertRaises(paddock.InvalidPath):
            client.mutex("relative")
        with self.assertRaises(paddock.InvalidArgument):
            client.mutex(fresh("negative")).acquire(timeout=-1)
        with self.assertRaises(paddock.InvalidArgument):
            client.semaphore(fresh("none"), 0)
        with self.assertRaises(paddock.NotSupported):
            client.semaphore(fresh("keep"), 1, paddock.Options(turns=3))
        with self.assertRaises(paddock.InvalidArgument):
            paddock.Client(HOSTS, timeout=0.001)
        with self.assertRaises(paddock.InvalidArgument):
            paddock.Client("no-port")

    def test_a_text_is_taken_whole_or_refused(self) -> None:
        """The library reads up to a NUL: "/locks/a\\0b" would be another lock."""
        client = self.client()
        for wrong in ("/python/a\0b", "/python/a\udcff"):
            makers: tuple[Callable[[str], object], ...] = (
                client.mutex,
                client.rwlock,
                lambda path: client.mutex("/python/a", also=[path]),
                lambda path: client.semaphore(path, 1),
                client.leader,
                client.barrier,
                lambda path: client.double_barrier(path, 2),
                lambda path: client.observe_leader(path, lambda identity, token: None),
                lambda path: client.contenders(path, GENEROUS),
                lambda path: client.once(path, key="a"),
            )
            for make in makers:
                with self.assertRaises(paddock.InvalidPath):
                    make(wrong)
            with client.mutex(fresh("guard")) as held, self.assertRaises(paddock.InvalidPath):
                held.create(wrong)
            with self.assertRaises(paddock.InvalidArgument):
                client.once("/python/a", key=wrong)
            with self.assertRaises(paddock.InvalidArgument):
                client.leader("/python/a", identity=wrong)
            with self.assertRaises(paddock.InvalidArgument):
                client.stats().text({"label": wrong})
            clients: tuple[Callable[[], object], ...] = (
                lambda: paddock.Client(wrong),
                lambda: paddock.Client(HOSTS, label=wrong),
                lambda: paddock.Client(HOSTS, auth=[("digest", wrong)]),
                lambda: paddock.Client(HOSTS, acl=[("digest", wrong, 31)]),
                lambda: paddock.Client(HOSTS, tls=paddock.TlsOptions("ca\0.pem", "cert.pem", "key.pem")),
                lambda: paddock.Client(HOSTS, sasl=paddock.SaslOptions("DIGEST-MD5", wrong)),
            )
            for new in clients:
                with self.assertRaises(paddock.InvalidArgument):
                    new()

    def test_a_wrong_type_is_an_error_of_the_caller(self) -> None:
        """And not of a thread that is to answer the caller."""
        with self.assertRaises((AttributeError, TypeError)):
            self.client().contenders(5, GENEROUS)  # type: ignore[arg-type]

    def test_a_least_token_is_demanded(self) -> None:
        mutex = self.client().mutex(fresh("stale"), options=paddock.Options(min_token=1 << 60))
        with self.assertRaises(paddock.Stale):
            mutex.acquire(timeout=GENEROUS)


class Context(Case):
    def test_it_is_valid_while_it_is_held_and_not_afterwards(self) -> None:
        mutex = self.client().mutex(fresh("valid"))
        with mutex as held:
            self.assertGreater(held.valid, 0.0)
            self.assertLessEqual(held.valid, 10.0)
            self.assertEqual(held.state, paddock.State.HELD)
            self.assertFalse(held.released)
        self.assertEqual(held.valid, 0.0)
        self.assertEqual(held.state, paddock.State.FREE)
        self.assertTrue(held.released)
        self.assertFalse(held.lost.is_set())
        with self.assertRaises(paddock.NotHeld):
            held.release()

    def test_a_block_may_release_early(self) -> None:
        mutex = self.client().mutex(fresh("early"))
        with mutex as held:
            held.release()
            mutex.acquire(timeout=GENEROUS).release()

    def test_a_thread_releases_what_it_acquired_last(self) -> None:
        semaphore = self.client().semaphore(fresh("last"), 3)
        permit = semaphore.permits()
        first, second, third = permit.acquire(), permit.acquire(), permit.acquire()
        third.release()
        permit.release()
        self.assertEqual([held.released for held in (first, second, third)], [False, True, True])
        permit.release()
        self.assertTrue(first.released)
        with self.assertRaises(paddock.NotHeld):
            permit.release()

    def test_what_was_acquired_has_a_block(self) -> None:
        path, client = fresh("block"), self.client()
        mutex = client.mutex(path)
        with mutex.acquire(GENEROUS) as held:
            self.assertEqual(held.state, paddock.State.HELD)
        self.assertTrue(held.released)
        with self.assertRaises(ZeroDivisionError), mutex.acquire(GENEROUS):
            self.assertEqual(1 // 0, 0)
        with mutex.acquire(GENEROUS) as held:
            held.release()
        with self.assertRaises(paddock.Lost), mutex.acquire(GENEROUS):
            delete_holder(path)
        mutex.acquire(timeout=GENEROUS).release()

    def test_a_block_may_end_in_another_thread(self) -> None:
        """As that of a generator does, which a pool of threads runs step by step."""
        path, client = fresh("moved"), self.client()
        mutex = client.mutex(path)

        def block() -> Iterator[paddock.Held]:
            with mutex as held:
                yield held

        steps = block()
        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(lambda: next(steps)).result()
        waiter = threading.Thread(target=lambda: mutex.acquire(GENEROUS).release())
        waiter.start()
        within(lambda: contenders(path) == 2)
        self.assertEqual(list(steps), [])
        self.assertTrue(held.released)
        waiter.join()

    def test_a_block_in_another_thread_does_not_end_another_one(self) -> None:
        lock = self.client().rwlock(fresh("readers")).reading()
        inside = [lock.__enter__()]
        with ThreadPoolExecutor(1) as pool:
            inside.append(pool.submit(lock.__enter__).result())
            with ThreadPoolExecutor(1) as third, self.assertRaises(paddock.NotHeld):
                third.submit(lock.__exit__, None, None, None).result()
            self.assertEqual([held.state for held in inside], [paddock.State.HELD] * 2)
            pool.submit(lock.__exit__, None, None, None).result()
        lock.__exit__(None, None, None)
        self.assertEqual([held.released for held in inside], [True] * 2)

    def test_a_thread_does_not_release_what_another_one_acquired(self) -> None:
        lock = self.client().rwlock(fresh("others")).reading()
        with lock.acquire(GENEROUS) as held:
            with ThreadPoolExecutor(1) as pool, self.assertRaises(paddock.NotHeld):
                pool.submit(lock.release).result()
            self.assertEqual(held.state, paddock.State.HELD)

    def test_an_exception_releases_and_goes_on(self) -> None:
        mutex = self.client().mutex(fresh("exception"))
        with self.assertRaises(KeyError):
            with mutex:
                raise KeyError("mine")
        mutex.acquire(timeout=GENEROUS).release()

    def test_a_closed_client_refuses(self) -> None:
        client = self.client()
        mutex, waiter = client.mutex(fresh("closed")), self.client()
        held = mutex.acquire()
        client.close()
        client.close()
        self.assertTrue(held.lost.is_set())
        with self.assertRaises(paddock.Lost):
            held.release()
        calls: list[Callable[[], object]] = [mutex.acquire, client.wait]
        calls += [lambda: client.mutex("/a"), lambda: client.state]
        for call in calls:
            with self.assertRaises(paddock.Closed):
                call()
        self.assertEqual(waiter.state, paddock.SessionState.CONNECTED)

    def test_close_ends_a_wait(self) -> None:
        path, client = fresh("waiting"), self.client()
        caught: list[BaseException] = []

        def wait() -> None:
            try:
                client.mutex(path).acquire()
            except paddock.Error as exception:
                caught.append(exception)

        with self.client().mutex(path):
            thread = threading.Thread(target=wait)
            thread.start()
            within(lambda: contenders(path) == 2)
            client.close()
            thread.join()
        self.assertEqual([type(exception) for exception in caught], [paddock.Closed])


class Loss(Case):
    def test_a_deleted_node_is_a_loss(self) -> None:
        path = fresh("lost")
        told: list[paddock.Held] = []
        held = self.client().mutex(path).acquire(on_lost=told.append)
        delete_holder(path)
        self.assertTrue(held.lost.wait(GENEROUS))
        within(lambda: told == [held])
        self.assertEqual(held.valid, 0.0)
        self.assertEqual(held.state, paddock.State.LOST)
        with self.assertRaises(paddock.Lost) as caught:
            held.release()
        self.assertIn(path, str(caught.exception))

    def test_the_block_of_a_lost_lock_raises(self) -> None:
        path = fresh("block")
        with self.assertRaises(paddock.Lost):
            with self.client().mutex(path) as held:
                delete_holder(path)
                self.assertTrue(held.lost.wait(GENEROUS))

    def test_another_exception_comes_first(self) -> None:
        path = fresh("other")
        with self.assertRaises(KeyError):
            with self.client().mutex(path) as held:
                delete_holder(path)
                self.assertTrue(held.lost.wait(GENEROUS))
                raise KeyError("mine")

    def test_a_callback_may_not_wait(self) -> None:
        path, client = fresh("callback"), self.client()
        caught: list[BaseException] = []

        def on_lost(held: paddock.Held) -> None:
            calls: list[Callable[[], object]] = [held.release, client.mutex(path).acquire, client.close]
            for call in calls:
                try:
                    call()
                except paddock.Error as exception:
                    caught.append(exception)

        held = client.mutex(path).acquire(on_lost=on_lost)
        delete_holder(path)
        within(lambda: len(caught) == 3)
        self.assertEqual([type(exception) for exception in caught], [paddock.Deadlock] * 3)
        with self.assertRaises(paddock.Lost):
            held.release()

    def test_servers_that_stop_are_a_loss(self) -> None:
        server = subprocess.Popen([COMMAND, "server"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        assert server.stdout is not None
        self.addCleanup(server.stdout.close)
        hosts = server.stdout.readline().strip().partition("PADDOCK_HOSTS=")[2]
        states: list[paddock.SessionState] = []
        with paddock.Client(hosts, timeout=2.0, on_session=states.append) as client:
            held = client.mutex("/stopped").acquire(timeout=GENEROUS)
            server.terminate()
            self.assertTrue(held.lost.wait(GENEROUS))
            self.assertEqual(held.valid, 0.0)
            with self.assertRaises(paddock.Lost):
                held.release()
            within(lambda: paddock.SessionState.SUSPENDED in states)
            with self.assertRaises(paddock.Disconnected) as caught:
                client.mutex("/stopped").acquire(timeout=0)
            self.assertIsInstance(caught.exception, ConnectionError)
        self.assertEqual(states[0], paddock.SessionState.CONNECTED)


if __name__ == "__main__":
    unittest.main()
