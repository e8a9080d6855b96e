# SPDX-License-Identifier: Apache-2.0
"""The errors of the C library, a class for each code."""
# Made by generate from the headers: change those, and run it again.

from __future__ import annotations


class Error(Exception):
    """The base of all errors. The text is the incident, as the library's last_error functions have it.

    `code` is the library's number and `name` the name of that, as "PDK_EBUSY".
    """

    code: int = 0
    name: str = "PDK_E?"
    #: May the same call simply be made again? Nothing happened, and later it may succeed.
    retriable: bool = False
    #: May it have happened all the same?
    unknown: bool = False
    #: Is the object finished? No later call on it, or on its client, will succeed.
    fatal: bool = False


class InvalidArgument(Error, ValueError):
    """Invalid argument."""

    code = -1
    name = "PDK_EINVAL"


class NoMemory(Error, MemoryError):
    """Out of memory."""

    code = -2
    name = "PDK_ENOMEM"
    retriable = True


class Busy(Error):
    """In use."""

    code = -3
    name = "PDK_EBUSY"
    retriable = True


class TimedOut(Error, TimeoutError):
    """Timed out."""

    code = -4
    name = "PDK_ETIMEDOUT"
    retriable = True


class NotHeld(Error):
    """Not held by the caller."""

    code = -5
    name = "PDK_EPERM"


class Deadlock(Error):
    """A blocking call on a callback thread would never return."""

    code = -6
    name = "PDK_EDEADLK"


class Forked(Error):
    """The object belongs to the parent process."""

    code = -7
    name = "PDK_EFORKED"
    fatal = True


class Closed(Error):
    """The client is closed."""

    code = -8
    name = "PDK_ECLOSED"
    fatal = True


class Cancelled(Error):
    """Cancelled."""

    code = -9
    name = "PDK_ECANCELED"


class Lost(Error):
    """The lock was lost while it was held."""

    code = -10
    name = "PDK_ELOST"


class Expired(Error):
    """The session expired and the handle is not ours to renew."""

    code = -11
    name = "PDK_EEXPIRED"
    fatal = True


class Disconnected(Error, ConnectionError):
    """No server of the ensemble answers."""

    code = -12
    name = "PDK_EDISCONNECTED"
    retriable = True


class UnknownOutcome(Error):
    """The connection was lost: it may or may not have happened."""

    code = -13
    name = "PDK_EUNKNOWN"
    unknown = True


class Access(Error, PermissionError):
    """Not permitted by the ACL."""

    code = -14
    name = "PDK_EACCES"


class AuthFailed(Error):
    """The servers refused the authentication."""

    code = -15
    name = "PDK_EAUTH"
    fatal = True


class InvalidPath(Error, ValueError):
    """Not a valid lock path."""

    code = -16
    name = "PDK_EPATH"


class UnknownHost(Error):
    """The host list cannot be resolved."""

    code = -17
    name = "PDK_EHOST"


class Refused(Error):
    """The servers refuse the request."""

    code = -18
    name = "PDK_EREFUSED"


class Exhausted(Error):
    """The sequence counter of the lock path is exhausted."""

    code = -19
    name = "PDK_EEXHAUSTED"


class NotFound(Error, LookupError):
    """The path does not exist."""

    code = -20
    name = "PDK_ENOENT"


class System(Error):
    """The operating system refused a thread or a descriptor."""

    code = -21
    name = "PDK_ESYSTEM"
    retriable = True


class Limit(Error):
    """More locks than one session can carry."""

    code = -22
    name = "PDK_ELIMIT"
    retriable = True


class Stale(Error):
    """The servers' transaction numbers are behind the token that was asked for."""

    code = -23
    name = "PDK_ESTALE"


class ShortTimeout(Error):
    """The session timeout is too short for the servers' tick and the margins."""

    code = -24
    name = "PDK_ESHORT"
    fatal = True


class InvalidAcl(Error):
    """The servers do not take the ACL: they know no such scheme, or no such identity in it."""

    code = -25
    name = "PDK_EACL"


class NotSupported(Error):
    """Not supported."""

    code = -26
    name = "PDK_ENOTSUP"


class Tls(Error):
    """No TLS connection could be made."""

    code = -27
    name = "PDK_ETLS"
    retriable = True


class Mixed(Error):
    """The path has contenders of another recipe, or with another limit."""

    code = -28
    name = "PDK_EMIXED"


class Conflict(Error):
    """The node is not as the write requires."""

    code = -29
    name = "PDK_ECONFLICT"


class Done(Error):
    """The job is done."""

    code = -30
    name = "PDK_EDONE"


class InvalidRecord(Error):
    """The record of the last run cannot be believed."""

    code = -31
    name = "PDK_ERECORD"


class ForeignServer(Error):
    """The servers are not ZooKeeper's: they resume no session."""

    code = -32
    name = "PDK_ESERVER"
    fatal = True


CLASSES: tuple[type[Error], ...] = (
    InvalidArgument,
    NoMemory,
    Busy,
    TimedOut,
    NotHeld,
    Deadlock,
    Forked,
    Closed,
    Cancelled,
    Lost,
    Expired,
    Disconnected,
    UnknownOutcome,
    Access,
    AuthFailed,
    InvalidPath,
    UnknownHost,
    Refused,
    Exhausted,
    NotFound,
    System,
    Limit,
    Stale,
    ShortTimeout,
    InvalidAcl,
    NotSupported,
    Tls,
    Mixed,
    Conflict,
    Done,
    InvalidRecord,
    ForeignServer,
)

BY_CODE: dict[int, type[Error]] = {each.code: each for each in CLASSES}
