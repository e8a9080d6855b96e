# SPDX-License-Identifier: Apache-2.0
"""Locks: a mutex, a read/write lock and a semaphore, and what a program holds of them."""
from __future__ import annotations

import asyncio
import collections
import contextlib
import enum
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._client import Client, Steps
from ._errors import Busy, Error, Lost, TimedOut
from ._library import (
    call_back,
    callback,
    encoded_path,
    error,
    expect,
    expect_not,
    ffi,
    lib,
    milliseconds,
    new_future,
    new_number,
    number_of,
    on_outcome,
    text_of,
)


class State(enum.IntEnum):
    """The state of what is held. LOST is final. SUSPECT: less than a tenth of the session timeout is certain."""

    FREE = 0
    HELD = 1
    SUSPECT = 2
    LOST = 3


@dataclass(frozen=True)
class Options:
    """Options of a lock, as <paddock/lock.h> has them; times in seconds. One that was set and has no meaning for the
    kind of lock raises NotSupported."""

    #: The data of the lock's nodes, instead of the identity that `paddock ls` reads.
    data: bytes | None = None
    #: Refuse a grant with a smaller token: Stale.
    min_token: int = 0
    #: Confirm each grant by a write.
    confirmed: bool = False
    #: Wait so long after a holder that did not unlock.
    lock_delay: float = 0.0
    #: Watch the contender before the predecessor, too.
    look_ahead: bool = False
    #: Refuse a path with contenders of another recipe: Mixed.
    refuse_mixed: bool = False
    #: Release without waiting for the servers.
    unlock_nowait: bool = False
    #: Keep a grant in this process for so many more owners.
    turns: int = 0
    #: Keep it so long without an owner.
    idle: float = 0.0

    def _fill(self, options: Any) -> None:
        """Set what differs from the default."""
        calls: list[tuple[bool, Any, tuple[Any, ...]]] = [
            (self.data is not None, lib.pdk_lock_options_set_data, (self.data or b"", len(self.data or b""))),
            (self.min_token != 0, lib.pdk_lock_options_set_min_token, (self.min_token,)),
            (self.confirmed, lib.pdk_lock_options_set_confirmed, (True,)),
            (self.lock_delay != 0, lib.pdk_lock_options_set_lock_delay_ms, (milliseconds(self.lock_delay),)),
            (self.look_ahead, lib.pdk_lock_options_set_look_ahead, (True,)),
            (self.refuse_mixed, lib.pdk_lock_options_set_refuse_mixed, (True,)),
            (self.unlock_nowait, lib.pdk_lock_options_set_unlock_nowait, (True,)),
            (self.turns != 0 or self.idle != 0, lib.pdk_lock_options_set_keep, (self.turns, milliseconds(self.idle))),
        ]
        for wanted, function, arguments in calls:
            code = function(options, *arguments) if wanted else 0
            if code != 0:
                raise error(code, f"{self}")


@contextlib.contextmanager
def lock_options(options: Options | None) -> Iterator[Any]:
    """The options for the library, during a call."""
    out = lib.pdk_lock_options_new()
    try:
        if options is not None:
            options._fill(out)
        yield out
    finally:
        lib.pdk_lock_options_free(out)


_objects: weakref.WeakValueDictionary[int, LockObject] = weakref.WeakValueDictionary()


@callback("pdk_event_cb")
def _on_event(_lock: Any, event: Any, argument: Any) -> None:
    lock_object = _objects.get(number_of(argument))
    if lock_object is None:
        return
    if event.kind == lib.PDK_EVENT_REVOKED:
        lock_object.asked_for(int(event.token))
    else:
        lock_object.changed()


#: What a program is told of what it holds.
Callback = Callable[["Held"], object] | None


class LockObject:
    """A pdk_lock of any kind, with its events. It lasts as long as something refers to it."""

    def __init__(self, client: Client, make: Callable[[Any, Any, Any], int], options: Options | None) -> None:
        self.client = client
        self.pointer: Any = ffi.NULL
        self.held: set[Held] = set()
        #: Tokens of grants that were asked for before their Held was there.
        self.early: collections.deque[int] = collections.deque(maxlen=16)
        #: Called for each event; weak, so that no circle keeps the lock.
        self.on_event: weakref.WeakMethod[Callable[[], None]] | None = None
        client._here()
        out = ffi.new("pdk_lock **")
        with lock_options(options) as opts:
            code = make(out, client._client, opts)
        if code != 0:
            raise error(code)
        self.pointer = out[0]
        number = new_number()
        _objects[number] = self
        code = lib.pdk_lock_on_event(self.pointer, _on_event, ffi.cast("void *", number))
        if code != 0:
            raise error(code)

    def __del__(self) -> None:
        if self.pointer != ffi.NULL:
            lib.pdk_lock_free(self.pointer)

    def incident(self) -> str:
        """Why the last call failed."""
        return text_of(lib.pdk_lock_last_error, self.pointer)

    def changed(self) -> None:
        """An event: a grant has changed, or a term. The state says how."""
        watcher = self.on_event() if self.on_event is not None else None
        if watcher is not None:
            watcher()
        for held in list(self.held):
            held._look()

    def asked_for(self, token: int) -> None:
        """A client asks the holder with TOKEN to release."""
        asked = [held for held in list(self.held) if held.token == token]
        if not asked:
            self.early.append(token)
        for held in asked:
            held._revoke()


class Held:
    """What was acquired of a lock, until release(). It belongs to no thread: any thread may ask it and release it.
    `with` releases it at the end of the block.

    A Held that the program forgets stays held until the client is closed.
    """

    #: The fencing token. Later grants of a path have larger ones.
    token: int
    #: The number of the owner under the node: 1, unless Options.turns or Options.idle keep the node.
    turn: int
    #: The names of its nodes, one for each path or permit.
    nodes: tuple[str, ...]
    #: Set when it is lost.
    lost: threading.Event
    #: Set when a client has asked for a release, by Contender.revoke() or as Curator's Revoker does. Nothing else
    #: changes. A hold shorter than a twentieth of the session timeout is not told.
    revoked: threading.Event

    def __init__(self, lock_object: LockObject, grant: Any, on_lost: Callback, on_revoked: Callback) -> None:
        self._object = lock_object
        self._grant = grant
        self._on_lost, self._on_revoked = on_lost, on_revoked
        self._guard = threading.RLock()
        self.lost, self.revoked = threading.Event(), threading.Event()
        token, turn = ffi.new("int64_t *"), ffi.new("uint64_t *")
        lib.pdk_grant_token(grant, token, turn)
        self.token, self.turn = int(token[0]), int(turn[0])
        count = lib.pdk_grant_count(grant)
        self.nodes = tuple(text_of(lib.pdk_grant_node, grant, i) for i in range(count))

    def __repr__(self) -> str:
        return f"<paddock.Held token={self.token} node={self.node}>"

    @property
    def node(self) -> str:
        """The name of its first node."""
        return self.nodes[0]

    @property
    def state(self) -> State:
        """The state; no request. FREE after the release. Forked in a child process."""
        if self.lost.is_set():
            self._object.client._forbid_child()
            return State.LOST
        return State(self._ask(lib.pdk_grant_state, int(State.FREE)))

    @property
    def valid(self) -> float:
        """The seconds for which it is still certain to be held; no request. 0.0: not any more. Forked in a child
        process."""
        return self._ask(lib.pdk_grant_valid_ms, 0) / 1000

    @property
    def released(self) -> bool:
        """Was it released, or has its release begun?"""
        return bool(self._grant == ffi.NULL)

    def _ask(self, function: Any, otherwise: int) -> int:
        self._object.client._forbid_child()
        with self._guard:
            return int(function(self._grant)) if self._grant != ffi.NULL else otherwise

    def _look(self) -> None:
        """An event may have been the loss."""
        if self._ask(lib.pdk_grant_state, int(State.FREE)) == State.LOST:
            self._lose()

    def _lose(self) -> None:
        with self._guard:
            if self.lost.is_set():
                return
            self.lost.set()
        if self._on_lost is not None:
            call_back(self._on_lost, self)

    def _revoke(self) -> None:
        with self._guard:
            if self.revoked.is_set():
                return
            self.revoked.set()
        if self._on_revoked is not None:
            call_back(self._on_revoked, self)

    def _forget(self) -> Any:
        """The grant, which is not this object's any more."""
        with self._guard:
            grant, self._grant = self._grant, ffi.NULL
        self._object.held.discard(self)
        self._object.client._held.discard(self)
        return grant

    def _release(self) -> Steps[None]:
        lock_object = self._object
        grant = self._forget()
        if grant == ffi.NULL:
            raise error(lib.PDK_EPERM, "it was released before")
        future = new_future()

        def complete(code: int) -> None:
            incident = lock_object.incident() if code != 0 else ""
            if code == lib.PDK_ELOST:
                self._lose()  # here: the program's callbacks run one at a time
            future.set_result((code, incident))

        number, argument = expect(complete)
        code = lib.pdk_grant_release_async(grant, on_outcome, argument)
        if code != 0:  # the handle has ended all the same
            expect_not(number)
            incident = lock_object.incident()
            if code == lib.PDK_ELOST:
                self._lose()
        else:
            code, incident = yield future
        if code != 0:
            raise error(code, incident)

    def _release_closed(self) -> bool:
        """A closed client has ended it. The handle ends with the lock."""
        if not self._object.client._closing:
            return False
        if self.released:
            raise error(lib.PDK_EPERM, "it was released before")
        self._forget()
        self._lose()
        raise error(lib.PDK_ELOST, "the client was closed before the release")

    def release(self) -> None:
        """Release, and return when the servers have deleted the nodes, within one session timeout. Whatever is raised,
        it is not held any more. Lost: it was lost before. NotHeld: it was released before. UnknownOutcome, Access;
        Deadlock: a callback must not wait."""
        self._release_closed()
        self._object.client._wait(self._release())

    async def release_async(self) -> None:
        """As release(), in a task."""
        self._release_closed()
        await self._object.client._wait_async(self._release())

    def __enter__(self) -> Held:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release. Lost is raised when it was lost, and other errors of release(), unless an exception is on its
        way."""
        if self.released:
            return
        try:
            self.release()
        except Error:
            if kind is None:
                raise

    async def __aenter__(self) -> Held:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As the end of `with`, in a task."""
        if self.released:
            return
        try:
            await self.release_async()
        except Error:
            if kind is None:
                raise

    # --- writes that the servers do only while it is held ---

    def _written(self, kind: int, path: str, data: bytes, version: int) -> Steps[None]:
        lock_object = self._object
        lock_object.client._here()
        future = new_future()

        def complete(code: int) -> None:
            future.set_result((code, lock_object.incident() if code != 0 else ""))

        name, content = ffi.new("char[]", encoded_path(path)), ffi.from_buffer(data)
        write = ffi.new("pdk_write *", {"kind": kind, "path": name, "size": len(content), "version": version})
        write.data = content
        number, argument = expect(complete)
        with self._guard:
            grant = self._grant
            code = lib.PDK_EPERM
            if grant != ffi.NULL:
                code = lib.pdk_grant_write_async(grant, write, on_outcome, argument)
        if code != 0:
            expect_not(number)
            raise error(code, lock_object.incident() if grant != ffi.NULL else "it was released before")
        code, incident = yield future
        if code != 0:
            raise error(code, incident)

    def set(self, path: str, data: bytes, version: int = -1) -> None:
        """Set the data of the node PATH, if the lock is still held when the servers do it. VERSION: that the node must
        have; -1: any.

        Lost: nothing has changed. UnknownOutcome: it may have happened. Conflict: another version; NotFound, Access.
        Disconnected: nothing was sent. NotHeld: it was released.
        """
        self._object.client._wait(self._written(lib.PDK_WRITE_SET, path, data, version))

    async def set_async(self, path: str, data: bytes, version: int = -1) -> None:
        """As set(), in a task."""
        await self._object.client._wait_async(self._written(lib.PDK_WRITE_SET, path, data, version))

    def create(self, path: str, data: bytes = b"") -> None:
        """Create the node PATH, which stays, as set(). Conflict: it is there already; NotFound: no node above it."""
        self._object.client._wait(self._written(lib.PDK_WRITE_CREATE, path, data, -1))

    async def create_async(self, path: str, data: bytes = b"") -> None:
        """As create(), in a task."""
        await self._object.client._wait_async(self._written(lib.PDK_WRITE_CREATE, path, data, -1))

    def delete(self, path: str, version: int = -1) -> None:
        """Delete the node PATH, as set(). Conflict: another version, or it has children."""
        self._object.client._wait(self._written(lib.PDK_WRITE_DELETE, path, b"", version))

    async def delete_async(self, path: str, version: int = -1) -> None:
        """As delete(), in a task."""
        await self._object.client._wait_async(self._written(lib.PDK_WRITE_DELETE, path, b"", version))


class _Request:
    """A request, and the grant that it becomes."""

    def __init__(self, lock: Lock, timeout_ms: int, on_lost: Callback, on_revoked: Callback) -> None:
        self._object = lock._object
        self._on_lost, self._on_revoked = on_lost, on_revoked
        self._guard = threading.RLock()  # end() is for any thread, _complete() for the one that dispatches
        self._ended = False
        self._held: Held | None = None
        self._out = ffi.new("pdk_grant **")
        self.future: Future[Any] = new_future()
        number, argument = expect(self._complete)
        code = lock._request(timeout_ms, on_outcome, argument, self._out)
        if code != 0:
            expect_not(number)
            raise error(code, self._object.incident())

    def _complete(self, code: int) -> None:
        """In the dispatch: a loss that follows at once finds what it is about."""
        with self._guard:
            if code == 0 and not self._ended:
                self._held = Held(self._object, self._out[0], self._on_lost, self._on_revoked)
                self._object.held.add(self._held)
                self._object.client._held.add(self._held)
        if self._held is not None and self._held.token in self._object.early:
            self._held._revoke()
        self.future.set_result((code, self._held if code == 0 else self._object.incident()))

    def end(self) -> None:
        """End the handle, in whatever stage: a request is taken back, a grant is released."""
        with self._guard:
            self._ended = True
            grant = self._held._forget() if self._held is not None else self._out[0]
            if grant != ffi.NULL and not self._object.client._closing:
                lib.pdk_grant_release_async(grant, ffi.NULL, ffi.NULL)


def _owner() -> object:
    """The task, or else the thread, that calls."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return task if task is not None else threading.current_thread()


def _ended(owner: object) -> bool:
    """Will this task or thread call no more?"""
    if isinstance(owner, asyncio.Task):
        return owner.done()
    return not (isinstance(owner, threading.Thread) and owner.is_alive())


class _Owned:
    """What each thread and task has of a lock, in its order."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._entries: list[tuple[weakref.ref[object], Held]] = []

    def add(self, held: Held) -> None:
        with self._guard:
            self._entries.append((weakref.ref(_owner()), held))

    def forget_released(self) -> None:
        with self._guard:
            self._entries = [entry for entry in self._entries if not entry[1].released]

    def take(self, moved: Callable[[object], bool]) -> Held:
        """Remove the caller's last one. Where it has none: the only one of all, if its owner is MOVED. NotHeld."""
        me = _owner()
        with self._guard:
            found = [entry for entry in self._entries if entry[0]() is me][-1:]
            if not found and len(self._entries) == 1 and moved(self._entries[0][0]()):
                found = self._entries[:]
            if not found:
                raise error(lib.PDK_EPERM)
            self._entries.remove(found[0])
        return found[0][1]


class Lock:
    """What all locks share. A lock object may be used by several threads and tasks, which exclude each other.

    Nothing is re-entered: a thread that acquires a mutex which it holds waits for itself.

    A block of `with lock` may end in another thread or task than it began, while the object has no other block. For
    several at once that move between threads, as in generators, write `with lock.acquire()`.
    """

    def __init__(self, lock_object: LockObject) -> None:
        self._object = lock_object
        self._entered = _Owned()  # by `with`
        self._acquired = _Owned()

    def _request(self, timeout_ms: int, callback: Any, argument: Any, out: Any) -> int:
        raise NotImplementedError

    def _acquire(
        self, timeout: float | None, on_lost: Callback = None, on_revoked: Callback = None
    ) -> Steps[Held]:
        limit = milliseconds(timeout)
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            request = _Request(self, limit, on_lost, on_revoked)
            try:
                code, value = yield request.future
            except BaseException:
                request.end()
                raise
            if code == 0:
                held: Held = value
                return held
            request.end()
            if code != lib.PDK_ELOST:
                raise error(code, value)
            if timeout == 0:
                raise Busy(value)
            # Granted, and lost before the program could hear of it: contend again.
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimedOut(value)
            limit = milliseconds(left)

    def acquire(
        self, timeout: float | None = None, *, on_lost: Callback = None, on_revoked: Callback = None
    ) -> Held:
        """Acquire, at most TIMEOUT seconds from now; None: no limit; 0: a try. A signal interrupts the call, which then
        leaves no node. ON_LOST is called with the Held when that is lost, and ON_REVOKED when a client asks for its
        release: where the client's callbacks run, or in a release() that is the first to see the loss.

        TimedOut; Busy, Disconnected: of a try. Access, Refused, Closed, Limit and others of <paddock/mutex.h>: not
        acquired, and no node is left.
        """
        return self._note(self._object.client._wait(self._acquire(timeout, on_lost, on_revoked)))

    async def acquire_async(
        self, timeout: float | None = None, *, on_lost: Callback = None, on_revoked: Callback = None
    ) -> Held:
        """As acquire(), in a task. A cancelled task leaves no node."""
        return self._note(await self._object.client._wait_async(self._acquire(timeout, on_lost, on_revoked)))

    def release(self) -> None:
        """Release what this thread or task has acquired last by acquire(), as Held.release(). When it has acquired
        nothing: the only one that is held of this object, if the thread or task that acquired it has ended. NotHeld."""
        self._last().release()

    async def release_async(self) -> None:
        """As release(), in a task."""
        await self._last().release_async()

    def _note(self, held: Held) -> Held:
        self._acquired.forget_released()
        self._acquired.add(held)
        return held

    def _last(self) -> Held:
        self._object.client._forbid_child()
        self._acquired.forget_released()
        return self._acquired.take(_ended)

    def _push(self, held: Held) -> Held:
        self._entered.add(held)
        return held

    def _pop(self) -> Held:
        return self._entered.take(lambda owner: True)

    def __enter__(self) -> Held:
        """Acquire without a limit of time."""
        return self._push(self._object.client._wait(self._acquire(None)))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release, as the end of a Held's block."""
        self._pop().__exit__(kind, value, trace)

    async def __aenter__(self) -> Held:
        return self._push(await self._object.client._wait_async(self._acquire(None)))

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pop().__aexit__(kind, value, trace)


class Mutex(Lock):
    """A mutex of one path or of several. Client.mutex() makes it."""

    def __init__(self, client: Client, paths: tuple[str, ...], options: Options | None) -> None:
        self._paths = paths
        super().__init__(LockObject(client, self._make, options))

    def _make(self, out: Any, client: Any, options: Any) -> int:
        if len(self._paths) == 1:
            return int(lib.pdk_mutex_new(out, client, encoded_path(self._paths[0]), options))
        paths = [ffi.new("char[]", encoded_path(path)) for path in self._paths]
        array = ffi.new("const char *[]", paths)
        return int(lib.pdk_mutex_new_several(out, client, array, len(paths), options))

    def _request(self, timeout_ms: int, callback: Any, argument: Any, out: Any) -> int:
        return int(lib.pdk_mutex_lock_async(self._object.pointer, timeout_ms, callback, argument, out))


class _Reading(Lock):
    def _request(self, timeout_ms: int, callback: Any, argument: Any, out: Any) -> int:
        return int(lib.pdk_rwlock_rdlock_async(self._object.pointer, timeout_ms, callback, argument, out))


class _Writing(Lock):
    def _request(self, timeout_ms: int, callback: Any, argument: Any, out: Any) -> int:
        return int(lib.pdk_rwlock_wrlock_async(self._object.pointer, timeout_ms, callback, argument, out))


class RWLock:
    """A read/write lock. Client.rwlock() makes it."""

    def __init__(self, client: Client, path: str, options: Options | None) -> None:
        def make(out: Any, pointer: Any, opts: Any) -> int:
            return int(lib.pdk_rwlock_new(out, pointer, encoded_path(path), opts))

        self._object = LockObject(client, make, options)

    def reading(self) -> Lock:
        """The lock, to be acquired for reading: with others that read."""
        return _Reading(self._object)

    def writing(self) -> Lock:
        """The lock, to be acquired for writing: alone."""
        return _Writing(self._object)


class _Permits(Lock):
    def __init__(self, lock_object: LockObject, count: int) -> None:
        super().__init__(lock_object)
        self._count = count

    def _request(self, timeout_ms: int, callback: Any, argument: Any, out: Any) -> int:
        acquire = lib.pdk_semaphore_acquire_async
        return int(acquire(self._object.pointer, self._count, timeout_ms, callback, argument, out))


class Semaphore:
    """A semaphore. Client.semaphore() makes it."""

    def __init__(self, client: Client, path: str, limit: int, options: Options | None) -> None:
        def make(out: Any, pointer: Any, opts: Any) -> int:
            return int(lib.pdk_semaphore_new(out, pointer, encoded_path(path), limit, opts))

        self._object = LockObject(client, make, options)

    def permits(self, count: int = 1) -> Lock:
        """COUNT permits, to be acquired all or none. More than the limit: acquire() raises InvalidArgument."""
        return _Permits(self._object, count)

    @property
    def limit(self) -> int:
        """The number of permits. A new one is for this object; other clients keep theirs. InvalidArgument."""
        self._object.client._here()
        return int(lib.pdk_semaphore_limit(self._object.pointer))

    @limit.setter
    def limit(self, limit: int) -> None:
        self._object.client._here()
        code = lib.pdk_semaphore_set_limit(self._object.pointer, limit)
        if code != 0:
            raise error(code, f"a limit of {limit}")
