# SPDX-License-Identifier: Apache-2.0
"""The contenders of a path: its holders and waiters."""
from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from ._client import Client, Steps
from ._library import encoded_path, error, ffi, lib, milliseconds, text_of

_ALL = (1 << 8 * ffi.sizeof("size_t")) - 1


class Mode(enum.IntEnum):
    """How a contender holds the lock, by its node's name. NONE: no lock library could have created the node, and it
    blocks nobody."""

    EXCLUSIVE = 0
    READ = 1
    WRITE = 2
    NONE = 3
    PERMIT = 4


@dataclass(frozen=True)
class Contender:
    """A contender, as Client.contenders() has found it: it may be out of date. Never build a lock on it.

    `host`, `pid` and `label` are what the contender has written into its node, as any client could: "" and 0 are
    unknown. <paddock/contenders.h> tells more of each.
    """

    #: The name of its node.
    node: str
    #: How it holds the lock, or waits for it.
    mode: Mode
    #: Does it hold the lock, or is about to? Else it waits, or its mode is NONE.
    holds: bool
    #: The token of the grant that it has or will have; 0: the ACL does not permit to look at it.
    token: int
    #: The session that owns the node.
    session: int
    #: When the node was created, in seconds since 1970 by the servers' clock.
    since: float
    #: Was it asked to release?
    revoked: bool
    host: str
    pid: int
    label: str
    #: The data of the node.
    data: bytes
    _client: Client = field(repr=False, compare=False)
    _list: Any = field(repr=False, compare=False)
    _index: int = field(repr=False, compare=False)

    def _act(self, function: Any, timeout: float | None) -> Steps[None]:
        limit = milliseconds(timeout)
        return self._client._blocking_steps(lambda: int(function(self._client._client, self._list, self._index, limit)))

    def revoke(self, timeout: float | None = None) -> None:
        """Ask it to release the lock, at most TIMEOUT seconds from now; it does not wait for the release. NotFound: its
        node is deleted; TimedOut: it was not asked; UnknownOutcome, Access."""
        self._client._wait(self._act(lib.pdk_contender_revoke, timeout))

    async def revoke_async(self, timeout: float | None = None) -> None:
        """As revoke(), in a task."""
        await self._client._wait_async(self._act(lib.pdk_contender_revoke, timeout))

    def remove(self, timeout: float | None = None) -> None:
        """Delete its node against its owner's will, at most TIMEOUT seconds from now. Use it for a holder that is known
        to be dead, or that does not answer a request. A holder has lost its lock; a waiter queues again.

        The trap: the next contender is granted the lock at once, and the holder before it may work on. Only tokens
        protect a resource that both write to.

        NotFound: its node was deleted before; TimedOut: it was not deleted; UnknownOutcome; Access: the lock's path
        does not permit this client to DELETE; Refused: its node has children."""
        self._client._wait(self._act(lib.pdk_contender_remove, timeout))

    async def remove_async(self, timeout: float | None = None) -> None:
        """As remove(), in a task."""
        await self._client._wait_async(self._act(lib.pdk_contender_remove, timeout))


def _contender(client: Client, listed: Any, index: int) -> Contender:
    def number(what: int) -> int:
        return int(lib.pdk_contender_number(listed, index, what))

    def text(what: int) -> str:
        return str(ffi.string(lib.pdk_contender_text(listed, index, what)).decode("utf-8", "replace"))

    size = ffi.new("size_t *")
    data = lib.pdk_contender_data(listed, index, size)
    return Contender(
        node=text(lib.PDK_CONTENDER_NAME),
        mode=Mode(number(lib.PDK_CONTENDER_MODE)),
        holds=bool(lib.pdk_contender_holds(listed, index)),
        token=number(lib.PDK_CONTENDER_TOKEN),
        session=number(lib.PDK_CONTENDER_SESSION),
        since=number(lib.PDK_CONTENDER_SINCE_MS) / 1000,
        revoked=bool(number(lib.PDK_CONTENDER_REVOKED)),
        host=text(lib.PDK_CONTENDER_HOST),
        pid=number(lib.PDK_CONTENDER_PID),
        label=text(lib.PDK_CONTENDER_LABEL),
        data=bytes(ffi.buffer(data, size[0])),
        _client=client,
        _list=listed,
        _index=index,
    )


def contenders(client: Client, path: str, timeout: float | None) -> Steps[list[Contender]]:
    """The list, in its order."""
    name, limit, found = encoded_path(path), milliseconds(timeout), []

    def ask() -> int:
        out = ffi.new("pdk_contender_list **")
        code = int(lib.pdk_contenders(client._client, name, _ALL, limit, out))
        if code == 0:
            found.append(ffi.gc(out[0], lib.pdk_contender_list_free))
        return code

    code, incident = yield client._blocking(ask, lambda: text_of(lib.pdk_client_last_error, client._client))
    if code != 0:
        raise error(code, incident)
    return [_contender(client, found[0], i) for i in range(lib.pdk_contender_list_size(found[0]))]
