# SPDX-License-Identifier: Apache-2.0
"""Barriers: one that blocks while it is set, and a double one, by which members begin and end together."""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from ._client import Client, Steps
from ._errors import Error
from ._library import encoded_path, error, ffi, lib, milliseconds, text_of


class _Base:
    def __init__(self, client: Client, make: Callable[[Any], int]) -> None:
        self._client = client
        self._barrier: Any = ffi.NULL
        client._here()
        out = ffi.new("pdk_barrier **")
        code = make(out)
        if code != 0:
            raise error(code)
        self._barrier = out[0]

    def __del__(self) -> None:
        if self._barrier != ffi.NULL:
            lib.pdk_barrier_free(self._barrier)

    def _begin(self, function: Any, timeout: float | None) -> Future[Any]:
        limit = milliseconds(timeout)
        return self._client._blocking(
            lambda: int(function(self._barrier, limit)), lambda: text_of(lib.pdk_barrier_last_error, self._barrier)
        )

    def _call(self, function: Any, timeout: float | None) -> Steps[None]:
        code, incident = yield self._begin(function, timeout)
        if code != 0:
            raise error(code, incident)


class Barrier(_Base):
    """A barrier: while it is set, every wait() blocks. Client.barrier() makes it.

    A call that a signal or a cancellation interrupts goes on without its caller until its timeout, or until the client
    is closed. Any thread.
    """

    def __init__(self, client: Client, path: str) -> None:
        super().__init__(client, lambda out: int(lib.pdk_barrier_new(out, client._client, encoded_path(path))))

    def set(self, timeout: float | None = None) -> None:
        """Set it, at most TIMEOUT seconds from now; None: no limit. TimedOut: nothing was sent; UnknownOutcome;
        InvalidArgument: the path is that of something else; Access."""
        self._client._wait(self._call(lib.pdk_barrier_set, timeout))

    async def set_async(self, timeout: float | None = None) -> None:
        """As set(), in a task."""
        await self._client._wait_async(self._call(lib.pdk_barrier_set, timeout))

    def remove(self, timeout: float | None = None) -> None:
        """Remove it. Errors as of set()."""
        self._client._wait(self._call(lib.pdk_barrier_remove, timeout))

    async def remove_async(self, timeout: float | None = None) -> None:
        """As remove(), in a task."""
        await self._client._wait_async(self._call(lib.pdk_barrier_remove, timeout))

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it is not set, at most TIMEOUT seconds; None: no limit; 0: look once. TimedOut: it is set, or no
        server has answered."""
        self._client._wait(self._call(lib.pdk_barrier_wait, timeout))

    async def wait_async(self, timeout: float | None = None) -> None:
        """As wait(), in a task."""
        await self._client._wait_async(self._call(lib.pdk_barrier_wait, timeout))


class DoubleBarrier(_Base):
    """A member of a double barrier. Client.double_barrier() makes it. `with` enters, and leaves at the end.

    A call that a signal or a cancellation interrupts goes on without its caller until its timeout, or until the client
    is closed; when it enters late, it leaves again. One call at a time: Busy.
    """

    def __init__(self, client: Client, path: str, count: int) -> None:
        super().__init__(
            client, lambda out: int(lib.pdk_barrier_new_double(out, client._client, encoded_path(path), count))
        )

    def _enter(self, timeout: float | None) -> Steps[None]:
        future = self._begin(lib.pdk_barrier_enter, timeout)
        try:
            code, incident = yield future
        except BaseException:
            future.add_done_callback(lambda _: lib.pdk_barrier_leave(self._barrier, 0))  # not inside: nothing happens
            raise
        if code != 0:
            raise error(code, incident)

    def enter(self, timeout: float | None = None) -> None:
        """Enter when all members are there, at most TIMEOUT seconds from now; None: no limit. TimedOut: not entered;
        Busy: it is full."""
        self._client._wait(self._enter(timeout))

    async def enter_async(self, timeout: float | None = None) -> None:
        """As enter(), in a task."""
        await self._client._wait_async(self._enter(timeout))

    def leave(self, timeout: float | None = None) -> None:
        """Leave, and wait for the others to leave. Whatever is raised, this member is outside. TimedOut: others are
        inside; Lost: they may have left before; NotHeld: it was not inside."""
        self._client._wait(self._call(lib.pdk_barrier_leave, timeout))

    async def leave_async(self, timeout: float | None = None) -> None:
        """As leave(), in a task."""
        await self._client._wait_async(self._call(lib.pdk_barrier_leave, timeout))

    def __enter__(self) -> DoubleBarrier:
        self.enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave; with an exception on its way, without waiting for the others."""
        try:
            self.leave(None if kind is None else 0)
        except Error:
            if kind is None:
                raise

    async def __aenter__(self) -> DoubleBarrier:
        await self.enter_async()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.leave_async(None if kind is None else 0)
        except Error:
            if kind is None:
                raise
