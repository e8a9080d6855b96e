"""kazoo's side of the interoperability tests: kazoo_peer.py HOSTS PATH.

Reads lines "KIND COMMAND" and answers "KIND WORD" when the command is done; it says "ready" first. Two kinds contend:
"default" is kazoo's Lock, "subclass" is the subclass that doc/promises.md shows. Each has a client, a session and a thread of
its own. Ends with its input.
"""
import os
import re
import sys
import textwrap
import threading
from queue import Queue

import kazoo.client
import kazoo.recipe.lock

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def documented():
    """The subclass as doc/promises.md shows it; the manual must show the same."""
    shown = re.search(r"^ +class Lock\(.*\n +.*\n", read("doc/promises.md"), re.MULTILINE)
    lines = textwrap.dedent(shown.group())
    if lines not in read(os.path.join("doc", "paddock.1")):
        raise SystemExit("doc/promises.md and doc/paddock.1 show different subclasses")
    names = {"kazoo": kazoo}
    exec(lines, names)
    return names["Lock"]


class Contender(threading.Thread):
    def __init__(self, kind, hosts, path):
        super().__init__(daemon=True)
        self.kind, self.commands = kind, Queue()
        self.client = kazoo.client.KazooClient(hosts=hosts)
        self.client.start()
        self.lock = {"default": kazoo.recipe.lock.Lock, "subclass": documented()}[kind](self.client, path)
        self.start()

    def answer(self, command):
        if command == "lock":
            return "locked" if self.lock.acquire() else "refused"
        if command == "trylock":
            return "locked" if self.lock.acquire(blocking=False) else "busy"
        return "unlocked" if self.lock.release() else "not held"

    def run(self):
        while True:
            answer = self.answer(self.commands.get())
            print(self.kind, answer, flush=True)


def main():
    contenders = {kind: Contender(kind, *sys.argv[1:]) for kind in ("default", "subclass")}
    print("ready", flush=True)
    for line in sys.stdin:
        kind, command = line.split()
        contenders[kind].commands.put(command)
    for contender in contenders.values():
        contender.client.stop()


main()
