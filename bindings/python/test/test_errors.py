"""The classes of the errors are the library's codes."""
from __future__ import annotations

import gc
import unittest
import unittest.mock

import paddock
from paddock import _errors
from paddock._library import error, ffi, lib


class Errors(unittest.TestCase):
    def test_each_code_of_the_library_has_its_class(self) -> None:
        codes = {code: name for code, name in ffi.typeof("enum pdk_error").elements.items() if code < 0}
        self.assertEqual(sorted(_errors.BY_CODE), sorted(codes))
        for code, found in _errors.BY_CODE.items():
            self.assertEqual(found.name, codes[code])
            self.assertEqual(found.name, ffi.string(lib.pdk_strerrorname(code)).decode())
            self.assertEqual(found.code, code)
            self.assertTrue(issubclass(found, paddock.Error))
            self.assertIs(getattr(paddock, found.__name__), found)
            self.assertEqual(found.retriable, lib.pdk_err_retriable(code))
            self.assertEqual(found.unknown, lib.pdk_err_unknown(code))
            self.assertEqual(found.fatal, lib.pdk_err_fatal(code))

    def test_an_error_has_a_text_in_any_case(self) -> None:
        self.assertEqual(str(error(lib.PDK_EBUSY)), "in use")
        self.assertEqual(str(error(lib.PDK_EBUSY, "lock /a: in use")), "lock /a: in use")

    def test_a_code_of_a_later_library_is_an_error(self) -> None:
        later = error(-9999)
        self.assertIs(type(later), paddock.Error)
        self.assertEqual(later.code, -9999)
        self.assertEqual(later.name, "PDK_E?")

    def test_some_are_errors_of_pythons(self) -> None:
        for ours, theirs in ((paddock.TimedOut, TimeoutError), (paddock.Access, PermissionError)):
            self.assertTrue(issubclass(ours, theirs))

    def test_a_client_that_was_not_made_is_finalized_in_silence(self) -> None:
        with unittest.mock.patch("sys.unraisablehook") as unraisable:
            with self.assertRaises(TypeError):
                paddock.Client("127.0.0.1:2181", smoke=True)  # type: ignore[call-arg]
            gc.collect()
        unraisable.assert_not_called()

    def test_what_fails_on_a_thread_of_the_binding_is_raised_by_the_caller(self) -> None:
        with paddock.Client("127.0.0.1:2181") as client, self.assertRaises(ZeroDivisionError):
            client._wait(client._blocking_steps(lambda: 1 // 0))

    def test_each_function_is_looked_up_at_the_import(self) -> None:
        """A finalizer that looks one up inside another look-up would wait for itself: cffi has a lock there."""
        self.assertIn("pdk_lock_free", dir(lib))
        self.assertEqual([name for name in dir(lib) if name not in vars(lib)], [])


if __name__ == "__main__":
    unittest.main()
