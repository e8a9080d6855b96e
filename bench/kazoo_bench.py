"""The worker of the bench on kazoo: kazoo_bench.py HOSTS. See bench/worker.h for the orders and the answers."""
import logging
import os
import resource
import sys
import threading
import time

from kazoo.client import KazooClient

SESSION_S = 10
SETTLE_S = 60
clients = []


def client(i):
    while len(clients) <= i:
        one = KazooClient(hosts=sys.argv[1], timeout=SESSION_S)
        one.start()
        clients.append(one)
    return clients[i]


def say(*words):
    print(*words, flush=True)


def prepared():
    say("prepared")
    if not sys.stdin.readline():
        sys.exit(0)


def usage(cycles):
    r = resource.getrusage(resource.RUSAGE_SELF)
    return time.monotonic(), r.ru_utime + r.ru_stime, r.ru_nvcsw + r.ru_nivcsw, cycles


def result(a, b):
    return "result cycles=%d seconds=%.6f cpu_us=%.0f switches=%d" % (
        b[3] - a[3], b[0] - a[0], (b[1] - a[1]) * 1e6, b[2] - a[2])


def resident_kib():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1024


def once(lock):
    lock.acquire()
    lock.release()


class Seat(threading.Thread):
    def __init__(self, run, lock):
        super().__init__(daemon=True)
        self.run_of, self.lock, self.cycles, self.samples = run, lock, 0, []

    def run(self):
        while not self.run_of["stop"]:
            start = time.monotonic()
            once(self.lock)
            self.cycles += 1
            if self.run_of["counting"]:
                self.samples.append(time.monotonic() - start)


def percentiles(samples):
    n = len(samples)
    if n == 0:
        return ""
    samples.sort()
    return " p10_us=%.2f p50_us=%.2f p99_us=%.2f" % tuple(
        samples[i] * 1e6 for i in (n // 10, n // 2, n * 99 // 100))


def run(order, locks):
    state = {"stop": False, "counting": False}
    seats = [Seat(state, lock) for lock in locks]
    for seat in seats:
        seat.start()
    time.sleep(int(order.get("warm", 0)) / 1e3)
    a = usage(sum(seat.cycles for seat in seats))
    state["counting"] = True
    time.sleep(int(order["ms"]) / 1e3)
    b = usage(sum(seat.cycles for seat in seats))
    state["stop"] = True
    for seat in seats:
        seat.join()
    samples = [s for seat in seats for s in seat.samples]
    least = min(len(seat.samples) for seat in seats) * len(seats) / max(1, len(samples))
    say(result(a, b) + " total=%d" % sum(seat.cycles for seat in seats) + percentiles(samples) + " least=%.3f" % least)


def cycle(order):
    n_clients, share = int(order.get("clients", 1)), order.get("share") == "1"
    locks = []
    for i in range(int(order.get("threads", 1))):
        path = order["path"] + ("-%d" % i if order.get("own") == "1" else "")
        if share and i >= n_clients:
            locks.append(locks[i % n_clients])
        else:
            locks.append(client(i % n_clients).Lock(path))
            once(locks[i])
    prepared()
    run(order, locks)


def waiters(order):
    n, n_clients, path = int(order["n"]), int(order.get("clients", 1)), order["path"]
    holder = client(0).Lock(path)
    for i in range(n_clients):
        once(client(i).Lock(path))
    holder.acquire()
    prepared()
    threading.stack_size(65536 * 4)
    before, start = resident_kib(), time.monotonic()
    threads = [threading.Thread(target=once, args=(client(i % n_clients).Lock(path),), daemon=True) for i in range(n)]
    for thread in threads:
        thread.start()
    while len(client(0).get_children(path)) < n + 1 and time.monotonic() < start + SETTLE_S:
        time.sleep(0.01)
    queued, after = time.monotonic() - start, resident_kib()
    a = usage(0)
    holder.release()
    for thread in threads:
        thread.join()
    b = usage(n)
    say(result(a, b) + " queue_us=%.2f drain_us=%.2f kib=%.3f" % (
        queued * 1e6 / n, (b[0] - a[0]) * 1e6 / n, (after - before) / n))


def held(order):
    locks = [client(0).Lock("%s-held/%d" % (order["path"], i)) for i in range(int(order["n"]))]
    for lock in locks:
        lock.acquire()
    one = client(0).Lock(order["path"])
    once(one)
    prepared()
    run(order, [one])
    for lock in locks:
        lock.release()


def idle(order):
    lock = client(0).Lock(order["path"])
    lock.acquire()
    prepared()
    a = usage(0)
    time.sleep(int(order["ms"]) / 1e3)
    say(result(a, usage(0)))
    lock.release()


def main():
    logging.disable(logging.CRITICAL)
    verbs = {"cycle": cycle, "waiters": waiters, "held": held, "idle": idle}
    say("ready")
    while True:
        line = sys.stdin.readline()
        if not line:
            break
        words = line.split()
        try:
            verbs[words[0]](dict(word.split("=", 1) for word in words[1:]))
        except Exception as error:  # whatever it is, the order has failed
            say("error %s: %s" % (type(error).__name__, str(error).replace("\n", " ")))
            os._exit(1)
    os._exit(0)


main()
