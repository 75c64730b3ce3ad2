"""The agent: one process per host, in the host's network namespace.

It is started as ``python -m mptcplab.engines.kernel.agent`` and speaks JSON lines.

In, first, the job (what has a default may be left out)::

    {"transfer": {...},     as in the plan's "transfer"; the direction tells who sends. Further:
                            a bulk without size and duration goes on until it is stopped, and
                            {"application": "datagrams", "rate_bits_per_second": n,
                             "packet_bytes": n}: who connects sends, who listens counts;
                            {"application": "watching"}: others transfer here; it neither
                            connects nor listens, and goes on until it is stopped
     "listen": [address, port],                         server; "::" is for IPv4 too
     "connect": {"local": [address, port] | null,       client
                 "remote": [address, port],
                 "both_versions": bool,                 default false: subflows of the other
                                                        version of IP may join; without "local"
                 "device": name,                        default null: whatever routes say
                 "preambles": [hex, ...]},              default none: what each sends first
     "handed": n,           server: connections come from this descriptor, a socket of AF_UNIX
                            over which somebody else passes them (SCM_RIGHTS); one of the three
     "mptcp": bool,         default false: plain TCP
     "connections": n,      at once, each of the whole transfer; default 1; the same at both ends
     "congestion_control":  name or null, by socket option; default null: what the namespace or
                            the route says
     "keep_alive": bool,    whether idle connections are probed, as sysctls have it; default false
     "quic": {"program": path, "job": {...}},   default none: a program that carries the only
                            connection, which is TCP on this host, over QUIC; it is started first
     "start_ns": n,         after go: when connections are opened or datagrams sent; default 0
     "stop_ns": n | null,   after go: when what still goes on is given up, connections by a
                            reset; default null
     "linger_ns": n,        how long sockets may take to go when all is done; default 10 s
     "most_bytes": n,       after so many bytes, read and written, all is given up; default null
     "most_bits_per_second": n,   connections write and read no faster; default null
     "shared": bool,        this network has connections of others: they are not waited for; what
                            is known when a connection opens and closes is sampled, too
     "host": name,          what the tables call this host; default ""
     "sample_ns": n,        period of the samples; default 0: none
     "samples": path,       JSON lines: what `numbers.number` makes rows of `state` of
     "events": path,        JSON lines: rows of `signals`
     "counters": path}      JSON lines: rows of `counters`

Out, when it listens and watches: ``{"ready": true, "congestion_control": name}`` with the name that
its socket has (null for datagrams); or ``{"error": "one line"}``, and exit status 1, for what
cannot be done, also later on. In: ``go``. Out, twice a second: ``{"progress": {"bytes": n}}``,
bytes written and read here so far. Out, when the transfer is over at this end and the kernel's
sockets are gone (or their time is over)::

    {"done": {"bytes_sent": n, "bytes_received": n, "corrupt_bytes": n,
              "finished": bool, "reason": "complete", or who waits for what,
              "started_ns": n, "ended_ns": n,     Unix time: of go; of the last connection's end
              "lingering": n,                     sockets that were still there
              "sockets": [{"mptcp": bool,         it spoke MPTCP, at first at least
                           "fallback": bool,      it is of MPTCP and speaks plain TCP
                           "token": n | null,
                           "subflows": [{"local": [address, port], "remote": [address, port],
                                         "congestion_control": name}]}],
              "quic": {"reason": why its connection ended early, or null, "paths": [...]},
              "responses": [{"at_ns": n, "request_bytes": n, "response_bytes": n,
                             "first_data_ms": x, "response_time_ms": x, absent if nothing or
                             not all of it came}]}}

The last two are there with QUIC only, whose paths are the "subflows" of its "sockets".

Files are complete before that line. A client is done when all its connections are closed, a
server when as many as there are to be have come and are closed; datagrams have no end of their
own. ``stop`` or the end of the input ends everything at once: what still goes on is reset, files
are written, and ``done`` says who waited for what.
"""

from __future__ import annotations

import sys

from mptcplab.engines.kernel.agent.agent import Agent

if __name__ == "__main__":
    sys.exit(Agent().run())
