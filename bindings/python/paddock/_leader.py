# SPDX-License-Identifier: Apache-2.0
"""A leader: a candidate, and its terms; an observer of a leader."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from ._client import Client, Steps
from ._errors import Cancelled, Error, Lost
from ._library import (
    FOREVER,
    call_back,
    callback,
    encoded,
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
)
from ._locks import LockObject, Options, State


class Term:
    """A term of a leader. Check `valid` or `state` before each step that only a leader may take."""

    #: The fencing token of the term.
    token: int
    #: Set when the term is over, for whatever reason.
    over: threading.Event
    #: Set when it was lost: it ended neither by resign() nor by give_way().
    lost: threading.Event

    def __init__(self, leader: Leader, token: int) -> None:
        self._leader = leader
        self.token = token
        self.over = threading.Event()
        self.lost = threading.Event()

    @property
    def valid(self) -> float:
        """The seconds for which it is still certain to lead; no request. 0.0: not any more. Forked in a child."""
        return self._leader._valid(self)

    @property
    def state(self) -> State:
        """The state of the term: HELD, SUSPECT (stop, and wait), LOST, or FREE after a resignation."""
        return self._leader._state(self)


class Leader:
    """A candidate. Client.leader() makes it. It belongs to no thread.

    `with client.leader(path) as term` stands, waits for a term, and resigns at the end.
    """

    def __init__(self, client: Client, path: str, identity: str | None, in_turns: bool) -> None:
        mode = lib.PDK_IN_TURNS if in_turns else lib.PDK_LATCH

        def make(out: Any, pointer: Any, opts: Any) -> int:
            return int(lib.pdk_leader_new(out, pointer, encoded_path(path), mode, opts))

        options = None if identity is None else Options(data=encoded(identity, "an identity"))
        self._guard = threading.RLock()
        self._term: Term | None = None
        self._endless: Future[Any] | None = None
        self._client = client
        self._object = LockObject(client, make, options)
        self._object.on_event = weakref.WeakMethod(self._look)

    def _token(self) -> int:
        """The token of the present term; 0: there is none."""
        out = ffi.new("int64_t *")
        return int(out[0]) if lib.pdk_lock_token(self._object.pointer, out, ffi.NULL) == 0 else 0

    def _look(self) -> None:
        """A term has begun or ended: compare the one that is known with the present one."""
        with self._guard:
            token = self._token()
            lost = lib.pdk_lock_state(self._object.pointer) == lib.PDK_LOST
            term = self._term
            if term is not None and (token != term.token or lost):
                self._end(term, lost=True)
            if self._term is None and token != 0 and not lost:
                self._term = Term(self, token)

    def _end(self, term: Term, lost: bool) -> None:
        """With the guard."""
        self._term = None
        if lost:
            term.lost.set()
        term.over.set()

    def _valid(self, term: Term) -> float:
        """Without the guard, as _state(): a handler of a signal that interrupts this may wait for the thread that
        dispatches, and that for the guard. What was read is of the term if that is the present one afterwards."""
        self._client._here()
        if term is not self._term:
            return 0.0
        valid = int(lib.pdk_lock_valid_ms(self._object.pointer))
        return valid / 1000 if self._token() == term.token else 0.0

    def _state(self, term: Term) -> State:
        self._client._here()
        state = State(lib.pdk_lock_state(self._object.pointer))
        if self._token() == term.token:
            return state
        self._look()
        return State.LOST if term.lost.is_set() else State.FREE

    def _awaited(self, limit: int) -> Future[Any]:
        """A wait for a term. One without a limit is shared: interrupted, it goes on, and the next call needs no thread
        more."""
        leader = self._object.pointer

        def begin() -> Future[Any]:
            return self._client._blocking(lambda: int(lib.pdk_leader_wait(leader, limit)), self._object.incident)

        if limit != FOREVER:
            return begin()
        with self._guard:
            if self._endless is None or self._endless.done():
                self._endless = begin()
            return self._endless

    def _lead(self, timeout: float | None) -> Steps[Term]:
        leader, limit = self._object.pointer, milliseconds(timeout)
        code = lib.pdk_leader_start(leader)
        if code != 0:
            raise error(code, self._object.incident())
        while True:
            code, incident = yield self._awaited(limit)
            if code != 0:
                raise error(code, incident)
            self._look()
            with self._guard:
                if self._term is not None:
                    return self._term

    def lead(self, timeout: float | None = None) -> Term:
        """Become a candidate if need be, and wait for a term, at most TIMEOUT seconds; None: no limit. After TimedOut
        it still is a candidate; so it is when a signal interrupts the call. Cancelled: it has resigned meanwhile."""
        return self._client._wait(self._lead(timeout))

    async def lead_async(self, timeout: float | None = None) -> Term:
        """As lead(), in a task."""
        return await self._client._wait_async(self._lead(timeout))

    def terms(self) -> Iterator[Term]:
        """Each term in turn: the next one when the term before is over. It ends when the leader resigns."""
        while True:
            try:
                term = self.lead()
            except Cancelled:
                return
            yield term
            term.over.wait()
            if not term.lost.is_set() and lib.pdk_leader_wait(self._object.pointer, 0) == lib.PDK_ECANCELED:
                return

    def give_way(self) -> None:
        """End the term, and be a candidate again at the end of the queue. NotHeld: it does not lead."""
        self._client._here()
        with self._guard:
            term = self._term
            code = lib.pdk_leader_yield(self._object.pointer)
            if term is not None:
                self._end(term, lost=code != 0)
        if code != 0:
            raise error(code, self._object.incident())

    def _resign(self) -> Steps[None]:
        future = new_future()

        def complete(code: int) -> None:
            future.set_result((code, self._object.incident() if code != 0 else ""))

        self._look()
        number, argument = expect(complete)
        with self._guard:
            self._endless = None  # it ends with PDK_ECANCELED; a wait after a new start is another one
            code = lib.pdk_leader_resign_async(self._object.pointer, on_outcome, argument)
            if code == 0 and self._term is not None:
                self._end(self._term, lost=False)
        if code != 0:
            expect_not(number)
            raise error(code, self._object.incident())
        code, incident = yield future
        if code != 0:
            raise error(code, incident)

    def resign(self) -> None:
        """End the candidacy, and the term if there is one. It returns when the node is deleted, within one session
        timeout. Lost: another client had deleted the node of the term. UnknownOutcome, Access, Closed."""
        self._client._wait(self._resign())

    async def resign_async(self) -> None:
        """As resign(), in a task."""
        await self._client._wait_async(self._resign())

    def _enter(self) -> Steps[Term]:
        """Lead; an interrupted one resigns."""
        try:
            term = yield from self._lead(None)
        except BaseException:
            self._endless = None
            lib.pdk_leader_resign_async(self._object.pointer, ffi.NULL, ffi.NULL)
            raise
        self._entered = term
        return term

    def __enter__(self) -> Term:
        return self._client._wait(self._enter())

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Resign. Lost is raised when the term was lost, unless an exception is on its way."""
        try:
            self.resign()
            self._demand_kept()
        except Error:
            if kind is None:
                raise

    async def __aenter__(self) -> Term:
        return await self._client._wait_async(self._enter())

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.resign_async()
            self._demand_kept()
        except Error:
            if kind is None:
                raise

    def _demand_kept(self) -> None:
        if self._entered.lost.is_set():
            raise Lost("the term was lost")


#: Called with the identity of a leader and the token of its term, or with None and 0 when there is no leader.
OnLeader = Callable[[str | None, int], object]

_observers: weakref.WeakValueDictionary[int, LeaderObserver] = weakref.WeakValueDictionary()


@callback("pdk_observer_cb")
def _on_leader(identity: Any, token: int, argument: Any) -> None:
    observer = _observers.get(number_of(argument))
    if observer is not None:
        text = None if identity == ffi.NULL else ffi.string(identity).decode("utf-8", "replace")
        call_back(observer._on_leader, text, token)


class LeaderObserver:
    """An observer of a leader, until stop(), the end of its `with` block, or the end of its client.
    Client.observe_leader() makes it."""

    def __init__(self, client: Client, path: str, on_leader: OnLeader) -> None:
        self._client = client
        self._on_leader = on_leader
        self._guard = threading.RLock()
        client._drive()
        number = new_number()
        _observers[number] = self
        out = ffi.new("pdk_leader_observer **")
        argument = ffi.cast("void *", number)
        code = lib.pdk_leader_observe(out, client._client, encoded_path(path), _on_leader, argument)
        if code != 0:
            raise error(code)
        self._observer = out[0]
        client._observers.add(self)

    def _free(self) -> None:
        with self._guard:
            lib.pdk_leader_observer_free(self._observer)
            self._observer = ffi.NULL

    def stop(self) -> None:
        """Stop observing. Any thread, also in the callback; a callback that runs in another thread ends in its own
        time. Nothing happens when it has stopped before."""
        self._client._forbid_child()
        self._free()
        self._client._observers.discard(self)

    def __enter__(self) -> LeaderObserver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
