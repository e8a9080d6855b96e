# SPDX-License-Identifier: Apache-2.0
"""The client: one session with the servers, and the thread or the event loop that runs its callbacks."""
from __future__ import annotations

import asyncio
import atexit
import enum
import logging
import os
import select
import threading
import weakref
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._library import (
    call_back,
    callback,
    encoded,
    error,
    ffi,
    lib,
    milliseconds,
    new_future,
    new_number,
    number_of,
    text_of,
)

if TYPE_CHECKING:
    from ._barrier import Barrier, DoubleBarrier
    from ._contenders import Contender
    from ._leader import Leader, LeaderObserver, OnLeader
    from ._locks import Held, Mutex, Options, RWLock, Semaphore
    from ._once import Once
    from ._secure import SaslOptions, TlsOptions
    from ._stats import Stats

T = TypeVar("T")

# A verb that waits is written once, as a generator of the futures that it waits for. wait() and wait_async() run it.
Steps = Generator["Future[Any]", Any, T]


class SessionState(enum.IntEnum):
    """The state of a client's session."""

    CONNECTING = 0
    CONNECTED = 1
    SUSPENDED = 2
    OVER = 3


_clients: weakref.WeakValueDictionary[int, Client] = weakref.WeakValueDictionary()


@callback("pdk_session_cb")
def _on_session(_: Any, state: int, argument: Any) -> None:
    client = _clients.get(number_of(argument))
    if client is not None and client._on_session is not None:
        call_back(client._on_session, SessionState(state))


_LEVELS: dict[int, int] = {
    lib.PDK_LOG_ERROR: logging.ERROR,
    lib.PDK_LOG_WARNING: logging.WARNING,
    lib.PDK_LOG_INFO: logging.INFO,
    lib.PDK_LOG_DEBUG: logging.DEBUG,
}


def _level_of(logger: logging.Logger) -> int:
    """The library's level for the lines that LOGGER takes."""
    return max((ours for ours, theirs in _LEVELS.items() if logger.isEnabledFor(theirs)), default=lib.PDK_LOG_NONE)


def _write_line(logger: logging.Logger, level: int, at_ms: int, text: Any) -> None:
    if logger.isEnabledFor(level):
        line = ffi.string(text).decode("utf-8", "replace")
        record = logger.makeRecord(logger.name, level, "libpaddock", 0, line, (), None)
        record.created, record.msecs = at_ms / 1000, at_ms % 1000
        logger.handle(record)


@callback("pdk_log_cb")
def _on_log(_: Any, level: int, at_ms: int, text: Any, argument: Any) -> None:
    client = _clients.get(number_of(argument))
    if client is not None and client._logger is not None:
        call_back(_write_line, client._logger, _LEVELS[level], at_ms, text)


class _Thread:
    """Dispatches a client's callbacks on a thread."""

    def __init__(self, client: Client) -> None:
        self._client = client  # which lasts as long as the thread
        self._fd: int = lib.pdk_client_fd(client._client)
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="paddock", daemon=True)
        self._thread.start()

    def is_here(self) -> bool:
        return self._thread is threading.current_thread()

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._stop_read, select.POLLIN)
        while all(fd != self._stop_read for fd, _ in poll.poll()):
            lib.pdk_client_dispatch(self._client._client)

    def stop(self) -> None:
        os.write(self._stop_write, b".")
        self._thread.join()
        os.close(self._stop_read)
        os.close(self._stop_write)


class _Loop:
    """Dispatches a client's callbacks in an event loop of asyncio."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._fd: int = lib.pdk_client_fd(client._client)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.current_thread()
        self._loop.add_reader(self._fd, self._dispatch)

    def _dispatch(self) -> None:
        lib.pdk_client_dispatch(self._client._client)

    def is_here(self) -> bool:
        return self._thread is threading.current_thread()

    def stop(self) -> None:
        if not self._loop.is_closed():
            self._loop.remove_reader(self._fd)


class Client:
    """One ZooKeeper session, shared by all locks that are made of it. Any thread may use it.

    HOSTS is ZooKeeper's list, "h1:2181,h2:2181/chroot". TIMEOUT is the session timeout to ask for, in seconds; the
    servers clamp it. AUTH has pairs of a scheme and credentials, as ("digest", "user:password"). ACL has entries of a
    scheme, an id and permissions (1 to 31) for every node that the client creates. LABEL is shown in lists of
    contenders. TICK and MARGIN are the servers' tickTime and the margin of the deadline, in seconds; 0 is the default.
    ON_SESSION is called with each SessionState. LOGGER gets the lines of the log that it is enabled for when the client
    is made, with the times at which they were written; logging.DEBUG has ZooKeeper's own, too. TLS or SASL secures the
    connections: NotSupported where ZooKeeper's client lacks it, InvalidArgument for both, and Tls when a file cannot be
    read.

    The constructor does not wait for a server. Callbacks (`on_session`, `on_lost`, `on_revoked`, `on_leader`, the
    logger) run one at a time. After `with Client(...)`, and without either, a thread of the binding runs them. After
    `async with Client(...)` the running event loop does. Those that remain when the client is closed run on a thread
    that closes it. A call that waits raises Deadlock in a callback, and in the event loop that runs the callbacks.

    A client does not survive fork(): in the child every call raises Forked. Close the client before the process ends.
    The interpreter closes those that are left, when it ends in order.
    """

    _client: Any = ffi.NULL  # until it is made: a call with wrong arguments is finalized, too

    def __init__(
        self,
        hosts: str,
        timeout: float = 10.0,
        *,
        auth: Iterable[tuple[str, str]] = (),
        acl: Iterable[tuple[str, str, int]] = (),
        label: str | None = None,
        tick: float = 0.0,
        margin: float = 0.0,
        on_session: Callable[[SessionState], object] | None = None,
        logger: logging.Logger | None = None,
        tls: TlsOptions | None = None,
        sasl: SaslOptions | None = None,
    ) -> None:
        self._pid = os.getpid()
        self._on_session = on_session
        self._logger = logger
        self._security = tls, sasl
        self._guard = threading.RLock()  # as all in this package: a handler of a signal may call what it interrupts
        self._driver: _Thread | _Loop | None = None
        self._closing = False
        self._held: set[Held] = set()
        self._observers: set[LeaderObserver] = set()
        number = new_number()
        _clients[number] = self
        options = lib.pdk_client_options_new()
        out = ffi.new("pdk_client **")
        try:
            set_session = lib.pdk_client_options_set_session_timeout_ms
            self._demand(set_session(options, milliseconds(timeout)), f"a session timeout of {timeout} seconds")
            self._demand(lib.pdk_client_options_set_dispatch(options, True))
            self._demand(
                lib.pdk_client_options_set_clock(options, milliseconds(tick), milliseconds(margin)), "tick or margin"
            )
            for scheme, credentials in auth:
                add = lib.pdk_client_options_add_auth
                self._demand(add(options, encoded(scheme, "a scheme"), encoded(credentials, "auth")), "auth")
            for scheme, identity, permissions in acl:
                add = lib.pdk_client_options_add_acl
                self._demand(add(options, encoded(scheme, "a scheme"), encoded(identity, "acl"), permissions), "acl")
            if label is not None:
                self._demand(lib.pdk_client_options_set_label(options, encoded(label, "a label")), "label")
            argument = ffi.cast("void *", number)
            if logger is not None:
                self._demand(lib.pdk_client_options_set_log(options, _level_of(logger), _on_log, argument))
            if on_session is not None:
                self._demand(lib.pdk_client_options_set_on_session(options, _on_session, argument))
            for security in self._security:
                if security is not None:
                    security._fill(options)
            code = lib.pdk_client_new(out, encoded(hosts, "hosts"), options)
            self._demand(code, text_of(lib.pdk_client_last_error, ffi.NULL) if code else "")
        finally:
            lib.pdk_client_options_free(options)
        self._client = out[0]

    def __del__(self) -> None:
        if self._client != ffi.NULL:
            for observer in self._observers:
                observer._free()
            lib.pdk_client_free(self._client)  # closes it if need be; PDK_EFORKED in a child

    @staticmethod
    def _demand(code: int, incident: str = "") -> None:
        if code != 0:
            raise error(code, incident)

    # --- the driver, and waiting ---

    def _forbid_child(self) -> None:
        if os.getpid() != self._pid:
            raise error(lib.PDK_EFORKED)

    def _here(self) -> None:
        """Refuse a call in a child process, or after close."""
        self._forbid_child()
        if self._closing:
            raise error(lib.PDK_ECLOSED)

    def _drive(self) -> _Thread | _Loop:
        """What runs the callbacks; a thread, unless a loop does already."""
        self._here()
        with self._guard:
            if self._driver is None:
                self._driver = _Thread(self)
            return self._driver

    def _forbid_here(self) -> None:
        if self._drive().is_here():
            raise error(lib.PDK_EDEADLK)

    def _wait(self, steps: Steps[T]) -> T:
        """Run a verb on this thread. A signal interrupts it."""
        self._forbid_here()
        try:
            future = next(steps)
            while True:
                try:
                    outcome = future.result()
                except BaseException as exception:
                    future = steps.throw(exception)
                else:
                    future = steps.send(outcome)
        except StopIteration as stop:
            value: T = stop.value
            return value

    async def _wait_async(self, steps: Steps[T]) -> T:
        """Run a verb in a task. A cancellation interrupts it."""
        self._drive()
        try:
            future = next(steps)
            while True:
                try:
                    outcome = await asyncio.wrap_future(future)
                except BaseException as exception:
                    future = steps.throw(exception)
                else:
                    future = steps.send(outcome)
        except StopIteration as stop:
            value: T = stop.value
            return value

    def _blocking(self, function: Callable[[], int], incident: Callable[[], str]) -> Future[Any]:
        """Call a FUNCTION of the library that waits, on a thread of its own: so the caller can be interrupted. The
        future gets the code and the incident."""
        self._here()
        future = new_future()

        def call() -> None:
            try:
                code = function()
                future.set_result((code, incident() if code != 0 else ""))
            except BaseException as exception:
                future.set_exception(exception)

        threading.Thread(target=call, name="paddock-call", daemon=True).start()
        return future

    def _blocking_steps(self, function: Callable[[], int]) -> Steps[None]:
        code, incident = yield self._blocking(function, lambda: text_of(lib.pdk_client_last_error, self._client))
        self._demand(code, incident)

    # --- the session ---

    def _connected(self, timeout: float | None) -> Steps[None]:
        limit = milliseconds(timeout)
        return self._blocking_steps(lambda: int(lib.pdk_client_wait(self._client, limit)))

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the session is connected, at most TIMEOUT seconds; None: no limit. TimedOut, AuthFailed,
        ShortTimeout, Closed."""
        self._wait(self._connected(timeout))

    async def wait_async(self, timeout: float | None = None) -> None:
        """As wait(), in a task."""
        await self._wait_async(self._connected(timeout))

    def _flushed(self, timeout: float | None) -> Steps[None]:
        limit = milliseconds(timeout)
        return self._blocking_steps(lambda: int(lib.pdk_client_flush(self._client, limit)))

    def flush(self, timeout: float | None = None) -> None:
        """Wait until every release that began before this call is over, at most TIMEOUT seconds. TimedOut, Closed."""
        self._wait(self._flushed(timeout))

    async def flush_async(self, timeout: float | None = None) -> None:
        """As flush(), in a task."""
        await self._wait_async(self._flushed(timeout))

    @property
    def state(self) -> SessionState:
        """The state of the session; no request. Closed after close()."""
        self._here()
        return SessionState(lib.pdk_client_state(self._client))

    @property
    def session_id(self) -> int:
        """The id of the session, 0 while there is none."""
        self._here()
        return int(lib.pdk_client_session_id(self._client))

    @property
    def session_timeout(self) -> float:
        """The session timeout that the servers granted, in seconds; 0.0 while there is none."""
        self._here()
        return int(lib.pdk_client_session_timeout_ms(self._client)) / 1000

    def stats(self) -> Stats:
        """The counters since the client was made, at this moment; no request. Also after close(). NoMemory."""
        from ._stats import stats

        self._forbid_child()
        return stats(self._client)

    # --- recipes ---

    def mutex(self, path: str, also: Iterable[str] = (), options: Options | None = None) -> Mutex:
        """A mutex at PATH, or at PATH and those of ALSO together, all or none. No request. InvalidPath."""
        from ._locks import Mutex

        return Mutex(self, (path, *also), options)

    def rwlock(self, path: str, options: Options | None = None) -> RWLock:
        """A read/write lock at PATH. No request. InvalidPath."""
        from ._locks import RWLock

        return RWLock(self, path, options)

    def semaphore(self, path: str, limit: int, options: Options | None = None) -> Semaphore:
        """A semaphore at PATH with LIMIT permits. No request. InvalidPath; InvalidArgument: the limit is not 1 to
        1000."""
        from ._locks import Semaphore

        return Semaphore(self, path, limit, options)

    def leader(self, path: str, *, identity: str | None = None, in_turns: bool = False) -> Leader:
        """A candidate at PATH, which does not stand yet. Other clients read IDENTITY; default: the host and the
        process. IN_TURNS: the nodes are those of Curator's LeaderSelector. InvalidPath."""
        from ._leader import Leader

        return Leader(self, path, identity, in_turns)

    def observe_leader(self, path: str, on_leader: OnLeader) -> LeaderObserver:
        """Call ON_LEADER with the identity of the leader at PATH and the token of its term, or with None and 0 when it
        has none: with the first answer, and at every change. A leader whose term ended before the callback could
        run is not reported, nor is a change while the connection is lost. InvalidPath, Limit, NoMemory, Closed."""
        from ._leader import LeaderObserver

        return LeaderObserver(self, path, on_leader)

    def barrier(self, path: str) -> Barrier:
        """The barrier at PATH. No request. InvalidPath."""
        from ._barrier import Barrier

        return Barrier(self, path)

    def double_barrier(self, path: str, count: int) -> DoubleBarrier:
        """One member of the double barrier at PATH, which lets COUNT members in together. InvalidPath;
        InvalidArgument: the count is not 1 to 10000."""
        from ._barrier import DoubleBarrier

        return DoubleBarrier(self, path, count)

    def once(
        self,
        path: str,
        *,
        key: str | None = None,
        every: float | None = None,
        any_run: bool = False,
        options: Options | None = None,
    ) -> Once:
        """A job under the mutex at PATH, done once for KEY, or once in EVERY seconds; exactly one of them is given.
        ANY_RUN: each run counts from its beginning, however it ends."""
        from ._once import Once

        return Once(self, path, key, every, any_run, options)

    # --- who contends ---

    def _contenders(self, path: str, timeout: float | None) -> Steps[list[Contender]]:
        from ._contenders import contenders

        return contenders(self, path, timeout)

    def contenders(self, path: str, timeout: float | None = None) -> list[Contender]:
        """The contenders of the lock at PATH in their order, holders and waiters, and then other nodes, whose mode is
        NONE. A path that does not exist has none. Those of a semaphore are at PATH/leases. TIMEOUT in seconds.
        TimedOut, Access, InvalidPath."""
        return self._wait(self._contenders(path, timeout))

    async def contenders_async(self, path: str, timeout: float | None = None) -> list[Contender]:
        """As contenders(), in a task."""
        return await self._wait_async(self._contenders(path, timeout))

    # --- the end ---

    def _close_begun(self) -> bool:
        """Stop what runs the callbacks; those that remain run in pdk_client_close(). False: it was closed before."""
        self._forbid_child()
        with self._guard:
            if self._closing:
                return False
            if isinstance(self._driver, _Thread) and self._driver.is_here():
                raise error(lib.PDK_EDEADLK)
            self._closing = True
        if self._driver is not None:
            self._driver.stop()
        return True

    def _close_ended(self, code: int) -> None:
        for held in list(self._held):
            held._lose()
        for observer in list(self._observers):
            observer.stop()
        self._demand(code)

    def close(self) -> None:
        """End the session: waiting calls raise Closed, and what is held is lost. It returns at once when the client was
        closed before. It takes up to seven seconds when no server answers. Any thread, but Deadlock in a callback."""
        if self._close_begun():
            self._close_ended(lib.pdk_client_close(self._client))

    async def close_async(self) -> None:
        """As close(), in a task."""
        if self._close_begun():
            loop = asyncio.get_running_loop()
            self._close_ended(await loop.run_in_executor(None, lib.pdk_client_close, self._client))

    def __enter__(self) -> Client:
        self._drive()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        self._here()
        with self._guard:
            if self._driver is None:
                self._driver = _Loop(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close_async()


@atexit.register
def _close_all() -> None:
    for client in list(_clients.values()):
        if client._pid == os.getpid() and client._client != ffi.NULL:
            client.close()
