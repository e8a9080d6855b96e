"""kazoo's side of the interoperability tests: kazoo_peer.py HOSTS PATH.

Reads lines "RECIPE[/N] COMMAND [ARGUMENT...]" and answers "RECIPE[/N] WORD..." when the command is done; it says
"ready" first. Each RECIPE/N is a contender with a client, a session and a thread of its own. "default" is kazoo's Lock,
"subclass" is the one that doc/promises.md shows, and names that begin with "sub" are the classes of doc/interop.md.
"lock", "trylock" and "unlock" are of PATH; so are "set", "remove" and "pass MS" of "barrier", and "enter" and "leave" of
"pair", a double barrier for two; "try PATH MS", "free" and "meet PATH ROUNDS FILE" are of the matrix:
paddock_peer.c has them. Ends with its input.
"""
import os
import re
import sys
import textwrap
import threading
import time
from functools import partial
from queue import Queue

import kazoo.client
import kazoo.recipe.barrier
import kazoo.recipe.election
import kazoo.recipe.lock
from kazoo.exceptions import LockTimeout

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HELD_S, WITHIN_MS = 0.002, 60000


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def documented():
    """The subclass of doc/promises.md. The manual must show the same, and so must doc/interop.md, which has more."""
    shown = re.search(r"^ +class Lock\(.*\n +.*\n", read("doc/promises.md"), re.MULTILINE)
    lines = textwrap.dedent(shown.group())
    if lines not in read(os.path.join("doc", "paddock.1")):
        raise SystemExit("doc/promises.md and doc/paddock.1 show different subclasses")
    block = re.search(r"^```python\n(.*?)^```$", read(os.path.join("doc", "interop.md")), re.MULTILINE | re.DOTALL)
    if lines not in block.group(1):
        raise SystemExit("doc/promises.md and doc/interop.md show different subclasses")
    names = {"kazoo": kazoo}
    exec(block.group(1), names)
    return names


class Turn:
    """An election, as a lock: run() works in a thread until release()."""

    def __init__(self, client, path):
        self.election = kazoo.recipe.election.Election(client, path)
        self.elected, self.over = threading.Event(), threading.Event()

    def lead(self):
        self.elected.set()
        self.over.wait()

    def acquire(self, blocking=True, timeout=None):
        self.thread = threading.Thread(target=self.election.run, args=(self.lead,), daemon=True)
        self.thread.start()
        if self.elected.wait(timeout):
            return True
        self.election.cancel()
        self.release()
        return False

    def release(self):
        self.over.set()
        self.thread.join()


CLASSES = documented()
RECIPES = {
    "default": kazoo.recipe.lock.Lock,
    "subclass": CLASSES["Lock"],
    "reader": kazoo.recipe.lock.ReadLock,
    "writer": kazoo.recipe.lock.WriteLock,
    "subreader": CLASSES["ReadLock"],
    "subwriter": CLASSES["WriteLock"],
    "semaphore": kazoo.recipe.lock.Semaphore,
    "subsemaphore": CLASSES["Semaphore"],
    "election": Turn,
    "subelection": Turn,
    "barrier": kazoo.recipe.barrier.Barrier,
    "pair": partial(kazoo.recipe.barrier.DoubleBarrier, num_clients=2),
}


class Contender(threading.Thread):
    def __init__(self, name, hosts, path):
        super().__init__(daemon=True)
        self.id, self.path, self.commands = name, path, Queue()
        self.recipe = name.split("/")[0]
        self.client = kazoo.client.KazooClient(hosts=hosts)
        if self.recipe.startswith("sub"):
            self.client.Lock = partial(CLASSES["Lock"], self.client)
        self.client.start()
        self.lock = RECIPES[self.recipe](self.client, path)
        self.start()

    def attempt(self, path, ms):
        self.lock = RECIPES[self.recipe](self.client, path)
        try:
            return self.lock.acquire(timeout=ms / 1000)
        except LockTimeout:
            return False

    def contend(self, path, rounds, file):
        met = 0
        for _ in range(rounds):
            if not self.attempt(path, WITHIN_MS):
                return "error busy"
            met += meet(file)
            self.lock.release()
        return "done %d" % met

    def answer_barrier(self, command, *words):
        if command == "pass":
            return "passed" if self.lock.wait(int(words[0]) / 1000) else "stopped"
        if command == "set":
            self.lock.create()
            return "set"
        if command == "remove":
            return "removed" if self.lock.remove() else "none"
        if command == "enter":
            self.lock.enter()
            return "inside" if self.lock.participating else "refused"
        self.lock.leave()
        return "outside"

    def answer(self, command, *words):
        if self.recipe in ("barrier", "pair"):
            return self.answer_barrier(command, *words)
        if command == "lock":
            return "locked" if self.lock.acquire() else "refused"
        if command == "trylock":
            return "locked" if self.lock.acquire(blocking=False) else "busy"
        if command == "try":
            return "held" if self.attempt(words[0], int(words[1])) else "busy"
        if command == "meet":
            return self.contend(words[0], int(words[1]), words[2])
        if command == "free":
            self.lock.release()
            return "freed"
        return "unlocked" if self.lock.release() else "not held"

    def run(self):
        while True:
            words = self.commands.get()
            try:
                answer = self.answer(*words)
            except Exception as error:
                answer = "error " + repr(error)
            print(self.id, answer, flush=True)


def meet(file):
    """Whether another holder has created the file, which a holder deletes before it releases."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        time.sleep(HELD_S)
        return True
    time.sleep(HELD_S)
    os.unlink(file)
    return False


def main():
    contenders = {}
    print("ready", flush=True)
    for line in sys.stdin:
        name, *words = line.split()
        if name not in contenders:
            contenders[name] = Contender(name, *sys.argv[1:])
        contenders[name].commands.put(words)
    for contender in contenders.values():
        contender.client.stop()


main()
