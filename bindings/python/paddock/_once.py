# SPDX-License-Identifier: Apache-2.0
"""Jobs that run once: for a key, or once in a period, on whichever machine."""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from ._client import Client, Steps
from ._errors import Error
from ._library import encoded, error, expect, expect_not, ffi, lib, milliseconds, new_future, on_outcome
from ._locks import Held, Mutex, Options


class Run:
    """A run that has begun, under its lock."""

    #: The lock, held for the run: its token, and its loss.
    held: Held
    #: The status that the end of the `with` block records: 0 for a success, 1 to 255 for a failure.
    status: int

    def __init__(self, held: Held) -> None:
        self.held = held
        self.status = 0


class Once:
    """A job. Client.once() makes it. One thread or task at a time.

    `with client.once(path, key="2026-12") as run` acquires the mutex and records that the run begins. The end of the
    block records how it ended: run.status, or 1 where an exception ends it. The run counts if the status is 0.

    Done: it is done, and the block does not begin. InvalidRecord: the record cannot be believed; nothing is to be done.
    """

    def __init__(
        self,
        client: Client,
        path: str,
        key: str | None,
        every: float | None,
        any_run: bool,
        options: Options | None,
    ) -> None:
        self._once: Any = ffi.NULL
        self._client = client
        self._mutex = Mutex(client, (path,), options)
        self._run: Run | None = None
        out = ffi.new("pdk_once **")
        text = ffi.NULL if key is None else ffi.new("char[]", encoded(key, "a key"))
        code = lib.pdk_once_new(out, self._mutex._object.pointer, text, 0 if every is None else milliseconds(every))
        if code != 0:
            raise error(code, "exactly one of key and every is to be given" if code == lib.PDK_EINVAL else "")
        self._once = out[0]
        code = lib.pdk_once_set_any(self._once, any_run)
        if code != 0:
            raise error(code)

    def __del__(self) -> None:
        if self._once != ffi.NULL:
            lib.pdk_once_free(self._once)

    @property
    def age(self) -> float | None:
        """The age of the run that counts, in seconds by the servers' clocks, as the last call has found it; None: there
        is none, or none was asked for."""
        self._client._here()
        age = int(lib.pdk_once_age_ms(self._once))
        return None if age < 0 else age / 1000

    def _call(self, begin: Callable[[Any, Any], int]) -> Steps[None]:
        future: Future[Any] = new_future()

        def complete(code: int) -> None:
            future.set_result((code, self._mutex._object.incident() if code != 0 else ""))

        number, argument = expect(complete)
        code = begin(on_outcome, argument)
        if code != 0:
            expect_not(number)
            raise error(code, self._mutex._object.incident())
        code, incident = yield future
        if code != 0:
            raise error(code, incident)

    def _begin(self, timeout: float | None) -> Steps[Run]:
        held = yield from self._mutex._acquire(timeout)
        try:
            yield from self._call(
                lambda callback, argument: int(
                    lib.pdk_once_begin_async(self._once, held._grant, callback, argument)
                )
            )
        except BaseException:
            yield from self._quietly(held._release())
            raise
        self._run = Run(held)
        return self._run

    @staticmethod
    def _quietly(steps: Steps[None]) -> Steps[None]:
        """An exception is on its way already."""
        try:
            yield from steps
        except Error:
            pass

    def _end(self, failed: bool) -> Steps[None]:
        run = self._run
        if run is None:
            raise error(lib.PDK_EPERM, "no run has begun")
        self._run = None
        status = (run.status or 1) if failed else run.status
        try:
            yield from self._call(
                lambda callback, argument: int(lib.pdk_once_end_async(self._once, status, callback, argument))
            )
        except BaseException:
            yield from self._quietly(run.held._release())
            raise
        yield from run.held._release()

    def begin(self, timeout: float | None = None) -> Run:
        """Acquire the mutex, at most TIMEOUT seconds from now, and begin a run. Done: it is done already; Lost,
        InvalidRecord, and the errors of Lock.acquire(). The mutex is held only if nothing is raised."""
        return self._client._wait(self._begin(timeout))

    async def begin_async(self, timeout: float | None = None) -> Run:
        """As begin(), in a task."""
        return await self._client._wait_async(self._begin(timeout))

    def end(self) -> None:
        """Record the end of the run, and release the mutex. Lost: it is not recorded. UnknownOutcome; NotHeld: no run
        has begun. Whatever is raised, the mutex is not held any more."""
        self._client._wait(self._end(failed=False))

    async def end_async(self) -> None:
        """As end(), in a task."""
        await self._client._wait_async(self._end(failed=False))

    def __enter__(self) -> Run:
        return self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._client._wait(self._end(failed=kind is not None))
        except Error:
            if kind is None:
                raise

    async def __aenter__(self) -> Run:
        return await self.begin_async()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._client._wait_async(self._end(failed=kind is not None))
        except Error:
            if kind is None:
                raise
