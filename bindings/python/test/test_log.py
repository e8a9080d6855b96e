"""The log of a client goes to a logger of Python's."""
from __future__ import annotations

import asyncio
import logging
import threading
import time
import unittest

import paddock
from common import GENEROUS, HOSTS, Case, delete_holder, fresh, within


class Records(logging.Handler):
    """Keeps what it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


class Log(Case):
    def lines(self, level: int) -> tuple[logging.Logger, list[logging.LogRecord]]:
        """A logger of LEVEL, and the records that it has handled."""
        handler, logger = Records(), logging.Logger(self.id(), level)
        logger.addHandler(handler)
        return logger, handler.kept

    def test_a_lock_has_lines_with_their_time(self) -> None:
        logger, records = self.lines(logging.INFO)
        path, before = fresh("lines%s"), time.time()
        client = self.client(logger=logger)
        client.mutex(path).acquire().release()
        client.close()
        found = [record for record in records if path in record.getMessage()]
        self.assertEqual({(record.name, record.levelno) for record in found}, {(self.id(), logging.INFO)})
        self.assertTrue(all(before - 1 < record.created < time.time() + 1 for record in found))

    def test_the_level_of_the_logger_counts(self) -> None:
        path = fresh("level")
        (quiet, warnings), (loud, steps) = self.lines(logging.WARNING), self.lines(logging.DEBUG)
        held = self.client(logger=quiet).mutex(path).acquire()
        self.client(logger=loud)
        delete_holder(path)
        self.assertTrue(held.lost.wait(GENEROUS))
        within(lambda: warnings)
        self.assertEqual({record.levelno for record in warnings}, {logging.WARNING})
        within(lambda: logging.DEBUG in {record.levelno for record in steps})

    def test_a_client_that_cannot_be_made_has_lines(self) -> None:
        logger, records = self.lines(logging.DEBUG)
        with self.assertRaises(paddock.UnknownHost):
            paddock.Client("none..invalid:2181", logger=logger)
        self.assertTrue(any("none..invalid" in record.getMessage() for record in records))

    def test_a_logger_that_fails_stops_nothing(self) -> None:
        logger, _ = self.lines(logging.INFO)
        logger.addFilter(lambda record: 1 // 0 == 0)
        with self.assertLogs("paddock", "ERROR") as logged:
            with paddock.Client(HOSTS, logger=logger) as client:
                client.mutex(fresh("fails")).acquire().release()
        self.assertIn("ZeroDivisionError", logged.output[0])

    def test_the_event_loop_hands_the_lines_over(self) -> None:
        logger, records = self.lines(logging.INFO)

        async def main() -> None:
            async with paddock.Client(HOSTS, logger=logger) as client:
                async with client.mutex(fresh("loop")):
                    self.assertEqual({record.thread for record in records}, {threading.get_ident()})

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
