# SPDX-License-Identifier: Apache-2.0
"""Statistics: the counters of a client since it was made."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._errors import BY_CODE, Error
from ._library import encoded, error, ffi, lib, text_of

_LAST = (1 << 63) - 1
_MILLISECONDS = ("wait", "hold", "renewal")


def _names(kind: str, prefix: str) -> dict[str, int]:
    """The constants of an enum, by the name that Python has for each."""
    return {name.removeprefix(prefix).lower(): number for number, name in ffi.typeof(kind).elements.items()}


_COUNTERS = _names("pdk_stat", "PDK_STAT_")
_LOSSES = _names("pdk_loss", "PDK_LOSS_")
_HISTOGRAMS = _names("pdk_histogram", "PDK_HISTOGRAM_")


@dataclass(frozen=True)
class Histogram:
    """A histogram of a client."""

    #: Pairs of a bound, and of how many values are at most that. The last bound is math.inf.
    buckets: tuple[tuple[float, int], ...]
    #: The sum of all values.
    sum: float

    @property
    def count(self) -> int:
        """The number of all values."""
        return self.buckets[-1][1]


@dataclass(frozen=True)
class Stats:
    """The counters of a client, as Client.stats() has copied them. All but `waiting`, `held` and `connected` only grow.
    <paddock/stats.h> tells more of each."""

    #: Requests for locks: those of `grants`, `failures` and `waiting` together.
    acquires: int
    #: Requests that were granted: by the servers, by another owner in this process, or by a node that stayed.
    grants: int
    server_grants: int
    handovers: int
    reuses: int
    #: Requests that were not granted.
    failures: int
    #: Grants that were lost before they were released.
    losses: int
    #: Requests that wait now.
    waiting: int
    #: Locks that are held now.
    held: int
    #: Sessions that began.
    sessions: int
    #: Connections after the first of a session, and connections that were lost.
    reconnects: int
    disconnects: int
    #: Sessions that ended against the client's will, or were given up.
    expiries: int
    #: Requests to renew a session in which a lock is held, and those that a quorum acknowledged.
    renewals_sent: int
    renewals: int
    #: Is a server connected?
    connected: bool
    #: The failures by error; those that occurred.
    failed: Mapping[type[Error], int]
    #: The losses by reason, "session", "lease", "node" or "closed"; those that occurred.
    lost: Mapping[str, int]
    #: Seconds from a request to its grant.
    wait: Histogram
    #: Seconds from the servers' grant to the release or the loss of the node.
    hold: Histogram
    #: Contenders ahead when a node joined a queue.
    queue: Histogram
    #: Seconds that an acknowledged renewal took.
    renewal: Histogram
    _stats: Any = field(repr=False, compare=False)

    def text(self, labels: Mapping[str, str] | None = None, *, prometheus: bool = False) -> str:
        """The statistics in OpenMetrics 1.0, or in Prometheus' text format 0.0.4. Each sample has LABELS; a label whose
        name is no label's is left out."""
        words = [ffi.new("char[]", encoded(word, "a label")) for pair in (labels or {}).items() for word in pair]
        style = lib.PDK_METRICS_PROMETHEUS if prometheus else lib.PDK_METRICS_OPENMETRICS
        return text_of(lib.pdk_stats_format, self._stats, style, ffi.new("char *[]", [*words, ffi.NULL]))


def _histogram(copied: Any, which: int, unit: int) -> Histogram:
    """A histogram whose values are UNIT to one of Python's."""
    buckets: list[tuple[float, int]] = []
    bound, count = ffi.new("int64_t *"), ffi.new("uint64_t *")
    while lib.pdk_stats_bucket(copied, which, len(buckets), bound, count):
        buckets.append((math.inf if bound[0] == _LAST else bound[0] / unit, int(count[0])))
    return Histogram(tuple(buckets), lib.pdk_stats_sum(copied, which) / unit)


def _occurred(counts: Mapping[Any, int]) -> dict[Any, int]:
    return {key: count for key, count in counts.items() if count != 0}


def stats(client: Any) -> Stats:
    """A copy of the counters of a pdk_client."""
    out = ffi.new("pdk_stats **")
    code = lib.pdk_client_stats(client, out)
    if code != 0:
        raise error(code)
    copied = ffi.gc(out[0], lib.pdk_stats_free)
    fields: dict[str, Any] = {name: int(lib.pdk_stats_count(copied, what)) for name, what in _COUNTERS.items()}
    fields["connected"] = bool(fields["connected"])
    for name, which in _HISTOGRAMS.items():
        fields[name] = _histogram(copied, which, 1000 if name in _MILLISECONDS else 1)
    return Stats(
        **fields,
        failed=_occurred({each: int(lib.pdk_stats_failures(copied, code)) for code, each in BY_CODE.items()}),
        lost=_occurred({name: int(lib.pdk_stats_losses(copied, reason)) for name, reason in _LOSSES.items()}),
        _stats=copied,
    )
