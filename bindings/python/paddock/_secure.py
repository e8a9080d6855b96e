# SPDX-License-Identifier: Apache-2.0
"""Secured connections: TLS, and authentication by SASL."""
from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._library import call_back, callback, encoded, error, ffi, lib, new_number, number_of, whole

_FEATURES = {"tls": lib.PDK_TLS, "sasl": lib.PDK_SASL}


def has(feature: str) -> bool:
    """Does the library have FEATURE, "tls" or "sasl"? False for another name. Debian's ZooKeeper client has neither."""
    return bool(lib.pdk_has(_FEATURES.get(feature, 0)))


@dataclass(frozen=True)
class TlsOptions:
    """TLS for a client. Files are in PEM, and are read again for each connection.

    `password` is called for each connection that needs it, on a thread of the library or of ZooKeeper's client. It must
    not call this package. Python does not overwrite the text that it returns. <paddock/secure.h> tells which servers
    are accepted.
    """

    #: The authorities that may have signed the servers' certificates.
    ca: str | os.PathLike[str]
    #: The client's own certificate with its chain.
    cert: str | os.PathLike[str]
    #: Its private key.
    key: str | os.PathLike[str]
    #: Gives the password of the key, of at most 1023 bytes. None: it has none.
    password: Callable[[], str] | None = None
    #: Accept a server whose certificate names no host of the list.
    any_name: bool = False

    def _fill(self, options: Any) -> None:
        files = (whole(os.fsencode(file), "a file") for file in (self.ca, self.cert, self.key))
        code = lib.pdk_client_options_set_tls(options, *files, self.any_name, *_secret(self))
        if code != 0:
            raise error(code, f"{self}")


@dataclass(frozen=True)
class SaslOptions:
    """Authentication of a client by SASL. All that follows is plain text.

    `password` is called for each connection, on a thread of the library or of ZooKeeper's client. It must not call this
    package. Python does not overwrite the text that it returns.
    """

    #: "DIGEST-MD5", or another that the system's Cyrus SASL knows.
    mechanism: str
    user: str
    #: Gives the user's password, of at most 1023 bytes. None: the mechanism needs none.
    password: Callable[[], str] | None = None

    def _fill(self, options: Any) -> None:
        names = encoded(self.mechanism, "mechanism"), encoded(self.user, "user")
        code = lib.pdk_client_options_set_sasl(options, *names, *_secret(self))
        if code != 0:
            raise error(code, f"{self}")


# The client keeps its options, and not the other way: the last reference to a client never ends on a thread of its own.
_options: weakref.WeakValueDictionary[int, TlsOptions | SaslOptions] = weakref.WeakValueDictionary()


def _secret(options: TlsOptions | SaslOptions) -> tuple[Any, Any]:
    """The callback for the password, and its argument; NULL without a password."""
    if options.password is None:
        return ffi.NULL, ffi.NULL
    number = new_number()
    _options[number] = options
    return _on_secret, ffi.cast("void *", number)


@callback("pdk_secret_cb")
def _on_secret(buffer: Any, size: int, argument: Any) -> int:
    options = _options.get(number_of(argument))
    secrets: list[bytes] = []

    def ask() -> None:
        if options is not None and options.password is not None:
            secrets.append(encoded(options.password(), "a password"))

    call_back(ask)
    if not secrets or len(secrets[0]) >= size:
        return -1
    ffi.memmove(buffer, secrets[0], len(secrets[0]))
    return len(secrets[0])
