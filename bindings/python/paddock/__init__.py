# SPDX-License-Identifier: Apache-2.0
"""Distributed locks on ZooKeeper: the Python binding of libpaddock.

    with paddock.Client("127.0.0.1:2181") as client:
        with client.mutex("/locks/report") as held:
            write_report(token=held.token)

All times are in seconds. Errors are subclasses of Error. doc/python.md is the manual; <paddock/lock.h> and its like
have the promises and the traps.

The library is libpaddock.so, or the file that PADDOCK_LIBRARY of the environment names.
"""
from ._barrier import Barrier, DoubleBarrier
from ._client import Client, SessionState
from ._contenders import Contender, Mode
from ._errors import (
    Access,
    AuthFailed,
    Busy,
    Cancelled,
    Closed,
    Conflict,
    Deadlock,
    Disconnected,
    Done,
    Error,
    Exhausted,
    Expired,
    ForeignServer,
    Forked,
    InvalidAcl,
    InvalidArgument,
    InvalidPath,
    InvalidRecord,
    Limit,
    Lost,
    Mixed,
    NoMemory,
    NotFound,
    NotHeld,
    NotSupported,
    Refused,
    ShortTimeout,
    Stale,
    System,
    TimedOut,
    Tls,
    UnknownHost,
    UnknownOutcome,
)
from ._leader import Leader, LeaderObserver, Term
from ._library import ffi as _ffi
from ._library import lib as _lib
from ._locks import Held, Lock, Mutex, Options, RWLock, Semaphore, State
from ._once import Once, Run
from ._secure import SaslOptions, TlsOptions, has
from ._stats import Histogram, Stats

__version__: str = _ffi.string(_lib.pdk_version()).decode()

__all__ = [
    "Access",
    "AuthFailed",
    "Barrier",
    "Busy",
    "Cancelled",
    "Client",
    "Closed",
    "Conflict",
    "Contender",
    "Deadlock",
    "Disconnected",
    "Done",
    "DoubleBarrier",
    "Error",
    "Exhausted",
    "Expired",
    "ForeignServer",
    "Forked",
    "Held",
    "Histogram",
    "InvalidAcl",
    "InvalidArgument",
    "InvalidPath",
    "InvalidRecord",
    "Leader",
    "LeaderObserver",
    "Limit",
    "Lock",
    "Lost",
    "Mixed",
    "Mode",
    "Mutex",
    "NoMemory",
    "NotFound",
    "NotHeld",
    "NotSupported",
    "Once",
    "Options",
    "RWLock",
    "Refused",
    "Run",
    "SaslOptions",
    "Semaphore",
    "SessionState",
    "ShortTimeout",
    "Stale",
    "State",
    "Stats",
    "System",
    "Term",
    "TimedOut",
    "Tls",
    "TlsOptions",
    "UnknownHost",
    "UnknownOutcome",
    "has",
]
