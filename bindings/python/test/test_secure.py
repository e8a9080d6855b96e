"""TLS and SASL. Debian's ZooKeeper client has neither, and a client that asks for one is refused."""
from __future__ import annotations

import unittest
from collections.abc import Callable

import paddock
from common import HOSTS
from paddock import _secure
from paddock._library import ffi

TLS = paddock.TlsOptions("ca.pem", "cert.pem", "key.pem")
SASL = paddock.SaslOptions("DIGEST-MD5", "user", lambda: "secret")


class Features(unittest.TestCase):
    def test_an_unknown_feature_is_missing(self) -> None:
        self.assertFalse(paddock.has("smoke"))

    def test_a_missing_feature_is_refused(self) -> None:
        if not paddock.has("tls"):
            with self.assertRaises(paddock.NotSupported):
                paddock.Client(HOSTS, tls=TLS)
        if not paddock.has("sasl"):
            with self.assertRaises(paddock.NotSupported):
                paddock.Client(HOSTS, sasl=SASL)

    def test_arguments_of_a_feature_are_checked(self) -> None:
        if not paddock.has("tls"):
            self.skipTest("ZooKeeper's client has no TLS")
        with self.assertRaises(paddock.InvalidArgument):
            paddock.Client(HOSTS, tls=paddock.TlsOptions("", "cert.pem", "key.pem"))
        with self.assertRaises(paddock.Tls):
            paddock.Client(HOSTS, tls=TLS)


class Passwords(unittest.TestCase):
    def asked(self, password: Callable[[], str] | None) -> bytes | None:
        """What the library gets into a buffer of eight bytes; None: no password."""
        options = paddock.SaslOptions("PLAIN", "user", password)
        buffer, (function, argument) = ffi.new("char[]", 8), _secure._secret(options)
        length = function(buffer, 8, argument) if function != ffi.NULL else -1
        return bytes(ffi.buffer(buffer, length)) if length >= 0 else None

    def test_the_library_gets_the_password(self) -> None:
        self.assertEqual(self.asked(lambda: "secr\u00e9t"), "secr\u00e9t".encode())

        self.assertIsNone(self.asked(None))

    def test_a_password_that_does_not_fit_is_none(self) -> None:
        self.assertEqual(self.asked(lambda: "1234567"), b"1234567")
        self.assertIsNone(self.asked(lambda: "12345678"))

    def test_a_function_that_fails_gives_no_password_and_is_logged(self) -> None:
        def fails() -> str:
            raise KeyError("no such secret")

        with self.assertLogs("paddock", "ERROR") as logged:
            self.assertIsNone(self.asked(fails))
        self.assertIn("no such secret", logged.output[0])

    def test_options_that_are_deleted_give_none(self) -> None:
        function, argument = _secure._secret(paddock.SaslOptions("PLAIN", "user", lambda: "secret"))
        self.assertEqual(function(ffi.new("char[]", 8), 8, argument), -1)


if __name__ == "__main__":
    unittest.main()
