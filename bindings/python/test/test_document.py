"""The programs of doc/python.md run, and say what they should."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest

from common import GENEROUS, HOSTS

SAID = (
    "token True certain True\nreading, with two permits\nnodes 2\nleading True\n"
    "the report is written\nthe report was written before\n",
    "token True\n",
)


class Document(unittest.TestCase):
    def test_its_programs_run(self) -> None:
        with open(os.path.join(os.environ["PADDOCK_SRCDIR"], "doc", "python.md"), encoding="utf-8") as file:
            programs = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(programs), len(SAID))
        for program, said in zip(programs, SAID):
            program = program.replace("127.0.0.1:2181", HOSTS)
            run = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=GENEROUS
            )
            self.assertEqual((run.stdout, run.stderr), (said, ""))


if __name__ == "__main__":
    unittest.main()
