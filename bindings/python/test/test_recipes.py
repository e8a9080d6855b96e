"""Leaders, barriers and jobs that run once."""
from __future__ import annotations

import gc
import threading
import unittest

import paddock
from common import GENEROUS, Case, delete_holder, fresh, within


class Leaders(Case):
    def test_the_next_candidate_leads_after_a_resignation(self) -> None:
        path, one, other = fresh("leader"), self.client(), self.client()
        with one.leader(path) as term:
            self.assertGreater(term.valid, 0.0)
            self.assertEqual(term.state, paddock.State.HELD)
            with self.assertRaises(paddock.TimedOut):
                other.leader(path).lead(timeout=0.2)
            second = other.leader(path)
            with self.assertRaises(paddock.TimedOut):
                second.lead(timeout=0.2)
        self.assertTrue(term.over.is_set())
        self.assertFalse(term.lost.is_set())
        self.assertEqual((term.valid, term.state), (0.0, paddock.State.FREE))
        self.assertGreater(second.lead(timeout=GENEROUS).token, term.token)
        second.resign()

    def test_a_lost_term_is_over_and_the_next_begins(self) -> None:
        path = fresh("deposed")
        leader = self.client().leader(path)
        tokens = []
        for term in leader.terms():
            tokens.append(term.token)
            if len(tokens) == 1:
                delete_holder(path)
                self.assertTrue(term.lost.wait(GENEROUS))
                self.assertEqual(term.valid, 0.0)
            else:
                leader.resign()
        self.assertEqual(len(tokens), 2)
        self.assertLess(tokens[0], tokens[1])

    def test_the_block_of_a_lost_term_raises(self) -> None:
        path = fresh("block")
        with self.assertRaises(paddock.Lost):
            with self.client().leader(path) as term:
                delete_holder(path)
                self.assertTrue(term.lost.wait(GENEROUS))

    def test_a_leader_in_turns_gives_way(self) -> None:
        path, one, other = fresh("turns"), self.client(), self.client()
        first, second = one.leader(path, in_turns=True), other.leader(path, in_turns=True)
        term = first.lead(GENEROUS)
        with self.assertRaises(paddock.TimedOut):
            second.lead(timeout=0.2)
        first.give_way()
        self.assertTrue(term.over.is_set())
        self.assertFalse(term.lost.is_set())
        second.lead(GENEROUS)
        with self.assertRaises(paddock.NotHeld):
            first.give_way()


class Observers(Case):
    def test_an_observer_sees_each_leader(self) -> None:
        path, client, candidates = fresh("observed"), self.client(), self.client()
        seen: list[tuple[str | None, int]] = []
        observer = client.observe_leader(path, lambda identity, token: seen.append((identity, token)))
        within(lambda: seen == [(None, 0)])
        for identity in ("first", "s\u00e9cond"):
            with candidates.leader(path, identity=identity) as term:
                within(lambda: seen[-1] == (identity, term.token))
            within(lambda: seen[-1] == (None, 0))
        observer.stop()
        observer.stop()
        count, later = len(seen), threading.Event()
        with candidates.leader(path), client.observe_leader(path, lambda identity, token: later.set()):
            self.assertTrue(later.wait(GENEROUS))
        self.assertEqual(len(seen), count)

    def test_an_observer_that_is_forgotten_goes_on(self) -> None:
        path, client, seen = fresh("forgotten"), self.client(), threading.Event()
        client.observe_leader(path, lambda identity, token: seen.set() if token != 0 else None)
        gc.collect()
        with self.client().leader(path):
            self.assertTrue(seen.wait(GENEROUS))

    def test_an_observer_stops_in_its_callback(self) -> None:
        path, client, stopped = fresh("itself"), self.client(), threading.Event()

        def stop(identity: str | None, token: int) -> None:
            if token != 0:
                observer.stop()
                stopped.set()

        observer = client.observe_leader(path, stop)
        with self.client().leader(path):
            self.assertTrue(stopped.wait(GENEROUS))

    def test_an_observer_ends_with_its_client(self) -> None:
        client = self.client()
        observer = client.observe_leader(fresh("ends"), lambda identity, token: None)
        self.assertEqual(self.in_child(observer.stop), "Forked")
        client.close()
        observer.stop()
        with self.assertRaises(paddock.Closed):
            client.observe_leader(fresh("ends"), lambda identity, token: None)

    def test_a_path_is_absolute(self) -> None:
        with self.assertRaises(paddock.InvalidPath):
            self.client().observe_leader("relative", lambda identity, token: None)


class Barriers(Case):
    def test_a_barrier_blocks_while_it_is_set(self) -> None:
        client = self.client()
        barrier = client.barrier(fresh("barrier"))
        barrier.wait(GENEROUS)
        barrier.set(GENEROUS)
        with self.assertRaises(paddock.TimedOut):
            barrier.wait(0.2)
        waiter = threading.Thread(target=barrier.wait)
        waiter.start()
        barrier.remove(GENEROUS)
        waiter.join(GENEROUS)
        self.assertFalse(waiter.is_alive())

    def test_members_of_a_double_barrier_begin_together(self) -> None:
        client, path = self.client(), fresh("pair")
        inside: list[int] = []

        def member() -> None:
            with client.double_barrier(path, 2):
                inside.append(1)
                within(lambda: len(inside) == 2)

        thread = threading.Thread(target=member)
        with self.assertRaises(paddock.TimedOut):
            client.double_barrier(path, 2).enter(0.2)
        thread.start()
        member()
        thread.join(GENEROUS)
        self.assertEqual(len(inside), 2)
        with self.assertRaises(paddock.NotHeld):
            client.double_barrier(path, 2).leave()


class Jobs(Case):
    def test_a_key_is_done_once(self) -> None:
        client, path = self.client(), fresh("key")
        with self.assertRaises(KeyError):
            with client.once(path, key="a"):
                raise KeyError("it failed")
        with client.once(path, key="a") as run:
            self.assertGreater(run.held.token, 0)
        with self.assertRaises(paddock.Done):
            with client.once(path, key="a"):
                self.fail("it is done")
        with client.once(path, key="b") as run:
            run.status = 3
        client.once(path, key="b").begin(GENEROUS)

    def test_a_period_has_one_run(self) -> None:
        client, path = self.client(), fresh("period")
        with client.once(path, every=3600.0):
            pass
        again = client.once(path, every=3600.0)
        with self.assertRaises(paddock.Done):
            again.begin(GENEROUS)
        age = again.age
        assert age is not None
        self.assertLess(age, 3600.0)
        client.mutex(path).acquire(timeout=GENEROUS).release()

    def test_a_key_or_a_period_is_given(self) -> None:
        with self.assertRaises(paddock.InvalidArgument):
            self.client().once(fresh("both"), key="a", every=1.0)


if __name__ == "__main__":
    unittest.main()
