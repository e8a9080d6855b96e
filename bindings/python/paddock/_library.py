# SPDX-License-Identifier: Apache-2.0
"""The C library, opened once, and what every module needs of it."""
from __future__ import annotations

import itertools
import logging
import math
import os
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import cffi

from ._cdef import CDEF, SONAME
from ._errors import BY_CODE, Error

log = logging.getLogger("paddock")

ffi: Any = cffi.FFI()
ffi.cdef(CDEF)
lib: Any = ffi.dlopen(os.environ.get("PADDOCK_LIBRARY", SONAME))

# cffi looks a function up at its first use, under a lock of its own. A finalizer may run inside another look-up, and a
# child process may be forked during one, so all are looked up now.
for _name in dir(lib):
    getattr(lib, _name)

FOREVER = -1


def text_of(function: Any, *arguments: Any) -> str:
    """What a function of the library copies into a buffer."""
    size = 512
    while True:
        buffer = ffi.new("char[]", size)
        length = function(*arguments, buffer, size)
        if length < size:
            return str(ffi.string(buffer).decode("utf-8", "replace"))
        size = int(length) + 1


def error(code: int, incident: str = "") -> Error:
    """The exception for a code of the library; its text is the incident, or else the meaning of the code."""
    text = incident or ffi.string(lib.pdk_strerror(code)).decode()
    found = BY_CODE.get(code)
    if found is not None:
        return found(text)
    unknown = Error(text)  # a later library has it
    unknown.code = code
    unknown.name = ffi.string(lib.pdk_strerrorname(code)).decode()
    return unknown


def whole(text: bytes, what: str, code: int = lib.PDK_EINVAL) -> bytes:
    """A TEXT for the library, which would take it up to the first NUL: CODE is the error of one that has a NUL."""
    if b"\0" in text:
        raise error(code, f"{what} has a NUL")
    return text


def encoded(text: str, what: str, code: int = lib.PDK_EINVAL) -> bytes:
    """A TEXT for the library, in UTF-8. CODE is the error of one that has a NUL or half a surrogate pair."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise error(code, f"{what} is not Unicode") from None
    return whole(data, what, code)


def encoded_path(path: str) -> bytes:
    """A PATH for the library. InvalidPath."""
    return encoded(path, "a path", lib.PDK_EPATH)


def milliseconds(seconds: float | None) -> int:
    """A timeout in the library's unit, rounded up; None: no limit."""
    if seconds is None or seconds == math.inf:
        return FOREVER
    if not 0 <= seconds <= 1e12:
        raise error(lib.PDK_EINVAL, f"a timeout of {seconds} seconds")
    return math.ceil(seconds * 1000)


def new_future() -> Future[Any]:
    """A future that only its maker completes: a waiter's cancellation does not touch it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


# Callbacks get a number instead of a pointer: one that comes late for an object that was deleted finds nothing.
_numbers = itertools.count(1)
_expected: dict[int, Callable[[int], None]] = {}


def expect(complete: Callable[[int], None]) -> tuple[int, Any]:
    """A number under which COMPLETE will be called once with an outcome, and the same as a pointer."""
    number = next(_numbers)
    _expected[number] = complete
    return number, ffi.cast("void *", number)


def expect_not(number: int) -> None:
    """No outcome comes: the call that would have sent it was refused."""
    _expected.pop(number, None)


def new_number() -> int:
    """A number for an object that gets events."""
    return next(_numbers)


def number_of(argument: Any) -> int:
    """The number that a callback was called with."""
    return int(ffi.cast("intptr_t", argument))


def callback(declaration: str) -> Callable[[Callable[..., Any]], Any]:
    """A decorator: the library calls the function, as one of a type of its headers."""
    decorator: Callable[[Callable[..., Any]], Any] = ffi.callback(declaration)
    return decorator


@callback("void(int, void *)")
def on_outcome(code: int, argument: Any) -> None:
    """The callback of every asynchronous call."""
    complete = _expected.pop(number_of(argument), None)
    if complete is not None:
        complete(code)


def call_back(function: Callable[..., object], *arguments: object) -> None:
    """Call the program's function; its exceptions have no caller, and are logged."""
    try:
        function(*arguments)
    except Exception:
        log.exception("a callback failed")
