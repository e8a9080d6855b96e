"""Statistics: counters, histograms, and their text."""
from __future__ import annotations

import dataclasses
import math
import threading
import unittest

import paddock
from common import GENEROUS, Case, contenders, delete_holder, fresh, within
from paddock._library import ffi


class Statistics(Case):
    def test_a_grant_a_failure_and_a_loss_are_counted(self) -> None:
        path, client, other = fresh("counted"), self.client(), self.client()
        held = client.mutex(path).acquire()
        with self.assertRaises(paddock.TimedOut):
            other.mutex(path).acquire(timeout=0.2)
        stats = client.stats()
        self.assertEqual((stats.acquires, stats.grants, stats.server_grants, stats.held), (1, 1, 1, 1))
        self.assertEqual((stats.failures, stats.failed, stats.losses, stats.lost), (0, {}, 0, {}))
        self.assertEqual((stats.sessions, stats.connected), (1, True))
        self.assertEqual(other.stats().failed, {paddock.TimedOut: 1})
        delete_holder(path)
        self.assertTrue(held.lost.wait(GENEROUS))
        self.assertEqual((client.stats().losses, client.stats().lost), (1, {"node": 1}))
        self.assertEqual((stats.held, client.stats().held), (1, 0))

    def test_a_histogram_is_in_seconds(self) -> None:
        path, client, other = fresh("histogram"), self.client(), self.client()
        held = client.mutex(path).acquire()
        waiter = threading.Thread(target=lambda: other.mutex(path).acquire(GENEROUS).release())
        waiter.start()
        within(lambda: contenders(path) == 2)
        self.assertEqual(other.stats().waiting, 1)
        held.release()
        waiter.join()
        stats = other.stats()
        bounds, counts = zip(*stats.wait.buckets)
        self.assertEqual((stats.wait.count, counts[-1], bounds[-1]), (1, 1, math.inf))
        self.assertEqual((list(bounds), list(counts)), (sorted(bounds), sorted(counts)))
        self.assertLess(bounds[0], 0.1)
        self.assertTrue(0.0 <= stats.wait.sum < 2 * GENEROUS)
        self.assertEqual((stats.queue.count, stats.queue.sum), (1, 1))
        self.assertEqual(stats.hold.count, 1)

    def test_each_counter_of_the_library_has_a_field(self) -> None:
        fields = {each.name for each in dataclasses.fields(paddock.Stats)}
        for kind, prefix in (("pdk_stat", "PDK_STAT_"), ("pdk_histogram", "PDK_HISTOGRAM_")):
            names = {name.removeprefix(prefix).lower() for name in ffi.typeof(kind).elements.values()}
            self.assertEqual(names - fields, set())

    def test_the_text_is_for_a_monitoring_system(self) -> None:
        stats = self.client().stats()
        openmetrics = stats.text({"path": '/a"b'})
        self.assertIn('paddock_connected{path="/a\\"b"} 1\n', openmetrics)
        self.assertTrue(openmetrics.endswith("# EOF\n"))
        self.assertIn("paddock_connected 1\n", stats.text(prometheus=True))
        self.assertNotIn("# EOF", stats.text(prometheus=True))

    def test_a_client_that_is_closed_has_its_last(self) -> None:
        client = self.client()
        client.mutex(fresh("last")).acquire()
        client.close()
        stats = client.stats()
        self.assertEqual((stats.held, stats.lost, stats.connected), (0, {"closed": 1}, False))

    def test_a_child_has_none(self) -> None:
        self.assertEqual(self.in_child(self.client().stats), "Forked")


if __name__ == "__main__":
    unittest.main()
